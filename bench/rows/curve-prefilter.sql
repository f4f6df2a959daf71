-- A semi-join with a tenth as many keys as there are rows, of which more or
-- fewer rows match.  Building the filter is part of our time.  The hash table
-- of the join does not fit into work_mem: both sides go through files.
-- each: share = 0 10 25 50 75 100
-- title: prefilter
-- setup:
SELECT bench_keys('int8', :rows / 10);
SELECT 'int8_' || :rows / 10 AS tab \gset
DROP TABLE IF EXISTS wanted;
CREATE UNLOGGED TABLE wanted AS
SELECT hashint8extended(CASE WHEN i <= :rows / 1000 * :share THEN i ELSE :rows + i END, :seed) AS k
FROM generate_series(1, :rows / 10) AS i;
SELECT bench_settle('wanted');
SET work_mem = '4MB';
-- curve: prefilter | with filter @> k before it | :share | :rows
SELECT count(*) FROM :tab AS b WHERE (SELECT bloom_agg(k, :rows / 10, 0.01) FROM wanted) @> b.k AND EXISTS (SELECT FROM wanted AS w WHERE w.k = b.k);
-- curve: prefilter | without | :share | :rows
SELECT count(*) FROM :tab AS b WHERE EXISTS (SELECT FROM wanted AS w WHERE w.k = b.k);
