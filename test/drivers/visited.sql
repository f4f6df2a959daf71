-- what the drivers' tests ask: columns with a shape, as all pages recommend
CREATE TABLE visited (urls bloom(1000, 0.01), ids bloom(1000, 0.01), pairs bloom(1000, 0.01), times bloom(1000, 0.01));
INSERT INTO visited
SELECT bloom_agg('https://example.org/' || i, 1000, 0.01), bloom_agg(i, 1000, 0.01), bloom_agg((i, 'x' || i), 1000, 0.01),
	   bloom_agg('2026-11-21 00:00:00+00'::timestamptz + i * interval '1 second', 1000, 0.01)
FROM generate_series(1, 1000) AS i;
CREATE TABLE activity (id text, body text);
SELECT bloom_set_create('received', 'text');
