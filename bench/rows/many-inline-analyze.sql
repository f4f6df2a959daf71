-- ANALYZE of the same filters in their rows.
-- title: ANALYZE of 10^5 filters of 2.5 kB
-- setup:
SELECT bench_many(100000, 2000);
DROP TABLE IF EXISTS many_inline_bytes;
CREATE TABLE many_inline_bytes (id bigint, filter bytea) WITH (toast_tuple_target = 8160);
ALTER TABLE many_inline_bytes ALTER filter SET STORAGE external;
INSERT INTO many_inline_bytes SELECT id, filter::bytea FROM many_inline;
VACUUM many_inline, many_inline_bytes;
-- ours: in line
ANALYZE many_inline;
-- against: bytea in line | at most 1.5
ANALYZE many_inline_bytes;
