-- each: keys = 1000 10000 100000 1000000 10000000
-- title: build
-- setup:
SELECT bench_keys('int8', least(:keys, :rows));
SELECT 'int8_' || least(:keys, :rows) AS tab \gset
-- curve: build | bloom_agg(k, n, 0.01) | :keys | :rows
SELECT bloom_cardinality(bloom_agg(k, :keys, 0.01)) FROM :tab;
-- curve: build | bloom_agg(k) | :keys | :rows
SELECT bloom_cardinality(bloom_agg(k)) FROM :tab;
-- curve: build | count(DISTINCT k) | :keys | :rows
SELECT count(DISTINCT k) FROM :tab;
-- curve: build | SELECT DISTINCT k | :keys | :rows
SELECT count(*) FROM (SELECT DISTINCT k FROM :tab) AS d;
-- curve: build | max(k), the floor | :keys | :rows
SELECT max(k) FROM :tab;
