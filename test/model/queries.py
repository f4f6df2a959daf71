"""What the tests of random queries share: their arguments, database and report."""
import argparse
import os
import random

import psycopg2


class Wrong(Exception):
    """Another answer."""


def arguments(doc):
    parser = argparse.ArgumentParser(description=doc.split('\n', 1)[0])
    parser.add_argument('--queries', type=int, default=2000)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only', type=int, help='the query of this number')
    parser.add_argument('--keep', action='store_true', help='keep the database, and print its name')
    return parser


def connect(database):
    """A connection without transactions of its own."""
    connection = psycopg2.connect(dbname=database)
    connection.autocommit = True
    return connection


def administer(statement):
    connection = connect('postgres')
    connection.cursor().execute(statement)
    connection.close()


def run(options, name, test_class, make_query, report):
    """The exit status of all queries: 1 if one is answered wrongly, else what report says.

    test_class(database) has a connection, log and check(query); make_query(test, numbers)
    is by random numbers.
    """
    database = f'bloomtype_{name}_{os.getpid()}'
    administer(f'CREATE DATABASE {database} TEMPLATE template0')
    try:
        test = test_class(database)
        for i in range(options.queries) if options.only is None else [options.only]:
            query = make_query(test, random.Random(f'{options.seed} {i}'))
            try:
                test.check(query)
            except Wrong as error:
                print(f'not ok 1 - query {i} (--seed {options.seed} --only {i}): {query}')
                print('\n'.join('# ' + line for line in str(error).splitlines()))
                print('# as it ran: \n' + ';\n'.join(test.log) + ';')
                return 1
        if options.only is not None:
            print(';\n'.join(test.log))
            return 0
        return report(test)
    finally:
        if options.keep:
            print(f'# database {database}')
        else:
            administer(f'DROP DATABASE {database} WITH (FORCE)')


def report(wanted, counts, options):
    """Which kinds of queries dropped rows, and often enough?  Returns the exit status."""
    missing = [kind for kind in wanted if counts[kind] < options.least]
    for number, kind in enumerate(wanted, 1):
        print(f'{"not ok" if kind in missing else "ok"} {number} - {kind}: {counts[kind]} queries')
    print(f'1..{len(wanted)}')
    for kind, count in sorted(counts.items()):
        if kind not in wanted:
            print(f'# {kind}: {count}')
    return 1 if missing else 0
