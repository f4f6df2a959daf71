#!/usr/bin/python3
"""Random transactions on a stored set, of which every answer is predicted.

Some sessions, driven one statement at a time, add keys to one set, remove and
test them, at all isolation levels, with savepoints, blocks that fail, prepared
transactions, rollbacks, compaction, loads, TRUNCATE, VACUUM, and SQL that
rewrites or locks rows of the set.  Beside it stands a model: what is committed,
what each snapshot saw, and what each open transaction has written.  So it knows

- whether a key is new, there, or removed, by the session's own view;
- whether a call has to wait, since another open transaction has the key;
- whether it must fail with 40001.

A removal may also wait for whoever holds the row of its key, and fail if that was
written since the snapshot: that depends on neighbours, which the model does not
know.  SERIALIZABLE may always fail.  In a set that forgets, keys that were
droppable by a call are there or not.

Usage: sets.py [--seed N] [--calls N] [--sessions N] [--keys N] [--keep] [--unlogged]

The server is found as by psql; the test makes a schema of its own in the
database, and drops it.  A failure prints the seed, and the last statements of all
sessions.  Ranges should be small: test/tap/set_random.pl builds such a library.

Needs Debian's python3-psycopg2.
"""
import argparse
import collections
import os
import random
import sys
import time

import psycopg2

KEEP = 62               # minutes, so that a slice is one
WAITS = '15ms'          # lock_timeout of what has to wait, or may have to
WAITS_NOT = '5s'        # ... and of what must not
LEVELS = ['READ COMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE']
SCHEMA = """
DROP SCHEMA IF EXISTS random_sets CASCADE;
CREATE SCHEMA random_sets;
SET search_path = random_sets, public;
-- each key in a block of its own, of which every third one is rolled back
CREATE FUNCTION in_blocks(keys int[], at timestamptz) RETURNS boolean[] LANGUAGE plpgsql AS $$
DECLARE
	answers boolean[];
	answer boolean;
BEGIN
	FOR i IN 1 .. cardinality(keys) LOOP
		BEGIN
			answer := bloom_set_add('s', keys[i], at);
			IF i % 3 = 0 THEN
				RAISE division_by_zero;
			END IF;
		EXCEPTION WHEN division_by_zero THEN
		END;
		answers := answers || answer;
	END LOOP;
	RETURN answers;
END
$$;
"""


class Wrong(Exception):
    """The server has answered what it should not."""


class Level:
    """What a subtransaction has written."""

    def __init__(self):
        self.state = {}         # key: slice, or None if it was removed
        self.added = {}         # key: slice; also what was removed again


class Transaction:
    """An open transaction."""

    def __init__(self, isolation, snapshot):
        self.isolation = isolation
        self.snapshot = snapshot        # None: one for each statement
        self.behind = False             # others have committed since
        self.levels = [Level()]
        self.has_written = False        # so that others may have to wait for rows

    def own(self, key):
        """(True, slice) if this transaction has written the key."""
        for level in reversed(self.levels):
            if key in level.state:
                return True, level.state[key]
        return False, None

    def put(self, key, slice_):
        """Note what was written."""
        level = self.levels[-1]
        level.state[key] = slice_
        if slice_ is not None:
            level.added[key] = max(slice_, level.added.get(key, slice_))

    def release(self):
        """The last savepoint's writes are those of what is around it."""
        last = self.levels.pop()
        self.levels[-1].state.update(last.state)
        self.levels[-1].added.update(last.added)


class Session:
    """A connection, and its transaction."""

    def __init__(self, number):
        self.number = number
        self.connection = psycopg2.connect('')
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.cursor.execute('SET search_path = random_sets, public; SET client_min_messages = error')
        self.transaction = None


class Driver:
    """All sessions, and the model."""

    def __init__(self, options):
        self.options = options
        self.rnd = random.Random(options.seed)
        self.sessions = [Session(i) for i in range(options.sessions)]
        self.prepared = {}              # name: transaction
        self.nprepared = 0
        self.committed = {}             # key: slice
        self.dropped = -10 ** 9         # older slices may have been forgotten
        self.calls = 0
        self.counts = collections.Counter()
        self.log = collections.deque(maxlen=60)
        cursor = self.sessions[0].cursor
        cursor.execute("SELECT gid FROM pg_prepared_xacts WHERE database = current_database() AND gid LIKE 'sets %'")
        for left, in cursor.fetchall():     # by a test that has failed
            cursor.execute('ROLLBACK PREPARED %s', (left,))
        cursor.execute(SCHEMA)
        cursor.execute("SELECT bloom_set_create('s', 'int', seed => 1%s%s)" % (
            ", keep => '%d minutes'" % KEEP if options.keep else '', ', unlogged => true' if options.unlogged else ''))
        cursor.execute("SELECT date_trunc('minute', now())::text")
        self.now = cursor.fetchone()[0]
        self.began = time.time()

    # Time: in minutes before the test began

    def choose_time(self):
        """Goes on while the test does, and back by up to half of what is kept."""
        if not self.options.keep:
            return 0
        return self.latest() - self.rnd.choice([0, 0, 0, self.rnd.randrange(KEEP // 2)])

    def latest(self):
        """From before all that a compaction, which is by the clock, lets live, to now."""
        return -KEEP * 3 // 2 + min(KEEP * 3 // 2, int(self.calls * KEEP * 3 / 2 / self.options.calls))

    def at(self, minute):
        """The argument that has this time."""
        return ", timestamptz '%s' + interval '%d minutes'" % (self.now, minute) if self.options.keep else ''

    def writes_at(self, minute):
        """A call at this time may forget what is older."""
        if self.options.keep:
            self.dropped = max(self.dropped, minute - KEEP)

    # What a key is

    def is_live(self, slice_, minute):
        """True, False, or None: one or the other."""
        if slice_ is None:
            return False
        if not self.options.keep:
            return True
        if slice_ < minute - KEEP:
            return False
        return None if slice_ < self.dropped else True

    def slice_in(self, transaction, key, is_snapshot=True):
        """The slice of a key, as a transaction sees it, or None."""
        if transaction is not None:
            is_own, slice_ = transaction.own(key)
            if is_own:
                return slice_
            if is_snapshot and transaction.snapshot is not None:
                return transaction.snapshot.get(key)
        return self.committed.get(key)

    def others(self, transaction):
        """All other open transactions."""
        return [t for t in [s.transaction for s in self.sessions] + list(self.prepared.values())
                if t is not None and t is not transaction]

    def is_pending(self, transaction, key, minute):
        """Has another open transaction added the key?"""
        return any(self.is_live(level.added.get(key), minute) is not False
                   for t in self.others(transaction) for level in t.levels)

    def outcomes(self, transaction, key, minute):
        """What an add can answer: True, False, 'wait', '40001'."""
        seen = self.is_live(self.slice_in(transaction, key), minute)
        result = set()
        if seen is not False:
            result.add(False)
        if seen is not True:
            now = self.is_live(self.slice_in(transaction, key, False), minute)
            if now is not False:
                result.add('40001' if transaction is not None and transaction.snapshot is not None else False)
            if now is not True:
                result.add('wait' if self.is_pending(transaction, key, minute) else True)
        return result

    # Statements

    def execute(self, session, sql, waits=False):
        """What a statement answers, or an SQLSTATE."""
        self.calls += 1
        self.log.append('%d: %s' % (session.number, sql))
        try:
            if session.transaction is None:
                session.cursor.execute("SET lock_timeout = '%s'" % (WAITS if waits else WAITS_NOT))
                session.cursor.execute(sql)
            else:
                # a rollback takes the setting back
                session.cursor.execute("SET LOCAL lock_timeout = '%s'; %s" % (WAITS if waits else WAITS_NOT, sql))
            answer = session.cursor.fetchone()[0] if session.cursor.description else None
        except psycopg2.Error as error:
            if error.pgcode in ('40001', '55P03'):
                self.log.append('%d: -- %s' % (session.number, str(error).strip().replace('\n', ' ')))
                return error.pgcode
            raise Wrong('%s: %s' % (error.pgcode, error)) from error
        self.log.append('%d: -- %s' % (session.number, answer))
        return answer

    def expect(self, sql, answer, allowed):
        """It is one of these."""
        if answer not in allowed:
            raise Wrong('%s: %s, but expected is %s' % (sql, answer, allowed))

    def protected(self, session, sql, waits):
        """The same, in a savepoint if it can have to wait."""
        if session.transaction is None or not waits:
            return self.execute(session, sql, waits)
        session.cursor.execute('SAVEPOINT waits')
        answer = self.execute(session, sql, waits)
        session.cursor.execute('%s waits' % ('ROLLBACK TO' if answer == '55P03' else 'RELEASE' if answer != '40001' else 'ROLLBACK TO'))
        return answer

    def failed(self, session, sql, answer, allowed):
        """Is the answer an error that must or may come?  Then the transaction goes."""
        if answer == '55P03':
            self.expect(sql, 'wait', allowed)
            self.counts['waited'] += 1
            return True
        if answer == '40001':
            if session.transaction is None or session.transaction.isolation != 'SERIALIZABLE':
                self.expect(sql, '40001', allowed)
            self.counts['serialization failures'] += 1
            if session.transaction is not None:
                session.cursor.execute('ROLLBACK')
                session.transaction = None
            return True
        return False

    # Transactions

    def snapshot(self, session):
        """The first statement takes it."""
        transaction = session.transaction
        if transaction is not None and transaction.snapshot is None and transaction.isolation != 'READ COMMITTED':
            transaction.snapshot = dict(self.committed)

    def commit(self, transaction):
        """What was written is there."""
        while len(transaction.levels) > 1:
            transaction.release()
        for key, slice_ in transaction.levels[0].state.items():
            if slice_ is None:
                self.committed.pop(key, None)
            else:
                self.committed[key] = max(slice_, self.committed.get(key, slice_))
        if transaction.has_written:
            for other in self.others(transaction):
                other.behind = True

    def written(self, session, changes):
        """A call has written: keys and their slices."""
        transaction = session.transaction
        if transaction is None:
            transaction = Transaction('READ COMMITTED', None)
            transaction.levels[0].state = changes
            transaction.has_written = True
            self.commit(transaction)
            return
        transaction.has_written = True
        for key, slice_ in changes.items():
            transaction.put(key, slice_)

    def do_begin(self, session):
        """Begin, or end, or a savepoint."""
        transaction = session.transaction
        rnd = self.rnd
        if transaction is None:
            level = rnd.choice(LEVELS)
            session.cursor.execute('BEGIN ISOLATION LEVEL ' + level)
            session.transaction = Transaction(level, None)
            self.log.append('%d: BEGIN %s' % (session.number, level))
            return
        what = rnd.random()
        if what < 0.25:
            session.cursor.execute('SAVEPOINT s%d' % len(transaction.levels))
            self.log.append('%d: SAVEPOINT s%d' % (session.number, len(transaction.levels)))
            transaction.levels.append(Level())
        elif what < 0.5 and len(transaction.levels) > 1:
            undone = rnd.random() < 0.5
            name = 's%d' % (len(transaction.levels) - 1)
            session.cursor.execute('ROLLBACK TO %s; RELEASE %s' % (name, name) if undone else 'RELEASE ' + name)
            self.log.append('%d: %s %s' % (session.number, 'ROLLBACK TO' if undone else 'RELEASE', name))
            if undone:
                transaction.levels.pop()
            else:
                transaction.release()
            self.counts['savepoints'] += 1
        elif what < 0.65:
            self.counts['rollbacks'] += 1
            self.end(session, 'ROLLBACK')
        elif what < 0.75 and len(self.prepared) < 4:
            self.nprepared += 1
            self.end(session, "PREPARE TRANSACTION 'sets %d %d'" % (os.getpid(), self.nprepared))
            self.counts['prepared'] += 1
        else:
            self.end(session, 'COMMIT')

    def end(self, session, sql):
        """End a transaction."""
        transaction = session.transaction
        session.transaction = None
        answer = self.execute(session, sql)
        if answer == '40001':
            self.expect(sql, transaction.isolation, ['SERIALIZABLE'])
            session.cursor.execute('ROLLBACK')
            self.counts['serialization failures'] += 1
        elif sql.startswith('PREPARE'):
            while len(transaction.levels) > 1:
                transaction.release()
            self.prepared[sql.split("'")[1]] = transaction
        elif sql == 'COMMIT':
            self.commit(transaction)

    def do_end_prepared(self, session):
        """End a prepared transaction."""
        if not self.prepared or session.transaction is not None:
            return
        name = self.rnd.choice(sorted(self.prepared))
        how = self.rnd.choice(['COMMIT', 'COMMIT', 'ROLLBACK'])
        self.execute(session, "%s PREPARED '%s'" % (how, name))
        transaction = self.prepared.pop(name)
        if how == 'COMMIT':
            self.commit(transaction)

    # Calls

    def choose_keys(self, most):
        """Some, of which many are near each other in number, with repeats."""
        n = self.rnd.randint(1, most)
        first = self.rnd.randrange(self.options.keys)
        if self.rnd.random() < 0.5:
            return [self.rnd.randrange(self.options.keys) for _ in range(n)]
        return [(first + self.rnd.randrange(2 * most)) % self.options.keys for _ in range(n)]

    def add(self, session, sql, keys, minute, undone=(), once=False):
        """A call that adds keys, one after another, and answers for each."""
        transaction = session.transaction
        self.snapshot(session)
        self.writes_at(minute)
        allowed = [self.outcomes(transaction, key, minute) for key in keys]
        everything = set().union(*allowed)
        waits = 'wait' in everything
        answer = self.protected(session, sql, waits)
        if answer in ('55P03', '40001') and not isinstance(answer, list):
            self.failed(session, sql, answer, everything)
            return
        if any(a == {'wait'} or a == {'40001'} for a in allowed):
            raise Wrong('%s: %s, but expected is %s' % (sql, answer, allowed))
        if once:        # an array of those that are new
            left = set(answer)
            if len(left) != len(answer) or answer != [k for i, k in enumerate(keys) if k in left and k not in keys[:i]]:
                raise Wrong('%s: %s' % (sql, answer))
            answer = [k in left for k in keys]
        changes = {}
        for i, key in enumerate(keys):
            if key in changes and not once:
                self.expect(sql, answer[i], [False])
            elif key not in changes:
                self.expect('%s, key %d' % (sql, key), answer[i], allowed[i])
            if answer[i] and i not in undone:
                changes[key] = minute
        self.counts['told new'] += len(changes)
        self.written(session, changes)
        if not changes and transaction is not None:
            transaction.has_written = True

    def do_add(self, session):
        """One key."""
        key, minute = self.choose_keys(1)[0], self.choose_time()
        allowed = self.outcomes(session.transaction, key, minute)
        if 'wait' in allowed and self.rnd.random() < 0.8:
            return
        self.add(session, "SELECT ARRAY[bloom_set_add('s', %d%s)]" % (key, self.at(minute)), [key], minute)

    def free_keys(self, session, most, minute):
        """Keys for which nobody is to be waited for, mostly."""
        keys = self.choose_keys(most)
        if self.rnd.random() < 0.05:
            return keys
        return [k for k in keys if 'wait' not in self.outcomes(session.transaction, k, minute)] or keys[:1]

    def do_singles(self, session):
        """Several keys, one by one, in one statement."""
        minute = self.choose_time()
        keys = self.free_keys(session, 30, minute)
        self.add(session, "SELECT ARRAY(SELECT bloom_set_add('s', k%s) FROM unnest(ARRAY%s) WITH ORDINALITY AS u (k, n) ORDER BY n)" % (
            self.at(minute), keys), keys, minute)

    def do_array(self, session):
        """Several keys at once."""
        minute = self.choose_time()
        keys = self.free_keys(session, self.rnd.choice([3, 30, 200]), minute)
        self.add(session, "SELECT bloom_set_add_all('s', ARRAY%s%s)" % (keys, self.at(minute)), keys, minute, once=True)

    def do_blocks(self, session):
        """Several keys in blocks, a third of which is rolled back."""
        minute = self.choose_time()
        keys = list(dict.fromkeys(self.free_keys(session, 12, minute)))
        at = self.at(minute) or ', now()'
        self.add(session, 'SELECT in_blocks(ARRAY%s%s)' % (keys, at), keys, minute, undone=range(2, len(keys), 3))

    def do_remove(self, session):
        """One key."""
        transaction = session.transaction
        key, minute = self.choose_keys(1)[0], self.choose_time()
        now = self.slice_in(transaction, key, False)
        if transaction is not None and now is not None and self.is_live(now, minute) is not True:
            return          # what is too old goes, too, but others may add it meanwhile
        self.snapshot(session)
        self.writes_at(minute)
        others = [t for t in self.others(transaction) if t.has_written]
        sql = "SELECT bloom_set_remove('s', %d%s)" % (key, self.at(minute))
        keeps = transaction is not None and transaction.snapshot is not None
        before = self.slice_in(transaction, key)
        allowed = set()
        for slice_ in {before, now} if keeps else {now}:
            live = self.is_live(slice_, minute)
            allowed |= {True, False} if live is None else {live}
        if keeps and transaction.behind:
            allowed.add('40001')
        if others:
            allowed.add('wait')
        answer = self.protected(session, sql, bool(others))
        if self.failed(session, sql, answer, allowed):
            return
        if any(key in level.added for t in others for level in t.levels):
            raise Wrong('%s: %s, but another transaction has it' % (sql, answer))
        if keeps and {self.is_live(before, minute), self.is_live(now, minute)} == {True, False}:
            raise Wrong('%s: %s, but it has changed since the snapshot' % (sql, answer))
        self.expect(sql, answer, allowed)
        self.counts['removed'] += answer
        self.written(session, {key: None} if answer or transaction is None else {})

    def do_test(self, session):
        """All keys."""
        transaction = session.transaction
        minute = self.choose_time()
        self.snapshot(session)
        sql = "SELECT bloom_set_missing('s', ARRAY(SELECT generate_series(0, %d))%s)" % (self.options.keys - 1, self.at(minute))
        answer = self.execute(session, sql)
        if self.failed(session, sql, answer, set()):
            return
        missing = set(answer)
        for key in range(self.options.keys):
            live = self.is_live(self.slice_in(transaction, key), minute)
            if live is not None and live == (key in missing):
                raise Wrong('%s: key %d is %s' % (sql, key, 'denied' if live else 'imagined'))

    def do_test_one(self, session):
        """One key."""
        key, minute = self.choose_keys(1)[0], self.choose_time()
        self.snapshot(session)
        live = self.is_live(self.slice_in(session.transaction, key), minute)
        sql = "SELECT bloom_set_contains('s', %d%s)" % (key, self.at(minute))
        answer = self.execute(session, sql)
        if not self.failed(session, sql, answer, set()):
            self.expect(sql, answer, {True, False} if live is None else {live})

    def do_compact(self, session):
        """By the clock, so that it would forget nearly all of what is added at first."""
        if self.options.keep and self.latest() < -KEEP // 2:
            return
        self.snapshot(session)
        self.writes_at(int(time.time() - self.began) // 60 + 1)
        answer = self.execute(session, "SELECT bloom_set_compact('s')")
        if self.failed(session, 'compact', answer, set()):
            return
        if session.transaction is not None:
            session.transaction.has_written = True
        self.written(session, {})

    def do_load(self, session):
        """With nobody else there; sometimes into a set that is truncated first."""
        if session.transaction is not None or self.others(None) or self.options.keep:
            return
        if self.rnd.random() < 0.3:
            self.execute(session, 'TRUNCATE s')
            self.committed.clear()
        keys = self.choose_keys(300)
        sql = "SELECT bloom_set_load('s', 'SELECT unnest(ARRAY%s)')" % keys
        answer = self.execute(session, sql)
        self.expect(sql, answer, [len(set(keys) - set(self.committed))])
        self.written(session, {k: 0 for k in keys})
        self.counts['loads'] += 1

    def do_sql(self, session):
        """Statements that write or lock the rows of the set."""
        which = self.rnd.choice(['lane > 0', 'lane = 0', 'true'])
        lock = self.rnd.choice(['KEY SHARE', 'SHARE', 'UPDATE'])
        found = 'SELECT ctid FROM s WHERE %s AND random() < %s FOR %%s SKIP LOCKED' % (which, self.rnd.choice(['1', '0.3']))
        sql = ('UPDATE s SET hashes = hashes WHERE ctid = ANY (ARRAY(%s))' % found % 'UPDATE' if self.rnd.random() < 0.5 else
               'SELECT count(*) FROM (%s) AS locked' % found % lock)
        self.snapshot(session)
        # SKIP LOCKED waits, too, for who has written the next version
        answer = self.protected(session, sql, True)
        if not self.failed(session, sql, answer, {'40001', 'wait'}):
            self.counts['rows written or locked by SQL'] += 1
            self.written(session, {})

    def do_vacuum(self, session):
        """Now and then."""
        if session.transaction is None:
            self.execute(session, self.rnd.choice(['VACUUM s', 'VACUUM (FREEZE) s', 'VACUUM (INDEX_CLEANUP ON) s']))
            self.counts['vacuums'] += 1

    def end_all(self):
        """End all transactions."""
        for session in self.sessions:
            if session.transaction is not None:
                self.end(session, 'COMMIT')
        while self.prepared:
            self.do_end_prepared(self.sessions[0])

    def begin_anew(self):
        """Now and then nobody is in a transaction, and the set is made empty, so that it grows again."""
        self.end_all()
        if self.rnd.random() < 0.7:
            self.execute(self.sessions[0], 'TRUNCATE s')
            self.committed.clear()

    def run(self):
        """So many calls."""
        kinds = ([self.do_begin] * 20 + [self.do_add] * 14 + [self.do_singles] * 6 + [self.do_array] * 6 + [self.do_blocks] * 3 + [self.do_remove] * 14
                 + [self.do_test_one] * 6 + [self.do_test] * 2 + [self.do_compact] + [self.do_sql] * 2 + [self.do_end_prepared] * 3 + [self.do_load])
        next_time = 600
        while self.calls < self.options.calls:
            session = self.rnd.choice(self.sessions)
            kind = self.rnd.choice(kinds)
            if self.rnd.random() < 0.005:
                kind = self.do_vacuum
            if self.calls >= next_time:
                next_time += self.rnd.choice([200, 600, 2000])
                self.begin_anew()
            kind(session)
        self.end_all()
        self.do_test(self.sessions[0])
        self.execute(self.sessions[0], 'DROP TABLE s')
        self.sessions[0].cursor.execute('DROP SCHEMA random_sets CASCADE')


def main():
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--calls', type=int, default=10000)
    parser.add_argument('--sessions', type=int, default=4)
    parser.add_argument('--keys', type=int, default=600)
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('--unlogged', action='store_true')
    options = parser.parse_args()
    driver = Driver(options)
    try:
        driver.run()
    except Wrong as wrong:
        print('\n'.join(driver.log))
        print('not ok of %d calls, seed %d: %s' % (driver.calls, options.seed, wrong))
        return 1
    for what, n in sorted(driver.counts.items()):
        print('# %s: %d' % (what, n))
    print('ok of %d calls, seed %d' % (driver.calls, options.seed))
    return 0


if __name__ == '__main__':
    sys.exit(main())
