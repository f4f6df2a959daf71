"""The reader against clients/vectors.json, and against a server.

    python3 test_bloomtype.py           all that is possible here

Without a server (by PGHOST and so on) and psycopg2, only the vectors are
tested.  Prints lines of the Test Anything Protocol.
"""

from __future__ import annotations

import ast
import datetime as dt
import gzip
import ipaddress
import json
import os
import re
import sys
import uuid
from decimal import Decimal
from pathlib import Path

import xxhash

from bloomtype import Filter, Key, KeyTypeError, best_params, canonical

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
VECTORS = json.loads((TOP / "clients" / "vectors.json").read_text(encoding="utf-8"))
number = failures = 0


def check(ok: bool, text: str, *details: object) -> None:
    global number, failures
    number += 1
    print(("ok" if ok else "not ok"), number, "-", text)
    if not ok:
        failures += 1
        for detail in details:
            print("#  ", detail)


def raises(error: type[Exception], call, text: str) -> None:
    try:
        call()
    except error:
        check(True, text)
    else:
        check(False, text)


# ----------------------------------------------------------------
# Golden vectors
# ----------------------------------------------------------------

BYTES_OF_TEXT = {
    "int2": int, "int4": int, "int8": int, "float4": None, "float8": float, "numeric": Decimal,
    "bool": lambda t: t == "true", "uuid": uuid.UUID, "text": str, "varchar": str, "name": str,
    "char(9)": str, "bytea": lambda t: bytes.fromhex(t[2:]), "inet": str, "cidr": str,
    "macaddr": str, "macaddr8": str, "oid": int, "xid": int, "cid": int, "xid8": int,
    "pg_lsn": str, "bit(9)": str, "varbit": str, "bit varying": str,
}  # fmt: skip


def golden_hashes() -> None:
    tested = wrong = 0
    skipped = set()
    for v in VECTORS["hashes"]:
        name = "bpchar" if v["type"].startswith("char(") else re.sub(r"\(.*", "", v["type"])
        convert = BYTES_OF_TEXT.get(v["type"])
        content = bytes.fromhex(v["bytes"])
        if convert is None:
            skipped.add(v["type"])
            got = content
        else:
            key_type, got = canonical(Key(name, convert(v["key"])))
            wrong += (key_type.number, key_type.name) != (v["key_type"], v["key_type_name"])
        tested += 1
        if got != content or hex_hash(got, v["seed"]) != v["hash"]:
            wrong += 1
            print("#  ", v, got.hex())
    check(tested > 90 and wrong == 0, f"hashes: {tested}, bytes of {len(skipped)} types as given")
    wrong_lengths = [
        v for v in VECTORS["lengths"]
        if hex_hash((b"bloom" * 600)[: v["length"]], v["seed"]) != v["hash"]
    ]  # fmt: skip
    check(not wrong_lengths, "hashes of keys of all lengths", wrong_lengths)


def hex_hash(content: bytes, seed: str) -> str:
    return f"{xxhash.xxh3_64_intdigest(content, seed=int(seed) % 2**64) or 1:016x}"


def golden_filters() -> None:
    for v in VECTORS["filters"]:
        if v["bits"] == 0:
            continue  # without a shape
        filter = Filter.from_bytes(bytes.fromhex(v["bytes"]))
        check(bytes(filter).hex() == v["bytes"], f"read and written: {v['sql']}")
    read = []
    for v in VECTORS["malformed"]:
        try:
            Filter.from_bytes(bytes.fromhex(v["bytes"]))
            read.append(v)
        except ValueError:
            pass
    check(not read, "malformed bytes are refused", *read)


def alone() -> None:
    golden_hashes()
    golden_filters()
    f = Filter(1000)
    f.update(range(1000))
    check(all(i in f for i in range(1000)), "a filter never denies a key that was added")
    g = Filter(1000)
    g.update(range(500, 1500))
    check(all(i in (f | g) for i in range(1500)), "a union has the keys of both")
    check(Filter.from_text(str(f)) == f, "the text form")
    raises(KeyTypeError, lambda: "text" in f, "a key of another type")
    raises(ValueError, lambda: f | Filter(2000), "a union of different shapes")
    raises(ValueError, lambda: Filter.from_bytes(bytes(f)[:-1]), "a byte less")
    data = bytearray(bytes(f))
    data[-1] ^= 1
    raises(ValueError, lambda: Filter.from_bytes(data), "other bits")
    data = bytearray(bytes(f))
    data[0] = 2
    raises(ValueError, lambda: Filter.from_bytes(data), "another version")


# ----------------------------------------------------------------
# Against a server
# ----------------------------------------------------------------

UTC = dt.timezone.utc
KEYS: list[tuple[str, list]] = [
    # SQL literals and the same keys here
    ("bigint", [("-5", -5), ("9223372036854775807", 2**63 - 1)]),
    ("smallint", [("7", 7)]),
    ("double precision", [("1.5", 1.5), ("-0", -0.0), ("NaN", float("nan")), ("1e300", 1e300)]),
    ("numeric", [("1.00", Decimal(1)), ("-12345.678901", Decimal("-12345.678901")),
                 ("1e20", Decimal("1e20")), ("0.00001", Decimal("0.00001")), ("0", Decimal(0)),
                 ("10000", Decimal(10000)), ("NaN", Decimal("NaN"))]),
    ("money", [("1.25", Key("money", 125))]),
    ("boolean", [("true", True), ("false", False)]),
    ('"char"', [("a", Key('"char"', b"a"))]),
    ("date", [("2026-11-21", dt.date(2026, 11, 21)), ("infinity", Key("date", float("inf")))]),
    ("timestamp", [("2026-11-21 01:02:03.000004", dt.datetime(2026, 11, 21, 1, 2, 3, 4)),
                   ("-infinity", Key("timestamp", float("-inf"))),
                   ("1999-12-31 23:59:59.999999", dt.datetime(1999, 12, 31, 23, 59, 59, 999999))]),
    ("timestamptz", [("2026-11-21 01:02:03+02",
                      dt.datetime(2026, 11, 20, 23, 2, 3, tzinfo=UTC))]),
    ("time", [("12:34:56.789", dt.time(12, 34, 56, 789000))]),
    ("timetz", [("12:34:56+02", dt.time(12, 34, 56, tzinfo=dt.timezone(dt.timedelta(hours=2))))]),
    ("interval", [("1 mon", dt.timedelta(days=30)), ("25:00", dt.timedelta(days=1, hours=1)),
                  ("-1 hour", dt.timedelta(hours=-1))]),
    ("uuid", [("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
               uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"))]),
    ("text", [("", ""), ("äöü 漢字", "äöü 漢字")]),
    ("varchar", [("x", "x")]),
    ("char(5)", [("ab", "ab")]),
    ("bytea", [("\\x00ff", b"\x00\xff")]),
    ("inet", [("10.1.2.3/8", ipaddress.ip_interface("10.1.2.3/8")),
              ("::1", ipaddress.ip_address("::1"))]),
    ("cidr", [("10.0.0.0/8", ipaddress.ip_network("10.0.0.0/8"))]),
    ("macaddr", [("08:00:2b:01:02:03", Key("macaddr", "08:00:2b:01:02:03"))]),
    ("macaddr8", [("08:00:2b:01:02:03:04:05", Key("macaddr8", "08:00:2b:01:02:03:04:05"))]),
    ("bit(9)", [("101010101", Key("varbit", "101010101"))]),
    ("varbit", [("1", Key("varbit", "1"))]),
    ("oid", [("4294967295", Key("oid", 2**32 - 1))]),
    ("xid", [("7", Key("xid", 7))]),
    ("cid", [("7", Key("cid", 7))]),
    ("xid8", [("18446744073709551615", Key("xid8", 2**64 - 1))]),
    ("pg_lsn", [("16/B374D848", Key("pg_lsn", "16/B374D848"))]),
    ("tid", [("(1,2)", Key("tid", (1, 2)))]),
    ("reader_mood", [("ok", Key("enum reader_mood", "ok"))]),
]  # fmt: skip


def against_server() -> None:
    import psycopg2

    connection = psycopg2.connect("")
    connection.autocommit = True
    connection.set_client_encoding("UTF8")
    cursor = connection.cursor()

    def query(sql: str, *args: object):
        cursor.execute(sql, args)
        value = cursor.fetchone()[0]
        return bytes(value) if isinstance(value, memoryview) else value

    cursor.execute("CREATE TYPE pg_temp.reader_mood AS ENUM ('ok', 'sad')")

    for sql_type, cases in KEYS:
        for literal, key in cases:
            made = query(f"SELECT bloom_add(bloom_empty(10), %s::{sql_type})::bytea", literal)
            ours = Filter(10)
            ours.add(key)
            check(bytes(ours) == made and key in Filter.from_bytes(made), f"{sql_type} {literal}",
                  bytes(ours).hex(), made.hex())  # fmt: skip
            row = query(f"SELECT bloom_add(bloom_empty(10), (1, %s::{sql_type}, NULL::date))::bytea",
                        literal)  # fmt: skip
            ours = Filter(10)
            ours.add((1, key, Key("date", None)))
            check(bytes(ours) == row, f"a row with {sql_type} {literal}", bytes(ours).hex(), row.hex())

    # every scalar key type of the page is among them
    page = (TOP / "docs" / "format.md").read_text(encoding="utf-8")
    table = page[page.index("### Scalars") : page.index("### Values made of others")]
    numbers = {int(n) for cell in re.findall(r"\| ([0-9, ]+) \|$", table, re.M) for n in cell.split(",")}
    tested = {canonical(key)[0].number for _, cases in KEYS for _, key in cases}
    check(numbers - tested == {1033}, "all scalar key types but aclitem are tested", numbers - tested)

    different = [
        p for p in (i / 1000 for i in range(1, 1000))
        if best_params(p) != tuple(reversed(ast.literal_eval(
            query("SELECT (k, bits_per_key)::text FROM best_params(%s)", p))))
    ]  # fmt: skip
    check(not different, "best_params", different[:5])

    urls = gzip.open(TOP / "examples" / "data" / "homepages.txt.gz", "rt", encoding="utf-8")
    visited = urls.read().splitlines()
    distinct = sorted(set(visited))
    check(len(distinct) == 24902, "24,902 real URLs")
    for capacity, form in ((24902, "bits"), (10**7, "keys")):
        ours = Filter(capacity, 0.001)
        ours.update(visited)
        theirs = query("SELECT bloom_agg(u, %s, 0.001)::bytea FROM unnest(%s) AS u", capacity, visited)
        check(bytes(ours) == theirs, f"the filter of them is the server's, bit for bit ({form} form)")
        read = Filter.from_bytes(theirs)
        check(all(url in read for url in distinct), "ours finds them in the server's")
        check(query("SELECT bool_and(f @> u) FROM (SELECT %s::bytea::bloom AS f) AS s, unnest(%s) AS u",
                    psycopg2.Binary(bytes(ours)), distinct),
              "the server finds them in ours")  # fmt: skip
        strangers = [url + "?" for url in distinct]
        server_says = query("SELECT array_agg(f @> u) FROM (SELECT %s::bytea::bloom AS f) AS s, "
                            "unnest(%s) WITH ORDINALITY AS t (u, i)",
                            psycopg2.Binary(bytes(ours)), strangers)  # fmt: skip
        check(server_says == [url in ours for url in strangers], "both say the same of other URLs")
    half = len(visited) // 2
    left, right = Filter(24902), Filter(24902)
    left.update(visited[:half])
    right.update(visited[half:])
    check(bytes(left | right) == query("SELECT bloom_agg(u, 24902, 0.01)::bytea FROM unnest(%s) AS u", visited),
          "a union of ours is the server's filter of all")  # fmt: skip


alone()
try:
    import psycopg2  # noqa: F401
    can_connect = "PGHOST" in os.environ
except ImportError:
    can_connect = False
if can_connect:
    against_server()
else:
    print("# no server by PGHOST, or no psycopg2: golden vectors only")
print(f"1..{number}")
sys.exit(failures > 0)
