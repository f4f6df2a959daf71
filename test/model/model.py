#!/usr/bin/python3
"""Random programs over every public function, checked against exact sets.

A program is a list of 50 to 500 operations on a few filters in a table and a
few stored sets.  Beside each filter stands a model of it: the exact set of its
keys.  Whatever the server answers is compared with that:

- no key that was added is denied;
- strangers pass at the rate that the filter's fill gives, the fill is that of
  its keys, and its shape gives the rate that was asked;
- an error comes where the model expects one, with its SQLSTATE, and nowhere
  else; none is internal (class XX), and nothing changes by it;
- the server does not crash, and answers within a time limit, or hears the
  timeout.

Usage: model.py [--seconds N] [--seed N [--programs N]] [--program JSON] [--keep]

The server is found as by psql (PGHOST, PGPORT, PGUSER); the test makes a
database of its own there, and drops it.  It runs rounds of programs until the
time is over, each round with a seed of its own, which is printed.  A program
that fails is shrunk, and printed both for --program, which runs it again, and
as SQL for psql.  With --seed and --programs, the same programs come again.

Needs Debian's python3-hypothesis and python3-psycopg2.
"""
import argparse
import collections
import dataclasses
import json
import math
import os
import random
import re
import select
import signal
import sys
import time
import traceback

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st
import psycopg2
import psycopg2.extensions

# Keys have numbers.  Those below STRANGERS are added, those from there on never.
STRANGERS = 4000
UNIVERSE = 8000

SLOTS = 6           # filters in the table
SETS = 3            # stored sets
ANSWER_WITHIN = 20  # seconds, for statements that take milliseconds
HEAR_WITHIN = 10    # seconds more until a statement_timeout is heard
SHRINK_FOR = 40     # seconds


#
# What there is to call: one line for each change of the SQL surface
#

@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of keys: how key number i is written in SQL.

    Kinds of one family write equal keys for equal numbers; kinds of one key
    type can be in one filter.
    """
    name: str
    sqltype: str
    expression: str         # of key number {i}
    key_type: str           # as bloom_info shows it
    family: str
    size: int = UNIVERSE    # how many different keys there are
    overload: str = ''      # of bloom_agg; empty: the polymorphic one

    @property
    def is_array(self):
        """An array of arrays has the elements of all for elements."""
        return self.sqltype.endswith('[]')


KINDS = [
    Kind('int4', 'int4', '({i} - 1000)::int4', 'bigint', 'int', overload='int4'),
    Kind('int8', 'int8', '({i} - 1000)::int8', 'bigint', 'int', overload='int8'),
    Kind('int2', 'int2', '({i} - 1000)::int2', 'bigint', 'int', overload='int2'),
    Kind('int8_shifted', 'int8', '({i}::int8 + 1 << 32)', 'bigint', 'shifted', overload='int8'),
    Kind('text', 'text', "('key ' || {i})", 'text', 'text'),
    Kind('varchar', 'varchar', "('key ' || {i})::varchar", 'text', 'text'),
    Kind('bpchar', 'char(20)', "('key ' || {i})::char(20)", 'text', 'text'),
    Kind('name', 'name', "('key ' || {i})::name", 'text', 'text'),
    Kind('long', 'text', "(repeat('long key ', 300) || {i})", 'text', 'long'),
    Kind('uuid', 'uuid', "md5({i}::text)::uuid", 'uuid', 'uuid', overload='uuid'),
    Kind('bytea', 'bytea', "decode(md5({i}::text), 'hex')", 'bytea', 'bytea'),
    Kind('numeric', 'numeric', '({i} + 0.5)::numeric', 'numeric', 'numeric'),
    Kind('scaled', 'numeric', '({i} + 0.50000)::numeric', 'numeric', 'numeric'),
    Kind('float8', 'float8', '({i} + 0.25)::float8', 'double precision', 'float'),
    Kind('float4', 'float4', '({i} + 0.25)::float4', 'double precision', 'float'),
    Kind('date', 'date', "('2000-01-01'::date + {i})", 'date', 'date'),
    Kind('timestamp', 'timestamp', "('2000-01-01'::timestamp + {i} * interval '1 hour')",
         'timestamp without time zone', 'timestamp'),
    Kind('timestamptz', 'timestamptz', "('2000-01-01 00:00+00'::timestamptz + {i} * interval '1 hour')",
         'timestamp with time zone', 'timestamptz'),
    Kind('time', 'time', "('00:00'::time + {i} * interval '1 second')", 'time without time zone', 'time'),
    Kind('bool', 'bool', '({i} % 2 = 0)', 'boolean', 'bool', size=2),
    Kind('mood', 'mood', "(enum_range(NULL::mood))[1 + {i} % 3]", 'enum mood', 'mood', size=3),
    Kind('array', 'int4[]', 'ARRAY[{i}, 0, {i} + 1]::int4[]', 'bigint[]', 'array'),
    Kind('range', 'int4range', "int4range({i}, {i} + 2)", 'range int4range', 'range'),
    Kind('inet', 'inet', "('10.0.0.0'::inet + {i})", 'inet', 'inet'),
    Kind('interval', 'interval', "({i} * interval '1 hour')", 'interval', 'interval'),
    Kind('jsonb', 'jsonb', """jsonb_build_object('key', {i})""", 'jsonb', 'jsonb'),
    Kind('pair', 'pair', "ROW({i}, 'key ' || {i})::pair", '(bigint,text)', 'pair'),
    Kind('packed', 'int8[]', 'ARRAY[({i}::int8 << 32) | 7]::int8[]', 'bigint[]', 'packed'),
    Kind('words', 'text[]', "ARRAY['key ' || {i}, NULL]::text[]", 'text[]', 'words'),
    Kind('spans', 'tstzrange', "tstzrange('2000-01-01 00:00+00', '2000-01-01 00:00+00'::timestamptz + {i} * interval '1 s')",
         'range tstzrange', 'spans'),
    Kind('lsn', 'pg_lsn', "(to_hex({i}) || '/7')::pg_lsn", 'pg_lsn', 'lsn'),
    Kind('timetz', 'timetz', "('00:00:00+00'::timetz + {i} * interval '1 s')", 'time with time zone', 'timetz'),
    Kind('money', 'money', '({i}::numeric::money)', 'money', 'money'),
    Kind('varbit', 'varbit', "({i}::bit(32)::varbit)", 'bit varying', 'varbit'),
    Kind('moods', 'mood[]', "ARRAY[(enum_range(NULL::mood))[1 + {i} % 3]]", 'enum mood[]', 'moods', size=3),
    Kind('pairs', 'pair[]', "ARRAY[ROW({i}, 'key ' || {i})::pair]", '(bigint,text)[]', 'pairs'),
    Kind('positive', 'positive', '({i} + 100000)::positive', 'bigint', 'positive'),
]
KIND = {kind.name: kind for kind in KINDS}

ADD = ['bloom_add({f}, {k})']
ADD_ALL = ['bloom_add_all({f}, {ks})']
CONTAINS = ['{f} @> {k}', '{k} <@ {f}', 'bloom_contains({f}, {k})']
CONTAINS_ALL = ['bloom_contains_all({f}, {ks})']
CONTAINS_ANY = ['bloom_contains_any({f}, {ks})']
UNION = ['{a} | {b}', 'bloom_union({a}, {b})']
INTERSECT = ['{a} & {b}', 'bloom_intersect({a}, {b})']
UNION_AGG = ['bloom_union_agg(f)']
INTERSECT_AGG = ['bloom_intersect_agg(f)']
SUPERSET = ['bloom_superset({a}, {b})']
EQUAL = ['{a} = {b}', 'NOT {a} <> {b}']
OF_SHAPE = ['{f}::{t}', '{f}::text::{t}', '(ARRAY[{f}]::{t}[])[1]', '{f}::bytea::{t}']
SAME_BYTES = ['{f}::text::bloom', '{f}::bytea::bloom', '{f}::bytea::bloom::text::bloom']

# Functions that no operation calls by name, and why that is enough.
NOT_CALLED = {
    'bloom_set_dedup': 'a trigger function, which only triggers call',
    'bloom_unique': 'a trigger function, which only triggers call',
    'bloom_unique_create': 'unique keys have random programs of their own',
    'bloom_unique_drop': 'unique keys have random programs of their own',
    'bloom_unique_rebuild': 'unique keys have random programs of their own',
    'bloom_unique_validate': 'unique keys have random programs of their own',
}

NUMBERS = ['bigint', 'numeric', 'double precision']


def meet(filter_type, key_type, adding):
    """What happens to a key of a type in a filter or set of another: an SQLSTATE, or None.

    Numbers are promoted as by SQL's "=".  A numeric is looked for among integers.
    """
    if filter_type is None or filter_type == key_type:
        return None
    if filter_type in NUMBERS and key_type in NUMBERS:
        if NUMBERS.index(key_type) < NUMBERS.index(filter_type):
            return None
        if (filter_type, key_type, adding) == ('bigint', 'numeric', False):
            return None
    return '42804'


#
# The models
#

@dataclasses.dataclass(frozen=True)
class Filter:
    """What is known of a filter."""
    bits: int = 0               # 0: it has no shape
    hashes: int = 0
    seed: int = 0
    capacity: int = 0
    fp_prob: float = 0.0
    key_type: str = None
    keys: frozenset = frozenset()   # of (family, number)
    extra: bool = False         # may have bits that none of the keys set

    @property
    def shape(self):
        return (self.bits, self.hashes, self.seed)

    @property
    def header(self):
        return (self.shape, self.capacity, self.fp_prob)

    @property
    def exact(self):
        """Is it in keys form, so that cardinalities are exact?"""
        return not self.extra and len(self.keys) < max(self.bits // 64, 1)


@dataclasses.dataclass(frozen=True)
class Set:
    """What is known of a stored set."""
    key_type: str
    keep: int = None            # seconds
    keys: tuple = ()            # of ((family, number), time), the last one counts
    seed: int = 0


class Wrong(AssertionError):
    """The server gave an answer that cannot be."""


class Crash(Wrong):
    """The server is gone, or had to be killed."""


def at_most(mean):
    """A bound that a Poisson number of this mean passes once in 10^12 times or less."""
    return mean + 7.2 * math.sqrt(mean) + 13


#
# The server
#

class Server:
    """A connection, which notes what it does, and notices when nothing comes back."""

    def __init__(self, database):
        self.database = database
        self.called = collections.Counter()
        self.statements = 0
        self.log = []
        self.connect()

    def connect(self):
        for attempt in range(300):
            try:
                self.connection = psycopg2.connect(dbname=self.database, application_name='model')
                break
            except psycopg2.OperationalError:
                if attempt == 299:
                    raise
                time.sleep(0.1)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()

    def execute(self, sql):
        """Run it, and give the rows.  Errors are psycopg2.Error with a pgcode."""
        self.log.append(sql)
        self.statements += 1
        try:
            self.cursor.execute(sql)
            rows = self.cursor.fetchall() if self.cursor.description else []
        except psycopg2.Error as error:
            if self.connection.closed or error.pgcode is None:
                raise Crash(f'the server is gone: {error}') from error
            if error.pgcode == '57P01' or error.pgcode.startswith('57P'):
                raise Crash(f'{error.pgcode}: {error}') from error
            if error.pgcode.startswith('XX'):
                raise Wrong(f'internal error {error.pgcode}: {error}') from error
            if error.pgcode == '57014':
                raise Wrong(f'no answer within {ANSWER_WITHIN} s') from error
            raise
        for name in FUNCTION.findall(sql):
            self.called[name] += 1
        return rows


FUNCTION = re.compile(r'\b(_?(?:counting_)?bloom_\w+|best_params)\s*\(')

SETTINGS = [
    f"statement_timeout = '{ANSWER_WITHIN}s'", 'client_min_messages = error', 'jit = off',
    "timezone = 'UTC'", "datestyle = 'ISO'", 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
    'min_parallel_table_scan_size = 0', 'max_parallel_workers_per_gather = 0',
    'max_parallel_maintenance_workers = 0', 'synchronous_commit = off',
]


def wait(connection):
    """psycopg2's wait, with an end."""
    end = time.monotonic() + ANSWER_WITHIN + HEAR_WITHIN
    while True:
        state = connection.poll()
        if state == psycopg2.extensions.POLL_OK:
            return
        left = end - time.monotonic()
        fd = connection.fileno()
        reads, writes = ([fd], []) if state == psycopg2.extensions.POLL_READ else ([], [fd])
        if left <= 0 or not any(select.select(reads, writes, [], left)):
            if left <= 0:
                # it does not even hear a timeout
                pid = connection.get_backend_pid()
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
                raise Crash(f'no answer, and the timeout is not heard (backend {pid} was killed)')


psycopg2.extensions.set_wait_callback(wait)


def make_database(name):
    """The database of the test, with its types and keys."""
    connection = psycopg2.connect(dbname='postgres')
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute(f'DROP DATABASE IF EXISTS {name}')
    cursor.execute(f'CREATE DATABASE {name} TEMPLATE template0')
    connection.close()
    server = Server(name)
    for sql in [
            'CREATE EXTENSION bloomtype_set CASCADE',
            "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
            'CREATE TYPE pair AS (a int, b text)',
            'CREATE DOMAIN positive AS int8 CHECK (VALUE > 0)',
            'CREATE TABLE slot (id int PRIMARY KEY, f bloom)',
            f'INSERT INTO slot SELECT generate_series(0, {SLOTS - 1})',
            # filters in TOAST: bits, and keys form
            'CREATE TABLE stored AS SELECT n AS id, (SELECT bloom_agg(i, c, 0.01) FROM generate_series(1::int8, 2000) AS i) AS f '
            'FROM (VALUES (1::int8, 2000), (2, 2001), (3, 1e6), (9999, 1e6)) AS v (n, c)',
            'CREATE FUNCTION hold(bloom) RETURNS bloom LANGUAGE plpgsql AS '
            "'DECLARE f bloom := $1; BEGIN RETURN f; END'"]:
        server.execute(sql)
    for kind in KINDS:
        table = 'k_' + kind.name
        server.execute(f'CREATE TABLE {table} AS SELECT i AS id, '
                       f'{kind.expression.format(i="i")} AS k FROM generate_series(0, {UNIVERSE - 1}) AS i '
                       'ORDER BY i')
        server.execute(f'ALTER TABLE {table} SET (parallel_workers = 2)')
        server.execute(f'CREATE INDEX ON {table} (id)')
        server.execute(f'ANALYZE {table}')
    return server


def drop_database(name):
    connection = psycopg2.connect(dbname='postgres')
    connection.autocommit = True
    connection.cursor().execute(f'DROP DATABASE IF EXISTS {name}')
    connection.close()


#
# The world of one program
#

CAPACITIES = [100, 1, 10, 64, 1000, 4000, 100000, 100000000]
RATES = [0.01, 0.5, 0.1, 0.001, 1e-6, 0.9, 1e-12]
SEEDS = [0, 1, -1, 42, 2**63 - 1, -2**63]
SPANS = [1, 0, 2, 7, 30, 100, 500, 2000]
FRAMES = [
    'ROWS UNBOUNDED PRECEDING', 'ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING',
    'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
    'ROWS BETWEEN 20 PRECEDING AND CURRENT ROW', 'ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
    'ROWS BETWEEN 3 FOLLOWING AND 5 FOLLOWING', 'RANGE BETWEEN 3 PRECEDING AND 3 FOLLOWING',
]
PLANS = [
    ("work_mem = '4MB'", "work_mem = '64kB'"),
    ('enable_hashagg = on', 'enable_hashagg = off'),
    ('enable_sort = on', 'enable_sort = off'),
    ('plan_cache_mode = auto', 'plan_cache_mode = force_generic_plan'),
]


class World:
    """The filters and sets of one program, and what they should hold."""

    def __init__(self, server, checks):
        self.server = server
        self.checks = checks
        self.slots = [None] * SLOTS
        self.sets = {}
        self.savepoints = []
        self.in_transaction = False
        self.before = None
        self.now = 0            # the clock of stored sets, seconds
        self.answers = {}       # of prepared statements

    # the frame of a program

    def begin(self):
        self.server.log.clear()
        self.run('DISCARD ALL')
        for setting in SETTINGS:
            self.run('SET ' + setting)
        self.run('UPDATE slot SET f = NULL')

    def end(self):
        if self.in_transaction:
            self.run('ROLLBACK')
            self.slots, self.sets = self.before
        for slot in range(SLOTS):
            self.check_slot(slot)
        self.drop_sets()

    def drop_sets(self):
        rows = self.run("SELECT relname FROM pg_class WHERE relname LIKE 's\\_%' AND relkind = 'r'")
        for (name,) in rows:
            self.run(f'DROP TABLE {name}')

    # talking to the server

    def run(self, sql):
        return self.server.execute(sql)

    def value(self, sql):
        return self.run(sql)[0][0]

    def fails(self, sqlstates, sql):
        """Run what is to fail with one of these SQLSTATEs, and change nothing."""
        if isinstance(sqlstates, str):
            sqlstates = (sqlstates,)
        if self.in_transaction:
            self.run('SAVEPOINT failing')
        try:
            self.run(sql)
        except psycopg2.Error as error:
            if error.pgcode not in sqlstates:
                raise Wrong(f'error {error.pgcode} instead of {sqlstates}: {error}') from error
        else:
            raise Wrong(f'no error, instead of {sqlstates}')
        if self.in_transaction:
            self.run('ROLLBACK TO failing')
        self.checks['errors'] += 1

    def check(self, what, right, *values):
        self.checks[what] += 1
        if not right:
            raise Wrong(f'{what}: {", ".join(map(str, values))}')

    # parts of statements

    def slot(self, a, form=0):
        """The filter of a slot as an expression: stored or in memory."""
        stored = f'(SELECT f FROM slot WHERE id = {a})'
        if form % 6 == 1:
            return f'hold({stored})'
        if form % 6 == 2:
            text = self.value(f'SELECT {stored}::text')
            return 'NULL::bloom' if text is None else f"'{text}'::bloom"
        if form % 6 == 3:
            return f'{stored}::bytea::bloom'
        if form % 6 == 4:
            return f'(SELECT f FROM (SELECT f FROM slot WHERE id = {a} OFFSET 0) AS o)'
        return stored

    def span(self, kind, b, c):
        """A range of numbers of keys that are added, as (first, end)."""
        first = b * 17 % STRANGERS
        end = min(first + SPANS[c % len(SPANS)], STRANGERS)
        return first, end

    def keys_of(self, kind, first, end):
        return frozenset((kind.family, i % kind.size if kind.size < UNIVERSE else i)
                         for i in range(first, end))

    def rows_of(self, kind, first, end):
        return f'k_{kind.name} WHERE id >= {first} AND id < {end}'

    def array_of(self, kind, first, end, null=False):
        return ('ARRAY(SELECT ' + (f'CASE WHEN id % 5 <> 0 THEN k END' if null else 'k') +
                f' FROM {self.rows_of(kind, first, end)} ORDER BY id)')

    def numbers_of(self, kind, first, end, array):
        """The numbers of the keys in an array, in its order."""
        return [i for (i,) in self.run(
            f'SELECT id FROM (SELECT row_number() OVER () AS n, x FROM (SELECT unnest({array}) AS x) AS u) AS u '
            f'LEFT JOIN (SELECT k, min(id) AS id FROM {self.rows_of(kind, first, end)} GROUP BY k) AS r ON k = x '
            'ORDER BY n')]

    # changing a filter

    def store(self, a, expression, filter):
        """Put an expression into a slot, and the model beside it; look at what came of it."""
        self.run(f'UPDATE slot SET f = {expression} WHERE id = {a}')
        self.slots[a] = filter
        self.slots[a] = self.learn(a)
        self.check_slot(a)

    def learn(self, a):
        """The shape that the server chose, which must give what was asked."""
        filter = self.slots[a]
        if filter is None:
            return None
        bits, hashes, seed, capacity, fp_prob = self.run(
            f'SELECT coalesce(i.bits, 0), coalesce(i.hashes, 0), coalesce(i.seed, 0), '
            f'coalesce(i.capacity, 0), coalesce(i.fp_prob, 0) '
            f'FROM slot, bloom_info(f) AS i WHERE id = {a}')[0]
        if filter.bits:
            self.check('shape', (bits, hashes, seed) == filter.shape,
                       (bits, hashes, seed), filter.shape)
        elif filter.capacity:
            rate = (1 - math.exp(-hashes * filter.capacity / bits)) ** hashes
            self.check('shape', seed == filter.seed and capacity == filter.capacity and
                       bits % 64 == 0 and fp_prob == filter.fp_prob and rate <= fp_prob * 1.0031,
                       (bits, hashes, seed, capacity, fp_prob), rate, filter)
        else:
            self.check('shape', bits == 0, bits)
        return dataclasses.replace(filter, bits=bits, hashes=hashes, seed=seed,
                                   capacity=capacity, fp_prob=fp_prob)

    # looking at a filter

    def check_slot(self, a):
        filter = self.slots[a]
        row = self.run(f"""
            SELECT f IS NULL, i.key_type::text, i.bits, i.hashes, i.seed, i.capacity, i.fp_prob, i.keys,
                   i.fp_prob_now, i.fill, i.bytes, i.representation, bloom_cardinality(f),
                   bloom_fp_prob_now(f), coalesce(i.fill, 0) = 0, bloom_is_overfull(f), i.capacity
            FROM slot LEFT JOIN LATERAL bloom_info(f) AS i ON true WHERE id = {a}""")[0]
        if filter is None:
            self.check('null', row[0])
            return
        (null, key_type, bits, hashes, _, _, fp_asked, keys, rate, fill, _, form,
         cardinality, fp_prob, empty, full, capacity) = row
        self.check('not null', not null)
        if filter.keys and filter.key_type:
            self.check('key type', key_type == filter.key_type, key_type, filter.key_type)
        n = len(filter.keys)
        self.check('cardinality', keys == cardinality, keys, cardinality)
        self.check('rate', rate == fp_prob, rate, fp_prob)
        self.check('is full', not full or keys > capacity and form != 'keys' and rate > fp_asked, full, keys)
        if not filter.extra:
            self.check('is empty', empty == (n == 0), empty, n)
        else:
            self.check('is empty', not (empty and n), empty, n)
        if filter.bits == 0:
            self.check('no shape', n == 0 and bits is None, n, bits)
            return
        if filter.exact:
            self.check('keys form', form == 'keys' and keys == n, form, keys, n)
        elif not filter.extra:
            self.check('bits form', form == 'bits', form, n)
            self.check_fill(filter, fill * bits)
            self.check_estimate(filter, n, keys)
        self.check_members(a, filter)
        self.check_strangers(a, filter, rate, form)

    def check_fill(self, filter, bits_set):
        """The number of bits set is what random throws give (occupancy problem)."""
        c = filter.hashes * len(filter.keys) / filter.bits
        mean = -filter.bits * math.expm1(-c)
        sd = math.sqrt(max(filter.bits * math.exp(-c) * -math.expm1(math.log1p(c) - c), 0))
        self.check('fill', abs(bits_set - mean) <= 8 * sd + 12, bits_set, mean, sd)
        self.check('fill', bits_set <= filter.hashes * len(filter.keys), bits_set)

    def check_estimate(self, filter, n, keys):
        """The cardinality is within eight standard errors, where there are bits left to tell."""
        c = filter.hashes * n / filter.bits
        if filter.bits * math.exp(-c) > 100:
            error = math.sqrt(filter.bits * (math.expm1(c) - c)) / filter.hashes
            self.check('estimate', abs(keys - n) <= 8 * error + 12 / filter.hashes + 2, keys, n, error)

    def kinds_in(self, filter):
        """For each family of keys in a filter a kind that writes them, and the numbers."""
        numbers = collections.defaultdict(list)
        for family, i in filter.keys:
            numbers[family].append(i)
        for family, ids in sorted(numbers.items()):
            kinds = [kind for kind in KINDS if kind.family == family]
            yield kinds[len(ids) % len(kinds)], ids

    def filter_and_keys(self, a, kind):
        """The filter of a slot, and the FROM for it and keys: by a join, or as a parameter, which workers get."""
        if a % 2:
            return f'(SELECT f FROM slot WHERE id = {a})', f'k_{kind.name} AS k'
        return 's.f', f'slot AS s JOIN k_{kind.name} AS k ON s.id = {a}'

    def check_members(self, a, filter):
        """No false negatives: promise number one."""
        for kind, ids in self.kinds_in(filter):
            array = ','.join(map(str, sorted(ids)))
            f, source = self.filter_and_keys(a, kind)
            denied = self.value(f"SELECT count(*) FROM {source} WHERE k.id = ANY ('{{{array}}}') AND NOT {f} @> k.k")
            self.check('members', denied == 0, denied, kind.name)
            self.checks['keys tested'] += len(ids)

    def check_strangers(self, a, filter, rate, form):
        if not filter.keys:
            return
        kind = next(self.kinds_in(filter))[0]
        if kind.size < UNIVERSE:
            return
        f, source = self.filter_and_keys(a, kind)
        passed = self.value(f'SELECT count(*) FROM {source} WHERE k.id >= {STRANGERS} AND {f} @> k.k')
        strangers = UNIVERSE - STRANGERS
        self.checks['strangers tested'] += strangers
        if form == 'keys':
            self.check('strangers', passed == 0, passed)
            return
        # In less than some hundred bits, positions that follow one another show.
        some = 1.25 if filter.bits >= 256 else 2
        self.check('strangers', passed <= at_most(strangers * rate * some), passed, strangers * rate)
        if not filter.extra and len(filter.keys) <= filter.capacity:
            TOTALS['asked'] += strangers * filter.fp_prob
            TOTALS['passed'] += passed


TOTALS = collections.Counter()


#
# Operations.  Each gets numbers from 0 to 255 and makes of them what it likes;
# the smaller, the simpler.
#

OPERATIONS = []


def operation(function):
    OPERATIONS.append(function)
    return function


def pick(choices, number):
    return choices[number % len(choices)]


@operation
def nothing(world, a, b, c, d, e):
    pass


@operation
def empty(world, a, b, c, d, e):
    capacity, fp_prob, seed = pick(CAPACITIES, b), pick(RATES, c), pick(SEEDS, d)
    filter = Filter(seed=seed, capacity=capacity, fp_prob=fp_prob)
    if capacity == 100000000 and fp_prob < 1e-9:
        world.fails('54000', f'SELECT bloom_empty({capacity}, {fp_prob}, {seed})')
        return
    world.store(a % SLOTS, f'bloom_empty({capacity}, {fp_prob}, {seed})', filter)
    bits, hashes, rate = world.run(f'SELECT bits, hashes, fp_prob FROM bloom_params({capacity}, {fp_prob})')[0]
    made = world.slots[a % SLOTS]
    world.check('bloom_params', (bits, hashes) == (made.bits, made.hashes), bits, hashes)
    k, per_key, best = world.run(f'SELECT * FROM best_params({fp_prob})')[0]
    world.check('best_params', k == hashes and best <= fp_prob * 1.0031 and
                math.isclose(best, world.value(f'SELECT bloom_fp_prob({per_key}, {k})')), k, best)


@operation
def shape(world, a, b, c, d, e):
    bits, hashes, seed = pick([64, 1, 100, 1000, 100000, 2**32, 2**32 + 1], b), pick([1, 3, 7, 64, 65, 0], c), pick(SEEDS, d)
    call = f'bloom_empty_shaped({bits}, {hashes}, {seed})'
    if bits in (1, 2**32 + 1) or hashes in (0, 65):
        world.fails('22023', f'SELECT {call}')
        return
    world.store(a % SLOTS, call, Filter(bits=(bits + 63) // 64 * 64, hashes=hashes, seed=seed))


@operation
def null(world, a, b, c, d, e):
    world.store(a % SLOTS, 'NULL', None)


def copy_with(world, a, b, keys, kind):
    """The model of slot b with more keys; an SQLSTATE if it takes none of them."""
    filter = world.slots[b]
    if filter is None or not keys:
        return filter
    if filter.bits == 0:
        return '55000'
    state = meet(filter.key_type, kind.key_type, True)
    if state:
        return state
    return dataclasses.replace(filter, key_type=filter.key_type or kind.key_type, keys=filter.keys | keys)


@operation
def add(world, a, b, c, d, e):
    """One key."""
    a, from_slot, kind = a % SLOTS, b % SLOTS, pick(KINDS, c)
    number = d * 16 % STRANGERS
    filter = copy_with(world, a, from_slot, world.keys_of(kind, number, number + 1), kind)
    key = kind.expression.format(i=number) if e % 2 else f'(SELECT k FROM k_{kind.name} WHERE id = {number})'
    call = pick(ADD, e).format(f=world.slot(from_slot, e // 2), k=key)
    if isinstance(filter, str):
        world.fails(filter, f'SELECT {call}')
    else:
        world.store(a, call, filter)


@operation
def add_null(world, a, b, c, d, e):
    a, from_slot, kind = a % SLOTS, b % SLOTS, pick(KINDS, c)
    call = pick(ADD, e).format(f=world.slot(from_slot, d), k=f'NULL::{kind.sqltype}')
    world.store(a, call, world.slots[from_slot])


@operation
def add_all(world, a, b, c, d, e):
    a, from_slot, kind = a % SLOTS, b % SLOTS, pick(KINDS, c)
    if kind.is_array:
        return
    first, end = world.span(kind, d, e)
    null = d % 2 == 1
    keys = frozenset().union(*(world.keys_of(kind, i, i + 1) for i in range(first, end)
                               if not null or i % 5))
    filter = copy_with(world, a, from_slot, keys, kind)
    array = world.array_of(kind, first, end, null)
    call = pick(ADD_ALL, e // 8).format(f=world.slot(from_slot, d), ks=array)
    if isinstance(filter, str):
        world.fails(filter, f'SELECT {call}')
    elif keys or filter is None or filter.bits:
        world.store(a, call, filter)


@operation
def missing(world, a, b, c, d, e):
    """bloom_missing tells which keys are new, in order; DISTINCT, each once."""
    a, kind = a % SLOTS, pick(KINDS, c)
    first, end = world.span(kind, d, e)
    filter = world.slots[a]
    keys = world.keys_of(kind, first, end)
    after = copy_with(world, a, a, keys, kind)
    if filter is None or isinstance(after, str) or not keys or kind.is_array:
        return
    array = world.array_of(kind, first, end)
    twice = f'{array} || {array}'
    numbers = world.numbers_of(kind, first, end, f"(SELECT bloom_missing(f, {twice}) FROM slot WHERE id = {a})")
    once = numbers[:len(numbers) // 2]
    world.check('fresh in order', numbers == once + once and (kind.size < UNIVERSE or once == sorted(once)), numbers)
    distinct = f'ARRAY(SELECT DISTINCT key FROM slot, unnest(bloom_missing(f, {twice})) AS key WHERE id = {a})'
    world.check('fresh once', sorted(set(numbers)) == sorted(world.numbers_of(kind, first, end, distinct)), numbers)
    given = {(kind.family, i % kind.size if kind.size < UNIVERSE else i) for i in numbers}
    world.check('fresh was not there', not given & filter.keys, given & filter.keys)
    if after.exact:
        world.check('fresh is exact', given == keys - filter.keys, given ^ (keys - filter.keys))


@operation
def aggregate(world, a, b, c, d, e):
    """bloom_agg, in each of its forms, over a table."""
    a, kind = a % SLOTS, pick(KINDS, b)
    first, end = world.span(kind, c, d)
    form = e % 3
    capacity, fp_prob = pick(CAPACITIES, c), pick(RATES, d)
    if capacity == 100000000 and fp_prob < 1e-9:
        fp_prob = 0.01
    null = e // 4 % 2 == 1
    ids = [i for i in range(first, end) if not null or i % 5]
    keys = frozenset().union(*(world.keys_of(kind, i, i + 1) for i in ids))
    key = 'CASE WHEN id % 5 <> 0 THEN k END' if null else 'k'
    extra = pick(['', ' ORDER BY id', ' FILTER (WHERE true)', ' ORDER BY id DESC'], e // 8)
    order, where = (extra, '') if 'ORDER' in extra else ('', extra)
    rows = world.rows_of(kind, first, end)
    if form == 0:
        call, filter = f'bloom_agg({key}{order})', Filter(capacity=len(keys), fp_prob=0.01)
    elif form == 1:
        call, filter = f'bloom_agg({key}, {fp_prob}{order})', Filter(capacity=len(keys), fp_prob=fp_prob)
    else:
        call = f'bloom_agg({key}, {capacity}, {fp_prob}{order})'
        filter = Filter(capacity=capacity if end > first else 0, fp_prob=fp_prob)
    sql = f'(SELECT {call}{where} FROM {rows})'
    filter = dataclasses.replace(filter, keys=keys, key_type=kind.key_type if keys else None)
    AGGREGATES[(kind.overload if form in (0, 2) and kind.overload else 'any', form)] += 1
    world.store(a, sql, filter)


AGGREGATES = collections.Counter()


@operation
def groups(world, a, b, c, d, e):
    """Many groups, which spill with a small work_mem; each holds its own keys."""
    kind = pick(KINDS, b)
    first, end = world.span(kind, c, d)
    if kind.size < UNIVERSE or end - first < 2:
        return
    n = pick([2, 1, 10, 100, 1000], e)
    call = pick(['bloom_agg(k)', 'bloom_agg(k, 0.001)', 'bloom_agg(k, 1000, 0.01)'], a)
    rows = world.rows_of(kind, first, end)
    groups, denied, keys, different = world.run(f"""
        WITH g AS MATERIALIZED (SELECT id % {n} AS g, {call} AS f FROM {rows} GROUP BY 1)
        SELECT (SELECT count(*) FROM g),
               (SELECT count(*) FROM g JOIN {rows.replace(' WHERE', ' AS k ON g = id % ' + str(n) + ' WHERE')}
                AND NOT f @> k.k),
               (SELECT sum(bloom_cardinality(f)) FROM g),
               (SELECT count(*) FROM (SELECT DISTINCT f FROM g) AS x)""")[0]
    world.check('groups', groups == min(n, end - first), groups)
    # two filters of one key each set the same of 64 bits by five hashes with a probability of 1.3e-7
    world.check('groups differ', groups - different <= at_most(groups ** 2 / 2 * 1.3e-7), groups, different)
    world.check('groups deny', denied == 0, denied)
    error = 8 * math.sqrt(end - first) * 0.3 + 3 * groups
    world.check('groups hold', abs(keys - (end - first)) <= error, keys, end - first)
    if '1000' in call:
        world.store(a % SLOTS, f'(SELECT bloom_union_agg(f) FROM (SELECT {call} AS f FROM {rows} '
                    f'GROUP BY id % {n}) AS g)',
                    Filter(capacity=1000, fp_prob=0.01, key_type=kind.key_type,
                           keys=world.keys_of(kind, first, end)))


@operation
def window(world, a, b, c, d, e):
    """bloom_agg over a running or moving frame holds the keys of the frame."""
    kind = pick(KINDS, b)
    if kind.size < UNIVERSE:
        return
    first, end = world.span(kind, c, d)
    end = min(end, first + 300)
    frame = pick(FRAMES, e)
    call = pick(['bloom_agg(k)', 'bloom_agg(k, 0.1)', 'bloom_agg(k, 50, 0.01)',
                 'bloom_union_agg(bloom_add(bloom_empty(100), k))'], a // SLOTS + a)
    sql = f"""
        SELECT count(*) FILTER (WHERE n > 0 AND (NOT f @> lo OR NOT f @> hi)),
               count(*) FILTER (WHERE abs(bloom_cardinality(f) - n) >
                                CASE WHEN i.representation = 'keys' THEN 0
                                     WHEN i.fill > 0.9 THEN 1e9 ELSE 5 + 0.5 * n END),
               count(*) FILTER (WHERE f IS NULL)
        FROM (SELECT {call} OVER w AS f, first_value(k) OVER w AS lo, last_value(k) OVER w AS hi,
                     count(*) OVER w AS n
              FROM {world.rows_of(kind, first, end)}
              WINDOW w AS (ORDER BY id {frame})) AS x, LATERAL bloom_info(f) AS i"""
    denied, off, nulls = world.run(sql)[0]
    world.check('window denies', denied == 0, denied, frame)
    world.check('window cardinality', off == 0, off, frame)
    world.check('window null', nulls == 0, nulls, frame)


@operation
def seen(world, a, b, c, d, e):
    """bloom_seen against row_number()."""
    kind = pick(KINDS, b)
    first, end = world.span(kind, c, d)
    cycle = pick([3, 1, 50, 1000], e)
    partition = pick(['', 'PARTITION BY id % 3'], e // 4)
    capacity = pick([0, 0, 1000, 10], a)
    fp_prob = 0.01
    arguments = f', {capacity}, {fp_prob}' if capacity else ''
    rows = world.rows_of(kind, first, end)
    missed, imagined, rows = world.run(f"""
        SELECT count(*) FILTER (WHERE again AND NOT seen), count(*) FILTER (WHERE seen AND NOT again),
               count(*)
        FROM (SELECT bloom_seen(k{arguments}) OVER ({partition} ORDER BY n) AS seen,
                     row_number() OVER ({'PARTITION BY k' + partition.replace('PARTITION BY', ',')} ORDER BY n) > 1 AS again
              FROM (SELECT id, n, (SELECT k FROM k_{kind.name} AS r WHERE r.id = {first} + s.id % {cycle})
                    FROM (SELECT row_number() OVER (ORDER BY id) AS n, id FROM {rows}) AS s) AS t) AS x""")[0]
    world.check('seen misses', missed == 0, missed)
    if not capacity:
        world.check('seen imagines', imagined == 0, imagined)
    elif cycle <= capacity:
        world.check('seen imagines', imagined <= at_most(rows * fp_prob), imagined, rows)


def combined(world, x, y, intersect):
    """The model of the union or intersection of two filters, or an SQLSTATE."""
    if x is None or y is None:
        return None
    if x.bits == 0 or y.bits == 0:
        return NotImplemented
    if x.shape != y.shape:
        return '42804'
    if x.key_type and y.key_type and x.key_type != y.key_type:
        return '42804'
    capacity, fp_prob = max((x.capacity, x.fp_prob), (y.capacity, y.fp_prob))
    if not intersect:
        return dataclasses.replace(x, capacity=capacity, fp_prob=fp_prob, key_type=x.key_type or y.key_type,
                                   keys=x.keys | y.keys, extra=x.extra or y.extra)
    both = x.keys & y.keys
    extra = not (x.exact and y.exact)
    return dataclasses.replace(x, capacity=capacity, fp_prob=fp_prob, keys=both, extra=extra,
                               key_type=(x.key_type or y.key_type) if both or extra else None)


@operation
def union(world, a, b, c, d, e):
    combine(world, a, b, c, d, e, UNION, UNION_AGG, False)


@operation
def intersect(world, a, b, c, d, e):
    combine(world, a, b, c, d, e, INTERSECT, INTERSECT_AGG, True)


def combine(world, a, b, c, d, e, calls, aggregates, is_intersect):
    a, b, c = a % SLOTS, b % SLOTS, c % SLOTS
    filter = combined(world, world.slots[b], world.slots[c], is_intersect)
    if d % 3 == 2:
        call = f'(SELECT {pick(aggregates, e)} FROM slot WHERE id IN ({b}, {c}))'
        if filter is None:
            return
    else:
        call = pick(calls, e).format(a=world.slot(b, d), b=world.slot(c, e))
    if filter is NotImplemented:
        world.run(f'SELECT {call}')
    elif isinstance(filter, str):
        world.fails(filter, f'SELECT {call}')
    else:
        world.run(f'UPDATE slot SET f = {call} WHERE id = {a}')
        if filter is not None and filter.extra and not world.value(
                f'SELECT (bloom_info(f)).bits IS NOT NULL FROM slot WHERE id = {a}'):
            raise Wrong('an intersection without a shape')
        world.slots[a] = filter
        if filter is not None and filter.extra and is_intersect:
            # it may be empty after all
            if world.value(f'SELECT (bloom_info(f)).fill = 0 FROM slot WHERE id = {a}'):
                world.slots[a] = dataclasses.replace(filter, key_type=None, extra=bool(filter.keys))
        world.slots[a] = world.learn(a)
        if filter is not None:
            world.check('header', world.slots[a].header == filter.header, world.slots[a], filter)
        world.check_slot(a)


@operation
def fit(world, a, b, c, d, e):
    """bloom_fit keeps all keys, grows nothing, and keeps to the rate."""
    a, b, fp_prob = a % SLOTS, b % SLOTS, pick(RATES, c)
    filter = world.slots[b]
    call = f'bloom_fit({world.slot(b, d)}, {fp_prob})'
    if filter is None:
        world.store(a, call, None)
        return
    if filter.bits == 0:
        return
    before, after, hashes, rate, rate_before = world.run(
        f'SELECT (bloom_info(s.f)).bits, (bloom_info(x)).bits, (bloom_info(x)).hashes, bloom_fp_prob_now(x), '
        f'bloom_fp_prob_now(s.f) FROM slot AS s, LATERAL (SELECT {call} AS x OFFSET 0) AS o WHERE s.id = {b}')[0]
    world.check('fit', after <= before, before, after)
    # the fill of few bits is random
    world.check('fit rate', rate <= max(fp_prob, rate_before) * (1.1 + 8 * hashes / math.sqrt(after)),
                rate, fp_prob, rate_before)
    world.run(f'UPDATE slot SET f = {call} WHERE id = {a}')
    bits, hashes, seed, capacity, asked = world.run(
        f'SELECT i.bits, i.hashes, i.seed, i.capacity, i.fp_prob '
        f'FROM slot, bloom_info(f) AS i WHERE id = {a}')[0]
    # of folded bits the arithmetic of throws is another
    folded = bits != before and not filter.exact
    world.slots[a] = dataclasses.replace(filter, bits=bits, hashes=hashes, seed=seed, capacity=capacity,
                                         fp_prob=asked, extra=filter.extra or folded)
    world.check_slot(a)


@operation
def of_shape(world, a, b, c, d, e):
    """A cast to a shape keeps filters of that shape, and turns those in keys form whose keys fit, as if these had been added to one."""
    a, b, capacity, fp_prob = a % SLOTS, b % SLOTS, pick(CAPACITIES, c), pick(RATES, d)
    filter = world.slots[b]
    call = pick(OF_SHAPE, e).format(f=world.slot(b, e // 4), t=f'bloom({capacity}, {fp_prob})')
    if capacity == 100000000 and fp_prob < 1e-9:
        world.fails('54000', f'SELECT {call}')
        return
    if filter is None:
        world.store(a, call, None)
        return
    bits, hashes = world.run(f'SELECT bits, hashes FROM bloom_params({capacity}, {fp_prob})')[0]
    form, keys = world.run(f'SELECT i.representation, i.keys FROM slot, bloom_info(f) AS i WHERE id = {b}')[0]
    if (filter.bits, filter.hashes) == (bits, hashes):
        world.check('shape kept', world.value(f'SELECT {call} = f FROM slot WHERE id = {b}'))
        world.store(a, call, filter)
    elif form == 'bits' or keys > capacity:
        world.fails('22023', f'SELECT {call}')
    else:
        turned = dataclasses.replace(filter, bits=bits, hashes=hashes, capacity=capacity, fp_prob=fp_prob)
        world.store(a, call, turned)
        world.check('shape taken', world.slots[a].header == turned.header, world.slots[a], turned)


@operation
def contains(world, a, b, c, d, e):
    """One key: a member, or a stranger."""
    a, kind = a % SLOTS, pick(KINDS, b)
    number = (c + 256 * d) % UNIVERSE
    if kind.size < UNIVERSE:
        number %= kind.size
    filter = world.slots[a]
    call = pick(CONTAINS, e).format(f=world.slot(a, d), k=kind.expression.format(i=number))
    if filter is None:
        world.check('contains null', world.value(f'SELECT {call}') is None)
        return
    state = meet(filter.key_type, kind.key_type, False)
    if state:
        world.fails(state, f'SELECT {call}')
        return
    answer = world.value(f'SELECT {call}')
    if (kind.family, number) in filter.keys:
        world.check('contains', answer is True, answer)
    elif filter.exact:
        world.check('contains not', answer is False, answer)
    call = pick(CONTAINS, e).format(f=world.slot(a, d), k=f'NULL::{kind.sqltype}')
    world.check('contains null', world.value(f'SELECT {call}') is None)


@operation
def contains_many(world, a, b, c, d, e):
    """All, any: nulls count as they do in ALL and ANY."""
    a, kind = a % SLOTS, pick(KINDS, b)
    first, end = world.span(kind, c, d)
    end = min(end, first + 50)
    null = e % 2 == 1
    filter = world.slots[a]
    numbers = [i for i in range(first, end)]
    array = world.array_of(kind, first, end)
    if null:
        array = f'array_append({array}, NULL)'
    if kind.is_array:
        return
    for call, is_all in [(pick(CONTAINS_ALL, e), True), (pick(CONTAINS_ANY, e), False)]:
        call = call.format(f=world.slot(a, e), ks=array)
        if filter is None:
            world.check('many of null', world.value(f'SELECT {call}') is None)
            continue
        state = meet(filter.key_type, kind.key_type, False)
        if state and (numbers or null):
            if numbers:
                world.fails(state, f'SELECT {call}')
            continue
        if state:
            continue
        answer = world.value(f'SELECT {call}')
        keys = world.keys_of(kind, first, end)
        if is_all and not null:
            missing = world.value(f'SELECT cardinality(bloom_missing({world.slot(a, e)}, {array}))')
            # an element that comes twice is missing twice
            absent = sum(not world.keys_of(kind, i, i + 1) <= filter.keys for i in numbers)
            world.check('missing', (missing == 0) == (answer is True) and
                        missing <= absent, missing, absent, answer)
        if is_all and not filter.keys.issuperset(keys):
            if filter.exact:
                world.check('contains all', answer is False, answer)
        elif is_all:
            world.check('contains all', answer is (None if null else True), answer)
        elif filter.keys & keys:
            world.check('contains any', answer is True, answer)
        elif filter.exact:
            world.check('contains any', answer is (None if null else False), answer)


@operation
def compare(world, a, b, c, d, e):
    """Equality, hashes, supersets, estimates of two filters."""
    a, b = a % SLOTS, b % SLOTS
    x, y = world.slots[a], world.slots[b]
    left, right = world.slot(a, c), world.slot(b, d)
    equal = world.value(f'SELECT {pick(EQUAL, e).format(a=left, b=right)}')
    if x is None or y is None:
        world.check('null is not equal', equal is None, equal)
        return
    hashes = world.run(f'SELECT _bloom_hash({left}) = _bloom_hash({right}), '
                       f'_bloom_hash_extended({left}, {e}) = _bloom_hash_extended({right}, {e})')[0]
    if equal:
        world.check('equal hashes', hashes == (True, True), hashes)
    if x.keys and not x.extra and not y.extra and x.header == y.header and x.keys == y.keys:
        world.check('equal', equal is True, equal)
    if x.header != y.header or x.exact and y.exact and x.keys != y.keys:
        world.check('not equal', equal is False, equal)
    if x.bits == 0 or y.bits == 0:
        return
    superset = f'SELECT {pick(SUPERSET, e).format(a=left, b=right)}'
    counts = f'SELECT bloom_cardinality({left} | {right}), bloom_intersect_cardinality({left}, {right})'
    state = '42804' if x.shape != y.shape or x.key_type and y.key_type and x.key_type != y.key_type else None
    if state:
        world.fails(state, counts)
    if x.shape != y.shape:
        world.fails('42804', superset)
    if state:
        return
    if not y.extra and x.keys >= y.keys:
        world.check('superset', world.value(superset) is True)
    united, common = world.run(counts)[0]
    if x.exact and y.exact and len(x.keys | y.keys) < x.bits // 64:
        world.check('union cardinality', united == len(x.keys | y.keys), united)
        world.check('intersect cardinality', common == len(x.keys & y.keys), common)
    elif not x.extra and not y.extra:
        world.check_estimate(x, len(x.keys | y.keys), united)


@operation
def same_bytes(world, a, b, c, d, e):
    """Out and in again."""
    a = a % SLOTS
    if world.slots[a] is None:
        return
    filter = world.slot(a, b)
    call = pick(SAME_BYTES, c).format(f=filter)
    world.check('same bytes', world.run(f'SELECT {filter} = {call}, {filter}::bytea = {call}::bytea')[0] == (True, True))
    text, = world.run(f'SELECT {filter}')[0]
    world.store(a, f"'{text}'", world.slots[a])
    world.check('summary', world.value(f"SELECT bloom_summary({filter}) <> ''"))


@operation
def damage(world, a, b, c, d, e):
    """A value with some bytes changed is refused, or is a filter like any other."""
    a = a % SLOTS
    if world.slots[a] is None:
        return
    data = world.value(f"SELECT encode({world.slot(a)}::bytea, 'hex')")
    data = bytearray.fromhex(data)
    at = (b * 256 + c) % len(data) if e % 2 else c % min(len(data), 52)
    if e % 8 == 7:
        data[at:at + 1] = b''
    elif e % 8 == 6:
        data[at:at] = bytes([d])
    else:
        data[at] = d
    try:
        if world.in_transaction:
            world.run('SAVEPOINT damaging')
        text = world.value(f"SELECT ('\\x{data.hex()}'::bytea::bloom)::text")
    except psycopg2.Error as error:
        world.check('damage refused', error.pgcode == '22P03', error)
        if world.in_transaction:
            world.run('ROLLBACK TO damaging')
        return
    filter = f"'{text}'::bloom"
    row = world.run(f"""
        SELECT encode({filter}::bytea, 'hex'), f = f | f, f = f & f, bloom_superset(f, f), _bloom_hash(f), bloom_cardinality(f),
               bloom_fit(f, 0.5) IS NOT NULL, bloom_info(f), (f::text)::bloom = f
        FROM (SELECT {filter} AS f) AS s""")[0]
    world.check('damage accepted', row[0] == data.hex() and row[1:4] == (True, True, True) and row[-1] is True, row)


@operation
def workers(world, a, b, c, d, e):
    """From now on parallel plans, or not.  Rarely: to start workers takes longer than most statements."""
    name = 'debug_parallel_query' if world.server.connection.server_version >= 160000 else 'force_parallel_mode'
    world.run(f'SET max_parallel_workers_per_gather = {2 if a % 6 >= 4 else 0}')
    world.run(f'SET {name} = {"on" if a % 6 == 5 else "off"}')


@operation
def plan(world, a, b, c, d, e):
    """Other plans."""
    if a % 3 == 0:
        world.run(f'SET {pick(PLANS, b)[c % 2]}')
        return
    if a % 3 == 1:
        kind = pick(KINDS, b)
        filter = world.slots[c % SLOTS]
        if filter is not None and not meet(filter.key_type, kind.key_type, False):
            rows = world.run(f'EXPLAIN (FORMAT JSON) SELECT FROM k_{kind.name} WHERE {world.slot(c % SLOTS, 2)} @> k')[0][0]
            rows = rows if not isinstance(rows, str) else json.loads(rows)
            world.check('estimated rows', 0 <= rows[0]['Plan']['Plan Rows'] <= UNIVERSE, rows)
        return
    # prepared, with generic and with custom plans
    kind = pick(KINDS, b)
    filter = world.slots[c % SLOTS]
    name = f'p_{kind.name}'
    if name not in world.answers:
        world.answers[name] = world.run(
            f'PREPARE {name} (bloom, int) AS SELECT k, $1 @> k FROM k_{kind.name} WHERE id = $2')
    number = (d * 16) % STRANGERS
    if kind.size < UNIVERSE:
        number %= kind.size
    execute = f'EXECUTE {name} ({world.slot(c % SLOTS, 2)}, {number})'
    if filter is not None and meet(filter.key_type, kind.key_type, False):
        world.fails('42804', execute)
        return
    answer = world.run(execute)[0][1]
    if filter is not None and (kind.family, number) in filter.keys:
        world.check('prepared', answer is True, answer)


@operation
def first_rows(world, a, b, c, d, e):
    """The rows that bloom_seen has not seen have each key once, and lack none but at its rate."""
    kind = pick(KINDS, b)
    start, end = world.span(kind, c, d)
    cycle = pick([3, 1, 50, 1000], e)
    capacity = pick([0, 0, 1000, 10], a)
    rows, keys, all_keys = world.run(f"""
        WITH t AS MATERIALIZED (SELECT (SELECT k FROM k_{kind.name} AS r WHERE r.id = {start} + s.id % {cycle}) AS k
                                FROM {world.rows_of(kind, start, end).replace(' WHERE', ' AS s WHERE')}),
             f AS (SELECT k FROM (SELECT k, bloom_seen(k{f', {capacity}, 0.01' if capacity else ''}) OVER () AS seen FROM t) AS s WHERE NOT seen)
        SELECT (SELECT count(*) FROM f), (SELECT count(*) FROM (SELECT DISTINCT k FROM f) AS x),
               (SELECT count(*) FROM (SELECT DISTINCT k FROM t) AS x)""")[0]
    world.check('seen repeats', rows == keys, rows, keys)
    if not capacity:
        world.check('seen loses', keys == all_keys, keys, all_keys)
    elif cycle <= capacity:
        world.check('seen loses', all_keys - keys <= at_most(all_keys * 0.01), keys, all_keys)


@operation
def hashes(world, a, b, c, d, e):
    """Keys by their hashes are the keys."""
    kind, capacity, seed = pick(KINDS, a), pick(CAPACITIES[:7], b), pick([0, 42, -(2**63)], c)
    if kind.is_array:
        return
    first, end = world.span(kind, d, e)
    key_type = 'NULL' if kind.sqltype == 'record' else f"'{kind.sqltype}'"
    empty = f'bloom_add(bloom_empty({capacity}, 0.01, {seed}), {kind.expression.format(i=first)})'
    same, contained, positions = world.run(f"""
        SELECT bloom_add_hashes({empty}, array_agg(bloom_hash(k, {seed})), {key_type})::bytea
               = bloom_add_all({empty}, array_agg(k))::bytea,
               bool_and(bloom_contains_hash((SELECT bloom_add_all({empty}, {world.array_of(kind, first, end)})), bloom_hash(k, {seed}))),
               bool_and((SELECT count(*) = 5 AND min(p) >= 0 AND max(p) < (SELECT (bloom_info({empty})).bits)
                         FROM unnest(bloom_positions((SELECT {empty}), k)) AS p))
        FROM {world.rows_of(kind, first, end)}""")[0]
    world.check('hashes', same in (True, None) and contained in (True, None), same, contained)
    world.check('positions', positions in (True, None), positions)


@operation
def shard(world, a, b, c, d, e):
    """Equal keys, of whatever type, belong to one shard, and the shards are even."""
    kind, n = pick(KINDS, a), pick([7, 1, 2, 1000], b)
    other = pick([k for k in KINDS if k.family == kind.family], c)
    differ, least, most, distinct = world.run(f"""
        SELECT count(*) FILTER (WHERE bloom_shard(x.k, {n}) <> bloom_shard(y.k, {n})),
               min(bloom_shard(x.k, {n})), max(bloom_shard(x.k, {n})), count(DISTINCT bloom_shard(x.k, {n}))
        FROM k_{kind.name} AS x JOIN k_{other.name} AS y USING (id) WHERE id < 2000""")[0]
    world.check('shard', differ == 0 and 0 <= least and most < n, differ, least, most)
    if kind.size == UNIVERSE and n < 100:
        world.check('shards', distinct == n, distinct, n)
    capacity = pick(CAPACITIES, d)
    each = world.value(f'SELECT bloom_shard_capacity({capacity}, {n})')
    world.check('shard capacity', capacity / n <= each <= max(capacity, 1), each, capacity, n)


@operation
def counting(world, a, b, c, d, e):
    """A counting filter holds what was added and not removed."""
    kind, capacity, fp_prob = pick(KINDS, a), pick(CAPACITIES[:7], b), pick(RATES[:5], c)
    if kind.size < UNIVERSE or kind.is_array:
        return
    first, end = world.span(kind, d, e)
    middle = (first + end) // 2
    rows = world.rows_of
    # the first half is added, all of it once more, the first half is taken away twice
    empty = f'counting_bloom_empty({capacity}, {fp_prob})'
    half, whole = world.array_of(kind, first, middle), world.array_of(kind, first, end)
    added = (f'counting_bloom_add_all(coalesce((SELECT counting_bloom_agg(k, {capacity}, {fp_prob}) '
             f'FROM {rows(kind, first, middle)}), {empty}), {whole})')
    f = f'counting_bloom_remove_all(counting_bloom_remove_all({added}, {half}), {half})'
    if middle == first:
        added = f = f'counting_bloom_add_all({empty}, {whole})'
    denied, removed, form, keys = world.run(f"""
        SELECT (SELECT count(*) FROM {rows(kind, middle, end)} AND NOT s.f @> k),
               (SELECT count(*) FROM {rows(kind, first, middle)} AND counting_bloom_contains(s.f, k)),
               i.representation, (SELECT count(*) FROM {rows(kind, middle, end)} AND counting_bloom_count(s.f, k) >= 1)
        FROM (SELECT {f} AS f OFFSET 0) AS s, LATERAL counting_bloom_info(s.f) AS i""")[0]
    missing, cardinality, info, summary = world.run(f"""
        SELECT (SELECT count(*) FROM unnest({world.array_of(kind, middle, end)}) AS k WHERE NOT f @> k), counting_bloom_cardinality(f),
               (counting_bloom_info(f)).keys, bloom_summary(f::bloom)
        FROM (SELECT {f} AS f OFFSET 0) AS s""")[0]
    world.check('counting inspects', missing == 0 and cardinality == info and summary != '', missing, cardinality, info)
    world.check('counting denies', denied == 0 and keys == end - middle, denied, keys, end - middle)
    if form == 'keys':
        world.check('counting removes', removed == 0, removed)
    elif end - first <= capacity:
        world.check('counting removes', removed <= at_most((middle - first) * max(fp_prob, 0.01) * 2), removed)
    key = kind.expression.format(i=first)
    # a count of 15 stands for any larger number, and stays
    times = 1 + e % 20
    count = world.value(f'SELECT counting_bloom_count(counting_bloom_remove(counting_bloom_add_all('
                        f'{empty}, array_fill({key}, ARRAY[{times}])), {key}), {key})')
    world.check('counting counts', count == (15 if times >= 15 else times - 1), count, times)
    # unless a counter was full, the bits are those of the keys that are left
    world.check('counting casts', world.value(f"""
        SELECT f::bloom = b OR (counting_bloom_info(added)).counters_full > 0
               OR replace((counting_bloom_info(f)).representation, 'counters', 'bits') <> (bloom_info(b)).representation
        FROM (SELECT {added} AS added, {f} AS f,
                     bloom_add_all(bloom_empty({capacity}, {fp_prob}), {world.array_of(kind, middle, end)}) AS b OFFSET 0) AS s"""))
    if 2 * (end - first) <= capacity:
        row = world.run(f"""
            SELECT counting_bloom_remove_all(counting_bloom_sum(f, g), {world.array_of(kind, middle, end)}) = f
                   OR (counting_bloom_info(f)).representation <> (counting_bloom_info(counting_bloom_sum(f, g))).representation,
                   (SELECT counting_bloom_sum_agg(x) FROM (VALUES (f), (g)) AS v (x)) = counting_bloom_sum(f, g)
            FROM (SELECT counting_bloom_add_all(counting_bloom_empty({capacity}, {fp_prob}), {world.array_of(kind, first, end)}) AS f,
                         counting_bloom_add_all(counting_bloom_empty({capacity}, {fp_prob}), {world.array_of(kind, middle, end)}) AS g) AS s""")[0]
        world.check('counting sums', row == (True, True), row)


@operation
def transaction(world, a, b, c, d, e):
    """BEGIN, SAVEPOINT, ROLLBACK TO, COMMIT, ROLLBACK: the model goes along."""
    state = (list(world.slots), dict(world.sets))
    if not world.in_transaction:
        isolation = pick(['', ' ISOLATION LEVEL REPEATABLE READ', ' ISOLATION LEVEL SERIALIZABLE'], b)
        world.run('BEGIN' + isolation)
        world.in_transaction, world.before, world.savepoints = True, state, []
    elif a % 4 == 0 and world.savepoints:
        world.run(f'ROLLBACK TO s{len(world.savepoints)}')
        world.slots, world.sets = world.savepoints.pop()
        world.slots, world.sets = list(world.slots), dict(world.sets)
        world.run(f'RELEASE s{len(world.savepoints) + 1}')
    elif a % 4 == 1:
        world.savepoints.append(state)
        world.run(f'SAVEPOINT s{len(world.savepoints)}')
    elif a % 4 == 2:
        world.run('COMMIT')
        world.in_transaction = False
    elif a % 4 == 3 and b % 2:
        world.run('ROLLBACK')
        world.slots, world.sets = world.before
        world.in_transaction = False


# Stored sets

def at(seconds):
    return f"'2020-01-01 00:00+00'::timestamptz + {seconds} * interval '1 second'"


@operation
def set_create(world, a, b, c, d, e):
    name = f's_{a % SETS}'
    if name in world.sets:
        return
    keep = pick([None, None, 3600, 86400], d)
    unlogged = c // 4 % 4 == 3
    kind = pick(KINDS, a // SETS)
    seed = pick(SEEDS, e)
    world.run(f"SELECT bloom_set_create('{name}', '{kind.sqltype}', seed => {seed}, unlogged => {unlogged}" +
              (f", keep => '{keep} seconds'" if keep else '') + ')')
    world.sets[name] = Set(kind.key_type, keep, seed=seed)
    row = world.run(f"SELECT key_type, keys, rows, seed FROM bloom_set_info('{name}', {at(world.now)})")[0]
    world.check('set params', row == (kind.key_type, 0, 0, seed), row)


def the_set(world, a):
    if not world.sets:
        return None, None
    name = pick(sorted(world.sets), a)
    return name, world.sets[name]


def kind_for(model, number, adding):
    """A kind of keys for a set: in three of four calls, one that it takes."""
    if number % 4 == 3:
        return pick(KINDS, number // 4)
    return pick([kind for kind in KINDS if not meet(model.key_type, kind.key_type, adding)], number // 4)


def remembered(world, model):
    """The keys that the set must have, and those that it may."""
    last = dict(model.keys)
    if not model.keep:
        return set(last), set(last)
    must = {key for key, time in last.items() if world.now - time <= model.keep - 1}
    may = {key for key, time in last.items() if world.now - time <= model.keep + model.keep // 62 + 2}
    return must, may


def with_keys(world, model, fresh):
    return dataclasses.replace(model, keys=model.keys + tuple((key, world.now) for key in fresh))


@operation
def set_add(world, a, b, c, d, e):
    """One key at a time."""
    name, model = the_set(world, a)
    if model is None:
        return
    kind = kind_for(model, b, True)
    number = (c * 16 + d % 16) % STRANGERS
    key = next(iter(world.keys_of(kind, number, number + 1)))
    call = f"SELECT bloom_set_add('{name}', {kind.expression.format(i=number)}, {at(world.now)})"
    state = meet(model.key_type, kind.key_type, True)
    if state:
        world.fails(state, call)
        return
    must, may = remembered(world, model)
    new = world.value(call)
    if key in must or key not in may:
        world.check('set add', new is (key not in must), new, key)
    world.sets[name] = with_keys(world, model, [key] if new else [])


@operation
def set_add_all(world, a, b, c, d, e):
    name, model = the_set(world, a)
    if model is None:
        return
    kind = kind_for(model, b, True)
    if kind.is_array or kind.size < UNIVERSE:
        return
    first, end = world.span(kind, c, d)
    end = min(end, first + 200)
    array = world.array_of(kind, first, end)
    call = f"bloom_set_add_all('{name}', {array}, {at(world.now)})"
    state = meet(model.key_type, kind.key_type, True)
    if state:
        if end > first:
            world.fails(state, f'SELECT {call}')
        return
    must, may = remembered(world, model)
    fresh = [(kind.family, i) for i in world.numbers_of(kind, first, end, call)]
    keys = world.keys_of(kind, first, end)
    world.check('set add all', len(fresh) == len(set(fresh)) and not set(fresh) & must and
                set(fresh) <= keys, fresh)
    world.check('set loses', not keys - may - set(fresh), keys - may - set(fresh))
    world.sets[name] = with_keys(world, model, fresh)


@operation
def set_load(world, a, b, c, d, e):
    name, model = the_set(world, a)
    if model is None:
        return
    kind = kind_for(model, b, True)
    # the keys of a load are of the clock, which is not that of the model
    if kind.size < UNIVERSE or model.keep:
        return
    first, end = world.span(kind, c, d)
    end = min(end, first + 200)
    query = f'SELECT k FROM {world.rows_of(kind, first, end)}'.replace("'", "''")
    call = f"SELECT bloom_set_load('{name}', '{query}')"
    state = meet(model.key_type, kind.key_type, True)
    if state and first >= end and kind.family in ('pair', 'pairs'):
        # the type of a row is known only with a key
        world.check('set load', world.value(call) == 0)
        return
    if state:
        world.fails(state, call)
        return
    must, _ = remembered(world, model)
    keys = world.keys_of(kind, first, end)
    world.check('set load', world.value(call) == len(keys - must))
    world.sets[name] = with_keys(world, model, sorted(keys - must))


@operation
def set_remove(world, a, b, c, d, e):
    """A key goes, and no other.  What has expired by the clock is not said to have been there."""
    name, model = the_set(world, a)
    if model is None:
        return
    kind = kind_for(model, b, False)
    number = (c * 16 + d % 16) % STRANGERS
    key = next(iter(world.keys_of(kind, number, number + 1)))
    call = f"SELECT bloom_set_remove('{name}', {kind.expression.format(i=number)})"
    state = meet(model.key_type, kind.key_type, False)
    if state:
        world.fails(state, call)
        return
    must, _ = remembered(world, model)
    removed = world.value(call)
    world.check('set remove', removed is (key in must and not model.keep), removed, key)
    world.sets[name] = dataclasses.replace(model, keys=tuple(k for k in model.keys if k[0] != key))


@operation
def set_filter(world, a, b, c, d, e):
    """Its tests agree with the set, and it is the filter of the keys."""
    name, model = the_set(world, a)
    if model is None:
        return
    filter = f"bloom_set_filter('{name}', {pick([100000, 1000000], b)}, {pick([0.01, 1e-6], c)}, {at(world.now)})"
    must, may = remembered(world, model)
    low, high, seed = world.run(f'SELECT bloom_cardinality(f), bloom_cardinality(f), (bloom_info(f)).seed FROM (SELECT {filter} AS f) AS s')[0]
    world.check('set filter', len(must) * 0.95 - 3 <= low and high <= len(may) * 1.05 + 3 and seed == model.seed, low, len(must), len(may))


@operation
def set_contains(world, a, b, c, d, e):
    name, model = the_set(world, a)
    if model is None:
        return
    if e % 8 == 7:
        kind = kind_for(model, b, False)
        state = meet(model.key_type, kind.key_type, False)
        if state:
            world.fails(state, f"SELECT bloom_set_contains('{name}', {kind.expression.format(i=5)}, {at(world.now)})")
        return
    must, may = remembered(world, model)
    families = {family for family, _ in dict(model.keys)}
    for kind in KINDS:
        if kind.family not in families or kind.name in ('varchar', 'bpchar', 'name'):
            continue
        families.discard(kind.family)
        ids = sorted(i for family, i in must if family == kind.family)[:200]
        array = ','.join(map(str, ids))
        denied = world.value(f"SELECT count(*) FROM k_{kind.name} WHERE id = ANY ('{{{array}}}') "
                             f"AND NOT bloom_set_contains('{name}', k, {at(world.now)})")
        world.check('set denies', denied == 0, denied, ids)
        if ids and not kind.is_array:
            keys = f"ARRAY(SELECT k FROM k_{kind.name} WHERE id = ANY ('{{{array}}}'))"
            world.check('set contains all',
                        world.value(f"SELECT bloom_set_contains_all('{name}', {keys}, {at(world.now)})") is True)
            world.check('set contains any',
                        world.value(f"SELECT bloom_set_contains_any('{name}', {keys}, {at(world.now)})") is True)
            world.check('set misses none',
                        world.value(f"SELECT cardinality(bloom_set_missing('{name}', {keys}, {at(world.now)}))") == 0)
        if kind.size == UNIVERSE:
            passed = world.value(f"SELECT count(*) FROM k_{kind.name} WHERE id >= {UNIVERSE - 300} "
                                 f"AND bloom_set_contains('{name}', k, {at(world.now)})")
            world.check('set imagines', passed == 0, passed)


@operation
def set_info(world, a, b, c, d, e):
    name, model = the_set(world, a)
    if model is None:
        return
    must, may = remembered(world, model)
    key_type, keys = world.run(f"SELECT key_type, keys FROM bloom_set_info('{name}', {at(world.now)})")[0]
    world.check('set info', key_type == model.key_type and len(must) <= keys <= len(may), keys, len(must), len(may))
    listed = world.run(f"SELECT key_type, problem FROM bloom_sets() WHERE set = '{name}'::regclass")
    world.check('sets', listed == [(model.key_type, None)], listed)
    if e % 4 == 3:
        world.check('compact', world.value(f"SELECT bloom_set_compact('{name}')") >= 0)
        if model.keep:
            # by the clock, all of it has expired, but what this transaction holds
            world.sets[name] = dataclasses.replace(model, keys=())
            left = world.value(f"SELECT keys FROM bloom_set_info('{name}', {at(world.now)})")
            world.check('expiry', left == 0 or world.in_transaction, left)
            if left:
                world.sets[name] = model


@operation
def set_dedup(world, a, b, c, d, e):
    """The trigger drops the rows whose keys were seen, and only those."""
    name, model = the_set(world, a)
    if model is None or model.keep:
        return
    kind = kind_for(model, b, True)
    if kind.size < UNIVERSE or meet(model.key_type, kind.key_type, True):
        return
    first, end = world.span(kind, c, d)
    end = min(end, first + 100)
    must, may = remembered(world, model)
    world.run('DROP TABLE IF EXISTS arriving')
    world.run(f'CREATE TABLE arriving (id int, k {kind.sqltype})')
    world.run(f"CREATE TRIGGER t BEFORE INSERT ON arriving FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('{name}', 'k')")
    world.run(f'INSERT INTO arriving SELECT id, k FROM generate_series(1, 2), {world.rows_of(kind, first, end)}')
    rows = [i for (i,) in world.run('SELECT id FROM arriving ORDER BY id')]
    world.run('DROP TABLE arriving')
    fresh = {(kind.family, i) for i in rows}
    keys = world.keys_of(kind, first, end)
    world.check('dedup', len(rows) == len(fresh) and not fresh & must and fresh <= keys, rows)
    world.check('dedup keeps the others', not keys - must - fresh, keys - must - fresh)
    world.sets[name] = with_keys(world, model, fresh)


@operation
def clock(world, a, b, c, d, e):
    world.now += pick([1, 60, 600, 3600, 90000], a)


# Whatever SQL can name

VALUES = {
    'bool': ['true', 'false'], 'int2': ['0', '1', '-32768'], 'int4': ['0', '1', '7', '-1', '2147483647'],
    'int8': ['0', '1', '1000', '-1', '9223372036854775807', '4294967296'],
    'float8': ['0.01', '1000', '0', '1', '-1', "'NaN'", "'Infinity'", '1e-300', '0.9999999999999999'],
    'text': ["''", "'key 5'", "repeat('x', 5000)"], 'bytea': ["''", "'\\x0102'", "decode(repeat('00', 3000), 'hex')"],
    'oid': ['0', '20', '25', '99999', '4294967295'], 'regclass': ["'slot'", "'pg_class'", "'k_int4'", '0'],
    'numeric': ['0.5', "'NaN'", '1e100'], 'uuid': ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"],
    'date': ["'2000-01-01'", "'infinity'"], 'timestamp': ["'2000-01-01'", "'-infinity'"],
    'timestamptz': ["'2000-01-01'", "'infinity'", "'-infinity'"], 'interval': ["'1 day'", "'-1 day'", "'178000000 years'"],
    'regtype': ["'int4'", '0'],
}


def values_of(world, type_name, number):
    """An expression of a type, which need not make any sense."""
    if number % 9 == 8:
        return 'NULL' if type_name.startswith('any') else f'NULL::{type_name}'
    if type_name == 'bloom':
        return world.slot(number % SLOTS, number // SLOTS)
    if type_name == 'counting_bloom':
        return pick(['counting_bloom_empty(100)', 'counting_bloom_add(counting_bloom_empty(10), 5)',
                     '(SELECT counting_bloom_agg(k, 10, 0.5) FROM k_int4 WHERE id < 1000)'], number)
    if type_name in ('anyelement', 'anycompatible', 'anynonarray'):
        kind = pick(KINDS, number)
        return kind.expression.format(i=number)
    if type_name in ('anyarray', 'anycompatiblearray'):
        return pick(["'{1,2,NULL}'::int4[]", "'{a,b}'::text[]", "'{}'::int8[]", "'{{1,2},{3,4}}'::float8[]",
                     "ARRAY[ROW(1, 'a')]", "ARRAY[NULL::bloom]"], number)
    return f'({pick(VALUES[type_name], number)})::{type_name}' if type_name in VALUES else None


def all_functions(server):
    """Every function of the extension: name, kind, result, types of its arguments."""
    types = dict(server.execute('SELECT oid::int8, typname::text FROM pg_type'))
    return [(name, kind, types[result], [types[int(t)] for t in arguments.split()])
            for name, kind, result, arguments in server.execute("""
        SELECT p.oid::regproc::text, p.prokind::text, p.prorettype::int8, p.proargtypes::text
        FROM pg_proc AS p WHERE p.oid IN
            (SELECT d.objid FROM pg_depend AS d JOIN pg_extension AS x ON d.refobjid = x.oid
             WHERE d.classid = 'pg_proc'::regclass AND d.deptype = 'e' AND x.extname = 'bloomtype')
        ORDER BY 1, 4""")]


def survives(world, sql):
    """It may fail, but by an error of the user's."""
    if world.in_transaction:
        world.run('SAVEPOINT anything')
    world.checks['anything'] += 1
    try:
        return world.run(sql)
    except psycopg2.Error:
        if world.in_transaction:
            world.run('ROLLBACK TO anything')
        return None


@operation
def anything(world, a, b, c, d, e):
    """Any function with any arguments; a filter that it gives can be written and read."""
    name, prokind, result, types = pick(
        [f for f in world.server.functions if not {'internal', 'cstring'} & set(f[3]) and f[2] != 'trigger' and
         f[0] != 'bloom_set_create'], a * 7 + b)
    numbers = random.Random(c * 65536 + d * 256 + e)
    arguments = [values_of(world, t, numbers.randrange(1000)) for t in types]
    if None in arguments:
        return
    call = f'{name}({", ".join(arguments)})'
    if prokind == 'w':
        call += ' OVER ()'
    rows = survives(world, f'SELECT {call} FROM generate_series(1, 3)' if prokind in 'aw' else f'SELECT {call}')
    if rows and result == 'bloom' and rows[0][0] is not None:
        world.check('comes back', world.value(f"SELECT '{rows[0][0]}'::bloom::text = '{rows[0][0]}'"), call)


@operation
def together(world, a, b, c, d, e):
    """A function that only the server calls, any numbers, beside any other, in one statement with stored filters."""
    functions = [f for f in world.server.functions if not {'internal', 'cstring'} & set(f[3]) and f[1] == 'f' and
                 f[2] != 'trigger' and f[0] != 'bloom_set_create']
    hidden = [f for f in functions if f[0].split('.')[-1].startswith('_')]
    numbers = random.Random(c * 65536 + d * 256 + e)
    for i in range(5):
        conditions = ['f @> id']
        for name, _, _, types in (pick(hidden, a + i), pick(functions, b + i * 37)):
            # of the row, so that they are not computed beforehand
            arguments = ['f' if t == 'bloom' else
                         f'(id - id)::{t} + {values_of(world, t, numbers.randrange(8))}' if t in ('int4', 'int8') else
                         values_of(world, t, numbers.randrange(1000)) for t in types]
            if None not in arguments:
                conditions.append(f"{name}({', '.join(arguments)})::text IS DISTINCT FROM 'no'")
        numbers.shuffle(conditions)
        answer = survives(world, f'SELECT count(*) FROM stored WHERE {" AND ".join(conditions)}')
        world.check('together', answer in (None, [(3,)]), answer, conditions)


@operation
def own_aggregate(world, a, b, c, d, e):
    """An aggregate of a user's, made of any of our functions, with any value for a state."""
    of_filters = [f for f in world.server.functions if f[1] == 'f' and f[3] and f[3][0] == 'bloom']
    steps = [f for f in of_filters if len(f[3]) >= 2 and f[2] == 'bloom']
    finals = [f for f in of_filters if len(f[3]) == 1]
    name, _, _, types = pick(steps, a)
    arguments = [values_of(world, t, (b + i) * 37 + c) for i, t in enumerate(types[1:])]
    declared = ', '.join(types[1:])
    if None in arguments or any(t.startswith('any') for t in types):
        return
    final = pick(finals, c)[0]
    start = f", initcond = '{world.value('SELECT ' + world.slot(d % SLOTS) + '::text')}'" if d % 2 else ''
    world.run('SAVEPOINT own' if world.in_transaction else 'BEGIN')
    try:
        create = f'CREATE AGGREGATE own ({declared}) (sfunc = {name}, stype = bloom{start}' + \
            (f', finalfunc = {final}' if e % 3 else '') + ')'
        world.run(create)
        world.run(f'SELECT own({", ".join(arguments)}) FROM generate_series(1, {1 + e})')
        world.run(f'SELECT own({", ".join(arguments)}) OVER (ORDER BY i) FROM generate_series(1, {1 + e % 20}) AS i')
    except psycopg2.Error:
        pass
    world.checks['anything'] += 1
    world.run('ROLLBACK TO own' if world.in_transaction else 'ROLLBACK')


# Calls that are to fail

WRONG = [
    ("SELECT bloom_empty(0)", '22023'), ("SELECT bloom_empty(10, 0)", '22023'),
    ("SELECT bloom_empty(10, 'NaN')", '22023'), ("SELECT best_params(1)", '22023'),
    ("SELECT bloom_params(1000000000000)", '54000'), ("SELECT 'mary'::bloom", '22P02'),
    ("SELECT ''::bloom", '22P02'), ("SELECT '\\x00'::bytea::bloom", '22P03'),
    ("SELECT bloom_fp_prob(0, 1)", '22023'), ("SELECT bloom_fp_prob('NaN', 1)", '22023'),
    ("SELECT bloom_agg(point(1, 1))", '42883'), ("SELECT bloom_fit(bloom_empty(10), 2)", '22023'),
    ("SELECT bloom_agg(i, NULL::float8) FROM generate_series(1, 2) AS i", '22004'),
    ("SELECT bloom_agg(i, 0, 0.01) FROM generate_series(1, 2) AS i", '22023'),
    ("SELECT bloom_seen(i, 0, 0.01) OVER () FROM generate_series(1, 2) AS i", '22023'),
    ("SELECT bloom_set_add('slot', 1)", '42809'), ("SELECT bloom_set_contains('slot', 1)", '42809'),
    ("SELECT bloom_set_create('wrong', 'int', '-1 day')", '22023'), ("SELECT bloom_set_create('wrong', 'mary')", '42704'),
    ("SELECT bloom_add((SELECT bloom_agg(i) FROM generate_series(1, 0) AS i), 1)", '55000'),
]


@operation
def wrong(world, a, b, c, d, e):
    sql, state = pick(WRONG, a)
    world.fails(state, sql)


#
# Programs
#

BYTE = st.integers(0, 255)
PROGRAM = st.lists(st.tuples(st.integers(0, 255), BYTE, BYTE, BYTE, BYTE, BYTE), min_size=50, max_size=500)


@dataclasses.dataclass
class Failure:
    program: list
    names: list
    log: list
    error: Exception
    trace: str

    @property
    def kind(self):
        """What has to be the same in a shorter program."""
        return getattr(self.error, 'pgcode', None) or str(self.error).split(':')[0]


class Runner:
    def __init__(self, server):
        self.server = server
        self.checks = collections.Counter()
        self.operations = collections.Counter()
        self.programs = 0
        self.end = None
        self.failure = None

    def run(self, program):
        """One program; an exception if something is wrong."""
        if self.end and time.monotonic() > self.end and not self.failure:
            return              # hypothesis has no other way to stop in time
        world = World(self.server, self.checks)
        names = []
        try:
            world.begin()
            for number, *arguments in program:
                function = pick(OPERATIONS, number)
                if function is nothing:
                    continue
                names.append(f'{function.__name__}{tuple(arguments)}')
                function(world, *arguments)
                self.operations[function.__name__] += 1
            world.end()
            self.programs += bool(names)    # hypothesis begins with an empty one
        except BaseException as error:
            if isinstance(error, (Wrong, psycopg2.Error)):
                trace = traceback.format_exception(type(error), error, error.__traceback__, chain=False)
                self.failure = Failure(program, names, list(self.server.log), error, ''.join(trace))
            self.recover()
            raise

    def recover(self):
        """Make the next program possible."""
        try:
            self.server.connection.close()
        except psycopg2.Error:
            pass
        self.server.connect()
        World(self.server, self.checks).drop_sets()

    def shrink(self):
        """Make the program that failed as short as can be in some time.

        Hypothesis shrinks, too, but knows nothing of programs, and each try takes
        a second here: to take operations away by halves, quarters and so on, and
        then to put zeros for their arguments, gets there in fewer.
        """
        first = best = self.failure
        end = time.monotonic() + SHRINK_FOR

        def fails(program):
            nonlocal best
            if time.monotonic() > end:
                return False
            try:
                self.run(program)
            except (Wrong, psycopg2.Error):
                if self.failure.kind == first.kind:
                    best = self.failure
                    return True
            return False

        size = len(best.program)
        while size >= 1:
            position = len(best.program)
            while position > 0:
                start = max(position - size, 0)
                fails(best.program[:start] + best.program[position:])
                position = start
            size //= 2
        for i in range(len(best.program)):
            for j in range(1, 6):
                operation = list(best.program[i])
                if operation[j]:
                    operation[j] = 0
                    fails(best.program[:i] + [tuple(operation)] + best.program[i + 1:])
        self.failure = best

    def check_kinds(self):
        """The server has the key types that the models have."""
        for kind in KINDS:
            (key_type,), = self.server.execute(
                f'SELECT (bloom_info(bloom_agg({kind.expression.format(i=0)}))).key_type')
            if key_type != kind.key_type:
                raise Wrong(f'key type of {kind.name}: {key_type}, {kind.key_type}')

    def tour(self, seed):
        """Every operation several times, so that also a short run has been everywhere."""
        number = random.Random(seed)
        program = [(k, *(number.randrange(256) for _ in range(5)))
                   for k in range(1, len(OPERATIONS)) for _ in range(6)]
        number.shuffle(program)
        self.run(program)

    def has_called(self, functions):
        return all(self.server.called[name] or name in NOT_CALLED for name in functions) and \
            all(self.operations[function.__name__] for function in OPERATIONS[1:])

    def round(self, seed, programs):
        @hypothesis.seed(seed)
        @settings(max_examples=programs, database=None, deadline=None, print_blob=False,
                  suppress_health_check=list(HealthCheck), phases=[Phase.generate],
                  verbosity=Verbosity.quiet, report_multiple_bugs=False)
        @given(PROGRAM)
        def test(program):
            self.run(program)
        test()


def functions_of(server):
    """The functions that people call, whose names do not begin with an underscore."""
    return [name for (name,) in server.execute("""
        SELECT DISTINCT p.proname FROM pg_proc AS p JOIN pg_depend AS d
            ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
        JOIN pg_extension AS x ON d.refclassid = 'pg_extension'::regclass AND x.oid = d.refobjid
        WHERE x.extname = 'bloomtype' AND p.proname NOT LIKE '\\_%'
        ORDER BY 1""")]


def report(runner, functions):
    """What was done, as lines of the Test Anything Protocol."""
    number = failed = 0
    for function in OPERATIONS[1:]:
        name = function.__name__
        number += 1
        failed += runner.operations[name] == 0
        print(f'{"ok" if runner.operations[name] else "not ok"} {number} - {name}: {runner.operations[name]} times')
    for name in functions:
        times = runner.server.called[name]
        right = times > 0 or name in NOT_CALLED
        number += 1
        failed += not right
        print(f'{"ok" if right else "not ok"} {number} - {name}: ' +
              (f'{times} statements' if times else NOT_CALLED.get(name, 'no operation calls it')))
    # At most the rate asked, all filters taken together: most are below capacity.
    number += 1
    right = TOTALS['passed'] <= at_most(TOTALS['asked'] * 1.05)
    failed += not right
    print(f'{"ok" if right else "not ok"} {number} - rate: {TOTALS["passed"]} strangers passed, '
          f'{TOTALS["asked"]:.0f} may')
    print(f'1..{number}')
    checks = sum(runner.checks.values()) - runner.checks['keys tested'] - runner.checks['strangers tested']
    print(f'# {runner.programs} programs, {sum(runner.operations.values())} operations, '
          f'{runner.server.statements} statements, {checks} checks; '
          f'{runner.checks["keys tested"]} members and {runner.checks["strangers tested"]} strangers tested')
    return failed


def be_patient(factor):
    global ANSWER_WITHIN
    ANSWER_WITHIN *= factor
    SETTINGS[0] = f"statement_timeout = '{ANSWER_WITHIN}s'"


def print_failure(failure):
    """A program that failed, as what the test did and as SQL."""
    print('\n'.join('# ' + line for line in failure.trace.splitlines()[-12:]))
    print(f'# shrunk to {len(failure.names)} operations: ' + ' '.join(failure.names))
    print(f"#   --program '{json.dumps(failure.program)}'")
    print('-- as SQL, in a database made by --keep:')
    for sql in failure.log:
        print(' '.join(sql.split()) + ';')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--seed', type=int, default=None)
    parser.add_argument('--programs', type=int, default=None, help='one round of so many programs')
    parser.add_argument('--program', help='one program, as a failure prints it')
    parser.add_argument('--patience', type=int, default=1, help='times as long for an answer, on a slow server')
    parser.add_argument('--keep', action='store_true', help='keep the database, and say its name')
    arguments = parser.parse_args()
    be_patient(arguments.patience)
    seed = arguments.seed if arguments.seed is not None else int(time.time()) % 10**6 * 1000

    database = f'bloomtype_model_{os.getpid()}'
    runner = Runner(make_database(database))
    began = time.monotonic()
    functions = functions_of(runner.server)
    runner.server.functions = all_functions(runner.server)
    try:
        if arguments.program:
            runner.run(json.loads(arguments.program))
            return 0
        runner.check_kinds()
        if arguments.programs is None:
            runner.end = began + arguments.seconds
        while True:
            programs = arguments.programs or 25
            try:
                before = runner.programs
                runner.tour(seed)
                runner.round(seed, programs)
            except Exception:
                # hypothesis runs it again, and may find it "flaky"
                if runner.failure is None:
                    raise
                print(f'not ok 1 - programs (--seed {seed} --programs {programs})')
                print(f'# {runner.failure.error}'.replace('\n', '\n# '), flush=True)
                runner.shrink()
                print_failure(runner.failure)
                return 1
            print(f'# seed {seed}: {runner.programs - before} programs', flush=True)
            seed += 1
            if arguments.programs is not None or time.monotonic() > runner.end:
                break
        # a short run may have left something out
        runner.end = None
        for more in range(20):
            if runner.has_called(functions):
                break
            try:
                runner.tour(seed + more)
            except (Wrong, psycopg2.Error):
                print('not ok 1 - programs')
                print_failure(runner.failure)
                return 1
        return report(runner, functions) > 0
    finally:
        runner.server.connection.close()
        if arguments.keep:
            print(f'# database {database}')
        else:
            drop_database(database)


if __name__ == '__main__':
    sys.exit(main())
