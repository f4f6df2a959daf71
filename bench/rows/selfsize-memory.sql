-- The baseline scans the same table, so that its pages are in the server
-- process's page table, and has the extension loaded.
-- each: share = 10 1
-- title: self-sizing, :rows / :share distinct int8
-- setup:
SELECT bench_keys('int8', :rows / :share);
SELECT concat('int8_', :rows / :share) AS tab \gset
-- memory: peak memory, bytes a distinct key, without the result | at most 20 | :rows / :share
SELECT concat('int8_', :rows / :share) AS tab \gset
SELECT max(k) FROM :tab;
SELECT bytes FROM bloom_info((SELECT bloom_agg(k) FROM (SELECT k FROM :tab LIMIT 10) AS s));
-- then
SELECT bytes FROM bloom_info((SELECT bloom_agg(k) FROM :tab));
