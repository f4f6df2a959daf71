-- Joins above a pre-filter that lets 98 of 100 rows pass.  Too low an estimate
-- of these would make each of the joins a nested loop.
-- title: joins above a pre-filter that most rows pass
-- setup:
DROP TABLE IF EXISTS sale, buyer, product, refund;
CREATE UNLOGGED TABLE buyer AS SELECT i AS id, hashint4(i) & 255 AS region FROM generate_series(1, 200000) AS i;
CREATE UNLOGGED TABLE product AS SELECT i AS id FROM generate_series(1, 20000) AS i;
CREATE UNLOGGED TABLE sale AS
SELECT i AS id, 1 + (hashint8extended(i, :seed) & 2147483647)::int % 200000 AS buyer,
	   1 + (hashint8extended(i, :seed + 1) & 2147483647)::int % 20000 AS product
FROM generate_series(1, 2000000) AS i;
CREATE UNLOGGED TABLE refund AS SELECT id AS sale FROM sale WHERE id % 50 = 0;
ALTER TABLE buyer ADD PRIMARY KEY (id);
ALTER TABLE product ADD PRIMARY KEY (id);
ALTER TABLE sale ADD PRIMARY KEY (id);
CREATE INDEX ON refund (sale);
SELECT bench_settle(name) FROM unnest('{buyer, product, sale, refund}'::text[]) AS name;
SET work_mem = '4MB';
-- ours: with the pre-filter
SELECT count(*)
FROM sale AS s JOIN buyer AS b ON b.id = s.buyer JOIN product AS p ON p.id = s.product JOIN refund AS r ON r.sale = s.id
WHERE b.region < 250 AND (SELECT bloom_agg(id) FROM buyer WHERE region < 250) @> s.buyer;
-- against: without | at most 1.4
SELECT count(*)
FROM sale AS s JOIN buyer AS b ON b.id = s.buyer JOIN product AS p ON p.id = s.product JOIN refund AS r ON r.sale = s.id
WHERE b.region < 250;
