#!/usr/bin/python3
"""Joins that filter, while another transaction changes their rows.

A session locks, updates or deletes rows of a join; another one has changed some
of them, and commits while the first one waits.  The server then checks the new
versions of rows again, by a plan without our nodes.  What the statement returns,
and what it leaves behind, must be the same without filters.  Some schedules skip
locked rows, or are REPEATABLE READ, where the statement must fail alike.

Then a write skew under SERIALIZABLE: one of the two transactions must be refused,
whether they read the rows that are changed or a filter drops them.

Usage: rechecks.py [--schedules N] [--seed N]

The server is found as by psql; the test makes a database of its own there, and
drops it.  Needs Debian's python3-psycopg2.
"""
import argparse
import os
import random
import sys
import threading
import time

import psycopg2


class Session:
    def __init__(self, database):
        self.connection = psycopg2.connect(dbname=database)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()

    def __call__(self, sql):
        self.cursor.execute(sql)
        return self.cursor.fetchall() if self.cursor.description else []


def rows(r, n, keys, other):
    return ', '.join(f"({i}, {r.randint(0, keys) if r.random() < 0.9 else 'NULL'}, {r.randint(0, 9)}{f', {r.randint(0, 9)}' if other else ''})" for i in range(n))


def set_up(session, seed):
    r = random.Random(seed)
    session("DROP TABLE IF EXISTS f, d, g")
    session("CREATE TABLE f (id int PRIMARY KEY, k int, k2 int, x int); CREATE TABLE d (id int PRIMARY KEY, k int8, k2 int, y int); CREATE TABLE g (id int PRIMARY KEY, k int, z int)")
    session(f'INSERT INTO f VALUES {rows(r, 60, 20, True)}')
    session(f'INSERT INTO d VALUES {rows(r, 30, 25, True)}')
    session(f'INSERT INTO g VALUES {rows(r, 20, 25, False)}')
    session('ANALYZE f, d, g')


def changes(r):
    found = []
    for _ in range(r.randint(1, 4)):
        table = r.choice('ffddg')
        where = f'id % {r.choice([2, 3, 5])} = {r.randint(0, 1)}'
        if r.random() < 0.75:
            found.append(f"UPDATE {table} SET k = {r.choice(['k + 1', 'k - 1', str(r.randint(0, 20)), 'coalesce(k, 3)', 'k + 7'])} WHERE {where}")
        elif r.random() < 0.5:
            found.append(f'DELETE FROM {table} WHERE {where}')
        else:
            found.append(f"UPDATE {table} SET {dict(f='x', d='y', g='z')[table]} = 1 WHERE {where}")
    return found


def statement(r):
    on = r.choice(['f.k = d.k', 'f.k = d.k AND f.k2 = d.k2', 'f.k = d.k', 'f.k2 = d.k2 AND f.k = d.k'])
    other = r.choice(['', ' JOIN g ON g.k = f.k', ' LEFT JOIN g ON g.k = d.k', ' JOIN g ON g.k = d.y'])
    where = r.choice(['', 'f.x < 7', 'd.y > 2', 'EXISTS (SELECT FROM g AS h WHERE h.k = f.k)', 'f.k2 IN (SELECT z FROM g)'])
    kind = r.random()
    if kind < 0.6:
        lock = r.choice(['UPDATE', 'UPDATE OF f', 'UPDATE OF d', 'NO KEY UPDATE', 'SHARE'])
        if 'LEFT' in other and ' OF ' not in lock:
            lock += ' OF f, d'
        return f"SELECT f.*, d.* FROM f JOIN d ON {on}{other}{' WHERE ' + where if where else ''} FOR {lock}{r.choice(['', '', '', ' SKIP LOCKED'])}"
    where = ' AND ' + where if where else ''
    if kind < 0.8:
        if 'f.k' in other:
            other = ''
        return f'UPDATE f SET x = f.x + 100 FROM d{other} WHERE {on}{where} RETURNING f.id, f.k'
    return f'DELETE FROM f USING d WHERE {on}{where} RETURNING f.id, f.k'


class Wrong(Exception):
    pass


def check(r, watcher, changer, waiter):
    """One schedule, with filters and without: did the statement wait, were rows dropped, did it fail?"""
    seed, changed, sql = r.random(), changes(r), statement(r)
    level = r.choice(['READ COMMITTED', 'READ COMMITTED', 'READ COMMITTED', 'REPEATABLE READ'])
    nestloop = r.choice(['on', 'off', 'off'])
    results = []
    for enabled in 'off', 'on':
        set_up(changer, seed)
        waiter(f'SET enable_nestloop = {nestloop}; SET bloomtype_scan.enabled = {enabled}; SET default_transaction_isolation = \'{level}\'')
        waiter.connection.notices.clear()
        changer('BEGIN')
        for change in changed:
            changer(change)
        answer = []

        def work():
            try:
                answer.append(sorted(map(repr, waiter(sql))))
            except psycopg2.Error as error:
                answer.append(error.pgcode)

        thread = threading.Thread(target=work)
        thread.start()
        waited = False
        while thread.is_alive() and not waited:
            # a row of the other session's: another lock is no sign that the statement has its snapshot
            waited = watcher(f"SELECT coalesce(wait_event_type = 'Lock' AND wait_event IN ('transactionid', 'tuple'), false) FROM pg_stat_activity WHERE pid = {waiter.connection.info.backend_pid}")[0][0]
            time.sleep(0.001)
        changer('COMMIT')
        thread.join()
        results.append((answer, watcher('SELECT * FROM f ORDER BY id')))
    dropped = any('bloomtype_scan:' in n and 'rejected=0 ' not in n for n in waiter.connection.notices)
    if results[0] != results[1]:
        raise Wrong(f'{changed}\n{level}, enable_nestloop = {nestloop}: {sql}\noff: {results[0]}\non:  {results[1]}')
    return waited, dropped, isinstance(answer[0], str)


def write_skew(sessions, passing):
    """Both read a sum of rows that the other one then changes, or would have read."""
    first, second = sessions
    first('DROP TABLE IF EXISTS f, d')
    first('CREATE TABLE f (k int, v int); CREATE TABLE d (k int)')
    first('INSERT INTO f SELECT i % 100, 0 FROM generate_series(1, 5000) AS i; INSERT INTO d SELECT generate_series(1, 5); ANALYZE f, d')
    try:
        for session in sessions:
            session("SET bloomtype_scan.enabled = on; BEGIN ISOLATION LEVEL SERIALIZABLE")
            session('SELECT sum(v) FROM f JOIN d USING (k)')
        for session, k, other in (first, 1, 50), (second, 2, 60):
            session(f'UPDATE f SET v = 1 WHERE k = {k}' if passing else f'UPDATE f SET k = {k}, v = 1 WHERE k = {other}')
        first('COMMIT')
        second('COMMIT')
        return 'both committed'
    except psycopg2.Error as error:
        return error.pgcode
    finally:
        for session in sessions:
            session('ROLLBACK')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('--schedules', type=int, default=200)
    parser.add_argument('--seed', type=int, default=1)
    arguments = parser.parse_args()
    database = f'bloomtype_rechecks_{os.getpid()}'
    admin = Session('postgres')
    admin(f'CREATE DATABASE {database}')
    sessions = [Session(database) for _ in range(3)]
    try:
        for session in sessions:
            session("LOAD 'bloomtype_scan'; SET bloomtype_scan.testing = force; SET enable_mergejoin = off; SET max_parallel_workers_per_gather = 0; "
                    "SET statement_timeout = '60s'; SET client_min_messages = debug1")
        r = random.Random(arguments.seed)
        counts = [0, 0, 0, 0]
        for i in range(arguments.schedules):
            try:
                waited, dropped, failed = check(r, *sessions)
            except Wrong as error:
                print(f'not ok 1 - schedule {i} (--seed {arguments.seed})')
                print('\n'.join('# ' + line for line in str(error).splitlines()))
                return 1
            for j, yes in enumerate((waited, dropped, waited and dropped, failed)):
                counts[j] += yes
        texts = ['statements that waited', 'whose filters dropped rows', 'both', 'that failed, with filters and without']
        for j, text in enumerate(texts):
            print(f"{'ok' if counts[j] > 0 else 'not ok'} {j + 1} - {text}: {counts[j]} of {arguments.schedules}")
        for session in sessions:
            session("SET enable_nestloop = off; SET enable_indexscan = off; SET enable_bitmapscan = off; SET default_transaction_isolation = 'read committed'")
        good = all(counts)
        for j, passing in enumerate((True, False)):
            result = write_skew(sessions[:2], passing)
            good &= result == '40001'
            print(f"{'ok' if result == '40001' else 'not ok'} {j + 5} - write skew, the rows that change {'pass' if passing else 'are dropped'}: {result}")
        print('1..6')
        return 0 if good else 1
    finally:
        for session in sessions:
            session.connection.close()
        admin(f'DROP DATABASE {database}')


if __name__ == '__main__':
    sys.exit(main())
