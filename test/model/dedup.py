#!/usr/bin/python3
"""Random queries with bloom_seen, against plain SQL.

Each query runs three times: in plain SQL, which knows; with the plan node of
bloom_seen; and with WindowAgg (bloomtype.enable_seen_scan = off).  All have to
give the same rows.  There are two kinds:

- one row of each key, against DISTINCT ON of the same rows in a materialized
  WITH: a source of rows with some conditions, a key, perhaps an order and a
  limit; something that asks it (conditions, joins, aggregates, windows, set
  operations, ... of an outer query); and a way to run it (WITH, views, cursors,
  prepared statements, ...).  Without an order, any row of a key may be the
  first; then the question is one that all of them answer alike;
- several calls with windows, keys and frames of every kind, beside other window
  functions, against row_number() OVER (PARTITION BY key ...) > 1.

Usage: dedup.py [--queries N] [--seed N] [--parallel] [--only I] [--keep]

The server is found as by psql; the test makes a database of its own there, and
drops it.  The same seed and number give the same queries.

Needs Debian's python3-psycopg2.
"""
import collections
import io
import re
import sys

import psycopg2

import queries
from queries import Wrong

SCHEMA = """
CREATE EXTENSION bloomtype;
CREATE TABLE click AS
SELECT i AS ts, (hashint4(i) & 63) AS id, i % 5 AS ad, CASE WHEN i % 11 <> 0 THEN i % 17 END AS few
FROM generate_series(1, 400) AS i;
CREATE INDEX ON click (ts);
CREATE INDEX ON click (id, ts);
CREATE TABLE parts (ts int, id int, ad int, few int) PARTITION BY LIST (ad);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0, 1);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (2, 3, 4) PARTITION BY RANGE (ts);
CREATE TABLE parts_2 PARTITION OF parts_1 FOR VALUES FROM (0) TO (200);
CREATE TABLE parts_3 PARTITION OF parts_1 FOR VALUES FROM (200) TO (1000);
INSERT INTO parts SELECT * FROM click;
CREATE INDEX ON parts (ts);
CREATE TABLE parent (LIKE click);
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT * FROM click WHERE ts % 3 = 0;
INSERT INTO child SELECT * FROM click WHERE ts % 3 > 0;
CREATE INDEX ON parent (ts);
CREATE INDEX ON child (ts);
CREATE TABLE dim AS SELECT i AS id, i * 7 AS ts, i % 5 AS ad, 'name ' || i % 9 AS name FROM generate_series(1, 40) AS i;
CREATE INDEX ON dim (id);
CREATE INDEX ON dim (ts);
CREATE VIEW click_view AS SELECT * FROM click WHERE ad < 9;
CREATE VIEW parts_view AS SELECT * FROM parts;
CREATE TYPE pair AS (id int, ad int);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN small AS int CHECK (VALUE < 1000);
CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE target (n int, answer text);
CREATE FUNCTION dear(int) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE COST 100000 AS 'BEGIN RETURN $1 % 3 <> 1; END';
CREATE FUNCTION cheap(int) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE COST 0.0001 AS 'BEGIN RETURN $1 % 4 <> 1; END';
-- in SQL, each call would start a worker under force_parallel_mode
CREATE FUNCTION odd(anyelement) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN hashtext($1::text) % 2 <> 0; END';
ANALYZE;
"""

# Rows of ts, id, ad and few, in which ts is unique, or not
Source = collections.namedtuple('Source', 'name sql')
SOURCES = [
    Source('table', 'click AS s'),
    Source('view', 'click_view AS s'),
    Source('inherited', 'parent AS s'),
    Source('partitioned', 'parts AS s'),
    Source('partitioned view', 'parts_view AS s'),
    Source('partitions below OFFSET', '(SELECT * FROM parts OFFSET 0) AS s'),
    Source('union all', '(SELECT * FROM click UNION ALL SELECT ts + 1000, id, ad, few FROM parent) AS s'),
    Source('union all of partitions', '(SELECT * FROM parts UNION ALL SELECT ts + 1000, id, ad, few FROM parts) AS s'),
    Source('union', '(SELECT id AS ts, id, ad, few FROM click UNION SELECT id, id, ad, few FROM parent) AS s'),
    Source('join', '(SELECT c.*, d.name FROM click AS c JOIN dim AS d ON d.id = c.id) AS s'),
    Source('left join', '(SELECT c.*, d.name FROM click AS c LEFT JOIN dim AS d ON d.id = c.id AND d.ad = 2) AS s'),
    Source('many rows', '(SELECT c.* FROM click AS c JOIN dim AS d ON d.ad = c.ad) AS s'),
    Source('full join', '(SELECT coalesce(c.ts, 0) AS ts, coalesce(c.id, -d.id) AS id, coalesce(c.ad, 9) AS ad, c.few '
           'FROM click AS c FULL JOIN dim AS d ON d.id = c.id) AS s'),
    Source('semi-join', '(SELECT * FROM click WHERE id IN (SELECT id FROM dim)) AS s'),
    Source('join of partitions', '(SELECT p.* FROM parts AS p JOIN parts AS q ON p.ad = q.ad AND p.ts = q.ts) AS s'),
    Source('partitions and table', '(SELECT p.* FROM parts AS p JOIN click AS c USING (ts)) AS s'),
    Source('grouped', '(SELECT min(ts) AS ts, id, ad, min(few) AS few FROM click GROUP BY id, ad) AS s'),
    Source('distinct', '(SELECT DISTINCT id AS ts, id, ad, few FROM parts) AS s'),
    Source('ordered', '(SELECT * FROM click ORDER BY ad DESC, ts) AS s'),
    Source('limited', '(SELECT * FROM parts ORDER BY ts LIMIT 150) AS s'),
    Source('window', '(SELECT *, row_number() OVER (PARTITION BY ad ORDER BY ts) AS n FROM parts) AS s'),
    Source('function', 'generate_series(1, 300) AS ts, LATERAL (SELECT ts % 37 AS id, ts % 5 AS ad, ts % 3 AS few) AS s'),
    Source('values', "(VALUES (1, 1, 1, 1), (2, 1, 2, NULL), (3, 2, 1, 1)) AS s (ts, id, ad, few)"),
]

CONDITIONS = ['dear({ts})', 'cheap({ts})', '{ts} > 100', 's.ad <> 2', 's.few < 12', 's.id = ANY (ARRAY(SELECT id FROM dim))',
              'EXISTS (SELECT FROM dim AS d WHERE d.id = s.id)', 's.id NOT IN (SELECT id FROM dim WHERE ad = 1)',
              's.ad = 3', 'false', '{ts} BETWEEN 50 AND 350 AND dear(s.id)', 'NOT s.id = 7 AND NOT cheap(s.ad)',
              '(s.ad = 1 OR dear(s.id))']

# Keys: an expression, and whether it is an integer
KEYS = [('s.id', True), ('s.id % 7', True), ('s.few', True), ('s.ad', True), ("'x' || s.id", False), ('(s.id, s.ad)::pair', False),
        ('s.id::numeric / 2', False), ('s.id::bigint', True), ('s.id::text::name', False), ('md5(s.id::text)::uuid', False),
        ('ARRAY[s.id, s.few]', False), ('(0 + 0)', True)]
# More of them, whose text is not always the same for equal ones
MORE_KEYS = ['s.ts', 's.id::int2', 's.id::float4 / 3', 's.id % 2 = 0', "date '2026-01-01' + s.id", "s.few * interval '30 days'",
             "CASE WHEN s.id % 2 = 0 THEN interval '1 month' ELSE interval '30 days' END", 'int4range(s.id, s.id + s.few)', 'to_jsonb(s.few)',
             "jsonb_build_object('id', s.id, 'few', s.few)", "ARRAY[s.id::text, NULL]", "decode(md5(s.id::text), 'hex')", 'ROW(s.id, s.few)',
             "'10.0.0.0'::inet + s.id", 's.id::bit(8)', "repeat(s.id || 'k', 400 * s.ad)", 'NULL::text', "lpad(s.id::text, s.ad)::char(9)",
             "(ARRAY['sad', 'ok', 'happy'])[s.id % 3 + 1]::mood", 's.few::small', 'round(s.id / 8.0, s.ad)', "(CASE WHEN s.ad = 1 THEN 'A' ELSE 'a' END || s.few) COLLATE folded",
             '(SELECT d.name FROM dim AS d WHERE d.id = s.id)', 's', 's.id % 7 + floor(random())::int', "(random() * 0)::int || 'v' || s.few", "CASE s.ad WHEN 0 THEN '-0' WHEN 1 THEN '0' WHEN 2 THEN 'NaN' END::float8"]

# Questions to an outer query, with {s} for the rows of k, ts, ad and n, and what they need
Question = collections.namedtuple('Question', 'name sql order integer')


def question(name, sql, order=False, integer=False):
    return Question(name, sql, order, integer)


QUESTIONS = [
    question('keys', 'SELECT k FROM {s}'),
    question('rows', 'SELECT k, ts FROM {s}', order=True),
    question('count', 'SELECT count(*), count(k), count(DISTINCT k) FROM {s}'),
    question('sum', 'SELECT sum(ts), max(ad) IS NULL FROM {s}', order=True),
    question('filter', 'SELECT count(*) FILTER (WHERE odd(k)), count(*) FILTER (WHERE ts > 50) FROM {s}', order=True),
    question('condition on the key', 'SELECT k FROM {s} WHERE odd(k)'),
    question('dear condition on the key', 'SELECT count(*) FROM {s} WHERE dear(hashtext(k::text)) AND cheap(hashtext(k::text))'),
    question('volatile condition', 'SELECT k FROM {s} WHERE random() < 2'),
    question('constant condition', 'SELECT k FROM {s} WHERE (SELECT count(*) > 3 FROM dim)'),
    question('null key', 'SELECT count(*) FROM {s} WHERE k IS NOT NULL'),
    question('group', 'SELECT k, count(*) FROM {s} GROUP BY k HAVING count(*) > 0'),
    question('group and order', 'SELECT odd(k), count(*) FROM {s} GROUP BY 1 ORDER BY 1'),
    question('distinct', 'SELECT DISTINCT odd(k), ad FROM {s}', order=True),
    question('order and limit', 'SELECT k FROM {s} ORDER BY k LIMIT 5'),
    question('order by others', 'SELECT k, ts FROM {s} ORDER BY ts, k::text OFFSET 3', order=True),
    question('window', 'SELECT k, row_number() OVER (ORDER BY k::text, ts), count(*) OVER () FROM {s}', order=True),
    question('minimum', 'SELECT min(ts), max(ts) FROM {s}', order=True),
    question('minimum of a union', 'SELECT min(ts), max(ts) FROM (SELECT ts FROM {s} UNION ALL SELECT ts FROM click) AS u',
             order=True),
    question('join on the key', 'SELECT k, d.name FROM {s} JOIN dim AS d ON d.id = s.k WHERE d.ad < 4', integer=True),
    question('left join on the key', 'SELECT k, d.name FROM {s} LEFT JOIN dim AS d ON d.id = s.k', integer=True),
    question('full join', 'SELECT count(k), count(d.id) FROM {s} FULL JOIN dim AS d ON d.id = s.k', integer=True),
    question('join by USING', 'SELECT count(*) FROM (SELECT k AS id FROM {s}) AS x JOIN dim USING (id) WHERE id = 5', integer=True),
    question('cross join', 'SELECT count(*) FROM {s}, (SELECT FROM dim LIMIT 3) AS d'),
    question('rescan', 'SELECT id, (SELECT count(*) FROM {s} WHERE odd(k) OR d.ad = 1) FROM dim AS d'),
    question('rescan of any', 'SELECT id FROM dim AS d WHERE d.id + 0 * d.ad <> ALL (SELECT k + d.ad * 0 FROM {s} WHERE k IS NOT NULL)', integer=True),
    question('lateral rescan', 'SELECT d.id, l.n FROM dim AS d, LATERAL (SELECT count(*) AS n FROM {s} WHERE odd(k) OR d.ad = 1) AS l'),
    question('lateral', 'SELECT count(*) FROM {s}, LATERAL (SELECT FROM dim AS d WHERE d.id = s.k OFFSET 0) AS l', integer=True),
    question('exists', 'SELECT count(*) FROM dim AS d WHERE EXISTS (SELECT FROM {s} WHERE s.k = d.id)', integer=True),
    question('not exists', 'SELECT count(*) FROM dim AS d WHERE NOT EXISTS (SELECT FROM {s} WHERE s.k = d.id)', integer=True),
    question('in', 'SELECT count(*) FROM dim WHERE id IN (SELECT k FROM {s})', integer=True),
    question('not in', 'SELECT count(*) FROM dim WHERE id NOT IN (SELECT k FROM {s} WHERE k IS NOT NULL)', integer=True),
    question('in or', 'SELECT count(*) FROM dim WHERE ad = 1 OR id IN (SELECT k FROM {s})', integer=True),
    question('scalar', 'SELECT id, (SELECT count(*) FROM {s}) FROM dim'),
    question('array', 'SELECT cardinality(ARRAY(SELECT k::text FROM {s}))'),
    question('union', 'SELECT k::text FROM {s} UNION SELECT name FROM dim'),
    question('union all', 'SELECT k::text FROM {s} UNION ALL SELECT name FROM dim'),
    question('intersect', 'SELECT k FROM {s} INTERSECT SELECT id FROM dim', integer=True),
    question('except', 'SELECT id FROM dim EXCEPT SELECT k FROM {s}', integer=True),
    question('condition on a union', 'SELECT count(*) FROM (SELECT k::text, ts FROM {s} UNION SELECT name, ts FROM dim) AS u WHERE u.ts > 60',
             order=True),
    question('condition on a union all', 'SELECT count(*) FROM (SELECT k::text, ts FROM {s} UNION ALL SELECT name, ts FROM dim) AS u WHERE u.ts > 60',
             order=True),
    question('condition', 'SELECT k FROM {s} WHERE ts > 60', order=True),
    question('two conditions', 'SELECT k FROM {s} WHERE odd(k) AND dear(ts) AND ad <> 1', order=True),
    question('having', 'SELECT ad, count(*) FROM {s} GROUP BY ad HAVING ad > 1', order=True),
    question('whole row', 'SELECT count(*) FROM {s} WHERE s.* IS DISTINCT FROM NULL AND s::text <> dear(3)::text', order=True),
    question('condition on a join', 'SELECT k, d.name FROM {s} JOIN dim AS d ON d.ts = s.ts', order=True),
    question('condition of a join', 'SELECT k, d.name FROM dim AS d LEFT JOIN {s} ON d.ad = s.ad AND s.ts > 60', order=True),
    question('equality with a constant', 'SELECT k FROM {s} JOIN dim AS d ON d.ts = s.ts WHERE d.ts = 63', order=True),
    question('or of two tables', 'SELECT count(*) FROM {s}, dim AS d WHERE s.ts > 60 AND d.ad = 1 OR s.ts < 20 AND d.ad = 2', order=True),
    question('exists on another', 'SELECT k FROM {s} WHERE EXISTS (SELECT FROM dim AS d WHERE d.ts = s.ts)', order=True),
    question('row in', 'SELECT count(*) FROM dim AS d WHERE (d.ad, 3) IN (SELECT ad, ad FROM {s})', order=True),
    question('condition on a group', 'SELECT count(*) FROM (SELECT ts, count(*) FROM {s} GROUP BY ts) AS g WHERE ts > 60', order=True),
    question('condition on a distinct', 'SELECT count(*) FROM (SELECT DISTINCT k, ts FROM {s}) AS g WHERE ts > 60', order=True),
    question('condition on a distinct on', 'SELECT count(*) FROM (SELECT DISTINCT ON (ts) ts FROM {s} ORDER BY ts) AS g WHERE ts > 60',
             order=True),
    question('condition on a window', 'SELECT count(*) FROM (SELECT ts, count(*) OVER (PARTITION BY ts) FROM {s}) AS g WHERE ts > 60',
             order=True),
    question('condition on a row number', 'SELECT count(*) FROM (SELECT ad, row_number() OVER (ORDER BY k::text, ts) AS r FROM {s}) AS g WHERE r < 7',
             order=True),
    question('condition on its window', 'SELECT count(*) FROM {s} WHERE n <= 10', order=True),
    question('again', 'SELECT count(*) FROM (SELECT bloom_seen(odd(k)) OVER () AS o FROM {s}) AS a WHERE NOT o'),
    question('twice', 'SELECT a.k, b.ts FROM {s}, {t} WHERE s.k = t.k'.replace('a.k', 's.k').replace('b.ts', 't.ts'), order=True),
]

# How a query gets its rows: the text before it, FROM's item {name}, and whether conditions stay outside
WAYS = ['subquery', 'subquery', 'subquery', 'offset', 'with', 'with not materialized', 'view', 'barrier view', 'sql function', 'sql function',
        'plpgsql function']
# What may stand between the rows and the question, and changes nothing
LAYERS = [
    '(SELECT k, ts, ad, n FROM {s})', '(SELECT * FROM {s} ORDER BY ts)', '(SELECT * FROM {s} UNION ALL SELECT * FROM {s} WHERE false)',
    '(SELECT * FROM {s} UNION ALL SELECT NULL, ts, ad, 0 FROM dim WHERE false)',
    '(SELECT NULL AS k, ts, ad, 0 AS n FROM dim WHERE false UNION ALL SELECT * FROM {s})',
    '(SELECT k, ts, ad, n FROM {s} GROUP BY k, ts, ad, n)', '(SELECT DISTINCT * FROM {s})',
    '(SELECT k, ts, ad, n FROM (SELECT *, count(*) OVER (PARTITION BY ts) FROM {s}) AS y)',
    '(SELECT * FROM {s} UNION SELECT * FROM {s})', '(SELECT * FROM {s} EXCEPT ALL SELECT NULL, ts, ad, 0 FROM dim WHERE false)',
    '(SELECT x.* FROM {s} CROSS JOIN (SELECT FROM dim LIMIT 1) AS one)', '(SELECT x.* FROM {s} LEFT JOIN dim AS d ON false)',
    '(SELECT l.* FROM {s}, LATERAL (SELECT x.k, x.ts, x.ad, x.n) AS l)',
]
RUNS = ['plain', 'plain', 'plain', 'prepared', 'cursor', 'scroll', 'table', 'insert', 'copy', 'plpgsql', 'explain', 'dml in with']

SETTINGS = [
    'enable_seqscan', 'enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin',
    'enable_nestloop', 'enable_material', 'enable_hashagg', 'enable_sort', 'enable_incremental_sort', 'enable_gathermerge',
    'enable_parallel_append', 'enable_parallel_hash', 'enable_partition_pruning', 'enable_memoize',
]


# All queries with the settings of parallel plans (--parallel)
parallel = False


def random_settings(numbers):
    settings = {setting: 'off' for setting in SETTINGS if numbers.random() < 0.12}
    settings['work_mem'] = numbers.choice(['64kB', '4MB', '4MB'])
    settings['hash_mem_multiplier'] = numbers.choice(['1', '2'])
    for setting in ('enable_partitionwise_join', 'enable_partitionwise_aggregate'):
        settings[setting] = numbers.choice(['on', 'off'])
    if numbers.random() < 0.4 or parallel:
        settings |= {'parallel_setup_cost': '0', 'parallel_tuple_cost': '0', 'min_parallel_table_scan_size': '0',
                     'min_parallel_index_scan_size': '0', 'parallel_leader_participation': numbers.choice(['on', 'off']),
                     'max_parallel_workers_per_gather': numbers.choice(['1', '2', '4'])}
        # the second name is that of PostgreSQL 15
        if numbers.random() < 0.2:
            settings |= {name: 'on' for name in ('debug_parallel_query', 'force_parallel_mode')}
    if numbers.random() < 0.15:
        settings |= {'from_collapse_limit': '1', 'join_collapse_limit': '1'}
    if numbers.random() < 0.1:
        settings |= {'geqo_threshold': '2'}
    if numbers.random() < 0.03:
        settings |= {'jit': 'on', 'jit_above_cost': '0', 'jit_inline_above_cost': '-1', 'jit_optimize_above_cost': '-1'}
    settings['cursor_tuple_fraction'] = numbers.choice(['0.1', '1'])
    settings['plan_cache_mode'] = numbers.choice(['auto', 'force_generic_plan', 'force_custom_plan'])
    return settings


class Query:
    """One row of each key, and a question."""

    def __str__(self):
        return f'{self.name}, {self.way}, {self.run}'

    def __init__(self, numbers):
        self.source = numbers.choice(SOURCES)
        self.question = numbers.choice(QUESTIONS)
        self.name = self.question.name
        self.key, is_integer = numbers.choice([key for key in KEYS if key[1]] if self.question.integer else KEYS)
        ts = self.ts = 'ts' if self.source.name == 'function' else 's.ts'
        conditions = [c.format(ts=ts) for c in numbers.sample(CONDITIONS, numbers.choice([0, 0, 1, 1, 2]))]
        numbers.shuffle(conditions)
        self.where = f' WHERE {" AND ".join(conditions)}' if conditions else ''
        self.group = numbers.random() < 0.15
        self.has_window = not self.group and numbers.random() < 0.2
        self.ad, self.n = 's.ad', '0'
        if self.group:
            self.where += ' GROUP BY s.id, s.ad, s.few' + numbers.choice(['', ' HAVING count(*) > 1', ' HAVING dear(s.id)'])
            self.ts = f'min({ts})'
        if self.has_window:
            self.n = f'row_number() OVER (ORDER BY {self.ts}, s.id)'
        self.is_ordered = self.question.order or numbers.random() < (0.05 if parallel else 0.3)
        self.direction = numbers.choice(['', ' DESC'])
        self.sized = numbers.choice(['', '', ', 1000, 1e-9'])
        self.limit = numbers.choice([1, 5, 40, 1000]) if self.is_ordered and numbers.random() < 0.2 else None
        self.way = numbers.choice(WAYS)
        self.run = numbers.choice(RUNS)
        self.layers = numbers.sample(LAYERS, numbers.choice([0, 0, 1, 1, 2]))
        self.arm = numbers.choice([''] * 9 + ['UNION', 'UNION ALL', 'EXCEPT ALL'])
        self.settings = random_settings(numbers)

    def rows(self, form):
        """The rows of k, ts, ad and n, perhaps as an arm of a set operation."""
        rows = self.all_rows(form)
        return f'({rows}) {self.arm} SELECT NULL, 0, 0, 0 FROM dim WHERE false' if self.arm else rows

    def all_rows(self, form):
        columns = f'{self.ts} AS ts, {self.ad} AS ad, {self.n} AS n'
        source = f'FROM {self.source.sql}{self.where}'
        limit = f' LIMIT {self.limit}' if self.limit else ''
        order = f' ORDER BY ts{self.direction}, k, ad' if self.limit else ''
        if form != 'plain':
            window = f'ORDER BY {self.ts}{self.direction}, {self.key}, s.ad' if self.is_ordered else ''
            return (f'SELECT k, ts, ad, n FROM (SELECT {self.key} AS k, {columns}, bloom_seen({self.key}{self.sized}) OVER ({window}) AS seen '
                    f'{source}) AS w WHERE NOT seen{order}{limit}')
        return (f'SELECT k, ts, ad, n FROM (WITH m AS MATERIALIZED (SELECT {self.key} AS k, {columns} {source}) '
                f'(SELECT DISTINCT ON (k) k, ts, ad, n FROM m WHERE k IS NOT NULL ORDER BY k, ts{self.direction}, ad) '
                f'UNION ALL SELECT k, ts, ad, n FROM m WHERE k IS NULL) AS r{order}{limit}')

    def statements(self, form):
        """What to do beforehand, and the query."""
        rows = self.rows(form)
        way = 'with' if form == 'plain' else self.way
        before, prefix = [], ''
        item = '{}'
        if way == 'subquery':
            item = f'({rows}) AS {{}}'
        elif way == 'offset':
            item = f'({rows} OFFSET 0) AS {{}}'
        elif way.startswith('with'):
            how = 'MATERIALIZED' if form == 'plain' else 'NOT MATERIALIZED' if way != 'with' else ''
            prefix = f'WITH w AS {how} ({rows}) '
            item = 'w AS {}'
        elif way.endswith('view'):
            before.append(f'CREATE TEMP VIEW v WITH (security_barrier = {"barrier" in way}) AS {rows}')
            item = 'v AS {}'
        else:
            columns = ', '.join(f'{name} {kind}' for name, kind in (('k', '{k}'), ('ts', 'int'), ('ad', 'int'), ('n', '{n}')))
            body = rows if way == 'sql function' else f'BEGIN RETURN QUERY {rows}; END'
            before.append((columns, 'sql STABLE' if way == 'sql function' else 'plpgsql', body))
            item = 'pg_temp.f() AS {}'
        for layer in self.layers:
            item = layer.format(s=item.format('x')) + ' AS {}'
        sql = prefix + self.question.sql.format(s=item.format('s'), t=item.format('t'))
        return before, sql


PARTITIONS = ['', '', '', '', '', '', '', '', 's.ad', 's.few', 's.id % 3', 's.u / 32', 's.u % 2, s.ad']
FRAMES = ['', '', '', '', '', 'ROWS UNBOUNDED PRECEDING', 'RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING', 'ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING',
          'ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW', 'GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES',
          'ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING']
OTHERS = ['row_number()', 'rank()', 'dense_rank()', 'count(*)', 'sum(s.ad)', 'lag(s.ts, 2)', 'first_value(s.id)', 'ntile(4)', 'max(s.few)', 'cume_dist()']
OUTER = ['SELECT * FROM {s}', 'SELECT * FROM {s} WHERE s0', 'SELECT * FROM {s} WHERE NOT s0', 'SELECT * FROM {s} WHERE r <= 10',
         'SELECT * FROM {s} WHERE r <= 40 AND NOT s0', 'SELECT * FROM {s} ORDER BY u LIMIT 7', 'SELECT * FROM {s} ORDER BY s0, u DESC LIMIT 50',
         'SELECT s0, count(*), sum(u) FROM {s} GROUP BY s0', 'SELECT d.id, l.* FROM dim AS d, LATERAL (SELECT * FROM {s} WHERE q.u = d.id) AS l',
         'SELECT id, (SELECT count(*) FROM {s} WHERE NOT s0 AND q.u % 40 <> dim.id) FROM dim', 'SELECT u FROM {s} WHERE NOT s0 EXCEPT SELECT ts FROM click WHERE ad = 1']


class Windows:
    """Calls with windows of every kind, row by row."""

    def __str__(self):
        return f'{self.name}, {self.way}, {self.run}'

    def __init__(self, numbers):
        self.name = 'windows'
        self.way = 'subquery'
        source = numbers.choice(SOURCES)
        ts = 'ts' if source.name == 'function' else 's.ts'
        # a number that is the same in each form, since rows are equal where it could differ
        self.before = f'WITH m AS MATERIALIZED (SELECT {ts} AS ts, s.id, s.ad, s.few, row_number() OVER (ORDER BY {ts}, s.id, s.ad, s.few) AS u FROM {source.sql}) '
        self.rows = 'm AS s'
        if numbers.random() < 0.5:
            table = numbers.choice(['click', 'parts', 'parent', 'click_view', '(SELECT * FROM click UNION ALL SELECT * FROM parts WHERE ts > 400)'])
            self.before, self.rows = '', f'(SELECT ts, id, ad, few, ts AS u FROM {table} AS t) AS s'
        self.calls = []
        for _ in range(numbers.choice([1, 1, 1, 2, 3])):
            order = numbers.choice(['s.u', 's.u', 's.u DESC', 's.ad, s.u', 's.few NULLS FIRST, s.u DESC'])
            self.calls.append((numbers.choice([key for key, _ in KEYS] + MORE_KEYS * 2), numbers.choice(['', ', 1000, 1e-9']),
                               numbers.choice(PARTITIONS), order, numbers.choice(FRAMES), numbers.choice(['{}', '{}', '{}', 'NOT NOT {}', '({} AND s.u > 0)'])))
        self.others = ''
        for i in range(numbers.choice([0, 0, 1, 2])):
            partition = numbers.choice(PARTITIONS)
            self.others += f", {numbers.choice(OTHERS)} OVER ({'PARTITION BY ' + partition if partition else ''} ORDER BY {numbers.choice(['s.u', 's.u DESC', 's.ad, s.u'])}) AS o{i}"
        self.outer = numbers.choice(OUTER)
        self.r = f"row_number() OVER (ORDER BY {numbers.choice(['s.u', 's.u DESC', self.calls[0][3]])})" if ' r ' in self.outer or numbers.random() < 0.2 else '0'
        self.where = numbers.choice(['', '', f' WHERE {numbers.choice(CONDITIONS).format(ts="s.ts")}'])
        self.run = numbers.choice(RUNS)
        self.settings = random_settings(numbers)

    def statements(self, form):
        columns = ''
        for i, (key, sized, partition, order, frame, around) in enumerate(self.calls):
            if form == 'plain':
                also = ', ' + partition if partition else ''
                call = f'(row_number() OVER (PARTITION BY {key}{also} ORDER BY {order}) > 1 AND num_nulls({key}) = 0)'
            else:
                call = f"bloom_seen({key}{sized}) OVER ({'PARTITION BY ' + partition if partition else ''} ORDER BY {order} {frame})"
            columns += f', {around.format(call)} AS s{i}'
        rows = f'(SELECT s.u, s.id, {self.r} AS r{columns}{self.others} FROM {self.rows}{self.where}) AS q'
        return [], self.before + self.outer.format(s=rows)


class Test:
    def __init__(self, database):
        self.connection = psycopg2.connect(dbname=database)
        self.cursor = self.connection.cursor()
        self.cursor.execute("SET client_min_messages = error; SET jit = off; SET statement_timeout = '600s'")
        self.cursor.execute(SCHEMA)
        self.cursor.execute("SELECT name FROM pg_settings")
        self.known = {name for name, in self.cursor.fetchall()}
        self.connection.commit()
        self.asked = collections.Counter()
        self.nodes = collections.Counter()
        self.parallel = collections.Counter()

    def answer(self, query, form):
        """The rows of a query, sorted.  The form is plain, node or windowagg."""
        cursor = self.cursor
        before, sql = query.statements(form)
        run = query.run if form != 'plain' else 'plain'
        self.log = []

        def execute(statement):
            self.log.append(statement)
            cursor.execute(statement)

        try:
            if form != 'plain':
                execute(f"SET LOCAL bloomtype.enable_seen_scan = {'on' if form == 'node' else 'off'}")
                for name, value in query.settings.items():
                    if name in self.known:
                        execute(f'SET LOCAL {name} = {value!r}')
                # Which rows of equal keys come first depends on the workers' speed,
                # so what is evaluated twice may give different ones.
                if any(len(re.findall(what, sql)) > 1 for what in ('bloom_', r'pg_temp\.f\(\)', r'\b[vw] AS [stx]\b')):
                    execute('SET LOCAL max_parallel_workers_per_gather = 0')
            for statement in before:
                if isinstance(statement, tuple):
                    columns, language, body = statement
                    cursor.execute('SELECT pg_typeof(k)::text, pg_typeof(n)::text FROM '
                                   f'(SELECT 1) AS one LEFT JOIN ({query.rows("plain")}) AS r ON true LIMIT 1')
                    k, n = cursor.fetchone()
                    statement = (f'CREATE FUNCTION pg_temp.f() RETURNS TABLE ({columns.format(k=k, n=n)}) LANGUAGE {language} AS '
                                 f'$f$ {"#variable_conflict use_column " if "plpgsql" in language else ""}{body} $f$')
                execute(statement)
            if form != 'plain':
                cursor.execute(f'EXPLAIN (VERBOSE) {sql}')
                plan = str(cursor.fetchall())
                has_node = 'Custom Scan (bloom_seen)' in plan
                self.parallel[query.name] += 'Parallel Custom Scan (bloom_seen)' in plan
                if form == 'windowagg' and has_node:
                    raise Wrong('the node though it is off')
                self.nodes[query.name] += has_node
            if run == 'prepared':
                execute(f'PREPARE p (int) AS SELECT q::text FROM ({sql}) AS q WHERE $1 = 1')
                rows = []
                for _ in range(3):
                    execute('EXECUTE p (1)')
                    again = cursor.fetchall()
                    if rows and sorted(rows, key=str) != sorted(again, key=str):
                        raise Wrong('another answer the second time')
                    rows = again
            elif run in ('cursor', 'scroll'):
                execute(f'DECLARE c {"SCROLL" if run == "scroll" else ""} CURSOR FOR SELECT q::text FROM ({sql}) AS q')
                execute('FETCH 2 FROM c')
                if run == 'scroll':
                    execute('MOVE ABSOLUTE 0 IN c')
                    rows = []
                else:
                    rows = cursor.fetchall()
                execute('FETCH ALL FROM c')
                rows += cursor.fetchall()
            elif run == 'table':
                execute(f'CREATE TEMP TABLE made AS SELECT q::text FROM ({sql}) AS q')
                execute('SELECT q FROM made')
                rows = cursor.fetchall()
            elif run == 'insert':
                execute(f'INSERT INTO target SELECT 1, q::text FROM ({sql}) AS q')
                execute('SELECT answer FROM target')
                rows = cursor.fetchall()
            elif run == 'dml in with':
                execute(f'WITH i AS (INSERT INTO target SELECT 1, q::text FROM ({sql}) AS q RETURNING answer) SELECT answer FROM i')
                rows = cursor.fetchall()
            elif run == 'copy':
                out = io.StringIO()
                self.log.append(f'COPY (SELECT q::text FROM ({sql}) AS q) TO STDOUT')
                cursor.copy_expert(self.log[-1], out)
                rows = [(line.replace('\\\\', '\\'),) for line in out.getvalue().splitlines()]
            elif run == 'plpgsql':
                execute("CREATE FUNCTION pg_temp.g() RETURNS SETOF text LANGUAGE plpgsql AS $g$ BEGIN FOR i IN 1 .. 2 LOOP "
                        f"RETURN QUERY SELECT q::text FROM ({sql}) AS q; END LOOP; END $g$")
                execute('SELECT * FROM pg_temp.g()')
                twice = sorted(cursor.fetchall(), key=str)
                rows = twice[::2]
                if rows != twice[1::2]:
                    raise Wrong('another answer the second time')
            else:
                if run == 'explain':
                    execute(f'EXPLAIN {sql}')
                execute(f'SELECT q::text FROM ({sql}) AS q')
                rows = cursor.fetchall()
            return sorted(rows, key=str)
        except psycopg2.Error as error:
            raise Wrong(f'{form}: {error}') from error
        finally:
            self.connection.rollback()
            cursor.execute('DEALLOCATE ALL')

    def check(self, query):
        expected = self.answer(query, 'plain')
        for form in 'node', 'windowagg':
            rows = self.answer(query, form)
            if rows != expected:
                raise Wrong(f'{form}: {len(rows)} rows instead of {len(expected)}:\n{rows[:5]}\n{expected[:5]}')
        self.asked[query.name] += 1

    def report(self):
        number = 0
        for name in [q.name for q in QUESTIONS] + ['windows']:
            number += 1
            print(f'{"ok" if self.nodes[name] > 0 else "not ok"} {number} - {name}: {self.asked[name]} queries, {self.nodes[name]} with the node')
        number += 1
        nparallel = sum(self.parallel.values())
        print(f'{"ok" if nparallel > 0 else "not ok"} {number} - {nparallel} queries have the node in parallel')
        print(f'1..{number}')
        print(f'# {sum(self.asked.values())} queries, {sum(self.nodes.values())} with the node')
        return 0 if nparallel > 0 and all(self.nodes[q.name] for q in QUESTIONS) else 1


def make_query(test, numbers):
    return (Windows if numbers.random() < (0.05 if parallel else 0.4) else Query)(numbers)


def main():
    global parallel
    parser = queries.arguments(__doc__)
    parser.add_argument('--parallel', action='store_true', help='settings for parallel plans in all queries')
    options = parser.parse_args()
    parallel = options.parallel
    return queries.run(options, 'dedup', Test, make_query, Test.report)


if __name__ == '__main__':
    sys.exit(main())
