--
-- Limits: how many keys are kept exactly, where no capacity is named
--
-- They are 67 million.  With assertions compiled in they are a million, and what
-- is below runs.  The output is then that of limits_1.out, which scripts/test
-- requires.
--

-- A state has as many words as it may have keys.
CREATE AGGREGATE pg_temp.state_of(int) (SFUNC = _bloom_agg_trans_int4, STYPE = bloom);
SELECT bits / 64 AS most_keys, bits / 64 < 1e7 AS is_small
FROM bloom_info((SELECT pg_temp.state_of(1)::text::bloom));
\gset

\if :is_small
-- as many keys, and one less, some of them twice
CREATE TEMPORARY TABLE many AS SELECT i FROM generate_series(1, :most_keys) AS i;
CREATE TEMPORARY VIEW less AS SELECT i FROM many WHERE i > 1 UNION ALL SELECT i FROM generate_series(2, 100) AS i;

-- an aggregate that makes its shape at the end
SELECT bloom_cardinality(bloom_agg(i)) BETWEEN 0.99 * :most_keys AND 1.01 * :most_keys AS enough FROM less;
SELECT bloom_cardinality(bloom_agg(i)) FROM many;

-- one that merges parts
CREATE AGGREGATE pg_temp.merge_of(bloom) (SFUNC = _bloom_agg_collect_combine, STYPE = bloom, FINALFUNC = _bloom_agg_fit_final);
SELECT bloom_cardinality(pg_temp.merge_of(f)) BETWEEN 0.99 * :most_keys AND 1.01 * :most_keys AS enough
FROM (SELECT pg_temp.state_of(i) AS f FROM less GROUP BY i % 3) AS parts;
SELECT bloom_cardinality(pg_temp.merge_of(f)) FROM (SELECT pg_temp.state_of(i) AS f FROM many GROUP BY i % 3) AS parts;

-- a window function
SELECT count(*) FILTER (WHERE seen) AS repeats FROM (SELECT bloom_seen(i) OVER () AS seen FROM less) AS s;
SELECT count(*) FILTER (WHERE seen) AS repeats FROM (SELECT bloom_seen(i) OVER () AS seen FROM many) AS s;
\endif
