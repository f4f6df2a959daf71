#!/usr/bin/python3
"""Random transactions on a stored set, of which every answer is predicted.

Some sessions add keys to one set, remove and test them, at all isolation levels,
with savepoints, blocks that fail, prepared transactions, rollbacks, compaction,
loads, and SQL that rewrites, locks or deletes rows of the set; some keys are null,
which are new and leave nothing; and now and then the table is truncated, vacuumed, clustered, reindexed, or dumped and restored, be it in a
transaction that is rolled back.  Most statements run alone.  Beside some, another
transaction ends, or another session adds other keys, at any moment of the call:
best with a library that pauses between its steps.

Beside the set stands a model: what is committed, what each snapshot saw, and what
each open transaction has written.  So it knows

- whether a key is new, there, or removed, by the session's own view;
- whether a call has to wait, since another open transaction has the key;
- whether it must fail with 40001.

A removal may also wait for whoever holds the row of its key, and fail if that was
written since the snapshot: that depends on neighbours, which the model does not
know.  SERIALIZABLE may always fail.  In a set that forgets, keys that were
droppable by a call are there or not.

Usage: sets.py [--seed N] [--calls N] [--sessions N] [--keys N] [--keep] [--unlogged] [--capacity]

The server is found as by psql; the test makes a schema of its own in the
database, and drops it.  A failure prints the seed, and the last statements of all
sessions.  Ranges should be small: set/tap/set_random.pl builds such a library.

Needs Debian's python3-psycopg2.
"""
import argparse
import collections
import concurrent.futures
import io
import itertools
import os
import random
import sys
import time

import psycopg2

KEEP = 62               # minutes, so that a slice is one
WAITS = '15ms'          # lock_timeout of what has to wait, or may have to
WAITS_LONG = '1s'       # ... if that may end meanwhile
WAITS_NOT = '5s'        # ... and of what must not
LEVELS = ['READ COMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE']
SCHEMA = """
DROP SCHEMA IF EXISTS random_sets CASCADE;
CREATE SCHEMA random_sets;
SET search_path = random_sets, public;
-- each key is added or removed in a block of its own, of which every third one is rolled back
CREATE FUNCTION in_blocks(keys int[], removes boolean[], at timestamptz) RETURNS boolean[] LANGUAGE plpgsql AS $$
DECLARE
	answers boolean[];
	answer boolean;
BEGIN
	FOR i IN 1 .. cardinality(keys) LOOP
		BEGIN
			answer := CASE WHEN removes[i] THEN bloom_set_remove('s', keys[i], at) ELSE bloom_set_add('s', keys[i], at) END;
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
        self.removed = {}       # key: what was committed of it by then
        self.is_emptied = False # by TRUNCATE, before
        self.has_deleted = False        # all rows that it saw, by SQL


class Transaction:
    """An open transaction."""

    def __init__(self, isolation, snapshot):
        self.isolation = isolation
        self.snapshot = snapshot        # None: one for each statement
        self.behind = False             # others have committed since
        self.sees_deleted = False       # ... and have deleted rows that the snapshot sees
        self.levels = [Level()]
        self.has_written = False        # so that others may have to wait for rows

    def sees(self, key, committed):
        """The slice of a key, or None; without this transaction it would be this."""
        written = []
        for level in reversed(self.levels):
            if key in level.state:
                written.append(level.state[key])
            if level.is_emptied or (key in level.removed and level.removed[key] == committed):
                committed = None
            if level.is_emptied:
                break
        return max((s for s in written[:1] + [committed] if s is not None), default=None)

    def put(self, key, slice_, committed):
        """Note what was written, and what is committed of the key."""
        level = self.levels[-1]
        level.state[key] = slice_
        if slice_ is None:
            level.removed[key] = committed
        else:
            level.added[key] = max(slice_, level.added.get(key, slice_))

    def empty(self):
        """Note that the set was truncated."""
        self.levels[-1].state.clear()
        self.levels[-1].is_emptied = True

    def release(self):
        """The last savepoint's writes are those of what is around it."""
        last = self.levels.pop()
        if last.is_emptied:
            self.empty()
        self.levels[-1].has_deleted |= last.has_deleted
        self.levels[-1].state.update(last.state)
        self.levels[-1].added.update(last.added)
        self.levels[-1].removed.update(last.removed)


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
        self.watcher = Session(options.sessions)
        self.prepared = {}              # name: transaction
        self.nprepared = 0
        self.committed = {}             # key: slice
        self.dropped = -10 ** 9         # older slices may have been forgotten
        self.alone = None               # a session that has locked out the others
        self.thread = concurrent.futures.ThreadPoolExecutor(1)
        self.meanwhile = None           # what to do beside the next statement
        self.rival = None               # the transaction that will end there
        self.keys = []                  # of the last statement
        self.taken = []                 # those that nobody else may use now
        self.anew = itertools.cycle(['empty', 'restore', 'empty', 'rewrite', 'empty', 'nothing'])
        self.calls = 0
        self.counts = collections.Counter()
        self.log = collections.deque(maxlen=60)
        cursor = self.sessions[0].cursor
        cursor.execute("SELECT gid FROM pg_prepared_xacts WHERE database = current_database() AND gid LIKE 'sets %'")
        for left, in cursor.fetchall():     # by a test that has failed
            cursor.execute('ROLLBACK PREPARED %s', (left,))
        cursor.execute(SCHEMA)
        self.create(options.capacity)
        cursor.execute("SELECT date_trunc('minute', now())::text")
        self.now = cursor.fetchone()[0]
        self.began = time.time()

    def create(self, capacity):
        """The set; with ranges made ahead for some capacity, or without."""
        sql = "SELECT bloom_set_create('s', 'int', seed => 1%s%s%s)" % (
            ", keep => '%d minutes'" % KEEP if self.options.keep else '', ', unlogged => true' if self.options.unlogged else '',
            ', capacity => %d' % self.rnd.choice([1, 30, self.options.keys, 5 * self.options.keys]) if capacity else '')
        self.sessions[0].cursor.execute(sql)
        self.log.append('0: ' + sql)

    # Time: in minutes before the test began

    def choose_time(self):
        """Goes on while the test does, and back by up to half of what is kept, or by far more."""
        if not self.options.keep:
            return 0
        if self.rnd.random() < 0.03:
            return self.latest() - self.rnd.randrange(4 * KEEP)
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
        if transaction is None:
            return self.committed.get(key)
        return transaction.sees(key, (transaction.snapshot if is_snapshot and transaction.snapshot is not None else self.committed).get(key))

    def others(self, transaction):
        """All other open transactions."""
        return [t for t in [s.transaction for s in self.sessions] + list(self.prepared.values())
                if t is not None and t is not transaction]

    def is_pending(self, transaction, key, minute, but=None):
        """Has another open transaction added the key?"""
        return any(self.is_live(level.added.get(key), minute) is not False
                   for t in self.others(transaction) if t is not but for level in t.levels)

    def outcomes(self, transaction, key, minute):
        """What an add can answer: True, False, 'wait', '40001'."""
        if key is None:
            return {True}
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
            if transaction is not None and transaction.sees_deleted:
                result.add('40001')
        return result

    # Statements

    def ask(self, session, sql, timeout):
        """What a statement answers, or an SQLSTATE; and a line for the log."""
        try:
            if session.transaction is None:
                session.cursor.execute("SET lock_timeout = '%s'" % timeout)
                session.cursor.execute(sql)
            else:
                # a rollback takes the setting back
                session.cursor.execute("SET LOCAL lock_timeout = '%s'; %s" % (timeout, sql))
            answer = session.cursor.fetchone()[0] if session.cursor.description else None
        except psycopg2.Error as error:
            if error.pgcode in ('40001', '55P03'):
                return error.pgcode, str(error).strip().replace('\n', ' ')
            raise Wrong('%s: %s' % (error.pgcode, error)) from error
        return answer, answer

    def execute(self, session, sql, waits=False):
        """What a statement answers, or an SQLSTATE."""
        self.calls += 1
        self.log.append('%d: %s' % (session.number, sql))
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is None:
            answer, line = self.ask(session, sql, WAITS if waits else WAITS_NOT)
        else:
            asked = self.thread.submit(self.ask, session, sql, WAITS_LONG if waits else WAITS_NOT)
            self.pause(session, asked, waits)
            meanwhile()
            answer, line = asked.result()
        self.log.append('%d: -- %s' % (session.number, line))
        return answer

    def pause(self, session, asked, waits):
        """Until a statement of another session, which is being asked, waits; or for some time."""
        end = time.time() + self.rnd.choice([0, 0.001, 0.003, 0.01] + [0.1] * waits)
        while time.time() < end and not asked.done():
            time.sleep(0.0005)
            self.watcher.cursor.execute('SELECT count(*) FROM pg_locks WHERE pid = %s AND NOT granted', (session.connection.info.backend_pid,))
            if waits and self.watcher.cursor.fetchone()[0] > 0:
                self.counts['waited, and went on'] += 1
                break

    def expect(self, sql, answer, allowed):
        """It is one of these."""
        if answer not in allowed:
            raise Wrong('%s: %s, but expected is %s' % (sql, answer, allowed))

    def protected(self, session, sql, waits):
        """The same, in a savepoint if it can have to wait."""
        waits = waits or self.meanwhile is not None
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
        level = transaction.levels[0]
        if level.is_emptied:
            self.committed.clear()
        for key, slice_ in level.removed.items():
            if self.committed.get(key) == slice_:
                self.committed.pop(key, None)
        for key, slice_ in level.state.items():
            if slice_ is not None:
                self.committed[key] = max(slice_, self.committed.get(key, slice_))
        if transaction.has_written:
            for other in self.others(transaction):
                other.behind = True
                other.sees_deleted |= level.has_deleted and other.snapshot is not None

    def written(self, session, changes):
        """A call has written: keys and their slices."""
        transaction = session.transaction
        if transaction is None:
            transaction = Transaction('READ COMMITTED', None)
        transaction.has_written = True
        for key, slice_ in changes.items():
            transaction.put(key, slice_, self.committed.get(key))
        if session.transaction is None:
            self.commit(transaction)

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
        self.end_prepared(session, self.rnd.choice(sorted(self.prepared)))

    def end_prepared(self, session, name):
        """End this one."""
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
        near = [first + self.rnd.randrange(2 * most) for _ in range(n)]
        rivals = sorted({k for level in self.rival.levels for k in level.added}) if self.rival is not None else []
        if rivals and self.rnd.random() < 0.7:
            near[self.rnd.randrange(n)] = self.rnd.choice(rivals)
        elif self.rnd.random() < 0.5:
            near = [self.rnd.randrange(self.options.keys) for _ in range(n)]
        return [k % self.options.keys for k in near if k % self.options.keys not in self.taken]

    def with_nulls(self, keys):
        """The keys, with some nulls among them at times."""
        keys = list(keys)
        for _ in range(self.rnd.choice([0, 0, 1, 3]) if keys else 0):
            keys.insert(self.rnd.randrange(len(keys) + 1), None)
        self.counts['null keys'] += None in keys
        return keys

    @staticmethod
    def array(keys):
        """In SQL."""
        return 'ARRAY[%s]::int[]' % ', '.join('NULL' if k is None else str(k) for k in keys)

    def add(self, session, sql, keys, minute, once=False):
        """A call that adds keys, one after another, and answers for each; of an array, nulls are left out."""
        transaction = session.transaction
        if once:
            keys = [k for k in keys if k is not None]
        if not keys:
            return
        self.snapshot(session)
        self.writes_at(minute)
        allowed = [self.outcomes(transaction, key, minute) for key in keys]
        everything = set().union(*allowed)
        waits = 'wait' in everything
        self.keys = [k for k in keys if k is not None]
        answer = self.protected(session, sql, waits)
        # if another has ended meanwhile
        after = [self.outcomes(transaction, key, minute) for key in keys]
        allowed = [a if a == b else a - {'wait'} | b for a, b in zip(allowed, after)]
        everything |= set().union(*allowed)
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
                self.expect('%s, key %s' % (sql, key), answer[i], allowed[i])
            if answer[i] and key is not None:
                changes[key] = minute
        self.counts['told new'] += len(changes)
        self.written(session, changes)
        if not changes and transaction is not None:
            transaction.has_written = True

    def do_add(self, session):
        """One key."""
        key, minute = self.choose_keys(1)[0], self.choose_time()
        if self.is_pending(session.transaction, key, minute, self.rival) and self.rnd.random() < 0.8:
            return
        self.add(session, "SELECT ARRAY[bloom_set_add('s', %d%s)]" % (key, self.at(minute)), [key], minute)

    def free_keys(self, session, most, minute):
        """Keys for which nobody is to be waited for, mostly."""
        keys = self.choose_keys(most)
        if self.rival is None and self.rnd.random() < 0.05:
            return keys
        return [k for k in keys if not self.is_pending(session.transaction, k, minute, self.rival)] or keys[:1]

    def do_singles(self, session):
        """Several keys, one by one, in one statement."""
        minute = self.choose_time()
        keys = self.free_keys(session, 30, minute)
        keys = self.with_nulls(keys)
        self.add(session, "SELECT ARRAY(SELECT bloom_set_add('s', k%s) FROM unnest(%s) WITH ORDINALITY AS u (k, n) ORDER BY n)" % (
            self.at(minute), self.array(keys)), keys, minute)

    def do_array(self, session):
        """Several keys at once."""
        minute = self.choose_time()
        keys = self.free_keys(session, self.rnd.choice([3, 30, 200]), minute)
        keys = self.with_nulls(keys)
        self.add(session, "SELECT bloom_set_add_all('s', %s%s)" % (self.array(keys), self.at(minute)), keys, minute, once=True)

    def do_blocks(self, session):
        """Several keys in blocks, a third of which is rolled back."""
        minute = self.choose_time()
        keys = self.free_keys(session, 12, minute)
        transaction = session.transaction or Transaction('READ COMMITTED', None)
        removes = [self.rnd.random() < 0.3 and not self.is_expired(transaction, key, minute) for key in keys]
        self.snapshot(session)
        self.writes_at(minute)
        allowed = set().union(*[self.removals(transaction, k, minute) if r else self.outcomes(transaction, k, minute) for k, r in zip(keys, removes)])
        sql = 'SELECT in_blocks(ARRAY%s, ARRAY%s%s)' % (keys, removes, self.at(minute) or ', now()')
        answer = self.protected(session, sql, 'wait' in allowed)
        if self.failed(session, sql, answer, allowed):
            return
        transaction.has_written = True
        for i, key in enumerate(keys):
            self.expect('%s, block %d' % (sql, i), answer[i],
                        self.removals(transaction, key, minute) if removes[i] else self.outcomes(transaction, key, minute))
            if answer[i] and i % 3 != 2:
                transaction.put(key, None if removes[i] else minute, self.committed.get(key))
            self.counts['removed in blocks'] += answer[i] and removes[i]
        if session.transaction is None:
            self.commit(transaction)

    def removals(self, transaction, key, minute):
        """What a removal can answer: True, False, 'wait', '40001'."""
        others = [t for t in self.others(transaction) if t.has_written]
        keeps = transaction is not None and transaction.snapshot is not None
        lives = {self.is_live(self.slice_in(transaction, key, is_snapshot), minute) for is_snapshot in (False, keeps)}
        result = set()
        if keeps and transaction.behind:
            result.add('40001')
        if others:
            result.add('wait')
        if not any(key in level.added for t in others for level in t.levels) and not (keeps and lives == {True, False}):
            result |= {True, False} if None in lives else lives
        return result

    def is_expired(self, transaction, key, minute):
        """Is a key, or may it be, too old?  A removal takes it away, too, but others may add it meanwhile."""
        slices = [self.slice_in(transaction, key, False)] + [level.added.get(key) for t in self.others(transaction) for level in t.levels]
        return any(s is not None and self.is_live(s, minute) is not True for s in slices)

    def do_remove(self, session):
        """One key."""
        transaction = session.transaction
        key, minute = self.choose_keys(1)[0], self.choose_time()
        if transaction is not None and self.is_expired(transaction, key, minute):
            return
        self.snapshot(session)
        self.writes_at(minute)
        sql = "SELECT bloom_set_remove('s', %d%s)" % (key, self.at(minute))
        allowed = self.removals(transaction, key, minute)
        self.keys = [key]
        answer = self.protected(session, sql, 'wait' in allowed)
        # if another has ended meanwhile
        allowed |= self.removals(transaction, key, minute)
        if self.failed(session, sql, answer, allowed):
            return
        self.expect(sql, answer, allowed)
        self.counts['removed'] += answer
        self.written(session, {key: None} if answer or transaction is None else {})

    def do_test(self, session):
        """All keys."""
        transaction = session.transaction
        minute = self.choose_time()
        self.snapshot(session)
        sql = "SELECT bloom_set_missing('s', NULL || ARRAY(SELECT generate_series(0, %d))%s)" % (self.options.keys - 1, self.at(minute))
        before = [self.is_live(self.slice_in(transaction, key), minute) for key in range(self.options.keys)]
        answer = self.execute(session, sql)
        if self.failed(session, sql, answer, set()):
            return
        # another that has ended meanwhile is seen as a whole
        after = [self.is_live(self.slice_in(transaction, key), minute) for key in range(self.options.keys)]
        missing = set(answer)
        wrong = [[(key, 'denied' if live else 'imagined') for key, live in enumerate(lives) if live is not None and live == (key in missing)]
                 for lives in (before, after)]
        if all(wrong):
            raise Wrong('%s: %s' % (sql, min(wrong, key=len)))

    def do_test_one(self, session):
        """One key."""
        key, minute = self.choose_keys(1)[0], self.choose_time()
        self.snapshot(session)
        sql = "SELECT bloom_set_contains('s', %d%s)" % (key, self.at(minute))
        lives = {self.is_live(self.slice_in(session.transaction, key), minute)}
        answer = self.execute(session, sql)
        lives.add(self.is_live(self.slice_in(session.transaction, key), minute))
        if not self.failed(session, sql, answer, set()):
            self.expect(sql, answer, {True, False} if None in lives else lives)

    def do_compact(self, session):
        """By the clock, so that it would forget nearly all of what is added at first."""
        if self.options.keep and self.latest() < -KEEP // 2:
            return
        self.snapshot(session)
        self.writes_at(int(time.time() - self.began) // 60 + 1)
        answer = self.execute(session, "SELECT bloom_set_compact('s')")
        if self.failed(session, 'compact', answer, {'40001'} if session.transaction is not None and session.transaction.sees_deleted else set()):
            return
        if session.transaction is not None:
            session.transaction.has_written = True
        self.written(session, {})

    def do_load(self, session):
        """By a query.  An empty set would stay locked until the transaction ends."""
        transaction = session.transaction
        if self.options.keep or (not self.committed and session is not self.alone and (transaction is not None or self.others(None))):
            return
        self.snapshot(session)
        keys = self.free_keys(session, 300, 0)
        allowed = {k: self.outcomes(transaction, k, 0) for k in keys}
        everything = set().union(*allowed.values())
        sql = "SELECT bloom_set_load('s', 'SELECT unnest(%s)')" % self.array(self.with_nulls(keys))
        answer = self.protected(session, sql, 'wait' in everything)
        if self.failed(session, sql, answer, everything):
            return
        new = [k for k in allowed if True in allowed[k]]
        self.expect(sql, answer, [len(new)] if all(a & {True, False} for a in allowed.values()) else [])
        self.written(session, {k: 0 for k in new})
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

    def do_delete(self, session):
        """All rows.  It does not see those that others have not committed: with a part of a split, it would leave a hole."""
        transaction = session.transaction
        # to others, an open one is as if it came later (isolation/specs/set-deleted.spec)
        if any(t.has_written for t in self.others(transaction)) or (transaction is not None and session is not self.alone):
            return
        self.snapshot(session)
        keeps = transaction is not None and transaction.snapshot is not None
        idle = [s for s in self.sessions if s is not session and s.transaction is None]
        sees = self.rnd.choice(idle) if idle and transaction is None else None
        if sees is not None:
            sees.cursor.execute('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT')
            sees.transaction = Transaction('REPEATABLE READ', None)
            self.log.append('%d: BEGIN REPEATABLE READ' % sees.number)
            self.snapshot(sees)
        answer = self.protected(session, 'DELETE FROM s', False)
        if self.failed(session, 'DELETE', answer, {'40001'} if keeps and transaction.behind else set()):
            return
        gone = {key: None for key in range(self.options.keys) if self.slice_in(transaction, key) is not None}
        self.counts['rows deleted by SQL'] += 1
        if transaction is not None:
            transaction.levels[-1].has_deleted = True
            self.written(session, gone)
            return
        for other in self.others(None):
            other.sees_deleted |= other.snapshot is not None
        self.written(session, gone)
        # what is added by a snapshot that sees the rows must be seen by it, if it is no error
        if sees is not None:
            self.do_add(sees)
            if sees.transaction is not None:
                self.do_test(sees)

    def do_vacuum(self, session):
        """Now and then."""
        if session.transaction is None:
            self.execute(session, self.rnd.choice(['VACUUM s', 'VACUUM (FREEZE) s', 'VACUUM (INDEX_CLEANUP ON) s']))
            self.counts['vacuums'] += 1

    def do_rewrite(self, session):
        """Write the table or its index anew.  If others are open, it waits, and some of it is left."""
        if session.transaction is None:
            sql = self.rnd.choice(['VACUUM FULL s', 'CLUSTER s USING s_pkey', 'REINDEX TABLE s', 'REINDEX TABLE CONCURRENTLY s'])
            if self.execute(session, sql, True) is None:
                self.counts['rewritten'] += 1

    def do_rewrite_alone(self, session):
        """The same in a transaction that goes on: others have to wait for its end."""
        transaction = session.transaction
        if transaction is None or self.others(transaction):
            return
        # what ALTER TABLE writes is visible to older snapshots
        sql = self.rnd.choice(['TRUNCATE s', 'TRUNCATE s', 'CLUSTER s USING s_pkey', 'REINDEX TABLE s']
                              + ['ALTER TABLE s SET LOGGED', 'ALTER TABLE s SET UNLOGGED'] * (transaction.isolation == 'READ COMMITTED'))
        self.snapshot(session)
        if not self.failed(session, sql, self.execute(session, sql), set()):
            self.alone = session
            transaction.has_written = True
            if sql == 'TRUNCATE s':
                transaction.empty()
            self.counts['rewritten in a transaction'] += 1

    def restore(self):
        """Make the set anew, of a dump of it."""
        cursor = self.sessions[0].cursor
        dump = io.StringIO()
        cursor.copy_expert('COPY s TO STDOUT', dump)
        dump.seek(0)
        cursor.execute('BEGIN; DROP TABLE s')
        self.create(False)
        cursor.copy_expert('COPY s FROM STDIN', dump)
        cursor.execute('COMMIT')
        self.log.append('0: restored')
        self.counts['restored'] += 1

    def do_race(self, session):
        """A call, while another transaction ends, or while another session adds other keys."""
        if self.alone is not None:
            return
        rival = self.rnd.choice([s for s in self.sessions if s is not session])
        # a test that fails for SERIALIZABLE gives keys back, of which others are told
        ends = self.rnd.random() < 0.6 or (session.transaction is not None and session.transaction.isolation == 'SERIALIZABLE')
        call = self.rnd.choice([self.do_add, self.do_singles, self.do_array, self.do_array, self.do_remove, self.do_test_one, self.do_test, self.do_compact])
        name = self.rnd.choice(sorted(self.prepared)) if self.prepared and self.rnd.random() < 0.4 else None
        if ends and name is None and rival.transaction is None:
            return
        for one in (session, rival):
            if one.transaction is not None and one.transaction.isolation != 'READ COMMITTED':
                one.cursor.execute('SELECT')
                self.snapshot(one)

        def meanwhile():
            self.rival = None
            self.taken = self.keys
            self.counts['races'] += 1
            if not ends:
                self.rnd.choice([self.do_singles, self.do_array, self.do_array])(rival)
            elif name is not None:
                self.end_prepared(self.watcher, name)
            else:
                self.end(rival, self.rnd.choice(['COMMIT', 'COMMIT', 'ROLLBACK']))

        if ends:
            self.rival = self.prepared[name] if name is not None else rival.transaction
        self.meanwhile = meanwhile
        call(session)
        self.meanwhile = self.rival = None
        self.taken = []

    def end_all(self):
        """End all transactions."""
        for session in self.sessions:
            if session.transaction is not None:
                self.end(session, 'COMMIT')
        self.alone = None
        while self.prepared:
            self.do_end_prepared(self.sessions[0])

    def begin_anew(self):
        """Now and then nobody is in a transaction; the set is made empty, so that it grows again, or written anew."""
        self.end_all()
        session = self.sessions[0]
        session.cursor.execute("SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 's'::regclass AND NOT indisvalid")
        for left, in session.cursor.fetchall():     # by REINDEX CONCURRENTLY
            session.cursor.execute('DROP INDEX ' + left)
        what = next(self.anew)
        if what == 'empty':
            self.execute(session, 'TRUNCATE s')
            self.committed.clear()
            if self.options.capacity and self.rnd.random() < 0.8:
                self.execute(session, 'DROP TABLE s')
                self.create(True)
        elif what == 'restore':
            self.restore()
        elif what == 'rewrite':
            self.do_rewrite(session)
        if self.rnd.random() < 0.3:
            self.do_load(session)
        if what != 'empty':
            self.do_begin(session)
            self.alone = session
            if self.rnd.random() < 0.8:
                self.do_rewrite_alone(session)

    def run(self):
        """So many calls."""
        kinds = ([self.do_begin] * 20 + [self.do_add] * 14 + [self.do_singles] * 6 + [self.do_array] * 6 + [self.do_blocks] * 4 + [self.do_remove] * 14
                 + [self.do_test_one] * 6 + [self.do_test] * 2 + [self.do_compact] + [self.do_sql] * 2 + [self.do_delete] + [self.do_end_prepared] * 3 + [self.do_load]
                 + [self.do_race] * 10)
        next_time = 600
        while self.calls < self.options.calls:
            session = self.rnd.choice(self.sessions)
            kind = self.rnd.choice(kinds)
            if self.rnd.random() < 0.01:
                kind = self.rnd.choice([self.do_vacuum, self.do_rewrite])
            if self.calls >= next_time:
                next_time += self.rnd.choice([200, 400, 1500])
                self.begin_anew()
            if self.alone is not None:
                session = self.alone
                kind = self.do_end_prepared if self.prepared else self.do_rewrite_alone if self.rnd.random() < 0.15 else kind
            kind(session)
            if self.alone is not None and self.alone.transaction is None and not self.prepared:
                self.alone = None
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
    parser.add_argument('--capacity', action='store_true')
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
