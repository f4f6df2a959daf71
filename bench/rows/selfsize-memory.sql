-- The baseline scans the same table, so that its pages are in the server
-- process's page table, and has the extension loaded.
-- each: distinct = 1000000 10000000
-- title: self-sizing, :distinct distinct int8
-- setup:
SELECT bench_keys('int8', :distinct);
-- memory: peak memory, bytes a distinct key, without the result | at most 20 | :distinct
SELECT max(k) FROM int8_:distinct;
SELECT bytes FROM bloom_info((SELECT bloom_agg(k) FROM (SELECT k FROM int8_:distinct LIMIT 10) AS s));
-- then
SELECT bytes FROM bloom_info((SELECT bloom_agg(k) FROM int8_:distinct));
