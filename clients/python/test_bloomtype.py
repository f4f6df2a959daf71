"""The reader against clients/vectors.json, and against a server.

    python3 test_bloomtype.py           all that is possible here

Without a server (by PGHOST and so on), psycopg2 and psycopg 3, only the vectors
are tested.  Prints lines of the Test Anything Protocol.
"""

from __future__ import annotations

import ast
import datetime as dt
import importlib.util
import ipaddress
import json
import math
import numbers
import os
import re
import sys
import uuid
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import xxhash

from bloomtype import Filter, OverfullWarning, Key, KeyTypeError, best_params, canonical

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
    "int2": int, "int4": int, "int8": int, "float4": float, "float8": float, "numeric": Decimal,
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


def key_of(vector: dict):
    """The key of a vector; None, if it is of a type that is not known here."""
    if vector["type"] == "golden_pair":
        number, text = vector["key"][1:-1].split(",")
        return int(number), text
    convert = BYTES_OF_TEXT.get(vector["type"])
    return convert and convert(vector["key"])


def golden_filters() -> None:
    for v in VECTORS["filters"]:
        data = bytes.fromhex(v["bytes"])
        filter = Filter.from_bytes(data)
        name = v["sql"] or f"a filter that is only read ({v['form']} form)"
        check(bytes(filter) == data and Filter.from_text(filter.to_text()) == filter
              and len(str(filter)) < 150, f"read and written: {name}")  # fmt: skip
        tests = [(k, True) for k in v["keys"]] + [(k, k["contains"]) for k in v["others"]]
        tests = [(key_of(k), contains) for k, contains in tests if key_of(k) is not None]
        check(all((key in filter) == contains for key, contains in tests)
              and filter.missing(k for k, _ in tests) == [k for k, contains in tests if not contains],
              f"tested: {len(tests)} keys")  # fmt: skip
        if v["sql"] and "bloom_empty_shaped" not in v["sql"] and v["bits"] and len(tests) >= len(v["keys"]):
            made = Filter(int(v["capacity"]), v["fp_prob"], int(v["seed"]))
            one_by_one = Filter(int(v["capacity"]), v["fp_prob"], int(v["seed"]))
            made.update([key_of(k) for k in v["keys"]] * 2)
            for k in v["keys"]:
                one_by_one.add(key_of(k))
            check(bytes(made) == data == bytes(one_by_one), "made, at once and one by one")
    read = []
    for v in VECTORS["malformed"] + VECTORS["counting"]:
        try:
            Filter.from_bytes(bytes.fromhex(v["bytes"]))
            read.append(v)
        except ValueError:
            pass
    for v in VECTORS["malformed_text"]:
        try:
            Filter.from_text(v["text"])
            read.append(v)
        except ValueError:
            pass
    check(not read, "malformed bytes and texts are refused, and counting filters", *read)
    check(all(-(-int(v["capacity"]) * best_params(v["fp_prob"])[0] // 64) * 64 == v["bits"]
              and best_params(v["fp_prob"])[1] == v["hashes"] for v in VECTORS["sizes"]), "sizes")  # fmt: skip


def filter_of(keys, capacity: int = 1000, fp_prob: float = 0.01, seed: int = 0) -> Filter:
    filter = Filter(capacity, fp_prob, seed)
    filter.update(keys)
    return filter


def alone() -> None:
    golden_hashes()
    golden_filters()
    f = filter_of(range(1000))
    check(all(i in f for i in range(1000)), "a filter never denies a key that was added")
    g = filter_of(range(500, 1500))
    check((f | g) == filter_of(range(1500)), "a union has the keys of both")
    check(not (f & g).missing(range(500, 1000)) and len((f & g).missing(range(3000, 4000))) > 950,
          "an intersection has those that are in both")  # fmt: skip
    few = filter_of(range(990, 1010))
    check((few & g) == few and (few | f) == (f | few) and (few & f) == (f & few)
          == filter_of(i for i in range(990, 1010) if i in f), "in keys form it is exact")  # fmt: skip
    check((filter_of([1], 1001, 0.0095) | few).fp_prob == 0.0095 and (few | filter_of([1], 1001, 0.0095)).capacity == 1001,
          "the larger capacity, with its rate")  # fmt: skip
    strangers = 1000 - len(f.missing(range(10000, 11000)))
    check(abs(f.fp_prob_now() - 0.0094) < 0.002 and strangers < 10 + 5 * 10**0.5, "the rate now")
    large = filter_of(range(1000), 64 * 1000)
    bits = filter_of(range(1100), 64 * 1000, 0.01)
    check(large.fit(0.01) == f, "in keys form, a fitted filter is the one for its keys")
    check(bits.fit(0.01).words < bits.words / 20 and not bits.fit(0.01).missing(range(1100))
          and bits.fit(0.01).fp_prob_now() <= 0.01, "in bits form it is folded")  # fmt: skip
    check(f.fit(0.000001) == f and f.copy() == f and f.copy() is not f, "or unchanged")
    mixed = Filter(1000)
    mixed.add("a")
    raises(KeyTypeError, lambda: mixed.update(["b", 1]), "keys of two types at once")
    raises(KeyTypeError, lambda: "text" in f, "a key of another type")
    raises(ValueError, lambda: mixed.add("a\0b"), "a character 0")
    raises(ValueError, lambda: "a\0b" in mixed, "a character 0 in a test")
    for call in (lambda: mixed.update("abc"), lambda: mixed.missing("abc"), lambda: mixed.missing(b"abc"), lambda: f | 5, lambda: f & 5):
        raises(TypeError, call, "one text in place of several, a number in place of a filter")
    check(mixed.missing([None, "a", "c"]) == ["c"], "None is no key")
    raises(ValueError, lambda: f | Filter(2000), "a union of different shapes")
    raises(KeyTypeError, lambda: filter_of(["a"]) & f, "an intersection of different key types")
    raises(KeyTypeError, lambda: Filter(10, key_type="text").add(1), "a key type from the beginning")
    raises(ValueError, lambda: Filter.from_bytes(bytes(f)[:-1]), "a byte less")
    unsized = Filter.from_bytes(bytes.fromhex(VECTORS["filters"][0]["bytes"]))
    check((unsized | f) == f == (f | unsized) and (unsized & f) == unsized and 1 not in unsized, "without a shape")
    raises(ValueError, lambda: unsized.add(1), "it takes no keys")
    check(not unsized.is_overfull(), "and is not full")
    raises(TypeError, lambda: Filter(10, fpProb=0.001), "an option that there is not")


def warned(call) -> list[str]:
    """The warnings of a call, and the files where they say they are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [f"{w.category.__name__} {Path(w.filename).name}: {w.message}" for w in caught]


def full() -> None:
    check(warned(lambda: filter_of(range(1000))) == [] == warned(lambda: filter_of(range(5), 2))
          and not filter_of(range(1000)).is_overfull() and not filter_of(range(5), 2).is_overfull(), "up to the capacity, all is well")  # fmt: skip
    text = "OverfullWarning test_bloomtype.py: the filter holds about "
    for said in (warned(lambda: filter_of(range(1000), 10)),
                 warned(lambda: [f.add(i) for f in (Filter(10),) for i in range(1000)]),
                 warned(lambda: filter_of(range(1000)) | filter_of(range(1000, 2000)))):  # fmt: skip
        check(len(said) == 1 and said[0].startswith(text), "beyond it, one warning", *said)
    f = Filter.from_bytes(bytes(filter_of(range(1000))))
    said = warned(lambda: f.update(range(1000, 3000)))
    check(f.is_overfull() and len(said) == 1 and said[0].endswith("its capacity is 1000; its false-positive rate is now "
          f"{f.fp_prob_now():.3g}, not 0.01"), "which says what the rate is now", *said)  # fmt: skip
    check(warned(lambda: f.copy().fit(0.5)) == [] == warned(lambda: f & f), "a copy says nothing")


# ----------------------------------------------------------------
# Numbers as parameters and as keys
# ----------------------------------------------------------------


@numbers.Integral.register
class OtherInt:
    """An integer as those of numpy are: registered, and not derived from int."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value

    __int__ = __ceil__ = __index__

    def __float__(self) -> float:
        return float(self.value)

    def __le__(self, other: object) -> bool:
        return self.value <= other

    def __ge__(self, other: object) -> bool:
        return self.value >= other


@numbers.Real.register
class OtherFloat:
    """The same for a float."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value

    def __bool__(self) -> bool:
        return self.value != 0

    def __add__(self, other: float) -> float:
        return self.value + other


def message(call) -> str:
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def numbers_given() -> None:
    million = bytes(Filter(1_000_000))
    same = [1e6, OtherInt(1_000_000), Decimal("1e6"), 999_999.5]
    check(all(bytes(Filter(capacity)) == million for capacity in same), "a capacity is any number, as in SQL")
    check(bytes(Filter(10, Decimal("0.01"), OtherInt(-3))) == bytes(Filter(10, 0.01, -3))
          and best_params(Fraction(1, 100)) == (10, 5), "so is a rate; a seed is any integer")  # fmt: skip
    wrong = [0, -1, 0.5, math.nan, math.inf, Decimal("NaN"), True, None, "1000", 429496730, 10**400]
    for capacity in wrong:
        check(message(lambda: Filter(capacity)).startswith("ValueError: capacity "), f"capacity {str(capacity)[:20]}",
              message(lambda: Filter(capacity)))  # fmt: skip
    for rate in (0, 1, math.nan, math.inf, True, None, "0.01", 1e-20, Decimal("NaN")):
        for call in (lambda: Filter(10, rate), lambda: best_params(rate), lambda: filter_of([1]).fit(rate)):
            check(message(call).startswith("ValueError: fp_prob "), f"fp_prob {rate}", message(call))
    for seed in (2**63, -(2**63) - 1):
        check(message(lambda: Filter(10, seed=seed)).startswith("ValueError: seed "), f"seed {seed}")
    raises(TypeError, lambda: Filter(10, seed=1.5), "a seed is no fraction")
    check(Filter(429496729).capacity == 429496729, "the largest capacity at 1 %")

    ints = filter_of(range(20))
    check(bytes(filter_of(OtherInt(i) for i in range(20))) == bytes(ints) and OtherInt(7) in ints
          and not ints.missing([3, OtherInt(3), Key("smallint", OtherInt(3))]), "other integers are keys")  # fmt: skip
    check(bytes(filter_of([OtherFloat(2.5), 0.0])) == bytes(filter_of([2.5, OtherFloat(-0.0)])), "and other floats")
    raises(KeyTypeError, lambda: ints.add(Fraction(1, 2)), "a fraction is of no SQL type")
    for sql_type, values in {
        "smallint": [-(2**15) - 1, 2**15, 70000, 1.5, "7"], "int2": [2**15],
        "integer": [-(2**31) - 1, 2**31], "int": [2**31], "int4": [2**31],
        "bigint": [-(2**63) - 1, 2**63, 2**70, 1.5], "int8": [2**63], "money": [2**63],
        "real": [1e39, "1"], "double precision": [10**400, "1"], "boolean": ["false", 2],
        "numeric": [Decimal("1e131072"), Decimal("1e-131073"), "one"], '"char"': [b"ab", b"", "a", 256],
        "oid": [-1, 2**32], "xid": [2**32], "cid": [-1], "xid8": [-1, 2**64], "tid": [(2**32, 0), (0, 2**16), 1],
        "pg_lsn": ["100000000/0", 2**64, -1], "macaddr": ["08:00:2b", b"1234567"], "macaddr8": ["08:00:2b:01:02:03"],
        "varbit": ["012", 5], "text": [5], "bytea": [5, "x"], "uuid": ["x", 5], "inet": ["10.0.0.256"],
        "date": ["2026-11-21", 5], "timestamp": [dt.date(2026, 11, 21), math.nan], "timetz": [dt.time(1)],
        "interval": [5],
    }.items():  # fmt: skip
        for value in values:
            key = Key(sql_type, value)
            for call in (lambda: Filter(10).add(key), lambda: Filter(10).add((1, key)), lambda: key in Filter(10)):
                check(message(call).startswith("ValueError: "), f"{sql_type} {str(value)[:30]}", message(call))
    for keys in ([2**70], [1, 2, 2**63], [Decimal(1), Decimal("1e200000")]):
        for call in (lambda: filter_of(keys), lambda: filter_of([keys[0]]).missing(keys)):
            check(message(call).startswith("ValueError: "), f"{len(keys)} keys, the last is out of range", message(call))
    check(message(lambda: Filter(10).add(Key("smallint", 70000))) == "ValueError: 70000 is out of range for type smallint",
          "an error names the type as SQL does")  # fmt: skip
    check(message(lambda: ints.add(0.5)) == "KeyTypeError: a key of type double precision, where the filter holds bigint",
          "so does that of another key type", message(lambda: ints.add(0.5)))  # fmt: skip


# ----------------------------------------------------------------
# Against a server
# ----------------------------------------------------------------

UTC = dt.timezone.utc
KEYS: list[tuple[str, list]] = [
    # SQL literals and the same keys here
    ("bigint", [("-5", -5), ("9223372036854775807", 2**63 - 1)]),
    ("smallint", [("7", 7), ("-32768", Key("smallint", -32768))]),
    ("int", [("2147483647", Key("int", 2147483647))]),
    ("double precision", [("1.5", 1.5), ("-0", -0.0), ("NaN", float("nan")), ("1e300", 1e300)]),
    ("real", [("0.1", Key("real", 0.1)), ("NaN", Key("float4", float("nan")))]),
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
    check(not numbers - tested, "all scalar key types are tested", numbers - tested)

    different = [
        p for p in (i / 1000 for i in range(1, 1000))
        if best_params(p) != tuple(reversed(ast.literal_eval(
            query("SELECT (k, bits_per_key)::text FROM best_params(%s)", p))))
    ]  # fmt: skip
    check(not different, "best_params", different[:5])

    for keys, others in ((1000, 30), (10, 30), (200, 10**4), (3000, 10**4)):
        left, right = filter_of(range(keys), others), filter_of(range(keys // 2, 2 * keys), others)
        for operator, ours in (("|", left | right), ("&", left & right)):
            check(bytes(ours) == query(f"SELECT (%s::bytea::bloom {operator} %s::bytea::bloom)::bytea",
                                       bytes(left), bytes(right)), f"{operator} of {keys} keys")  # fmt: skip
        for rate in (0.1, 0.01, 0.001):
            check(bytes(left.fit(rate)) == query("SELECT bloom_fit(%s::bytea::bloom, %s)::bytea", bytes(left), rate),
                  f"fit of {keys} keys in a filter of {others} to {rate}")  # fmt: skip
        rate, estimate = left.fp_prob_now(), left.cardinality()
        cursor.execute("SELECT bloom_fp_prob_now(f), bloom_cardinality(f) FROM (SELECT %s::bytea::bloom AS f) AS s", (bytes(left),))
        server = cursor.fetchone()
        check(math.isclose(server[0], rate, rel_tol=1e-9) and abs(server[1] - estimate) <= 1, "rate and estimate", server, rate)


def from_server(folder: Path) -> None:
    """What a server made and says: test/tap/clients.pl."""
    urls = (folder / "urls").read_text(encoding="utf-8").splitlines()
    for file in sorted(folder.glob("*.bloom")):
        theirs = Filter.from_bytes(file.read_bytes())
        ours = filter_of(urls, theirs.capacity, theirs.fp_prob, theirs.seed)
        check(bytes(ours) == file.read_bytes(), f"{file.name}: the filter of {len(urls)} keys, byte for byte")
        check(not theirs.missing(urls), "all of them are in the server's")
        check((filter_of(urls[::2], ours.capacity, ours.fp_prob, ours.seed)
               | filter_of(urls[1::2], ours.capacity, ours.fp_prob, ours.seed)) == theirs,
              "and it is the union of ours for its halves")  # fmt: skip
    pairs = [[bytes.fromhex(field) for field in line.split()]
             for line in (folder / "combined").read_text().splitlines()]  # fmt: skip
    wrong = [
        (a.hex(), b.hex()) for a, b, union, intersection in pairs
        if bytes(Filter.from_bytes(a) | Filter.from_bytes(b)) != union
        or bytes(Filter.from_bytes(a) & Filter.from_bytes(b)) != intersection
    ]  # fmt: skip
    check(pairs and not wrong, f"unions and intersections of {len(pairs)} pairs", *wrong)
    lines = [line.split() for line in (folder / "full").read_text().splitlines()]
    wrong = [line for line in lines if Filter.from_bytes(bytes.fromhex(line[0])).is_overfull() != (line[1] == "t")]
    check(lines and not wrong, f"{len(lines)} filters are full, or not", *wrong)
    wrong = []
    for line in (folder / "verdicts").read_text().splitlines():
        verdict, name = line.split(" ", 1)
        try:
            Filter.from_bytes(Path(name).read_bytes())
            ours = "accepted"
        except ValueError:
            ours = "refused"
        if verdict != ours:
            wrong.append(line)
    check(not wrong, "the server's verdicts", *wrong)


def with_psycopg() -> None:
    import psycopg

    from bloomtype import register

    with psycopg.connect("", autocommit=True) as connection:
        register(connection)
        f = filter_of(["a", "b"])
        for binary in (False, True):
            cursor = connection.cursor(binary=binary)
            row = cursor.execute("SELECT bloom_agg(k, 1000, 0.01), NULL::bloom FROM unnest('{a,b}'::text[]) AS k").fetchone()
            check(row == (f, None), "psycopg 3: a column")
            row = cursor.execute("SELECT %s @> 'a', %t @> 'c', %b = %s", (f, f, f, f)).fetchone()
            check(row == (True, False, True), "parameters, as text and binary")
            row = cursor.execute("SELECT f, ARRAY[f, NULL] FROM unnest(%s) AS f", ([f, filter_of(["c"])],)).fetchall()
            check(row == [(x, [x, None]) for x in (f, filter_of(["c"]))], "arrays")
        connection.execute("CREATE TEMPORARY TABLE filters (f bloom)")
        with connection.cursor().copy("COPY filters FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["bloom"])
            copy.write_row([f])
        check(connection.execute("SELECT f FROM filters").fetchone() == (f,), "COPY")


def has_module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


warnings.simplefilter("ignore", OverfullWarning)
alone()
full()
numbers_given()
if "BLOOMTYPE_SERVER" in os.environ:
    from_server(Path(os.environ["BLOOMTYPE_SERVER"]))
for module, tests in (("psycopg2", against_server), ("psycopg", with_psycopg)):
    if "PGHOST" in os.environ and has_module(module):
        tests()
    else:
        number += 1
        print(f"ok {number} # SKIP no server by PGHOST, or no module {module}")
print(f"1..{number}")
sys.exit(failures > 0)
