-- What the filters of weeks.sql cost to build, once.
-- title: distinct users of four weeks, a filter for each day
-- setup:
SELECT bench_visits();
-- ours: bloom_agg(user, n, 0.01) ... GROUP BY day
SELECT count(f) FROM (SELECT bloom_agg(k, :rows / 10, 0.01) AS f FROM visits GROUP BY day) AS s;
-- against: count(DISTINCT user) ... GROUP BY day
SELECT count(n) FROM (SELECT count(DISTINCT k) AS n FROM visits GROUP BY day) AS s;
-- against: count(user) ... GROUP BY day, the floor
SELECT count(m) FROM (SELECT count(k) AS m FROM visits GROUP BY day) AS s;
