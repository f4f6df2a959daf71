#!/usr/bin/python3
"""What docs/clients.md says of Python's drivers, tried on the server of PGHOST.

Prints the Test Anything Protocol.  A driver that is not installed is skipped.
Debian: python3-psycopg, python3-psycopg2, python3-asyncpg, python3-sqlalchemy,
python3-django, and python3-xxhash for clients/python.
"""

import asyncio
import importlib.util
import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'clients' / 'python'))
HOST, PORT = os.environ['PGHOST'], os.environ.get('PGPORT', '5432')
USER, DATABASE = os.environ.get('PGUSER', 'postgres'), os.environ.get('PGDATABASE', 'postgres')
CONNECT = f'host={HOST} port={PORT} user={USER} dbname={DATABASE}'
URL = 'https://example.org/1'
# of README.md
RECEIVE = "INSERT INTO activity SELECT %(id)s, %(body)s WHERE bloom_set_add('received', %(id)s)"
number = failures = 0


def check(got, expected, text):
    global number, failures
    number += 1
    print('ok' if got == expected else 'not ok', number, '-', text)
    if got != expected:
        failures += 1
        print(f'# got {got!r}, expected {expected!r}')


def sqlstate(call, name):
    try:
        call()
    except Exception as error:  # each driver has its own
        return getattr(error, name, None) or getattr(error, 'orig', error).pgcode
    return None


def page_code(section, begins):
    """The Python in a section of the page, from the block that has these words."""
    page = (Path(__file__).resolve().parents[2] / 'docs' / 'clients.md').read_text(encoding='utf-8')
    blocks = page.split(f'## {section}\n')[1].split('\n## ')[0].split('```python\n')[1:]
    return next(block.split('```')[0] for block in blocks if begins in block)


def psycopg_3():
    import psycopg

    with psycopg.connect(CONNECT, autocommit=True) as con:
        def one(sql, *args):
            return con.execute(sql, args).fetchone()[0]

        check(one('SELECT urls @> %s FROM visited', URL), True, 'psycopg 3: text')
        check(one('SELECT ids @> %s::bigint FROM visited', 42), True, 'psycopg 3: bigint')
        check(one('SELECT bloom_missing(urls, %s::text[]) FROM visited', [URL, 'x']), ['x'], 'psycopg 3: list')
        check(one('SELECT bloom_missing(ids, %s::bigint[]) FROM visited', []), [], 'psycopg 3: empty list')
        check(one('SELECT pairs @> (%s::int, %s::text) FROM visited', 7, 'x7'), True, 'psycopg 3: row')
        data = one('SELECT urls::bytea FROM visited')
        check(one('SELECT %s::bytea::bloom @> %s', data, URL), True, 'psycopg 3: bytes')
        check(sqlstate(lambda: one('SELECT ids @> %s FROM visited', '42'), 'sqlstate'), '42804',
              'psycopg 3: a text is no bigint')
        check(one('SELECT urls @> %s FROM visited', [URL]), one('SELECT urls @> %s FROM visited', '{%s}' % URL),
              'psycopg 3: a list is sent as the text of an array')
        check([sqlstate(lambda: one('SELECT ids @> %s FROM visited', keys), 'sqlstate') for keys in ([42], ['42'])],
              ['42804', '42804'], 'psycopg 3: a list is no bigint')
        check(one('SELECT bloom_contains_any(urls, %s) FROM visited', [URL, 'x']), True,
              'psycopg 3: a list of texts, without a cast')
        message = {'id': 'psycopg 3', 'body': 'x'}
        check([con.execute(RECEIVE, message).rowcount for _ in (1, 2)], [1, 0], 'psycopg 3: stored if new')
        check([one("SELECT bloom_set_add('received', %s)", ['p1', 'p2']), one("SELECT bloom_set_add('received', %s)", '{p1,p2}')],
              [True, False], 'psycopg 3: a list given to bloom_set_add is one text')
        check([one("SELECT bloom_set_add_all('received', %s)", ['p1', 'p2', 'p1']), one("SELECT bloom_set_add_all('received', %s)", ['p2', 'p3'])],
              [['p1', 'p2'], ['p3']], 'psycopg 3: a list given to bloom_set_add_all')

        from bloomtype import Filter, register
        before = con.cursor()
        register(con)
        check([isinstance(cur.execute('SELECT urls FROM visited').fetchone()[0], Filter) for cur in (con.cursor(), before)],
              [True, False], 'psycopg 3: a column of type bloom, by a cursor made after register(), and before')
        few = Filter(1000)
        few.add('y')
        check(con.execute('SELECT (urls | %s) @> %s FROM visited', [few, 'y']).fetchone()[0], True, 'psycopg 3: a filter as a parameter')


def psycopg_2():
    import psycopg2

    con = psycopg2.connect(CONNECT)
    con.autocommit = True
    cur = con.cursor()

    def one(sql, *args):
        cur.execute(sql, args)
        return cur.fetchone()[0]

    check(one('SELECT urls @> %s FROM visited', URL), True, 'psycopg 2: text')
    check(one('SELECT ids @> %s FROM visited', 42), True, 'psycopg 2: bigint')
    check(one('SELECT bloom_contains_any(ids, %s::bigint[]) FROM visited', [2000, 3]), True, 'psycopg 2: list')
    data = one('SELECT urls::bytea FROM visited')
    check(one('SELECT %s::bytea::bloom @> %s', psycopg2.Binary(bytes(data)), URL), True, 'psycopg 2: bytes')
    counts = []
    for _ in (1, 2):
        cur.execute(RECEIVE, {'id': 'psycopg 2', 'body': 'x'})
        counts.append(cur.rowcount)
    check(counts, [1, 0], 'psycopg 2: stored if new')
    check(sqlstate(lambda: one("SELECT bloom_set_add('received', %s)", ['q1', 'q2']), 'pgcode'), '42804',
          'psycopg 2: a list given to bloom_set_add is an error')
    check(one("SELECT bloom_set_add_all('received', %s)", ['q1', 'q2']), ['q1', 'q2'], 'psycopg 2: a list given to bloom_set_add_all')
    con.close()


def asyncpg_():
    import asyncpg

    async def run():
        con = await asyncpg.connect(host=HOST, port=int(PORT), user=USER, database=DATABASE)
        check(await con.fetchval('SELECT urls @> $1 FROM visited', URL), True, 'asyncpg: text')
        check(await con.fetchval('SELECT ids @> $1::bigint FROM visited', 42), True, 'asyncpg: bigint')
        check(await con.fetchval('SELECT bloom_missing(ids, $1::bigint[]) FROM visited', [1, 2000]), [2000],
              'asyncpg: list')
        data = await con.fetchval('SELECT urls::bytea FROM visited')
        check(await con.fetchval('SELECT $1::bytea::bloom @> $2', data, URL), True, 'asyncpg: bytes')
        receive = "INSERT INTO activity SELECT $1, $2 WHERE bloom_set_add('received', $1)"
        check([await con.execute(receive, 'asyncpg', 'x') for _ in (1, 2)], ['INSERT 0 1', 'INSERT 0 0'],
              'asyncpg: stored if new')
        try:
            refused = not await con.fetchval("SELECT bloom_set_add('received', $1)", ['r1', 'r2'])
        except asyncpg.DataError:
            refused = True
        check(refused, True, 'asyncpg: a list given to bloom_set_add is an error')
        check(await con.fetchval("SELECT bloom_set_add_all('received', $1::text[])", ['r1', 'r2']), ['r1', 'r2'],
              'asyncpg: a list given to bloom_set_add_all')
        await con.close()

    asyncio.run(run())


def sqlalchemy_():
    import psycopg2
    from sqlalchemy import BigInteger, cast, column, create_engine, select, table, text

    engine = create_engine('postgresql+psycopg2://', creator=lambda: psycopg2.connect(CONNECT))
    with engine.connect() as con:
        check(con.execute(text('SELECT ids @> CAST(:id AS bigint) FROM visited'), {'id': 42}).scalar(), True,
              'SQLAlchemy: text()')
        ids = table('visited', column('ids')).c.ids
        query = ids.bool_op('@>')(cast(42, BigInteger))
        try:
            statement = select(query)
        except Exception:  # before SQLAlchemy 1.4
            statement = select([query])
        check(con.execute(statement).scalar(), True, 'SQLAlchemy: bool_op')


    receive = text("INSERT INTO activity SELECT :id, :body WHERE bloom_set_add('received', :id)")
    with engine.begin() as con:
        check([con.execute(receive, {'id': 'SQLAlchemy', 'body': 'x'}).rowcount for _ in (1, 2)], [1, 0],
              'SQLAlchemy: stored if new')
    with engine.connect() as con:
        check(sqlstate(lambda: con.execute(text("SELECT bloom_set_add('received', :ids)"), {'ids': ['s1', 's2']}), 'pgcode'),
              '42804', 'SQLAlchemy: a list given to bloom_set_add is an error')

    import sqlalchemy
    from sqlalchemy import Column, MetaData, Table
    from sqlalchemy.schema import CreateTable

    names = {'sqlalchemy': sqlalchemy}
    for recognized in (False, True):
        if recognized:
            exec(page_code('Python: SQLAlchemy', 'class Bloom'), names)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            visited = Table('visited', MetaData(), autoload_with=engine)
        check(any("Did not recognize type 'bloom'" in str(w.message) for w in caught), not recognized,
              f'SQLAlchemy: reflection, type {"known" if recognized else "unknown"}')
    Bloom = names['Bloom']
    check(isinstance(visited.c.urls.type, Bloom), True, 'SQLAlchemy: a column of type bloom')
    copy = Table('visited_too', MetaData(), Column('urls', visited.c.urls.type), Column('day', Bloom(1000, 0.01)), Column('any', Bloom()))
    with engine.begin() as con:
        con.execute(CreateTable(copy))
        con.execute(text('INSERT INTO visited_too SELECT urls, urls, urls FROM visited'))
        check([row[0] for row in con.execute(text(
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'visited_too'::regclass AND attnum > 0 ORDER BY attnum"))],
            ['bloom(1000,0.01)', 'bloom(1000,0.01)', 'bloom'], 'SQLAlchemy: reflection and CREATE TABLE keep the shape')
        con.execute(text('DROP TABLE visited_too'))


def django_():
    import django
    from django.conf import settings
    from django.db import connection, models

    from bloomtype import Filter

    settings.configure(INSTALLED_APPS=[], USE_TZ=True, DEFAULT_AUTO_FIELD='django.db.models.AutoField', DATABASES={
        'default': {'ENGINE': 'django.db.backends.postgresql', 'NAME': DATABASE, 'USER': USER, 'HOST': HOST, 'PORT': PORT}})
    django.setup()
    names = {'models': models, 'Filter': Filter}
    exec(page_code('Python: Django', 'class BloomField'), names)
    BloomField = names['BloomField']

    class Visited(models.Model):
        urls = BloomField(1000, primary_key=True)
        ids = BloomField(1e3, 0.01)

        class Meta:
            app_label = 'tried'
            managed = False
            db_table = 'visited'

    class Day(models.Model):
        users = BloomField(1e5, 0.001, null=True)

        class Meta:
            app_label = 'tried'
            db_table = 'django_day'

    with connection.schema_editor() as editor:
        editor.create_model(Day)
    with connection.cursor() as cursor:
        cursor.execute("SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'django_day'::regclass AND attname = 'users'")
        check(cursor.fetchone()[0], 'bloom(100000,0.001)', 'Django: a migration keeps the shape')
    field = Day._meta.get_field('users').clone()
    check((field.db_type(connection), field.null), (Day._meta.get_field('users').db_type(connection), True), 'Django: so does a copy of the field')
    Day.objects.create(users=None)
    check(Day.objects.get().users, None, 'Django: null')
    with connection.schema_editor() as editor:
        editor.delete_model(Day)

    def count(**lookup):
        return Visited.objects.filter(**lookup).count()

    check((count(urls__has=URL), count(urls__has='x')), (1, 0), 'Django: text')
    check((count(ids__has=42), count(ids__has=5000)), (1, 0), 'Django: bigint')
    visited = Visited.objects.get()
    check((isinstance(visited.urls, Filter), URL in visited.urls), (True, True), 'Django: a filter, read')
    few = Filter(1000)
    few.add('y')
    with connection.cursor() as cursor:
        cursor.execute('CREATE TEMPORARY TABLE visited (LIKE visited)')
        cursor.execute('INSERT INTO visited SELECT * FROM public.visited')
        Visited.objects.update(urls=few)
        check((count(urls__has='y'), count(urls__has=URL)), (1, 0), 'Django: a filter, written')
        for message in ('Django', 'Django'):
            cursor.execute(RECEIVE, {'id': message, 'body': 'x'})
        check(cursor.rowcount, 0, 'Django: stored if new')


for module, function in (('psycopg', psycopg_3), ('psycopg2', psycopg_2), ('asyncpg', asyncpg_),
                         ('sqlalchemy', sqlalchemy_), ('django', django_)):
    if importlib.util.find_spec(module) is None:
        number += 1
        print(f'ok {number} # SKIP no module {module} here')
    else:
        function()
print(f'1..{number}')
sys.exit(failures > 0)
