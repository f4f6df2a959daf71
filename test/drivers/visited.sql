-- what the drivers' tests ask
CREATE TABLE visited AS
SELECT bloom_agg('https://example.org/' || i) AS urls, bloom_agg(i) AS ids, bloom_agg((i, 'x' || i)) AS pairs,
	   bloom_agg('2026-11-21 00:00:00+00'::timestamptz + i * interval '1 second') AS times
FROM generate_series(1, 1000) AS i;
CREATE TABLE activity (id text, body text);
SELECT bloom_set_create('received', 'text');
