#!/usr/bin/python3
"""Random queries with joins that filter, against the same without.

Each query runs twice: with bloomtype_scan.enabled off, which knows, and on.
Both have to give the same rows: those of queries, of cursors that go back and
forth, of prepared statements, of what INSERT, UPDATE, DELETE and MERGE return
and leave behind.  Half of them are planned with filters, which the tests do
whenever they can, whatever it costs.  In a third of the runs filters are forced, in a third they
go through their states in small steps, and in a third all is as for users.

What is counted is not queries, but those whose filters dropped rows: a library
built with -DUSE_ASSERT_CHECKING tells it, for each kind of node that was passed,
type of join, stage.  With --package it need not.

Usage: joins.py [--queries N] [--seed N] [--least N] [--only I] [--keep] [--package]

The server is found as by psql; the test makes a database of its own there, and
drops it.  The same seed and number give the same queries.

Needs Debian's python3-psycopg2.
"""
import collections
import re
import sys

import psycopg2

import queries
from queries import Wrong

SCHEMA = r"""
CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE FUNCTION vol(i int) RETURNS int VOLATILE LANGUAGE plpgsql AS 'BEGIN RETURN i; END';
CREATE FUNCTION fill(t text, n int, m int, nulls float8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('INSERT INTO %s (id, a, b, e, c, v, n, f, g, d, m, u, ci, ts, j)
        SELECT i, %s, %s, %s - %s, %s, ''k'' || %s, ''k'' || %s, %s / 2.0, %s / 2.0, round(%s / 4.0, 2), %s::money, %s, %s,
            timestamptz ''2020-01-01'' + %s * interval ''1 hour'', to_jsonb(%s)
        FROM generate_series(1, %s) AS i', t,
        maybe(nulls, number(m) || '-' || m / 4), maybe(nulls, number(m)), maybe(nulls, number(m * 3)), m,
        maybe(nulls, '''k'' || ' || number(m)), number(m), number(m), number(m), number(m), number(m), number(m),
        maybe(nulls, 'md5(' || number(m) || '::text)::uuid'), '(CASE WHEN random() < 0.5 THEN ''K'' ELSE ''k'' END || ' || number(m) || ')',
        number(m), number(m), n);
END $$;
CREATE FUNCTION number(m int) RETURNS text LANGUAGE sql AS 'SELECT format(''floor(random() * %s)::int'', m)';
CREATE FUNCTION maybe(nulls float8, e text) RETURNS text LANGUAGE sql AS 'SELECT format(''CASE WHEN random() >= %s THEN %s END'', nulls, e)';
SELECT setseed(0.5);
CREATE TABLE t1 (id int NOT NULL, a int, b int, e int, c text, v varchar, n name, f float8, g float4, d numeric, m money, u uuid, ci text COLLATE folded, ts timestamptz, j jsonb);
CREATE TABLE t2 (id int8 NOT NULL, a int8, b int2, e int8, c text, v varchar(20), n name, f float8, g float4, d numeric, m money, u uuid, ci text COLLATE folded, ts timestamptz, j jsonb);
CREATE TABLE t3 (a int2, b int8, g float4, id int2 NOT NULL, c text, e int2, v varchar, n name, f float8, d numeric, m money, u uuid, ci text COLLATE folded, ts timestamptz, j jsonb);
CREATE TABLE t4 (id int PRIMARY KEY, x int, a int, b int, e int8, c text, v varchar, n name, f float8, g float4, d numeric, m money, u uuid, ci text COLLATE folded, ts timestamptz, j jsonb);
ALTER TABLE t4 DROP COLUMN x;
CREATE TABLE t5 (c text, id int8 NOT NULL, a int4, b int2, e int8, v varchar, n name, f float8, g float4, d numeric, m money, u uuid, ci text COLLATE folded, ts timestamptz, j jsonb);
CREATE TABLE t6 (id int NOT NULL, a int8, b int4, e int4, c text, v varchar, n name, f float8, g float4, d numeric, m money, u uuid, ci text COLLATE folded, ts timestamptz, j jsonb);
CREATE TABLE big (LIKE t1);
CREATE TABLE lump (LIKE t1);
CREATE TABLE p (LIKE t1) PARTITION BY HASH (id);
CREATE TABLE p0 PARTITION OF p FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE p1 (j jsonb, ts timestamptz, f float8, g float4, x int, e int, id int NOT NULL, a int, b int, c text, d numeric, m money, u uuid, v varchar, n name, ci text COLLATE folded);
ALTER TABLE p1 DROP COLUMN x;
ALTER TABLE p ATTACH PARTITION p1 FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE p2 PARTITION OF p FOR VALUES WITH (MODULUS 3, REMAINDER 2);
CREATE TABLE pr (LIKE t6) PARTITION BY RANGE (id);
CREATE TABLE pr0 PARTITION OF pr FOR VALUES FROM (0) TO (50);
CREATE TABLE pr1 PARTITION OF pr FOR VALUES FROM (50) TO (100);
CREATE TABLE pr2 PARTITION OF pr DEFAULT;
CREATE TABLE inh (LIKE t1);
CREATE TABLE inh2 (extra int) INHERITS (inh);
-- columns that were added later: older rows do not have them
CREATE TABLE late (k int);
INSERT INTO late SELECT generate_series(1, 50);
ALTER TABLE late ADD id int NOT NULL DEFAULT 5, ADD a int DEFAULT 9, ADD b int, ADD c text, ADD v varchar DEFAULT 'k3', ADD n name, ADD f float8 DEFAULT 0.5, ADD g float4 DEFAULT 1.5,
    ADD d numeric, ADD m money DEFAULT 3, ADD u uuid, ADD e int8 DEFAULT -3, ADD ci text COLLATE folded, ADD ts timestamptz, ADD j jsonb DEFAULT '4';
INSERT INTO late (k, id, a, b, e) SELECT i, i, i % 60, i % 50, i % 40 FROM generate_series(1, 100) AS i;
ALTER TABLE late DROP k;
SELECT fill('t1', 150, 60, .1), fill('t2', 120, 60, .1), fill('t3', 80, 40, .2), fill('t4', 200, 80, .05), fill('t5', 500, 150, .1),
    fill('t6', 600, 300, .1), fill('p', 200, 60, .1), fill('pr', 180, 60, .1), fill('inh', 60, 40, .1), fill('inh2', 60, 40, .1), fill('big', 11000, 5000, .1), fill('lump', 3000, 2000, .1);
-- a value that is common
UPDATE lump SET a = 7, b = 7, e = 7, c = 'k7', f = 3.5 WHERE id % 25 = 0;
-- extremes, and values that narrower types do not have
UPDATE t2 SET a = 9223372036854775807 WHERE id % 41 = 0;
UPDATE t2 SET a = -9223372036854775808 WHERE id % 43 = 0;
UPDATE t2 SET e = 4294967296 + a % 60 WHERE id % 11 = 0 AND a BETWEEN -99 AND 99;
UPDATE t6 SET a = 4294967296 + id % 60 WHERE id % 13 = 0;
UPDATE t6 SET a = -4294967296 + id % 60 WHERE id % 17 = 0;
UPDATE t6 SET b = 2147483647 WHERE id % 97 = 0;
UPDATE t1 SET e = -2147483648, f = '-0' WHERE id % 71 = 0;
UPDATE t1 SET g = 'NaN', f = 'NaN' WHERE id % 61 = 0;
UPDATE t3 SET a = -32768, g = '-0' WHERE id % 31 = 0;
UPDATE t5 SET e = 65536 + a, f = 'NaN' WHERE id % 9 = 0;
-- long keys, in other tables
UPDATE t5 SET c = repeat(c, 1000) WHERE id % 29 = 0;
UPDATE t6 SET v = repeat('k3', 1000) WHERE id % 31 = 0;
UPDATE t4 SET c = repeat(c, 1000) WHERE id % 37 = 0;
CREATE VIEW plain AS SELECT id, a, b, e, c, v, n, f, g, d, m, u, ci, ts, j FROM t1 WHERE a > 2;
-- more rows than the planner thinks
CREATE VIEW misjudged AS SELECT id, a, b, e, c, v, n, f, g, d, m, u, ci, ts, j FROM lump WHERE id * 0 = 0;
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM t4 WHERE b < 60;
CREATE VIEW united AS SELECT id::int8, a::int8, b::int4, e::int8, c, v, n, f, g, d, m, u, ci, ts, j FROM t1 UNION ALL SELECT id, a, b, e, c, v, n, f, g, d, m, u, ci, ts, j FROM t5;
CREATE INDEX ON t1 (a);
CREATE INDEX ON t5 (a);
CREATE INDEX ON t6 (b);
CREATE INDEX ON t2 (id);
ANALYZE;
"""

TABLES = ['t1', 't2', 't3', 't4', 't5', 't6', 'p', 'pr', 'inh', 'late', 'plain', 'barrier', 'united']
CHANGED = ['t1', 't4', 't5', 'p', 'pr']
# columns by families of types that are compared by one operator family; money has no hash functions
FAMILY = dict(id='int', a='int', b='int', e='int', c='text', v='text', n='text', f='float', g='float', d='d', m='m', u='u', ci='ci', ts='ts', j='j')
# Rows that are equal under a collation may differ, so that a query that shows them has several answers.
HIDDEN = ('ci',)

Relation = collections.namedtuple('Relation', 'sql name columns')


class Query:
    """A random query: its text, and how it runs."""

    def __str__(self):
        return f'{self.run}, {self.testing}'

    def __init__(self, numbers, version):
        self.r = numbers
        self.version = version
        self.naliases = 0
        self.ctes = []
        self.testing = self.one('force', 'small', 'off')
        self.spills = self.chance(0.15)     # tables that do not fit into memory
        kind = self.r.random()
        if kind < 0.15:
            self.run, self.sql = 'dml', self.change()
        else:
            self.run = self.r.choices(['plain', 'prepared', 'cursor', 'function', 'explain'], [6, 1, 1, 1, 2])[0]
            self.sql = self.select()
        self.settings = self.random_settings()

    def one(self, *choices):
        return self.r.choice(choices)

    def chance(self, p):
        return self.r.random() < p

    def alias(self):
        self.naliases += 1
        return f'r{self.naliases}'

    def table(self):
        name = self.alias()
        if self.spills and self.chance(0.6):
            table = self.one('lump', 'lump', 'lump', 'misjudged', 'big')
        else:
            table = 'big' if self.chance(0.4 if self.testing == 'off' else 0.04) else self.r.choice(TABLES)
        return Relation(f'{table} AS {name}', name, FAMILY)

    @staticmethod
    def columns(relations, family=None):
        return [(f'{r.name}.{c}', f) for r in relations for c, f in r.columns.items() if family in (None, f)]

    def everything(self, relations):
        """All columns, so that an order has no ties that can be told apart."""
        return ', '.join(x + ' COLLATE "C"' if f == 'ci' else x for x, f in self.columns(relations))

    def pair(self, left, right):
        mine = self.columns(left)
        others = self.columns(right)
        self.r.shuffle(mine)
        if self.chance(0.1):
            mine.sort(key=lambda column: column[1] != 'm')
        for x, family in mine:
            matching = [y for y, f in others if f == family]
            if matching:
                y = self.r.choice(matching)
                if family == 'int' and self.chance(0.08):
                    return f'{x} % 5 = {y} % 5'
                if family == 'int' and self.chance(0.06):
                    return f'{x} / 2 = {y}'
                if family == 'ci' and self.chance(0.3):
                    return f'{x} = {y} COLLATE "C"'
                if family == 'text' and self.chance(0.1):
                    # the server's hash of a name knows no collation: its own hash joins lose rows then
                    names = any(column.endswith('.n') for column in (x, y))
                    return f'{x} = {y} COLLATE ' + ('"C"' if names else 'folded')
                return f'{x} = {y}'
        return 'true'

    def on(self, left, right):
        if self.chance(0.08) and self.columns(left, 'int') and self.columns(right, 'int'):
            return f"{self.r.choice(self.columns(left, 'int'))[0]} + 30.0 < {self.r.choice(self.columns(right, 'int'))[0]}"
        condition = ' AND '.join(self.pair(left, right) for _ in range(self.r.choices([1, 2, 3], [7, 3, 1])[0]))
        ints = [self.columns(rs, 'int') for rs in (left, right)]
        if self.chance(0.12) and all(ints):
            condition += f' AND {self.r.choice(ints[0])[0]} <> {self.r.choice(ints[1])[0]}'
        return condition

    def condition(self, relations):
        ints = [x for x, _ in self.columns(relations, 'int')]
        texts = [x for x, _ in self.columns(relations, 'text')]
        kind = self.r.random()
        if texts and kind < 0.1:
            return f"{self.r.choice(texts)} LIKE 'k%{self.r.randint(0, 9)}'"
        if not ints:
            return 'true'
        x = self.r.choice(ints)
        if kind < 0.5:
            return f"{x} {self.one('<', '>', '<=', '>=', '<>')} {self.one(1, 3, 5, 10, 20, 50, 100, 300)}"
        if kind < 0.6:
            return f'{x} % {self.one(2, 3, 7)} = {self.one(0, 1)}'
        if kind < 0.68:
            return f"{x} IS {self.one('', 'NOT ')}NULL"
        if kind < 0.75:
            return f"{x} IN ({', '.join(str(self.r.randint(0, 60)) for _ in range(self.r.randint(1, 8)))})"
        if kind < 0.78:
            return f'vol(1) = 1'
        if kind < 0.81:
            return f'{x} >= (SELECT min(id) FROM t3)'
        return f'{x} BETWEEN {self.r.randint(0, 20)} AND {self.r.randint(10, 200)}'

    def shown(self, relations, n):
        found = {}
        columns = self.columns(relations)
        self.r.shuffle(columns)
        for x, family in columns:
            name = x.split('.')[1]
            if family not in HIDDEN and name not in found and len(found) < n:
                found[name] = (x, family)
        return [(x, name, family) for name, (x, family) in found.items()]

    def subquery(self, depth, outer):
        name = self.alias()
        kind = self.one('plain', 'plain', 'group', 'group', 'distinct', 'limit', 'window', 'union', 'union', 'with', 'distinct on', 'volatile', 'series', 'offset')
        source, relations = self.tree(depth - 1, outer)
        shown = self.shown(relations, self.r.randint(2, 6))
        where = ' WHERE ' + self.condition(relations) if self.chance(0.5) else ''
        if outer and self.chance(0.7):
            where += (' AND ' if where else ' WHERE ') + self.on(outer, relations)
        targets = ', '.join(f'{x} AS {c}' for x, c, _ in shown)
        columns = {c: f for _, c, f in shown}
        sql = f'SELECT {targets} FROM {source}{where}'
        if kind == 'group':
            keys = shown[:self.r.randint(1, 2)]
            other = self.r.choice([x for x, _ in self.columns(relations, 'int')] or ['1'])
            sql = (f"SELECT {', '.join(f'{x} AS {c}' for x, c, _ in keys)}, count(*) AS cnt, {self.one('max', 'min', 'sum', 'count')}({other}) AS mx "
                   f"FROM {source}{where} GROUP BY {', '.join(x for x, _, _ in keys)}{self.one('', '', ' HAVING count(*) > 1')}")
            columns = {c: f for _, c, f in keys}
            columns['cnt'] = 'int'
        elif kind == 'distinct':
            sql = f'SELECT DISTINCT {targets} FROM {source}{where}'
        elif kind == 'limit':
            sql += f' ORDER BY {self.everything(relations)} LIMIT {self.one(1, 3, 10, 50)} OFFSET {self.one(0, 0, 2)}'
        elif kind == 'window':
            sql = f'SELECT {targets}, row_number() OVER (PARTITION BY {shown[0][0]} ORDER BY {self.everything(relations)}) AS rn FROM {source}{where}'
            columns['rn'] = 'int'
        elif kind == 'union':
            second, others = self.tree(0)
            theirs = [[y for y, f in self.columns(others) if f == family] for _, _, family in shown]
            if all(theirs):
                operation = self.one('UNION ALL', 'UNION ALL', 'UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT')
                sql += f" {operation} SELECT {', '.join(f'{self.r.choice(ys)} AS {c}' for ys, (_, c, _) in zip(theirs, shown))} FROM {second} WHERE {self.condition(others)}"
        elif kind == 'with' and not outer:
            cte = self.alias()
            self.ctes.append(f"{cte} AS {self.one('', 'MATERIALIZED ', 'NOT MATERIALIZED ')}({sql})")
            return Relation(f'{cte} AS {name}', name, columns)
        elif kind == 'distinct on':
            sql = f'SELECT DISTINCT ON ({shown[0][0]}) {targets} FROM {source}{where} ORDER BY {shown[0][0]}, {self.everything(relations)}'
        elif kind == 'volatile':
            sql = f'SELECT {targets}, vol(1) AS one FROM {source}{where}'
            columns['one'] = 'int'
        elif kind == 'series':
            sql = f'SELECT {targets}, generate_series(1, 2) AS g2 FROM {source}{where}'
            columns['g2'] = 'int'
        elif kind == 'offset':
            sql += ' OFFSET 0'
        return Relation(f"{'LATERAL ' if outer else ''}({sql}) AS {name}", name, columns)

    def relation(self, depth, outer=None):
        if depth > 0 and self.chance(0.4):
            return self.subquery(depth, outer if outer and self.chance(0.5) else None)
        return self.table()

    def tree(self, depth, outer=None):
        """The text of some joins, and their relations."""
        n = self.r.choices([1, 2, 3, 4], [3, 6, 4, 1])[0] if depth > 0 else self.r.choices([1, 2], [2, 1])[0]
        first = self.relation(depth, outer)
        sql, relations = first.sql, [first]
        for _ in range(n - 1):
            join = self.r.choices(['JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'], [12, 5, 4, 1])[0]
            if depth > 0 and self.chance(0.2):
                other, others = self.tree(depth - 1)
                if ' JOIN ' in other:
                    other = f'({other})'
            else:
                one = self.relation(depth, relations if join in ('JOIN', 'LEFT JOIN') and self.chance(0.3) else None)
                other, others = one.sql, [one]
            on = self.pair(relations, others) if join == 'FULL JOIN' else self.on(relations, others)
            sql = f'{sql} {join} {other} ON {on}'
            relations = relations + others
        return sql, relations

    def select(self):
        source, relations = self.tree(2)
        where = [self.condition(relations) for _ in range(self.r.choices([0, 1, 2], [3, 4, 2])[0])]
        for _ in range(self.r.choices([0, 1, 2], [4, 3, 1])[0]):
            inner, others = self.tree(1)
            if self.chance(0.5):
                where.append(f"{self.one('', '', 'NOT ')}EXISTS (SELECT FROM {inner} WHERE {self.on(relations, others)}"
                             f"{' AND ' + self.condition(others) if self.chance(0.5) else ''})")
            else:
                x, family = self.r.choice(self.columns(relations))
                matching = [y for y, f in self.columns(others) if f == family]
                if matching:
                    where.append(f"{x} {self.one('', '', '', 'NOT ')}IN (SELECT {self.r.choice(matching)} FROM {inner} WHERE {self.condition(others)})")
        where = ' WHERE ' + ' AND '.join(where) if where else ''
        shown = self.shown(relations, self.r.randint(1, 5))
        targets = ', '.join(x for x, _, _ in shown)
        kind = self.r.random()
        if kind < 0.25:
            sql = f"SELECT count(*), {', '.join(f'count({x}), min({x}::text COLLATE {chr(34)}C{chr(34)})' for x, _, _ in shown[:2])} FROM {source}{where}"
        elif kind < 0.4:
            sql = f'SELECT {targets}, count(*) FROM {source}{where} GROUP BY {targets}'
        else:
            if self.chance(0.15):
                inner, others = self.tree(1)
                targets += f', (SELECT count(*) FROM {inner} WHERE {self.on(relations, others)})'
            sql = f'SELECT {targets} FROM {source}{where}'
            if kind < 0.5:
                sql += f' ORDER BY {self.everything(relations)} LIMIT {self.one(1, 5, 30)}'
        return ('WITH ' + ', '.join(self.ctes) + ' ' if self.ctes else '') + sql

    def change(self):
        table = self.r.choice(CHANGED)
        name = self.alias()
        target = Relation(table, name, FAMILY)
        source, relations = self.tree(1)
        self.target = table
        kind = self.r.random()
        if kind < 0.35:
            return (f'UPDATE {table} AS {name} SET f = {name}.f + 1 FROM {source} '
                    f'WHERE {self.on([target], relations)} AND {self.condition([target] + relations)} RETURNING {name}.id')
        if kind < 0.6:
            return f'DELETE FROM {table} AS {name} USING {source} WHERE {self.on([target], relations)} AND {self.condition([target] + relations)} RETURNING {name}.id'
        key = self.r.choice([x for x, _ in self.columns(relations, 'int')] or ['1'])
        sql = (f"MERGE INTO {table} AS {name} USING (SELECT {key} AS k, count(*) AS n FROM {source} GROUP BY 1) AS s ON {name}.{self.one('a', 'b', 'id')} = s.k "
               f"WHEN MATCHED THEN {self.one('DELETE', 'UPDATE SET f = 77')} ")
        if self.chance(0.5):
            sql += 'WHEN NOT MATCHED THEN DO NOTHING '
        if self.version >= 170000 and self.chance(0.6):
            sql += f"WHEN NOT MATCHED BY SOURCE THEN {self.one('DELETE', 'UPDATE SET f = 78')}"
        return sql

    def random_settings(self):
        settings = [f"{name} = {'on' if self.chance(p) else 'off'}" for name, p in (
            ('enable_nestloop', 0.4), ('enable_mergejoin', 0.35), ('enable_hashjoin', 0.97), ('enable_material', 0.7), ('enable_sort', 0.9),
            ('enable_hashagg', 0.6), ('enable_memoize', 0.7), ('enable_indexscan', 0.6), ('enable_bitmapscan', 0.6), ('enable_indexonlyscan', 0.7),
            ('enable_parallel_hash', 0.6), ('enable_partitionwise_join', 0.4), ('enable_partitionwise_aggregate', 0.4), ('jit', 0.05))]
        settings += [f"work_mem = '{'64kB' if self.spills else self.one('64kB', '4MB', '4MB', '256kB')}'", f'hash_mem_multiplier = {1 if self.spills else self.one(1, 2)}', f'join_collapse_limit = {self.one(1, 8)}', f'from_collapse_limit = {self.one(1, 8)}',
                     f"cursor_tuple_fraction = {self.one('0.1', '1')}", 'jit_above_cost = 0', f"bloomtype_scan.plan = {self.one('on', 'off')}",
                     f"geqo_threshold = {self.one(2, 12)}"]
        self.parallel = self.chance(0.3)
        if self.parallel:
            settings += ['max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0',
                         'min_parallel_index_scan_size = 0', f"parallel_leader_participation = {self.one('on', 'on', 'off')}"]
        else:
            settings += ['max_parallel_workers_per_gather = 0']
        return settings


FETCHES = ['FETCH 3', 'FETCH FIRST', 'FETCH 10', 'FETCH BACKWARD 4', 'FETCH ABSOLUTE 2', 'MOVE LAST', 'FETCH BACKWARD 5', 'MOVE ABSOLUTE 0', 'FETCH ALL']


class Notices:
    """Those of the server that are about filters; psycopg2 would keep the last 50 of all."""

    def __init__(self):
        self.lines = []

    def append(self, line):
        if 'bloomtype_scan:' in line:
            self.lines.append(dict(p.split('=') for p in line.split('bloomtype_scan:')[1].split()))


def text(row):
    """Of a row; 0 and -0 are equal, and either may stand for a group."""
    return re.sub(r'-0(\.0)?(?![.\d])', r'0\1', repr(row))


class Test:
    def __init__(self, database):
        self.connection = queries.connect(database)
        self.notices = self.connection.notices = Notices()
        self.cursor = self.connection.cursor()
        self.cursor.execute(SCHEMA)
        self.cursor.execute("LOAD 'bloomtype_scan'")
        self.cursor.execute("SET client_min_messages = debug1; SET plan_cache_mode = force_generic_plan")
        self.version = self.connection.server_version
        if self.version < 180000:
            JOINS[6] = 'RIGHT ANTI'
        self.counts = collections.Counter()
        self.log = []

    def execute(self, sql):
        self.log.append(sql)
        self.cursor.execute(sql)

    def surely(self, sql):
        """Also on a machine that is so busy that this takes as long as a query may."""
        while True:
            try:
                return self.execute(sql)
            except psycopg2.errors.QueryCanceled:
                pass

    def rows(self, sql):
        self.execute(sql)
        return self.cursor.fetchall() if self.cursor.description else [(self.cursor.statusmessage,)]

    def answer(self, query, enabled, explain=False):
        """The results of the query, a list of lists of rows; or the error, a text."""
        self.log.clear()
        for setting in query.settings + [f"bloomtype_scan.testing = {query.testing}", f"bloomtype_scan.enabled = {'on' if enabled else 'off'}"]:
            self.execute(f'SET {setting}')
        self.execute("SET statement_timeout = '1s'")
        try:
            if explain:
                found = self.rows(f'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) {query.sql}')
                self.removed = sum(int(n) for n in re.findall(r"'Rows Removed by Bloom Filter': (\d+)", str(found)))
                self.counts['planned with filters'] += 'Planned With Filters' in str(found)
                return []
            if query.run == 'prepared':
                self.execute(f'PREPARE q AS {query.sql}')
                return [self.rows('EXECUTE q'), self.rows('EXECUTE q')]
            if query.run == 'function':
                self.execute(f'CREATE OR REPLACE FUNCTION pg_temp.g() RETURNS SETOF text LANGUAGE plpgsql AS $g$ BEGIN FOR i IN 1 .. 2 LOOP '
                             f'RETURN QUERY SELECT q::text FROM ({query.sql}) AS q; END LOOP; END $g$')
                return [self.rows('SELECT * FROM pg_temp.g()')]
            if query.run == 'cursor':
                self.execute('BEGIN')
                self.execute(f'DECLARE c SCROLL CURSOR FOR {query.sql}')
                fetched = [self.rows(f'{fetch} FROM c' if 'MOVE' not in fetch else f'{fetch} IN c') for fetch in FETCHES]
                self.execute('CLOSE c')
                return fetched
            if query.run == 'dml':
                self.execute('BEGIN')
                return [self.rows(query.sql), [(self.cursor.rowcount,)], self.rows(f'SELECT id, f, tableoid FROM {query.target}')]
            return [self.rows(query.sql)]
        except psycopg2.Error as error:
            return f'{error.pgcode} {str(error).splitlines()[0]}'
        finally:
            self.surely('ROLLBACK' if query.run in ('cursor', 'dml') else 'DEALLOCATE ALL')
            self.surely('SET statement_timeout = 0')

    def check(self, query):
        expected = self.answer(query, False)
        if isinstance(expected, str) and expected.startswith('57014'):
            self.counts['too slow'] += 1
            return
        self.notices.lines.clear()
        self.removed = 0
        if query.run == 'explain':
            broken = self.answer(query, True, explain=True)
            if isinstance(broken, str) and not isinstance(expected, str):
                if broken.startswith('57014'):
                    self.counts['too slow'] += 1
                    return
                raise Wrong(broken)
            self.count(query)
            self.notices.lines.clear()
        found = self.answer(query, True)
        if isinstance(found, str) and found.startswith('57014'):
            self.counts['too slow'] += 1
            return
        self.count(query)
        if isinstance(expected, str) or isinstance(found, str):
            same = expected == found
            self.counts['errors'] += 1
        elif query.run == 'cursor' and expected[-1] == found[-1]:
            same = expected == found
        else:
            if query.run == 'cursor':       # in another order: the last one has them all
                expected, found = expected[-1:], found[-1:]
                self.counts['cursors in another order'] += 1
            same = [sorted(map(text, rows)) for rows in expected] == [sorted(map(text, rows)) for rows in found]
        if not same:
            raise Wrong(f'off: {str(expected)[:400]}\non:  {str(found)[:400]}')

    def count(self, query):
        kinds = set()
        for line in self.notices.lines:
            if int(line['rejected']) == 0:
                continue
            kinds.add(JOINS.get(int(line['join']), 'other'))
            kinds |= {name for bit, name in PASSED.items() if int(line['passed']) & bit}
            kinds |= {name for bit, name in STAGES.items() if int(line['stages']) & bit}
            if line['trusted'] == '0':
                kinds.add('not trusted')
            kinds |= {name for key, name in STEPS.items() if int(line[key]) > 0}
            if int(line['paged']) > 0:
                kinds |= {name for bit, name in SEEN.items() if int(line['seen']) & bit}
                if int(line['passed']) & 1:
                    kinds.add('by page, below Append')
            if int(line['bitmap']) > 0:
                kinds.add('bitmap')
            if int(line['made']) > int(line['bitmap']):
                kinds.add('Bloom filter')
            kinds |= {name for name in BATCHES if int(line[name.split()[0]]) > 0}
            if int(line['again']) > 0:
                kinds.add('made again')
                if int(line['passed']) & 1:
                    kinds.add('made again, below Append')
            if line['worker'] == '1':
                kinds.add('in a worker')
            if line['shared'] == '1':
                kinds.add('Parallel Hash')
            kinds.add(f'rows dropped: {query.run}, {query.testing}')
        if self.removed:
            kinds.add('rows dropped: EXPLAIN ANALYZE')
            if query.testing == 'off':
                kinds.add('rows dropped, as for users')
        self.counts.update(kinds)
        self.counts['queries that dropped rows'] += any(k.startswith('rows dropped') for k in kinds)


JOINS = {0: 'INNER', 1: 'LEFT', 2: 'FULL', 3: 'RIGHT', 4: 'SEMI', 5: 'ANTI', 6: 'RIGHT SEMI', 7: 'RIGHT ANTI'}
PASSED = {1: 'below Append', 2: 'below Subquery Scan', 4: 'below Nested Loop', 8: 'below Merge Join', 16: 'below Hash Join'}
STAGES = {2: 'tested by page', 4: 'tested in slots', 8: 'tested behind the condition, or the child'}
STEPS = {'asked': 'the table was asked', 'rests': 'rested'}
BATCHES = ['spilled', 'grown to more batches', 'skewed']
SEEN = {1: 'by page, fixed offset', 2: 'by page, nulls behind', 4: 'by page, read by the server', 8: 'by page, older than the column'}
WANTED = ['INNER', 'SEMI', 'RIGHT', *list(PASSED.values()), *list(STAGES.values()), 'not trusted', *list(STEPS.values()), 'made again',
          'made again, below Append', *list(SEEN.values()), 'by page, below Append', 'bitmap', 'Bloom filter', *BATCHES, 'in a worker', 'Parallel Hash', 'rows dropped, as for users', 'rows dropped: EXPLAIN ANALYZE', 'planned with filters']


def report(test, options):
    if options.package:
        return queries.report([], test.counts, options)
    wanted = WANTED + ['RIGHT ANTI'] * (test.version >= 160000) + ['RIGHT SEMI'] * (test.version >= 180000)
    print(f"# {options.queries} queries, {test.counts['queries that dropped rows']} dropped rows")
    return queries.report(wanted, test.counts, options)


def main():
    parser = queries.arguments(__doc__)
    parser.add_argument('--least', type=int, default=1, help='queries of each kind that must have dropped rows')
    parser.add_argument('--package', action='store_true', help='the library reports nothing: compare answers')
    options = parser.parse_args()
    return queries.run(options, 'joins', Test, lambda test, numbers: Query(numbers, test.version),
                       lambda test: report(test, options))


if __name__ == '__main__':
    sys.exit(main())
