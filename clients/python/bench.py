"""A list of keys as a parameter, beside a filter of them.

    python3 clients/python/bench.py [ROWS]

The server is that of PGHOST and so on; needs psycopg 3.  Each time is the least
of several, alternating: of the client's program and of the whole statement.
"""

from __future__ import annotations

import sys
import time

import psycopg
from psycopg.adapt import PyFormat, Transformer

from bloomtype import Filter, register

ROUNDS = 5
ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000


def timed(call) -> tuple[float, object]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def filled(filter: Filter, keys) -> Filter:
    filter.update(keys)
    return filter


with psycopg.connect("", autocommit=True) as connection:
    register(connection)
    connection.execute("CREATE TEMPORARY TABLE visit AS SELECT i::bigint * 3 AS id FROM generate_series(1, %s) AS i", [ROWS])
    connection.execute("VACUUM ANALYZE visit")
    connection.execute("SET max_parallel_workers_per_gather = 0")
    print(f"{ROWS} rows; a third of the keys is among them")
    for n in (1000, 10_000, 100_000, 1_000_000):
        keys = range(ROWS, ROWS + n)
        built, filter = min((timed(lambda: filled(Filter(n), keys)) for _ in range(2)), key=lambda r: r[0])
        ids = list(keys)
        found = {}
        best = {"= ANY(list)": 1e9, "filter @>": 1e9}
        statements = {
            "= ANY(list)": ("SELECT count(*) FROM visit WHERE id = ANY(%b::bigint[])", ids),
            "filter @>": ("SELECT count(*) FROM visit WHERE %b @> id", filter),
        }
        for _ in range(ROUNDS):
            for name, (statement, parameter) in statements.items():
                seconds, row = timed(lambda: connection.execute(statement, [parameter], binary=True).fetchone())
                best[name], found[name] = min(best[name], seconds), row[0]
        transformer = Transformer(connection)
        size = {name: len(transformer.dump_sequence([parameter], [PyFormat.BINARY])[0])
                for name, (_, parameter) in statements.items()}
        for name in statements:
            print(f"{n:8} keys  {name:12} {size[name] / 1000:9.1f} kB  {best[name] * 1000:7.0f} ms  {found[name]} rows"
                  + (f"  (built in {built * 1000:.0f} ms)" if name == "filter @>" else ""))
