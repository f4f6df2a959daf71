#!/usr/bin/python3
"""Random concurrent transactions on a table whose keys are unique across partitions.

Some sessions run transactions of a few operations at all isolation levels: rows
are inserted, singly and in bulk, by COPY and MERGE, by functions, by blocks that
are rolled back, and directly into partitions; they are deleted, they move, and
their keys change; all of that with savepoints, rollbacks and two-phase commit.
One more session detaches a partition, writes to it, and attaches it; rewrites,
clusters and truncates partitions; and builds the set anew.  Meanwhile:

- no two rows have one key, at any commit;
- no key is refused, or left out after a claim, that is absent: it is there, or a transaction has
  taken it away that had not ended when the operation began;
- no row is lost that moves;
- there are no errors but those that such transactions have.

Usage: unique.py [--form error|claim] [--operations N] [--sessions N] [--seed N]

The server is found as by psql; the test makes a schema of its own in the
database, and drops it.  It means something if the set answers falsely often, and
batches are small: test/tap/unique_random.pl builds such a library.  A seed gives
the same operations again, but not their order among the sessions.

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

PARTITIONS = 6          # by p; the last but one has parts, and the last comes and goes
RANGE = 150             # keys that are in use at a time
ADVANCE = 30            # operations until the range goes on by a key
SCHEMA = """
DROP SCHEMA IF EXISTS random_unique CASCADE;
CREATE SCHEMA random_unique;
SET search_path = random_unique, public;
CREATE TABLE x (id bigint, p int, v int) PARTITION BY LIST (p);
CREATE TABLE x0 PARTITION OF x FOR VALUES IN (0);
CREATE TABLE x1 PARTITION OF x FOR VALUES IN (1);
CREATE TABLE x2 PARTITION OF x FOR VALUES IN (2);
CREATE TABLE x3 PARTITION OF x FOR VALUES IN (3);
CREATE TABLE x4 PARTITION OF x FOR VALUES IN (4) PARTITION BY HASH (id);
CREATE TABLE x40 PARTITION OF x4 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE x41 PARTITION OF x4 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE x5 (v int, junk int, id bigint, p int);
ALTER TABLE x5 DROP COLUMN junk;
ALTER TABLE x ATTACH PARTITION x5 FOR VALUES IN (5);
CREATE INDEX ON x (id);
CREATE UNIQUE INDEX ON x0 (id);
SELECT bloom_unique_create('x', 'id');
-- what the set has seen
INSERT INTO x SELECT -i, i %% 4, 0 FROM generate_series(1, 2500) AS i;
DELETE FROM x;
-- which transactions have taken which keys away
CREATE TABLE gone (id bigint, xid xid8 DEFAULT pg_current_xact_id());
CREATE INDEX ON gone (id);
CREATE FUNCTION put(id bigint, p int) RETURNS bigint LANGUAGE plpgsql AS
	$$BEGIN INSERT INTO x VALUES (id, p, 2); RETURN id; END$$;
CREATE FUNCTION put_directly(id bigint, p int) RETURNS bigint LANGUAGE plpgsql AS
	$$BEGIN EXECUTE format('INSERT INTO x%%s (id, p, v) VALUES (%%s, %%1$s, 3)', p, id); RETURN id; END$$;
CREATE FUNCTION try_put(id bigint, p int) RETURNS boolean LANGUAGE plpgsql AS
	$$BEGIN PERFORM put(id, p); RETURN true; EXCEPTION WHEN unique_violation THEN RETURN false; END$$;
-- a block in the middle of a statement, which is rolled back
CREATE FUNCTION in_vain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM put_directly(NEW.id + 100000000, (NEW.p + 1) %% 4);
	RAISE division_by_zero;
EXCEPTION WHEN division_by_zero THEN
	RETURN NULL;
END
$$;
CREATE TRIGGER zz AFTER INSERT ON x FOR EACH ROW WHEN (NEW.v = -1) EXECUTE FUNCTION in_vain();
"""


def connect():
    """A connection that is in the schema, and begins transactions by SQL."""
    connection = psycopg2.connect('')
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute('SET search_path = random_unique, public; SET client_min_messages = error')
    return cursor


def in_use(total):
    """The least key that is in use after so many operations."""
    return total // ADVANCE


class Session:
    """What all sessions can do: count, complain, and judge a refusal."""

    def __init__(self, number, options, total):
        self.number = number
        self.options = options
        self.total = total
        self.rnd = random.Random(options.seed * 1000 + number)
        self.counts = {}
        self.wrong = []
        self.cursor = connect()
        self.other = connect()      # sees what is committed
        self.level = 'READ COMMITTED'
        self.claims = options.form == 'claim'

    def goes_on(self):
        """All operations are to be done, and more while the keeper waits for locks."""
        most = self.options.operations * (1 if self.options.kept.is_set() else 20)
        return self.total.value < most and not self.wrong

    def count(self, what, n=1):
        self.counts[what] = self.counts.get(what, 0) + n

    def complain(self, *what):
        self.wrong.append(' '.join(map(str, what)))
        print('WRONG:', self.wrong[-1], flush=True)

    def run(self, sql, *arguments):
        self.cursor.execute(sql, arguments or None)
        return self.cursor.fetchall() if self.cursor.description else []

    def look(self, sql, *arguments):
        self.other.execute(sql, arguments or None)
        return self.other.fetchall() if self.other.description else []

    def snapshot(self):
        """The transactions that have ended by now."""
        return self.look('SELECT pg_current_snapshot()::text')[0][0]

    def key(self):
        return in_use(self.total.value) + self.rnd.randrange(RANGE)

    def partition(self):
        return self.rnd.randrange(PARTITIONS)

    def there(self, key):
        """Is the key there, or was it when this snapshot was taken?"""
        if self.run('SELECT count(*) FROM x WHERE id = %s', key)[0][0] > 0:
            return True
        return self.level != 'READ COMMITTED' and self.look('SELECT count(*) FROM x WHERE id = %s', key)[0][0] > 0

    def refused(self, key, before):
        self.count('refused')
        if self.there(key):
            return
        self.count('refused, and gone since')
        taken = self.run("""SELECT count(*) FROM gone WHERE id = %s AND NOT pg_visible_in_snapshot(xid, %s::pg_snapshot)
                         AND xid IS DISTINCT FROM pg_current_xact_id_if_assigned()""", key, before)
        if taken[0][0] == 0 and self.level != 'READ COMMITTED':
            # what this snapshot does not see
            taken = self.look('SELECT count(*) FROM gone WHERE id = %s AND NOT pg_visible_in_snapshot(xid, %s::pg_snapshot)', key, before)
        if taken[0][0] == 0:
            self.complain('key', key, 'was refused, but is absent;', self.level, self.last)

    def repeats(self):
        self.count('looks for repeats')
        found = self.look('SELECT id, array_agg(p) FROM x GROUP BY id HAVING count(*) > 1')
        if found:
            self.complain('repeats', found[:5], self.last)


class Writer(Session):
    """Transactions of a few operations."""

    def write(self, sql, keys, arguments=(), copy=None):
        """A statement that inserts these keys, in a savepoint."""
        before = self.snapshot()
        claims = 'bloom_unique_claim' in sql
        self.last = (sql, keys)
        self.cursor.execute('SAVEPOINT operation')
        try:
            if copy is None:
                self.cursor.execute(sql, arguments)
            else:
                self.cursor.copy_expert(sql, io.StringIO(copy))
        except errors.UniqueViolation as error:
            self.cursor.execute('ROLLBACK TO operation')
            if claims:
                self.complain('a repeat was claimed:', sql, keys, error.diag.message_detail)
            key = int(re.search(r'=\((-?\d+)', error.diag.message_detail).group(1))
            if key >= 100000000:
                key -= 100000000
            if keys.count(key) < 2:
                self.refused(key, before)
            else:
                self.count('repeats in a statement')
            return
        except errors.CheckViolation:
            # the last partition is detached
            self.cursor.execute('ROLLBACK TO operation')
            self.count('no partition')
            return
        inserted = None
        if claims and self.cursor.description:
            inserted = [row[0] for row in self.cursor.fetchall()]
            for key in set(keys) - set(inserted):
                self.refused(key, before)
        elif len(set(keys)) < len(keys) and not claims:
            self.complain('repeats were accepted', sql, keys)
        self.count('inserted', len(keys) if inserted is None else len(inserted))
        if self.rnd.random() < 0.7:
            self.cursor.execute('RELEASE operation')

    def table(self, p):
        """The table, or sometimes the partition."""
        if self.rnd.random() < 0.25 and p != 5:
            self.count('directly')
            return 'x%d' % p
        return 'x'

    def insert(self):
        key, p = self.key(), self.partition()
        if self.claims and self.rnd.random() < 0.1:
            # what is claimed need not be used, nor once
            self.count('claimed in vain')
            self.run("SELECT bloom_unique_claim('x', 'id', %s::bigint)", self.key())
        if self.claims and self.rnd.random() < 0.7:
            self.count('claimed')
            self.write("INSERT INTO %s (id, p, v) SELECT %%s, %%s, %%s WHERE bloom_unique_claim('x', 'id', %%s::bigint) RETURNING id" % self.table(p), [key],
                       (key, p, self.rnd.choice((0, 0, -1)), key))
            return
        self.write('INSERT INTO %s (id, p, v) VALUES (%%s, %%s, %%s) RETURNING id' % self.table(p), [key],
                   (key, p, self.rnd.choice((0, 0, -1))))

    def insert_many(self):
        keys = [self.key() for _ in range(self.rnd.randrange(2, 9))]
        if self.rnd.random() < 0.7:
            keys = list(dict.fromkeys(keys))
        p = self.rnd.randrange(5)
        if self.claims and self.rnd.random() < 0.7:
            self.count('claimed')
            all_free = "bloom_unique_claim_all('x', 'id', %%s::bigint[])"
            self.write(('INSERT INTO %s (id, p, v) SELECT unnest(' + all_free + '), %%s, %%s RETURNING id') % self.table(p), keys,
                       (keys, p, self.rnd.choice((0, -1))))
            return
        self.write('INSERT INTO %s (id, p, v) SELECT unnest(%%s), %%s, %%s RETURNING id' % self.table(p), keys,
                   (keys, p, self.rnd.choice((0, -1))))

    def copy(self):
        keys = list({self.key() for _ in range(self.rnd.randrange(1, 9))})
        p = self.rnd.randrange(4)
        direct = self.table(p)
        if self.claims:
            # COPY does not say which rows it has left out
            before = self.snapshot()
            self.last = ('COPY', keys)
            self.cursor.copy_expert("COPY %s (id, p, v) FROM stdin WHERE bloom_unique_claim('x', 'id', id)" % direct, io.StringIO(''.join('%d\t%d\t4\n' % (k, p) for k in keys)))
            for key in keys:
                if not self.there(key):
                    self.refused(key, before)
            return
        self.write('COPY %s (id, p, v) FROM stdin' % direct, keys,
                   copy=''.join('%d\t%d\t%d\n' % (k, self.rnd.randrange(4) if direct == 'x' else p, self.rnd.choice((4, -1))) for k in keys))

    def merge(self):
        key, p = self.key(), self.partition()
        self.write("""MERGE INTO x USING (VALUES (%s, %s)) AS s (id, p) ON x.id = s.id AND x.p = s.p
                   WHEN MATCHED THEN UPDATE SET v = 5 WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.p, 5)""", [key], (key, p))

    def upsert(self):
        key = self.key()
        self.write('INSERT INTO x0 VALUES (%s, 0, 6) ON CONFLICT (id) DO UPDATE SET v = 7', [key], (key,))

    def nested(self):
        """A statement whose function inserts another row."""
        key, inner = self.key(), self.key()
        function = self.rnd.choice(('put', 'put_directly'))
        sql = 'INSERT INTO x SELECT %%s, %%s, 8 FROM (SELECT %s(%%s, %%s) OFFSET 0) AS f' % function
        self.write(sql, [key, inner], (key, self.rnd.randrange(4), inner, self.rnd.randrange(4)))

    def with_two(self):
        key, inner = self.key(), self.key()
        self.write('WITH a AS (INSERT INTO x VALUES (%s, %s, 9)) INSERT INTO x VALUES (%s, %s, 9)', [key, inner],
                   (inner, self.rnd.randrange(5), key, self.rnd.randrange(5)))

    def try_put(self):
        key, p = self.key(), self.rnd.randrange(5)
        before = self.snapshot()
        self.last = ('try_put', key)
        if not self.run('SELECT try_put(%s, %s)', key, p)[0][0]:
            self.refused(key, before)

    def delete(self):
        key = self.key()
        self.run('WITH d AS (DELETE FROM x WHERE id = %s RETURNING id) INSERT INTO gone SELECT id FROM d', key)
        self.count('deleted', self.cursor.rowcount)

    def replace(self):
        """A row that goes and comes in one transaction, or one statement."""
        key = self.key()
        before = self.snapshot()
        self.last = ('replace', key)
        self.run('WITH d AS (DELETE FROM x WHERE id = %s RETURNING id) INSERT INTO gone SELECT id FROM d', key)
        if self.cursor.rowcount:
            self.write('INSERT INTO x VALUES (%s, %s, 10) RETURNING id', [key], (key, self.rnd.randrange(5)))

    def move(self):
        key, p = self.key(), self.partition()
        self.last = ('move', key)
        there = self.run('SELECT count(*) FROM (SELECT FROM x WHERE id = %s FOR UPDATE) AS l', key)[0][0]
        self.cursor.execute('SAVEPOINT operation')
        try:
            self.run('UPDATE x SET p = %s WHERE id = %s', p, key)
        except errors.CheckViolation:
            self.cursor.execute('ROLLBACK TO operation')
            self.count('no partition')
            return
        self.count('moved', self.cursor.rowcount)
        if there and self.run('SELECT count(*) FROM x WHERE id = %s', key)[0][0] != 1:
            self.complain('row', key, 'was lost when it moved', self.level)

    def change(self):
        key, new, p = self.key(), self.key(), self.rnd.randrange(5)
        if key == new:
            return
        before = self.snapshot()
        self.last = ('change', key, new)
        self.cursor.execute('SAVEPOINT operation')
        try:
            # first, so that it is there before the key has gone
            self.run('INSERT INTO gone VALUES (%s)', key)
            self.run(self.rnd.choice(('UPDATE x SET id = %s, p = %s WHERE id = %s', 'UPDATE x SET id = %s, v = %s WHERE id = %s')), new, p, key)
            self.count('changed', self.cursor.rowcount)
        except errors.UniqueViolation:
            self.cursor.execute('ROLLBACK TO operation')
            self.refused(new, before)

    def exchange(self):
        key, new = self.key(), self.key()
        if key == new:
            return
        self.last = ('exchange', key, new)
        both = self.run('SELECT count(*) FROM (SELECT FROM x WHERE id IN (%s, %s) FOR UPDATE) AS l', key, new)[0][0]
        if both != 2:
            return
        self.cursor.execute('SAVEPOINT operation')
        try:
            self.run('UPDATE x SET id = %s - id WHERE id IN (%s, %s)', key + new, key, new)
            self.count('exchanged', self.cursor.rowcount)
        except errors.UniqueViolation as error:
            # an index of the server does not wait for the end of the statement
            self.cursor.execute('ROLLBACK TO operation')
            if error.diag.constraint_name == 'x_id_unique':
                self.complain('an exchange of', key, 'and', new, 'was refused')

    def update(self):
        self.run('UPDATE x SET v = v + 1 WHERE id = %s AND v > 0', self.key())

    OPERATIONS = ((insert, 40), (insert_many, 12), (copy, 5), (merge, 4), (upsert, 3), (nested, 5), (with_two, 3),
                  (try_put, 6), (delete, 16), (replace, 4), (move, 12), (change, 7), (exchange, 3), (update, 4))

    def operate(self):
        kinds, weights = zip(*(o for o in self.OPERATIONS if self.merges or o[0] is not Writer.merge))
        kind = self.rnd.choices(kinds, weights)[0]
        self.done += 1
        self.count('operation ' + kind.__name__)
        kind(self)

    def transaction(self):
        rnd = self.rnd
        self.level = rnd.choice(('READ COMMITTED', 'READ COMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'))
        self.cursor.execute('BEGIN ISOLATION LEVEL ' + self.level)
        names = []
        for _ in range(rnd.randrange(1, 7)):
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
            name = 'random %d %d' % (self.number, self.done)
            self.cursor.execute("PREPARE TRANSACTION '%s'" % name)
            self.count('prepared')
            if rnd.random() < 0.5:
                time.sleep(0.002)
            self.cursor.execute("%s PREPARED '%s'" % ('COMMIT' if rnd.random() < 0.7 else 'ROLLBACK', name))
        else:
            self.cursor.execute('ROLLBACK')
            self.count('rolled back')

    def main(self):
        self.merges = self.cursor.connection.server_version >= 150000
        self.done = 0
        self.last = None
        while self.goes_on():
            before = self.done
            try:
                self.transaction()
            except errors.DeadlockDetected:
                self.count('deadlocks')
                self.cursor.execute('ROLLBACK')
            except errors.SerializationFailure:
                self.count('serialization failures')
                self.cursor.execute('ROLLBACK')
            with self.total.get_lock():
                self.total.value += self.done - before
            if self.rnd.random() < 0.7:
                self.repeats()
        self.count('operations', self.done)


class Keeper(Session):
    """What is done to partitions and to the set."""

    def take(self, partition):
        """Lock a partition, and log that its keys go."""
        self.cursor.execute('BEGIN')
        self.cursor.execute('LOCK TABLE x IN SHARE UPDATE EXCLUSIVE MODE; LOCK TABLE %s IN ACCESS EXCLUSIVE MODE' % partition)
        self.run('INSERT INTO gone SELECT id FROM %s' % partition)

    def detach(self):
        self.cursor.execute('BEGIN; LOCK TABLE x IN ACCESS EXCLUSIVE MODE')
        self.run('INSERT INTO gone SELECT id FROM x5')
        self.cursor.execute('ALTER TABLE x DETACH PARTITION x5; COMMIT')
        self.attached = False
        for _ in range(self.rnd.randrange(3)):
            self.run('INSERT INTO x5 (id, p, v) VALUES (%s, 5, 11)', self.key())

    def attach(self):
        before = self.snapshot()
        self.last = ('attach',)
        try:
            self.cursor.execute('ALTER TABLE x ATTACH PARTITION x5 FOR VALUES IN (5)')
        except errors.UniqueViolation as error:
            key = int(re.search(r'=\((-?\d+)', error.diag.message_detail).group(1))
            self.count('attach refused')
            if self.run('SELECT count(*) FROM x5 WHERE id = %s', key)[0][0] < 2:
                self.refused(key, before)
            self.run('DELETE FROM x5 WHERE id IN (SELECT id FROM x) OR id IN (SELECT id FROM x5 GROUP BY id HAVING count(*) > 1) OR %s', self.rnd.random() < 0.1)
            return
        self.attached = True
        self.count('attached')

    def rewrite(self):
        partition = self.rnd.choice(('x0', 'x1', 'x2', 'x41'))
        self.cursor.execute(self.rnd.choice((
            'ALTER TABLE {0} SET UNLOGGED', 'ALTER TABLE {0} SET LOGGED', 'CLUSTER {0} USING {0}_id_idx', 'VACUUM FULL {0}',
            'REINDEX TABLE {0}', 'VACUUM {0}')).format(partition))

    def truncate(self):
        partition = self.rnd.choice(('x2', 'x3', 'x4', 'x40'))
        self.take(partition)
        self.cursor.execute('TRUNCATE %s' % partition)
        self.cursor.execute(self.rnd.choice(('COMMIT', 'ROLLBACK')))

    def rebuild(self):
        self.run("SELECT bloom_unique_rebuild('x', 'id')")

    def compact(self):
        self.run("SELECT bloom_set_compact('x_id_unique')")

    def clean(self):
        least = in_use(self.total.value) - RANGE
        self.run('DELETE FROM x WHERE id < %s', least)
        self.run('DELETE FROM gone WHERE id < %s', least)
        self.cursor.execute('VACUUM x, gone, x_id_unique')

    def main(self):
        self.attached = True
        self.last = None
        self.cursor.execute("SET lock_timeout = '5s'")
        while self.goes_on():
            time.sleep(0.02)
            done = self.rnd.choices((self.detach if self.attached else self.attach, self.rewrite, self.truncate, self.compact, self.rebuild, self.clean),
                                    (40, 30, 3, 6, 2, 6))[0]
            self.count('keeper ' + done.__name__)
            try:
                done()
            except (errors.DeadlockDetected, errors.LockNotAvailable):
                self.count('keeper gave up')
                self.cursor.execute('ROLLBACK')
            if self.counts.get('attached') and self.counts.get('keeper rewrite'):
                self.options.kept.set()
            self.repeats()


def work(kind, number, options, total, results):
    session = None
    try:
        session = kind(number, options, total)
        session.main()
    except BaseException:
        traceback.print_exc()
        if session is None:
            session = argparse.Namespace(counts={}, wrong=[])
        session.wrong.append('an error that no such transaction has: %s' % traceback.format_exc().strip().split('\n')[-1])
        options.kept.set()
        with total.get_lock():
            total.value = options.operations
    results.put((session.counts, session.wrong))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--form', choices=('error', 'claim'), default='error')
    parser.add_argument('--operations', type=int, default=3000)
    parser.add_argument('--sessions', type=int, default=4)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    # the keeper has attached and rewritten a partition, between the others' operations
    options.kept = multiprocessing.Event()
    cursor = psycopg2.connect('')
    cursor.autocommit = True
    cursor = cursor.cursor()
    cursor.execute('SET client_min_messages = error;' + SCHEMA.replace('%%', '%'))
    total = multiprocessing.Value('q', 0)
    results = multiprocessing.Queue()
    processes = [multiprocessing.Process(target=work, args=(Writer, i, options, total, results)) for i in range(options.sessions)]
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
    cursor.execute('SET search_path = random_unique, public; SELECT count(*), count(DISTINCT id) FROM x')
    rows, keys = cursor.fetchone()
    if rows != keys:
        wrong.append('%d rows have %d keys' % (rows, keys))
    for what in sorted(counts):
        print('# %s: %d' % (what, counts[what]))
    for complaint in wrong:
        print('# WRONG:', complaint)
    print('%s of %d operations, form %s, seed %d: %d wrong' % ('ok' if not wrong else 'not ok', counts.get('operations', 0), options.form, options.seed, len(wrong)))
    if not wrong:
        cursor.execute('DROP SCHEMA random_unique CASCADE')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
