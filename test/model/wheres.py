#!/usr/bin/python3
"""Random queries with filter @> key in their conditions, tested by pages, against the same by rows.

As joins.py, whose tables and queries these are, with conditions that test filters: of every
form and key type, null, of other key types (an error, or numbers that are compared), and from
wherever a filter can come.  Each query runs with bloomtype_scan.enabled off, which knows, and on.

Usage: wheres.py [--queries N] [--seed N] [--least N] [--only I] [--keep] [--package]

Needs Debian's python3-psycopg2.
"""
import re
import sys

import psycopg2

import joins
import queries

SCHEMA = joins.SCHEMA + r"""
CREATE EXTENSION bloomtype;
CREATE TABLE filters (id text PRIMARY KEY, n int, f bloom);
CREATE FUNCTION pick(family text, p float8, rate float8 DEFAULT 0.01) RETURNS bloom LANGUAGE plpgsql AS $$
DECLARE
    result bloom;
BEGIN
    EXECUTE format('SELECT bloom_agg(k, %1$s) FROM (SELECT DISTINCT k FROM (SELECT %2$I AS k FROM t1 UNION ALL SELECT %2$I FROM t5 UNION ALL SELECT %2$I FROM big) AS s ORDER BY k) AS s WHERE random() < %3$s',
        rate, family, p) INTO result;
    RETURN result;
END $$;
INSERT INTO filters SELECT f || '_' || p, row_number() OVER (), CASE f WHEN 'ci' THEN NULL ELSE pick(f, p) END FROM unnest('{a,b,c,f,d,u,ts}'::text[]) AS f, unnest('{0.1,0.5,1}'::float8[]) AS p;
-- keys form: few keys in much room; what is stored in parts; what is computed
INSERT INTO filters SELECT 'a_keys', 100, bloom_agg(a, 1000000, 0.01) FROM t5;
INSERT INTO filters SELECT 'a_listed', 101, bloom_agg(i, 10000000, 0.01) FROM generate_series(1, 20000, 3) AS i;
INSERT INTO filters SELECT 'a_large', 102, bloom_agg(i, 500000, 0.01) FROM generate_series(1, 300000, 3) AS i;
INSERT INTO filters SELECT 'a_rough', 103, bloom_agg(a, 0.3) FROM big;
INSERT INTO filters SELECT 'a_seeded', 104, bloom_add_all(bloom_empty(1000, 0.01, 42), array_agg(a)) FROM t1;
INSERT INTO filters SELECT 'a_wide', 105, bloom_agg(a::int8) FROM t2;
INSERT INTO filters VALUES ('none', 110, bloom_empty(100)), ('null', 111, NULL), ('no_shape', 112, (SELECT bloom_agg(1) WHERE false)),
    ('a_packed', 113, bloom_add(bloom_empty(100000), 7)), ('array', 114, bloom_add(bloom_empty(10), ARRAY[1]));
CREATE TABLE counted (id text PRIMARY KEY, f counting_bloom);
INSERT INTO counted SELECT 'a_half', counting_bloom_agg(a, 10000, 0.01) FROM t5 WHERE a % 2 = 0;
INSERT INTO counted SELECT 'c_half', counting_bloom_agg(c, 500, 0.01) FROM t5 WHERE a % 2 = 0;
ALTER TABLE t1 ADD o oid, ADD dt date, ADD tm time, ADD bo bool, ADD by bytea;
UPDATE t1 SET o = id, dt = date '2020-01-01' + a, tm = time '00:00' + a * interval '1 minute', bo = a % 2 = 0, by = c::bytea;
INSERT INTO filters SELECT 'o_half', 120, bloom_agg(o) FROM t1 WHERE id % 2 = 0;
INSERT INTO filters SELECT 'dt_half', 121, bloom_agg(dt) FROM t1 WHERE id % 2 = 0;
INSERT INTO filters SELECT 'tm_half', 122, bloom_agg(tm) FROM t1 WHERE id % 2 = 0;
INSERT INTO filters SELECT 'bo_half', 123, bloom_agg(bo) FROM t1 WHERE bo;
INSERT INTO filters SELECT 'by_half', 124, bloom_agg(by) FROM t1 WHERE id % 2 = 0;
CREATE VIEW hidden WITH (security_barrier) AS SELECT * FROM t5 WHERE id % 3 <> 0 AND a < 100;
CREATE TABLE nothing (LIKE t1);
CREATE TABLE dead (LIKE t6);
INSERT INTO dead SELECT * FROM t6;
DELETE FROM dead WHERE id % 3 = 0;
UPDATE dead SET f = f + 1 WHERE id % 5 = 0;
CREATE DOMAIN small_int AS int CHECK (VALUE > -100000);
CREATE TABLE domains (id small_int, a small_int, b int, e int, c text, v varchar, n name, f float8, g float4, d numeric, m money, u uuid, ci text COLLATE folded, ts timestamptz, j jsonb);
INSERT INTO domains SELECT id, a, b, e, c, v, n, f, g, d, m, u, ci, ts, j FROM t1;
ANALYZE;
"""

TABLES = ['hidden', 'dead', 'domains', 'nothing', 'big']
FILTERS = {
    'int': ['a_0.1', 'a_0.5', 'a_1', 'b_0.1', 'b_0.5', 'a_keys', 'a_listed', 'a_large', 'a_rough', 'a_seeded', 'a_wide', 'none', 'no_shape', 'a_packed'],
    'text': ['c_0.1', 'c_0.5', 'c_1'], 'float': ['f_0.1', 'f_0.5'], 'd': ['d_0.1', 'd_0.5'], 'u': ['u_0.1', 'u_0.5'], 'ts': ['ts_0.1', 'ts_0.5'],
}
ONLY_T1 = {'o': 'o_half', 'dt': 'dt_half', 'tm': 'tm_half', 'bo': 'bo_half', 'by': 'by_half'}


class Query(joins.Query):
    def random_settings(self):
        # conditions here can fail, and another order of joins asks them of other rows
        return super().random_settings() + ['bloomtype_scan.plan = off']

    def table(self):
        if self.chance(0.3):
            name = self.alias()
            table = self.r.choice(TABLES)
            return joins.Relation(f'{table} AS {name}', name, joins.FAMILY)
        return super().table()

    def filter_of(self, family):
        """The text of a filter, and whether it is a counting one."""
        kind = self.r.random()
        if kind < 0.02:
            return "(SELECT f FROM filters WHERE id = 'null')"
        if kind < 0.04 and family in ('int', 'text'):
            return f"(SELECT f FROM counted WHERE id = '{'a' if family == 'int' else 'c'}_half')"
        if kind < 0.055:
            return '(SELECT f FROM filters WHERE n > 50)'           # several rows: an error, where it is needed
        if kind < 0.07:
            family = self.one('int', 'text', 'd', 'float')
        name = self.r.choice(FILTERS.get(family, FILTERS['int']))
        stored = f"(SELECT f FROM filters WHERE id = '{name}')"
        if kind < 0.5:
            return stored
        if kind < 0.6:
            return f"(SELECT bloom_union_agg(f) FROM filters WHERE id = '{name}')"
        if kind < 0.66 and family == 'int':
            return f"(SELECT bloom_agg({self.one('a', 'b')}{self.one('', '::numeric', ', 1000, 0.01', ', 1000000, 0.01')}) FROM {self.one('t1', 't2', 't3')} WHERE id % {self.one(1, 2, 3)} = 0)"
        if kind < 0.75:
            self.constants = True
            return f'\x01{name}\x01'
        if kind < 0.88:
            self.external.append(name)
            return f'\x02{len(self.external)}\x02'
        return f"\x03{name}\x03"

    def condition(self, relations):
        if self.r.random() < 0.4:
            return super().condition(relations)
        columns = [(x, f) for x, f in self.columns(relations) if f in FILTERS and not x.endswith('.n')]
        if not columns:
            return super().condition(relations)
        x, family = self.r.choice(columns)
        filter = self.filter_of(family)
        if '\x03' in filter:            # one of another row
            filter = f"(SELECT f FROM filters WHERE n = 1 + {x.split('.')[0]}.id % 3)" if self.chance(0.3) else filter.replace('\x03', '\x01')
        if self.chance(0.05):
            filter = f'NOT {filter}'
        both = self.r.random()
        test = f'{filter} @> {x}' if both < 0.6 else f'{x} <@ {filter}' if both < 0.8 and 'NOT' not in filter else f"{filter.replace('NOT ', '')} @> {x}"
        if self.chance(0.06):
            test = f'({test} OR {super().condition(relations)})'
        if self.chance(0.3):
            test += ' AND ' + super().condition(relations)
        return test

    def one_table(self):
        relation = self.table()
        tests = ' AND '.join(self.condition([relation]) for _ in range(self.one(1, 1, 1, 2, 3)))
        if relation.sql.startswith('t1 ') and self.chance(0.6):
            column = self.r.choice(list(ONLY_T1))
            tests += f" AND (SELECT f FROM filters WHERE id = '{ONLY_T1[column]}') @> {relation.name}.{column}"
        shown = ', '.join(f'{relation.name}.{c}' for c in self.r.sample(['id', 'a', 'b', 'c', 'f', 'd', 'u', 'v'], self.r.randint(1, 4)))
        kind = self.r.random()
        if kind < 0.25:
            return f'SELECT count(*), count({relation.name}.a), min({relation.name}.c COLLATE "C") FROM {relation.sql} WHERE {tests}'
        sql = f'SELECT {shown} FROM {relation.sql} WHERE {tests}'
        if kind < 0.35:
            return f"SELECT id, (SELECT count(*) FROM (SELECT 1 FROM {relation.sql} WHERE q.f @> {relation.name}.a AND {relation.name}.id < 100 OFFSET 0) AS s) FROM filters AS q WHERE id IN ('a_0.1', 'a_large', 'null', 'none', 'a_listed', 'b_0.5')"
        if kind < 0.42:
            return f"SELECT q.id, s.* FROM filters AS q, LATERAL (SELECT {shown} FROM {relation.sql} WHERE q.f @> {relation.name}.a AND {tests} OFFSET 0) AS s WHERE q.id LIKE 'a%'"
        if kind < 0.5:
            return f'SELECT EXISTS ({sql}), (SELECT count(*) FROM ({sql}) AS s)'
        if kind < 0.55 and relation.sql.split()[0] in ('t1', 't4', 'big', 'dead'):
            return f'{sql} FOR UPDATE'
        if kind < 0.62:
            return f"{sql} ORDER BY {self.everything([relation])} LIMIT {self.one(1, 5, 30)}"
        if kind < 0.66:
            return f'SELECT count(*) FROM ({sql} LIMIT {self.one(1, 5, 30)}) AS s'
        return sql

    def select(self):
        return self.one_table() if self.chance(0.7) else super().select()

    def change(self):
        if self.chance(0.3):
            return super().change()
        table = self.r.choice(joins.CHANGED)
        name = self.alias()
        self.target = table
        tests = self.condition([joins.Relation(table, name, joins.FAMILY)])
        if self.chance(0.5):
            return f'UPDATE {table} AS {name} SET f = {name}.f + 1, a = {name}.a + 1 WHERE {tests} RETURNING {name}.id'
        return f'DELETE FROM {table} AS {name} WHERE {tests} RETURNING {name}.id'

    def __init__(self, numbers, version):
        self.external = []
        self.constants = False
        super().__init__(numbers, version)
        if self.external and self.run != 'prepared':        # as constants, then
            for i, name in enumerate(self.external, 1):
                self.sql = self.sql.replace(f'\x02{i}\x02', f'\x01{name}\x01')


class Notices:
    def __init__(self):
        self.lines = []

    def append(self, line):
        if 'bloomtype_where:' in line:
            self.lines.append(dict(p.split('=') for p in line.split('bloomtype_where:')[1].split()))


class Test(joins.Test):
    def __init__(self, database):
        joins.SCHEMA = SCHEMA
        super().__init__(database)
        self.notices = self.connection.notices = Notices()
        self.cursor.execute("SELECT id, f FROM filters")
        self.filters = dict(self.cursor.fetchall())

    def answer(self, query, enabled, explain=False):
        sql = query.sql
        query.sql = re.sub('\x01(.*?)\x01', lambda m: f"'{self.filters[m[1]]}'::bloom", sql)
        try:
            if '\x02' in query.sql and query.run == 'prepared' and not explain:
                return self.external_answer(query, enabled)
            return super().answer(query, enabled, explain)
        finally:
            query.sql = sql

    def external_answer(self, query, enabled):
        """With parameters: a generic plan has them as such."""
        for setting in query.settings + [f"bloomtype_scan.testing = {query.testing}", f"bloomtype_scan.enabled = {'on' if enabled else 'off'}"]:
            self.execute(f'SET {setting}')
        self.execute("SET statement_timeout = '1s'")
        try:
            names = query.external
            self.execute(f"PREPARE q({', '.join('bloom' for _ in names)}) AS " + re.sub('\x02(\\d+)\x02', r'$\1', query.sql))
            call = ', '.join(f"'{self.filters[name]}'" for name in names)
            nulls = ', '.join('NULL' for _ in names)
            others = ', '.join(f"'{self.filters['a_0.5']}'" for _ in names)
            return [self.rows(f'EXECUTE q({call})'), self.rows(f'EXECUTE q({nulls})'), self.rows(f'EXECUTE q({others})')]
        except psycopg2.Error as error:
            return f'{error.pgcode} {str(error).splitlines()[0]}'
        finally:
            self.surely('DEALLOCATE ALL')
            self.surely('SET statement_timeout = 0')

    def count(self, query):
        kinds = set()
        for line in self.notices.lines:
            pages, dropped = int(line['pages']), int(line['dropped'])
            kinds.add('a node')
            if int(line['not']) > 0:
                kinds.add('a page by rows')
            if int(line['not']) > 0 and pages > 0:
                kinds.add('by rows, then by pages')
            if dropped == 0:
                continue
            kinds.add('rows dropped')
            kinds.add(f'rows dropped: {query.run}, {query.testing}')
            kinds.add(f"type {line['type']}")
            kinds |= {name for bit, name in KINDS.items() if int(line['kinds']) & bit}
            kinds |= {name for bit, name in READ.items() if int(line['seen']) & bit}
            if int(line['tests']) > 1:
                kinds.add('two tests')
            if line['rest'] == '1':
                kinds.add('with other conditions')
            if int(line['rests']) > 0:
                kinds.add('rested')
            if int(line['backward']) > 0:
                kinds.add('backward')
            if int(line['rescans']) > 0:
                kinds.add('scanned again')
            if int(line['joined']) > 0:
                kinds.add('beside a filter of a join')
            if line['worker'] == '1':
                kinds.add('in a worker')
            if 'FOR UPDATE' in query.sql:
                kinds.add('FOR UPDATE')
        self.counts.update(kinds)


KINDS = {1: 'a constant', 2: 'an InitPlan', 4: 'an external parameter', 8: 'a parameter from above'}
READ = {1: 'at a fixed offset', 2: 'with nulls behind', 4: 'by a walk', 8: 'older than the column'}
WANTED = ['rows dropped', 'a page by rows', 'by rows, then by pages', *KINDS.values(), *READ.values(), 'two tests', 'with other conditions', 'rested', 'backward',
          'scanned again', 'beside a filter of a join', 'in a worker', 'FOR UPDATE',
          *(f'rows dropped: {run}, {testing}' for run in ('plain', 'prepared', 'cursor', 'function', 'explain', 'dml') for testing in ('force', 'small'))]


def main():
    parser = queries.arguments(__doc__)
    parser.add_argument('--least', type=int, default=1, help='queries of each kind that must have dropped rows by pages')
    parser.add_argument('--package', action='store_true', help='the library reports nothing: compare answers')
    options = parser.parse_args()
    return queries.run(options, 'wheres', Test, lambda test, numbers: Query(numbers, test.version), lambda test: queries.report([] if options.package else WANTED, test.counts, options))


if __name__ == '__main__':
    sys.exit(main())
