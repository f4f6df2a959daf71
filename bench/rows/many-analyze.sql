-- ANALYZE of 10^5 filters in TOAST, and of the same bytes in a column of type
-- bytea.
-- title: ANALYZE of 10^5 filters of 2.5 kB
-- setup:
SELECT bench_many(100000, 2000);
DROP TABLE IF EXISTS many_bytes;
CREATE TABLE many_bytes (id bigint, filter bytea);
ALTER TABLE many_bytes ALTER filter SET STORAGE external;
INSERT INTO many_bytes SELECT id, filter::bytea FROM many;
VACUUM many, many_bytes;
-- ours: in TOAST
ANALYZE many;
-- against: bytea in TOAST | at most 1.5
ANALYZE many_bytes;
