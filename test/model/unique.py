#!/usr/bin/python3
"""Random transactions on a table whose keys are unique across partitions, and on its oracle.

The oracle is a table without partitions that has a real unique constraint, checked at the
end of each statement, and gets the same statements in the same transactions.  They insert
rows, singly and in bulk, by COPY and MERGE, ON CONFLICT of another index, functions,
triggers that write the table again, WITH queries that write it twice, and directly into
partitions; claim keys, which they use, or not, or ask for twice; delete rows, move them,
and change their keys, also by foreign keys that cascade; truncate the table, or its set,
detach a partition, write to it and attach it, and validate or rebuild the set; all of that
with savepoints, rollbacks and two-phase commit, at all isolation levels.  A key is a
numeric, which is written in several ways.

With one session, the answers of the two must be the same, statement by statement.  With
more, these hold:

- what the partitioned table accepts, the oracle accepts: no two rows have one key;
- the two have the same rows, in any snapshot: no row is lost;
- no key is refused, or left out after a claim, that is absent: it is there, or a transaction
  has taken it away that had not ended when the operation began;
- there are no errors but those that such transactions have.

Usage: unique.py [--operations N] [--sessions N] [--seed N]

The server is found as by psql; the test makes a schema of its own in the database, and
drops it.  It means something if the set answers falsely often, and batches are small:
set/tap/unique_random.pl builds such a library.  A seed gives the same operations again;
with more than one session, not their order.

Needs Debian's python3-psycopg2.
"""
import argparse
import io
import multiprocessing
import random
import re
import sys
import time
import traceback

import psycopg2
from psycopg2 import errors

RANGE = 150             # keys that are in use at a time
ADVANCE = 30            # operations until the range goes on by a key
ABORTED = 100000000     # added to keys of rows that are rolled back
COLUMNS = 'id numeric, p int, v int, w bigint, u text, g bigint'
ROW = 'id, p, v, w, u, g'
# what is made for each of the two: {t} is the table, {detached} what has been a partition of it
EACH = """
CREATE TABLE par_{t} (g bigint PRIMARY KEY, id numeric, p int, UNIQUE (g, id, p));
ALTER TABLE {t} ADD FOREIGN KEY (g, id, p) REFERENCES par_{t} (g, id, p) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE UNIQUE INDEX {t}_w ON {t} (p, w);
CREATE INDEX {t}_g ON {t} (g);
CREATE TRIGGER in_vain AFTER INSERT ON {t} FOR EACH ROW WHEN (NEW.v = -1) EXECUTE FUNCTION in_vain('{t}');
CREATE TRIGGER companion AFTER INSERT ON {t} FOR EACH ROW WHEN (NEW.v = -2) EXECUTE FUNCTION companion('{t}');
CREATE TRIGGER try_companion AFTER INSERT ON {t} FOR EACH ROW WHEN (NEW.v = -3) EXECUTE FUNCTION try_companion('{t}');
"""
SCHEMA = """
DROP SCHEMA IF EXISTS random_unique CASCADE;
CREATE SCHEMA random_unique;
SET search_path = random_unique, public;

CREATE FUNCTION put(t text, id numeric, p int) RETURNS numeric LANGUAGE plpgsql AS
	$$BEGIN EXECUTE format('INSERT INTO %I (id, p, v) VALUES ($1, $2, 2)', t) USING id, p; RETURN id; END$$;
-- into the partition; the oracle has none
CREATE FUNCTION put_directly(t text, id numeric, p int) RETURNS numeric LANGUAGE plpgsql AS
	$$BEGIN RETURN put(CASE t WHEN 'x' THEN t || p ELSE t END, id, p); END$$;
CREATE FUNCTION try_put(t text, id numeric, p int) RETURNS boolean LANGUAGE plpgsql AS
	$$BEGIN PERFORM put(t, id, p); RETURN true; EXCEPTION WHEN unique_violation THEN RETURN false; END$$;
-- a block in the middle of a statement, which is rolled back
CREATE FUNCTION in_vain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM put_directly(TG_ARGV[0], NEW.id + 100000000, (NEW.p + 1) % 4);
	RAISE division_by_zero;
EXCEPTION WHEN division_by_zero THEN
	RETURN NULL;
END
$$;
-- another row with each
CREATE FUNCTION companion() RETURNS trigger LANGUAGE plpgsql AS
	$$BEGIN PERFORM put(TG_ARGV[0], NEW.id + 3, (NEW.p + 1) % 4); RETURN NULL; END$$;
-- where there are other sessions, the oracle does what was done to the table: a key that was refused
-- there can be free by now
CREATE FUNCTION try_companion() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	key text := (NEW.id + 3)::text || ' ';
	-- with one session, there is no list
	follows boolean := COALESCE(current_setting('random.written', true), '') <> '';
BEGIN
	IF TG_ARGV[0] = 'o' AND follows THEN
		PERFORM put('o', NEW.id + 3, (NEW.p + 1) % 4) WHERE position(' ' || key IN current_setting('random.written')) > 0;
	ELSIF try_put(TG_ARGV[0], NEW.id + 3, (NEW.p + 1) % 4) THEN
		PERFORM set_config('random.written', current_setting('random.written') || key, false) WHERE follows;
	ELSE
		PERFORM set_config('random.refused', current_setting('random.refused') || key, false) WHERE follows;
	END IF;
	RETURN NULL;
END
$$;

CREATE TABLE x ({columns}) PARTITION BY LIST (p);
CREATE TABLE x0 PARTITION OF x FOR VALUES IN (0);
CREATE TABLE x1 PARTITION OF x FOR VALUES IN (1);
CREATE TABLE x2 PARTITION OF x FOR VALUES IN (2);
CREATE TABLE x3 PARTITION OF x FOR VALUES IN (3);
-- one with parts, and one that comes and goes, with its columns in another order
CREATE TABLE x4 PARTITION OF x FOR VALUES IN (4) PARTITION BY HASH (w);
CREATE TABLE x40 PARTITION OF x4 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE x41 PARTITION OF x4 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE x5 (v int, junk int, u text, id numeric, g bigint, w bigint, p int);
ALTER TABLE x5 DROP COLUMN junk;
ALTER TABLE x ATTACH PARTITION x5 FOR VALUES IN (5);
CREATE INDEX ON x (id);
CREATE INDEX ON x (u);
CREATE INDEX ON x (u, id);
{x}
-- what the set has seen
SELECT bloom_unique_create('x', 'id');
INSERT INTO x (id, p, v) SELECT -i, i % 4, 0 FROM generate_series(1, 2500) AS i;
DELETE FROM x;
SELECT bloom_unique_create('x', 'u');
-- one of two columns, of which most rows have a null: each that repeats it repeats one of the others
SELECT bloom_unique_create('x', 'id, u');

CREATE TABLE o ({columns}, UNIQUE (id) DEFERRABLE, UNIQUE (u) DEFERRABLE, CONSTRAINT not_made CHECK (p <> 6));
{o}
-- without the constraints
CREATE TABLE o5 ({columns}, FOREIGN KEY (g, id, p) REFERENCES par_o (g, id, p) ON UPDATE CASCADE ON DELETE CASCADE);

-- which transactions have taken which keys away
CREATE TABLE gone (key text, xid xid8 DEFAULT pg_current_xact_id());
CREATE INDEX ON gone (key);
CREATE FUNCTION gone() RETURNS trigger LANGUAGE plpgsql AS
	$$BEGIN INSERT INTO gone VALUES (trim_scale(OLD.id)::text), (OLD.u); RETURN NULL; END$$;
CREATE TRIGGER gone AFTER DELETE OR UPDATE OF id, u ON o FOR EACH ROW EXECUTE FUNCTION gone();

-- a claim of what has just been written; the trigger fires after that of the key
CREATE FUNCTION claims() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NEW.id IS NOT NULL AND bloom_unique_claim('x', 'id', NEW.id) THEN
		RAISE EXCEPTION 'key % was claimed, though it is there', NEW.id;
	END IF;
	RETURN NULL;
END
$$;
CREATE TRIGGER zz AFTER INSERT ON x FOR EACH ROW WHEN (NEW.v = -4) EXECUTE FUNCTION claims();

-- for programs that do not know of claims
CREATE VIEW x_in AS SELECT * FROM x;
CREATE FUNCTION x_in() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF bloom_unique_claim('x', 'id', NEW.id) THEN
		INSERT INTO x VALUES (NEW.*);
		RETURN NEW;
	END IF;
	RETURN NULL;
END
$$;
CREATE TRIGGER x_in INSTEAD OF INSERT ON x_in FOR EACH ROW EXECUTE FUNCTION x_in();
"""
DIFFERENCE = """
SELECT min(side), ({row})::text, count(*)
FROM (SELECT 'x' AS side, id::text, p, v, w, u, g FROM {x} UNION ALL SELECT 'o', id::text, p, v, w, u, g FROM {o}) AS both_tables
GROUP BY {row} HAVING count(*) FILTER (WHERE side = 'x') <> count(*) FILTER (WHERE side = 'o') LIMIT 3
"""


def connect():
    """A connection that is in the schema, and begins transactions by SQL."""
    connection = psycopg2.connect('')
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute('SET search_path = random_unique, public; SET client_min_messages = error')
    return cursor


W = object()            # the number of the last row, among arguments


class Over(Exception):
    """The transaction has ended by an error."""


class Session:
    """What all sessions can do: count, complain, run statements on both tables, compare."""

    def __init__(self, number, options, total):
        self.number = number
        self.options = options
        self.total = total
        self.rnd = random.Random(options.seed * 1000 + number)
        self.counts = {}
        self.wrong = []
        self.cursor = connect()
        self.other = connect()      # sees what is committed
        self.exact = options.sessions == 1
        self.level = 'READ COMMITTED'
        self.last = None
        self.nrows = 0
        self.places = []            # values of (p, w)
        self.before = None

    def count(self, what, n=1):
        self.counts[what] = self.counts.get(what, 0) + n

    def complain(self, *what):
        self.wrong.append(' '.join(map(str, what + (self.level, self.last))))
        print('WRONG:', self.wrong[-1], flush=True)

    def run(self, sql, *arguments):
        self.cursor.execute(sql, arguments or None)
        return self.cursor.fetchall() if self.cursor.description else []

    def look(self, sql, *arguments):
        self.other.execute(sql, arguments or None)
        return self.other.fetchall() if self.other.description else []

    # what is written

    def number_in_use(self):
        return self.total.value // ADVANCE + self.rnd.randrange(RANGE)

    def key(self):
        """A key, in one of its spellings."""
        return '%d%s' % (self.number_in_use(), self.rnd.choice(('', '', '.0', '.00')))

    def keys(self, most):
        """Some keys, which are seldom repeated."""
        keys = [self.key() for _ in range(self.rnd.randrange(1, most))]
        if self.rnd.random() < 0.8:
            keys = list({float(key): key for key in keys}.values())
        return keys

    def partition(self, most=7):
        return self.rnd.randrange(most)

    def row(self, key, p, u=None):
        """The other columns of a row with a key."""
        self.nrows += 1
        w = self.number * 10**9 + self.nrows
        self.places = self.places[-50:] + [(p, w)]
        return (key, p, self.rnd.choice((0, 0, 0, 0, -1, -2, -3, -4)), w, u, None)

    def second(self):
        """A value of the second key, which most rows do not have."""
        return 'u%d' % self.number_in_use() if self.rnd.random() < 0.2 else None

    # what is said of it

    def judge(self, refusal, sql, arguments, copy):
        """It was refused.  Does its oracle, too, or has it had a reason when it began?"""
        self.cursor.execute("SAVEPOINT oracle; SET LOCAL lock_timeout = '20ms'")
        said = self.attempt(sql, arguments, copy)
        self.cursor.execute('ROLLBACK TO oracle')
        if isinstance(said, errors.LockNotAvailable):
            self.count('refused, and being changed')
        elif not isinstance(said, errors.UniqueViolation):
            column, key = (part.split(', ')[0] for part in re.search(r'^Key \((.*)\)=\((.*)\)', refusal.diag.message_detail).groups())
            if column == 'id' and float(key) >= ABORTED:
                key = '%d' % (float(key) - ABORTED)
            self.absent(column, key)

    def absent(self, column, key):
        """Complain, unless a row has had this key since the operation began."""
        sql = 'SELECT count(*) FROM o WHERE %s = %%s' % column
        if self.run(sql, key)[0][0] or self.look(sql, key)[0][0]:
            return
        self.count('refused, and gone since')
        name = '%d' % float(key) if column == 'id' else key
        taken = 'SELECT count(*) FROM gone WHERE key = %s AND NOT pg_visible_in_snapshot(xid, %s::pg_snapshot)'
        if self.look(taken, name, self.before)[0][0] == 0:
            self.complain('key', key, 'was refused, but is absent;')

    def compare(self, x='x', o='o'):
        """Have the two tables the same rows?"""
        self.count('comparisons')
        found = (self.run if self.exact else self.look)(DIFFERENCE.format(row=ROW, x=x, o=o))
        if found:
            self.complain('tables differ:', found)

    def compare_detached(self):
        if not Keeper.is_attached(self):
            self.compare('x5', 'o5')

    def attempt(self, sql, arguments, copy=None):
        """A statement: its rows, or how many it has written, or the error by which it failed."""
        try:
            if copy is not None:
                self.cursor.copy_expert(sql, io.StringIO(copy))
            else:
                self.cursor.execute(sql, arguments or None)
            return sorted(self.cursor.fetchall(), key=str) if self.cursor.description else self.cursor.rowcount
        except (errors.UniqueViolation, errors.CheckViolation, errors.LockNotAvailable) as error:
            return error

    def both(self, sql, arguments=(), copy=None, direct=None):
        """
        The same on both.  {t} is the table, {d} this partition of it.
        """
        self.last = (sql, arguments, copy)
        expected = None
        self.before = None if self.exact else self.look('SELECT pg_current_snapshot()::text')[0][0]
        guarded = self.rnd.random() < 0.6
        of_x = sql.format(t='x', d='x' if direct is None else 'x%d' % direct)
        of_o = sql.format(t='o', d='o')
        if direct is not None:
            self.count('directly')

        tries = -3 in arguments or '\t-3\t' in (copy or '')
        if tries and not self.exact:
            self.run("SELECT set_config('random.written', ' ', false), set_config('random.refused', ' ', false)")

        # first the oracle, if it waits for nobody: then an error may end the transaction
        if self.exact:
            self.cursor.execute('SAVEPOINT oracle')
            expected = self.attempt(of_o, arguments, copy)
            self.cursor.execute('ROLLBACK TO oracle' if isinstance(expected, errors.Error) else 'RELEASE oracle')
        if guarded:
            self.cursor.execute('SAVEPOINT operation')
        said = self.attempt(of_x, arguments, copy)
        if isinstance(said, errors.Error):
            self.count('refused' if isinstance(said, errors.UniqueViolation) else 'no partition')
            self.cursor.execute('ROLLBACK TO operation' if guarded else 'ROLLBACK')
            # with the transaction, its own rows have gone
            if isinstance(said, errors.UniqueViolation) and guarded and not self.exact and not tries:
                self.judge(said, of_o, arguments, copy)
        elif not self.exact:
            expected = self.attempt(of_o, arguments, copy)
        is_refused = isinstance(said, errors.Error)
        # what a trigger writes before the statement's keys are known is not refused, so that its block goes on: the statement is
        if is_refused and not isinstance(expected, errors.Error) and tries:
            self.count('refused for a nested row')
            raise Over
        if (self.exact or not is_refused) and (type(said) is not type(expected) or not is_refused and said != expected):
            self.complain('it says', repr(said), 'and its oracle', repr(expected))
            raise Over
        if tries and not self.exact and not is_refused:
            for key in self.run("SELECT current_setting('random.refused')")[0][0].split():
                self.count('refused in a trigger')
                self.absent('id', key)
        if is_refused and not guarded:
            raise Over
        if not is_refused and guarded and self.rnd.random() < 0.7:
            self.cursor.execute('RELEASE operation')

    def finds(self, condition, *arguments):
        """Rows that are to be changed, which are locked if there are other sessions."""
        rows = self.run('SELECT id, g FROM o WHERE %s %s' % (condition, '' if self.exact else 'FOR UPDATE'), *arguments)
        return len(rows)


class Writer(Session):
    """Transactions of a few operations."""

    def direct(self, p):
        """Sometimes the partition."""
        return p if p < 5 and self.rnd.random() < 0.25 else None

    def values(self, key, p, u=None):
        return 'INSERT INTO {d} (' + ROW + ') VALUES (%s, %s, %s, %s, %s, %s)', self.row(key, p, u)

    def insert(self):
        p = self.partition()
        sql, row = self.values(self.key() if self.rnd.random() < 0.98 else None, p, self.second())
        self.both(sql + ' RETURNING id', row, direct=self.direct(p))

    def insert_many(self):
        keys, p = self.keys(9), self.partition(5)
        w = self.row(None, p)[3]
        self.nrows += len(keys)
        self.both('INSERT INTO {d} (id, p, v, w) SELECT id, %s, %s, %s + row_number() OVER () FROM unnest(%s::numeric[]) AS id RETURNING id',
                  (p, self.rnd.choice((0, 0, -1, -2, -3, -4)), w, keys), direct=self.direct(p))

    def copy(self):
        direct = self.direct(self.partition(4))
        rows = [self.row(key, self.partition(4) if direct is None else direct, self.second()) for key in self.keys(9)]
        self.both('COPY {d} (' + ROW + ') FROM stdin', direct=direct,
                  copy=''.join('\t'.join('\\N' if value is None else str(value) for value in row) + '\n' for row in rows))

    def merge(self):
        key, p = self.key(), self.partition()
        self.both("""MERGE INTO {t} AS t USING (VALUES (%s::numeric, %s)) AS s (id, p) ON t.id = s.id AND t.p = s.p
                  WHEN MATCHED THEN UPDATE SET v = 5 WHEN NOT MATCHED THEN INSERT (id, p, v) VALUES (s.id, s.p, 5)""", (key, p))

    def merge_moves(self):
        """Two rows: one that is there goes elsewhere, or gets another key, and a new one comes."""
        key, new, p = self.key(), self.key(), self.partition(5)
        if self.finds('id = %s AND g IS NULL', key):
            other = self.key()
            self.finds('id = %s', other)
            self.both("""MERGE INTO {t} AS t USING (VALUES (%s::numeric, %s::numeric), (%s::numeric, NULL)) AS s (id, new) ON t.id = s.id
                      WHEN MATCHED AND s.new IS NOT NULL THEN UPDATE SET p = %s, v = 0, id = s.new
                      WHEN NOT MATCHED THEN INSERT (id, p, v) VALUES (s.id, %s, 12)""",
                      (key, self.rnd.choice((key, new)), other, p, self.partition(5)))

    def on_conflict(self):
        """The arbiter is another index."""
        if not self.places:
            return
        p, w = self.rnd.choice(self.places)
        if not self.exact and not self.finds('p = %s AND w = %s', p, w):
            return
        action = self.rnd.choice(('NOTHING', 'UPDATE SET v = 7', 'UPDATE SET id = excluded.id, g = NULL'))
        self.both('INSERT INTO {t} (id, p, v, w) VALUES (%s, %s, 6, %s) ON CONFLICT (p, w) DO ' + action, (self.key(), p, w))

    def nested(self):
        """A statement whose function inserts another row."""
        function = self.rnd.choice(('put', 'put_directly'))
        self.both("INSERT INTO {t} (id, p, v) SELECT %s, %s, 8 FROM (SELECT " + function + "('{t}', %s, %s) OFFSET 0) AS f",
                  (self.key(), self.partition(4), self.key(), self.partition(4)))

    def writes_twice(self):
        self.both('WITH a AS (INSERT INTO {d} (id, p, v) VALUES (%s, 1, 9)) INSERT INTO {t} (id, p, v) VALUES (%s, %s, 9)',
                  (self.key(), self.key(), self.partition(5)), direct=self.rnd.choice((None, 1)))

    def moves_and_writes(self):
        """A row moves, or gets another key, beside one that comes."""
        key = self.key()
        if self.finds('id = %s AND g IS NULL', key):
            self.both('WITH a AS (UPDATE {t} SET p = %s, v = 0, id = %s WHERE id = %s) INSERT INTO {t} (id, p, v) VALUES (%s, %s, 9)',
                      (self.partition(5), self.rnd.choice((key, self.key())), key, self.key(), self.partition(5)))

    def replaces(self):
        """A key goes and comes in one statement."""
        key = self.key()
        if self.finds('id = %s', key):
            self.both('WITH a AS (DELETE FROM {t} WHERE id = %s RETURNING id) INSERT INTO {t} (id, p, v) SELECT id, %s, 10 FROM a',
                      (key, self.partition(5)))

    def try_put(self):
        key, p = self.key(), self.partition(5)
        if self.exact:
            self.both("SELECT try_put('{t}', %s, %s)", (key, p))
            return
        self.last = ('try_put', key)
        self.before = self.look('SELECT pg_current_snapshot()::text')[0][0]
        if self.run("SELECT try_put('x', %s, %s)", key, p)[0][0]:
            self.run("SELECT put('o', %s, %s)", key, p)
        else:
            self.absent('id', key)

    # claims

    def claim(self, sql, keys, *arguments, direct=None, copy=None):
        """
        A statement that claims keys and inserts the rows of those that are free, which the
        oracle gets, too.  Of repeats, one comes, or all is refused.
        """
        distinct = {float(key) for key in keys}
        free = {key for key in distinct if not self.run('SELECT count(*) FROM o WHERE id = %s', key)[0][0]} if self.exact else None
        self.last = (sql, keys)
        self.before = None if self.exact else self.look('SELECT pg_current_snapshot()::text')[0][0]
        self.count('claimed')
        guarded = self.rnd.random() < 0.5
        if guarded:
            self.cursor.execute('SAVEPOINT claim')
        w = self.number * 10**9 + self.nrows
        self.nrows += len(keys)
        said = self.attempt(sql.format(d='x' if direct is None else 'x%d' % direct), [w if a is W else a for a in arguments],
                            copy and ''.join('%s\t%d\t%d\n' % (key, direct, w + n) for n, key in enumerate(keys, 1)))
        if isinstance(said, errors.Error):
            self.cursor.execute('ROLLBACK TO claim' if guarded else 'ROLLBACK')
            if isinstance(said, errors.CheckViolation):
                self.count('no partition')
            elif len(distinct) == len(keys):
                self.complain('a repeat was claimed:', said.diag.message_detail)
            if not guarded:
                raise Over
            return
        rows = self.run('SELECT ' + ROW + ' FROM x WHERE w > %s AND w <= %s', w, w + len(keys))
        self.cursor.executemany('INSERT INTO o (' + ROW + ') VALUES (%s, %s, %s, %s, %s, %s)', rows)
        inserted = {float(row[0]) for row in rows}
        self.count('inserted after a claim', len(rows))
        if self.exact and inserted != free:
            self.complain('claims gave', inserted, 'where these are free:', free)
        for key in distinct - inserted:
            self.absent('id', key)

    def claim_one(self):
        key, p = self.key(), self.partition()
        if self.rnd.random() < 0.15:
            key = self.claim_in_vain()
        self.claim('INSERT INTO {d} (id, p, v, w) SELECT %s, %s, 13, %s + 1 ' + "WHERE bloom_unique_claim('x', 'id', %s::numeric)", [key],
                   key, p, W, key, direct=self.direct(p))

    def claim_many(self):
        keys, p = self.keys(9), self.partition(5)
        table = '(SELECT unnest(%s::numeric[]) AS id) AS s'
        where = self.rnd.choice(("JOIN (SELECT unnest(bloom_unique_claim_all('x', 'id', %s::numeric[])) AS id) AS n USING (id)",
                                 "WHERE s.id = ANY (bloom_unique_claim_all('x', 'id', %s::numeric[]))"))
        self.claim('INSERT INTO {d} (id, p, v, w) SELECT id, %s, 14, %s + row_number() OVER () FROM ' + table + ' ' + where, keys,
                   p, W, keys, keys, direct=self.direct(p))

    def claim_each(self):
        """A claim for each row, in a COPY or a view."""
        if self.rnd.random() < 0.5:
            self.claim("COPY {d} (id, p, w) FROM stdin WHERE bloom_unique_claim('x', 'id', id)", self.keys(9), direct=self.rnd.randrange(4), copy=True)
            return
        keys = self.keys(5)
        self.claim('INSERT INTO x_in (id, p, w) SELECT id, %s, %s + row_number() OVER () FROM unnest(%s::numeric[]) AS id', keys,
                   self.partition(5), W, keys)

    def claim_in_vain(self):
        """A claim that is not used now, or is asked twice, or rolled back."""
        key = self.key()
        self.last = ('claimed in vain', key)
        self.count('claimed in vain')
        self.cursor.execute('SAVEPOINT claim')
        said = [self.run("SELECT bloom_unique_claim('x', 'id', %s::numeric)", key)[0][0] for _ in range(self.rnd.choice((1, 1, 2)))]
        free = not self.run('SELECT count(*) FROM o WHERE id = %s', key)[0][0]
        if self.exact and set(said) != {free}:
            self.complain('claims said', said)
        if self.rnd.random() < 0.3:
            self.cursor.execute('ROLLBACK TO claim')
        return key

    # rows that are there

    def delete(self):
        key = self.key()
        if self.finds('id = %s', key):
            self.both('DELETE FROM {t} WHERE id = %s RETURNING id', (key,))
            if self.rnd.random() < 0.2:
                # the same key, perhaps elsewhere
                self.both(*self.values(key, self.partition(5)))

    def move(self):
        # triggers fire for an insert into the new partition, where the oracle has none: with this v there is nothing to do
        key = self.key()
        if self.finds('id = %s', key):
            self.both('UPDATE {t} SET p = %s, v = 0, g = NULL WHERE id = %s RETURNING id', (self.partition(), key))

    def change(self):
        key = self.key()
        if self.finds('id = %s', key):
            what = self.rnd.choice(('id = %s, g = NULL', 'id = %s, g = NULL, v = 0, p = (p + 1) %% 4', 'u = \'u\' || trunc(%s::numeric)'))
            self.both('UPDATE {t} SET ' + what + ' WHERE id = %s', (self.key(), key))

    def exchange(self):
        """Keys that are there twice before the statement has ended."""
        key, new = self.key(), self.key()
        if self.finds('id IN (%s, %s)', key, new) == 2:
            self.count('exchanged')
            self.both('UPDATE {t} SET id = %s::numeric + %s::numeric - id, g = NULL WHERE id IN (%s, %s)', (key, new, key, new))

    def update(self):
        key = self.key()
        if self.finds('id = %s', key):
            self.both('UPDATE {t} SET v = v + 1 WHERE id = %s', (key,))

    def child(self):
        """A row that refers to another, which can change its key, move it, and delete it."""
        key, p = self.key(), self.partition(5)
        self.nrows += 1
        g = self.number * 10**9 + self.nrows
        self.places.append((p, g))
        self.both('INSERT INTO par_{t} VALUES (%s, %s, %s)', (g, key, p))
        self.both('INSERT INTO {t} (id, p, v, w, g) VALUES (%s, %s, 11, %s, %s)', (key, p, g, g))

    def cascade(self):
        found = self.run('SELECT g FROM o WHERE g IS NOT NULL ORDER BY g DESC LIMIT 20')
        if not found:
            return
        g = self.rnd.choice(found)[0]
        if not self.run('SELECT g FROM par_o WHERE g = %s' + ('' if self.exact else ' FOR UPDATE'), g) or not self.finds('g = %s', g):
            return
        self.count('cascades')
        what = self.rnd.choice(('UPDATE par_{t} SET id = %s WHERE g = %s', 'UPDATE par_{t} SET id = %s, p = (p + 1) %% 4 WHERE g = %s',
                                'UPDATE par_{t} SET p = (p + 1) %% 4 WHERE id <> %s AND g = %s', 'DELETE FROM par_{t} WHERE id <> %s AND g = %s'))
        self.both(what, (self.key(), g))

    OPERATIONS = ((insert, 40), (insert_many, 12), (copy, 6), (merge, 5), (merge_moves, 5), (on_conflict, 6), (nested, 5), (writes_twice, 4),
                  (moves_and_writes, 5), (replaces, 4), (try_put, 6), (claim_one, 16), (claim_many, 8), (claim_each, 6), (claim_in_vain, 5),
                  (delete, 20), (move, 14), (change, 9), (exchange, 4), (update, 4), (child, 6), (cascade, 6))

    def operate(self):
        kind = self.rnd.choices(*zip(*self.operations))[0]
        self.done += 1
        self.count('operation ' + kind.__name__)
        kind(self)
        if self.exact:
            self.compare()

    def transaction(self):
        rnd = self.rnd
        self.level = rnd.choice(('READ COMMITTED', 'READ COMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'))
        self.cursor.execute('BEGIN ISOLATION LEVEL ' + self.level)
        names = []
        for _ in range(rnd.randrange(1, 8)):
            if rnd.random() < 0.25:
                names.append('s%d' % len(names))
                self.cursor.execute('SAVEPOINT ' + names[-1])
                self.count('savepoints')
            self.operate()
            if names and rnd.random() < 0.3:
                at = rnd.randrange(len(names))
                if rnd.random() < 0.6:
                    self.cursor.execute('ROLLBACK TO ' + names[at])
                    names = names[:at + 1]
                else:
                    self.cursor.execute('RELEASE ' + names[at])
                    names = names[:at]
        end = rnd.random()
        if end < 0.75:
            self.cursor.execute('COMMIT')
            self.count('committed')
        elif end < 0.82:
            name = 'random %d %d %d' % (self.options.seed, self.number, self.done)
            self.cursor.execute("PREPARE TRANSACTION '%s'" % name)
            self.count('prepared')
            if rnd.random() < 0.5 and not self.exact:
                time.sleep(0.002)
            self.cursor.execute("%s PREPARED '%s'" % ('COMMIT' if rnd.random() < 0.7 else 'ROLLBACK', name))
        else:
            self.cursor.execute('ROLLBACK')
            self.count('rolled back')

    def goes_on(self):
        """All operations are to be done, and more while the keeper waits for locks."""
        most = self.options.operations * (1 if self.exact or self.options.kept.is_set() else 20)
        return self.total.value < most and not self.wrong

    def main(self):
        self.operations = self.OPERATIONS + (Keeper.OPERATIONS if self.exact else ())
        self.done = 0
        while self.goes_on():
            before = self.done
            try:
                self.transaction()
            except Over:
                self.count('ended by an error')
                self.cursor.execute('ROLLBACK')
            except errors.DeadlockDetected:
                self.count('deadlocks')
                self.cursor.execute('ROLLBACK')
            except errors.SerializationFailure:
                self.count('serialization failures')
                self.cursor.execute('ROLLBACK')
            with self.total.get_lock():
                self.total.value += self.done - before
            if self.exact and self.rnd.random() < 0.05:
                Keeper.between(self)
            if self.rnd.random() < 0.4:
                self.compare()
                if self.exact:
                    self.compare_detached()
        self.count('operations', self.done)


class Keeper(Session):
    """What is done to partitions and to the set; in transactions, but for the last ones."""

    def is_attached(self):
        return self.run("SELECT count(*) FROM pg_inherits WHERE inhrelid = 'x5'::regclass")[0][0] == 1

    def lock(self):
        if not self.exact:
            self.cursor.execute('LOCK TABLE x, o IN ACCESS EXCLUSIVE MODE')

    def detach_or_attach(self):
        self.last = ('detach or attach',)
        Keeper.lock(self)
        if Keeper.is_attached(self):
            self.count('detached')
            # for the oracle these rows will be inserted, which must not fire triggers
            self.cursor.execute("""UPDATE x SET v = 0 WHERE p = 5; UPDATE o SET v = 0 WHERE p = 5;
                ALTER TABLE x DETACH PARTITION x5;
                WITH d AS (DELETE FROM o WHERE p = 5 RETURNING *) INSERT INTO o5 SELECT * FROM d;
                ALTER TABLE o ADD CONSTRAINT no_partition CHECK (p <> 5)""")
            for _ in range(self.rnd.randrange(3)):
                row = self.row(self.key(), 5, self.second())
                for table in 'x5', 'o5':
                    self.run('INSERT INTO ' + table + ' (' + ROW + ') VALUES (%s, %s, abs(%s), %s, %s, %s)', *row)
            return
        self.before = None if self.exact else self.look('SELECT pg_current_snapshot()::text')[0][0]
        self.cursor.execute('SAVEPOINT attach')
        self.cursor.execute('ALTER TABLE o DROP CONSTRAINT no_partition')
        said = self.attempt('WITH d AS (DELETE FROM o5 RETURNING *) INSERT INTO o SELECT * FROM d', ())
        if isinstance(said, errors.Error):
            self.cursor.execute('ROLLBACK TO attach')
            self.count('attach refused')
        got = self.attempt('ALTER TABLE x ATTACH PARTITION x5 FOR VALUES IN (5)', ())
        if isinstance(said, errors.Error) != isinstance(got, errors.Error):
            self.complain('ATTACH says', got, 'and its oracle', said)
        if not isinstance(got, errors.Error):
            self.count('attached')
            Keeper.attach_others(self)
            return
        self.cursor.execute('ROLLBACK TO attach')
        for t in 'xo':
            self.run("""DELETE FROM {t}5 AS a WHERE id IN (SELECT id FROM {t}) OR u IN (SELECT u FROM {t})
                OR EXISTS (SELECT FROM {t}5 AS b WHERE b.id = a.id AND b.w < a.w) OR EXISTS (SELECT FROM {t}5 AS b WHERE b.u = a.u AND b.w < a.w)""".format(t=t))

    def attach_others(self):
        """More partitions, in the transaction that has attached one; they go with their rows."""
        attached = []
        for p in range(7, 7 + self.rnd.randrange(4)):
            keys = [self.key() for _ in range(self.rnd.randrange(4))] + [None]
            row = "SELECT id, %d, 16, 'u' || trunc(id)::text FROM unnest(%%s::numeric[]) AS id" % p
            self.cursor.execute('SAVEPOINT other; CREATE TABLE x%d (LIKE x)' % p)
            said = self.attempt('INSERT INTO o (id, p, v, u) ' + row, (keys,))
            if isinstance(said, errors.Error):
                self.cursor.execute('ROLLBACK TO other; SAVEPOINT other; CREATE TABLE x%d (LIKE x)' % p)
            self.run('INSERT INTO x%d (id, p, v, u) ' % p + row, keys)
            got = self.attempt('ALTER TABLE x ATTACH PARTITION x%d FOR VALUES IN (%d)' % (p, p), ())
            if isinstance(said, errors.Error) != isinstance(got, errors.Error):
                self.complain('another ATTACH says', got, 'and its oracle', said)
            self.count('other attach refused' if isinstance(got, errors.Error) else 'others attached')
            if isinstance(got, errors.Error):
                self.cursor.execute('ROLLBACK TO other')
                continue
            attached.append(p)
            if self.exact:
                self.compare()
            # again, with what came meanwhile
            if keys[0] is not None and self.rnd.random() < 0.5:
                self.cursor.execute('SAVEPOINT again; ALTER TABLE x DETACH PARTITION x%d' % p)
                self.run('INSERT INTO x%d (id, p, v) VALUES (%%s, %d, 16)' % (p, p), keys[0])
                if not isinstance(self.attempt('ALTER TABLE x ATTACH PARTITION x%d FOR VALUES IN (%d)' % (p, p), ()), errors.UniqueViolation):
                    self.complain('a partition that was filled is attached again')
                self.cursor.execute('ROLLBACK TO again')
        for p in attached:
            self.cursor.execute('DROP TABLE x%d; DELETE FROM o WHERE p = %d' % (p, p))

    def truncate(self):
        Keeper.lock(self)
        self.count('truncated')
        which = self.rnd.choice(('x', 'x2', 'x3', 'x4', 'x, x_id_unique, x_u_unique'))
        self.last = ('TRUNCATE', which)
        self.cursor.execute('TRUNCATE ' + which)
        if which in ('x2', 'x3'):
            self.run('DELETE FROM o WHERE p = %s', int(which[1]))
        else:
            self.run('DELETE FROM o' + (' WHERE p = 4' if '4' in which else ''))

    def unmark(self):
        """As it is after a restore without the set's rows: all keys are looked up."""
        self.last = ('TRUNCATE of the set',)
        self.cursor.execute('TRUNCATE ' + self.rnd.choice(('x_id_unique', 'x_u_unique', 'x_id_u_unique')))

    def rebuild(self):
        self.last = ('rebuild',)
        self.run("SELECT bloom_unique_rebuild('x', %s)", self.rnd.choice(('id', 'u', 'id, u')))

    def disable(self):
        """A load without triggers, which ENABLE TRIGGER checks."""
        self.last = ('disable',)
        Keeper.lock(self)
        self.before = None if self.exact else self.look('SELECT pg_current_snapshot()::text')[0][0]
        keys, p = self.keys(9), self.partition(4)
        which = self.rnd.choice(('x', 'x%d' % p))
        self.cursor.execute('SAVEPOINT load')
        said = self.attempt('INSERT INTO o (id, p, v) SELECT id, %s, 16 FROM unnest(%s::numeric[]) AS id', (p, keys))
        if isinstance(said, errors.Error):
            self.cursor.execute('ROLLBACK TO load')
        self.cursor.execute('ALTER TABLE %s DISABLE TRIGGER USER' % which)
        self.run('INSERT INTO x (id, p, v) SELECT id, %s, 16 FROM unnest(%s::numeric[]) AS id', p, keys)
        got = self.attempt('ALTER TABLE %s ENABLE TRIGGER USER' % which, ())
        if isinstance(said, errors.Error) != isinstance(got, errors.Error):
            self.complain('ENABLE TRIGGER says', got, 'and its oracle', said)
        self.count('load refused' if isinstance(got, errors.Error) else 'loaded')
        if isinstance(got, errors.Error):
            self.cursor.execute('ROLLBACK TO load')

    def load(self):
        """A restore: a schema without its data, into which rows are loaded by partitions, with triggers or without."""
        self.last = ('load',)
        Keeper.lock(self)
        # other triggers have nothing to do for these rows; to an older snapshot all are new, in the oracle, too
        self.cursor.execute('UPDATE o SET v = CASE WHEN v < 0 THEN 0 ELSE v END; TRUNCATE x; TRUNCATE x_id_unique, x_u_unique, x_id_u_unique')
        for p, in self.run('SELECT DISTINCT p FROM o ORDER BY p'):
            if self.rnd.random() < 0.5:
                self.cursor.execute('SET LOCAL session_replication_role = replica')
            self.cursor.execute('INSERT INTO x%d (%s) SELECT %s FROM o WHERE p = %d' % (p, ROW, ROW, p))
            self.cursor.execute('SET LOCAL session_replication_role = origin')
        self.count('restored')

    def make(self):
        """A partition is made, or goes."""
        self.last = ('make',)
        Keeper.lock(self)
        if self.run("SELECT to_regclass('x6')")[0][0] is not None:
            self.cursor.execute('DROP TABLE x6; DELETE FROM o WHERE p = 6; ALTER TABLE o ADD CONSTRAINT not_made CHECK (p <> 6)')
            self.count('dropped')
            return
        self.cursor.execute('ALTER TABLE o DROP CONSTRAINT not_made')
        if self.rnd.random() < 0.7:
            self.cursor.execute('CREATE TABLE x6 PARTITION OF x FOR VALUES IN (6)')
        else:
            self.cursor.execute('CREATE TABLE x6 PARTITION OF x FOR VALUES IN (6) PARTITION BY HASH (w); CREATE TABLE x60 PARTITION OF x6 FOR VALUES WITH (MODULUS 1, REMAINDER 0)')
        self.count('made')

    OPERATIONS = ((detach_or_attach, 6), (truncate, 1), (unmark, 1), (rebuild, 1), (disable, 3), (load, 1), (make, 2))

    # between transactions

    def rewrite(self):
        partition = self.rnd.choice(('x0', 'x1', 'x2', 'x40'))
        self.cursor.execute(self.rnd.choice(('CLUSTER {0} USING {0}_id_idx', 'VACUUM FULL {0}', 'REINDEX TABLE {0}', 'REINDEX TABLE CONCURRENTLY {0}',
                                             'VACUUM {0}')).format(partition))

    def validate(self):
        self.cursor.execute("CALL bloom_unique_validate('x', '%s')" % self.rnd.choice(('id', 'u', 'id, u')))

    def compact(self):
        self.run("SELECT bloom_set_compact('x_id_unique')")

    def clean(self):
        self.cursor.execute('BEGIN')
        Keeper.lock(self)
        least = self.total.value // ADVANCE - RANGE
        for table in 'x', 'o', 'x5', 'o5', 'par_x', 'par_o':
            self.run('DELETE FROM %s WHERE id < %s' % (table, least))
        self.run('DELETE FROM gone')
        self.cursor.execute('COMMIT')
        self.cursor.execute('VACUUM x, o, gone, x_id_unique')

    def between(self):
        done = self.rnd.choices((Keeper.rewrite, Keeper.validate, Keeper.compact, Keeper.clean), (30, 10, 5, 5))[0]
        self.last = (done.__name__,)
        self.count('keeper ' + done.__name__)
        done(self)

    def main(self):
        self.cursor.execute("SET lock_timeout = '5s'")
        while self.total.value < self.options.operations * (1 if self.options.kept.is_set() else 20) and not self.wrong:
            time.sleep(0.02)
            try:
                if self.rnd.random() < 0.5:
                    self.between()
                    continue
                done = self.rnd.choices(*zip(*self.OPERATIONS))[0]
                self.count('keeper ' + done.__name__)
                self.cursor.execute('BEGIN')
                done(self)
                self.cursor.execute(self.rnd.choice(('COMMIT', 'COMMIT', 'ROLLBACK')))
                self.compare()
                self.compare_detached()
            except (errors.DeadlockDetected, errors.LockNotAvailable, errors.SerializationFailure):
                self.count('keeper gave up')
                self.cursor.execute('ROLLBACK')
            if all(self.counts.get(what) for what in ('attached', 'others attached', 'detached', 'made', 'truncated', 'restored', 'loaded', 'keeper rewrite', 'keeper validate')):
                self.options.kept.set()


def work(kind, number, options, total, results):
    session = None
    try:
        session = kind(number, options, total)
        session.main()
    except BaseException:
        traceback.print_exc()
        last = session and session.last
        if session is None:
            session = argparse.Namespace(counts={}, wrong=[])
        session.wrong.append('an error that no such transaction has: %s; %s' % (traceback.format_exc().strip().split('\n')[-1], last))
        options.kept.set()
        with total.get_lock():
            total.value = max(total.value, options.operations)
    results.put((session.counts, session.wrong))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--operations', type=int, default=3000)
    parser.add_argument('--sessions', type=int, default=4)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    # the keeper has done most of what it does, between the others' operations
    options.kept = multiprocessing.Event()
    cursor = psycopg2.connect('')
    cursor.autocommit = True
    cursor = cursor.cursor()
    schema = SCHEMA
    for name, value in ('columns', COLUMNS), ('x', EACH.format(t='x')), ('o', EACH.format(t='o')):
        schema = schema.replace('{%s}' % name, value)
    cursor.execute('SET client_min_messages = error;' + schema)
    total = multiprocessing.Value('q', 0)
    results = multiprocessing.Queue()
    processes = [multiprocessing.Process(target=work, args=(Writer, i, options, total, results)) for i in range(options.sessions)]
    if options.sessions > 1:
        processes.append(multiprocessing.Process(target=work, args=(Keeper, options.sessions, options, total, results)))
    for process in processes:
        process.start()
    counts, wrong = {}, []
    for _ in processes:
        more, complaints = results.get()
        for what, n in more.items():
            counts[what] = counts.get(what, 0) + n
        wrong += complaints
    for process in processes:
        process.join()
    cursor.execute('SET search_path = random_unique, public; SELECT count(*), count(DISTINCT id), count(u), count(DISTINCT u) FROM x WHERE id IS NOT NULL')
    rows, keys, others, seconds = cursor.fetchone()
    # look-ups leave the indexes as they are
    cursor.execute("""CREATE EXTENSION IF NOT EXISTS amcheck SCHEMA public;
        SELECT public.bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid IN (SELECT relid FROM pg_partition_tree('x') WHERE isleaf)""")
    if rows != keys or others != seconds:
        wrong.append('%d rows have %d keys, %d have %d' % (rows, keys, others, seconds))
    for what in sorted(counts):
        print('# %s: %d' % (what, counts[what]))
    for complaint in wrong:
        print('# WRONG:', complaint)
    print('%s of %d operations, %d sessions, seed %d: %d wrong' % ('ok' if not wrong else 'not ok', counts.get('operations', 0), options.sessions, options.seed, len(wrong)))
    if not wrong:
        cursor.execute('DROP SCHEMA random_unique CASCADE')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
