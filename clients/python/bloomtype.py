"""Bloom filters of the PostgreSQL extension bloomtype, in Python.

Read a filter that the server made, ask it for keys, add keys, merge it with
others, and write the bytes back:

    register(connection)                        # of psycopg 3
    visited = connection.execute("SELECT bloom_agg(url) FROM visit").fetchone()[0]
    "https://example.org/" in visited           # False is certain

    ids = Filter(1_000_000)
    ids.update(range(500_000))
    connection.execute("SELECT * FROM visit WHERE %s @> id", [ids])

With another driver, select filter::bytea for Filter.from_bytes, and send
bytes(filter) as %s::bytea::bloom.

Written from docs/format.md alone.  Needs the module xxhash.

A key's Python type says its SQL type: int is bigint, float is double precision,
str text, bytes bytea, bool boolean, Decimal numeric, UUID uuid, date date,
datetime timestamp or, with a time zone, timestamptz, time time or timetz,
timedelta interval, an address or network of ipaddress inet, and a tuple a row.
Integers and floats of numpy are keys like Python's.  For other types, and to be
explicit, there is Key(type, value), such as Key("real", 0.1), which is another
key than 0.1.  A value that is out of the range of its type is a ValueError.
"""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
import itertools
import math
import numbers
import operator
import struct
import uuid
import warnings
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Callable, Iterable, Iterator

import xxhash

__all__ = ["Filter", "OverfullWarning", "Key", "KeyTypeError", "best_params", "canonical", "register"]
__version__ = "1.0.0rc3"

MASK = 2**64 - 1
MULTIPLIER = 0xD1342543DE82EF95
INCREMENT = 0x2545F4914F6CDD1D

VERSION = 1
KEYS, BITS = 1, 2
HEADER = struct.Struct("<BBBBIIqQdQ")
MAX_TYPE_WORDS = 128

MIN_WORDS, MAX_WORDS = 1, 2**26
MAX_HASHES = 64
NAMED = 2**31
MAX_BUILTIN = 10000


class KeyTypeError(TypeError):
    """A key of another type than the filter holds."""


class OverfullWarning(UserWarning):
    """A filter holds more keys than its capacity, so that its rate is higher than requested."""


@dataclass(frozen=True)
class Key:
    """A key of a named SQL type, such as Key("real", 0.1).

    value is what the type's function below takes, mostly a Python object, such
    as a datetime.date for "date".
    """

    type: str
    value: Any


# ----------------------------------------------------------------
# Canonical bytes
# ----------------------------------------------------------------

EPOCH_DATE = dt.date(2000, 1, 1)
EPOCH = dt.datetime(2000, 1, 1)
UTC_EPOCH = EPOCH.replace(tzinfo=dt.timezone.utc)
MICROSECOND = dt.timedelta(microseconds=1)
DAY_MICROSECONDS = 24 * 60 * 60 * 10**6


def _int(name: str, size: int, low: int, high: int) -> Callable[[Any], bytes]:
    """Integers of a type, in so many bytes."""

    def encode(value: Any) -> bytes:
        try:
            value = operator.index(value)
        except TypeError:
            raise ValueError(f"{value!r} is not an integer, but the key is of type {name}") from None
        if not low <= value <= high:
            raise ValueError(f"{value} is out of range for type {name}")
        return value.to_bytes(size, "little", signed=low < 0)

    return encode


def _float(value: float) -> bytes:
    if value != value:
        return bytes.fromhex("000000000000f87f")
    return struct.pack("<d", value + 0.0 if value else 0.0)


def _real(value: float) -> bytes:
    """The real next to a number: the bytes of its value as a double."""
    return _float(struct.unpack("<f", struct.pack("<f", value))[0])


def _bool(value: bool) -> bytes:
    if value not in (False, True):
        raise TypeError("neither True nor False")
    return b"\1" if value else b"\0"


def _char(value: bytes | int) -> bytes:
    value = bytes([value]) if isinstance(value, numbers.Integral) else value
    if len(value) != 1:
        raise TypeError("not one byte")
    return bytes(value)


def _numeric(value: Decimal | int) -> bytes:
    value = Decimal(operator.index(value) if isinstance(value, numbers.Integral) else value)
    if value.is_nan():
        return struct.pack("<hH", 0, 0xC000)
    if value.is_infinite():
        return struct.pack("<hH", 0, 0xD000 if value > 0 else 0xF000)
    if not value:
        return struct.pack("<hH", 0, 0)
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)) + "0" * (exponent % 4)
    exponent -= exponent % 4
    text = "0" * (-len(text) % 4) + text
    groups = [int(text[i : i + 4]) for i in range(0, len(text), 4)]
    weight = len(groups) - 1 + exponent // 4
    while groups[0] == 0:
        groups.pop(0)
        weight -= 1
    while groups[-1] == 0:
        groups.pop()
    if not -(2**15) <= weight < 2**15:
        raise ValueError(f"{value:.3g} is out of range for type numeric")
    return struct.pack("<hH", weight, 0x4000 if sign else 0) + b"".join(
        struct.pack("<H", group) for group in groups
    )


def _infinite(value: Any, form: str) -> bytes | None:
    """The bytes of 'infinity' and '-infinity', which are floats here."""
    if isinstance(value, float) and math.isinf(value):
        size = struct.calcsize(form) * 8
        return struct.pack("<" + form, 2 ** (size - 1) - 1 if value > 0 else -(2 ** (size - 1)))
    return None


def _date(value: dt.date | float) -> bytes:
    return _infinite(value, "i") or struct.pack("<i", (value - EPOCH_DATE).days)


def _timestamp(value: dt.datetime | float) -> bytes:
    return _infinite(value, "q") or struct.pack("<q", (value - EPOCH) // MICROSECOND)


def _timestamptz(value: dt.datetime | float) -> bytes:
    return _infinite(value, "q") or struct.pack("<q", (value - UTC_EPOCH) // MICROSECOND)


def _microseconds(value: dt.time) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond


def _time(value: dt.time) -> bytes:
    return struct.pack("<q", _microseconds(value))


def _timetz(value: dt.time) -> bytes:
    offset = value.utcoffset()
    if offset is None:
        raise TypeError("without a time zone")
    return struct.pack("<qi", _microseconds(value), -(offset // dt.timedelta(seconds=1)))


def _interval(value: dt.timedelta) -> bytes:
    return struct.pack("<qq", *divmod(value // MICROSECOND, DAY_MICROSECONDS))


def _inet(value: Any) -> bytes:
    if isinstance(value, str):
        value = ipaddress.ip_interface(value)
    if hasattr(value, "network"):
        address, prefix = value.ip, value.network.prefixlen
    elif hasattr(value, "prefixlen"):
        address, prefix = value.network_address, value.prefixlen
    else:
        address, prefix = value, value.max_prefixlen
    return bytes([address.version, prefix]) + address.packed


def _bits(value: str) -> bytes:
    """A string of 0 and 1."""
    if value.strip("01"):
        raise TypeError("other characters than 0 and 1")
    padded = value + "0" * (-len(value) % 8)
    return struct.pack("<i", len(value)) + bytes(
        int(padded[i : i + 8], 2) for i in range(0, len(padded), 8)
    )


def _mac(size: int) -> Callable[[str | bytes], bytes]:
    def encode(value: str | bytes) -> bytes:
        value = value if isinstance(value, bytes) else bytes.fromhex(value.replace(":", ""))
        if len(value) != size:
            raise TypeError(f"not {size} bytes")
        return value

    return encode


def _tid(value: tuple[int, int]) -> bytes:
    return struct.pack("<IH", *value)


def _text(value: str) -> bytes:
    if "\0" in value:
        raise ValueError("a text has no character 0")
    return value.encode("utf-8")


def _bytea(value: bytes | bytearray | memoryview) -> bytes:
    return bytes(memoryview(value))  # and not that many zeros, if it is a number


def _lsn(value: str | int) -> bytes:
    if isinstance(value, str):
        high, low = value.split("/")
        value = int(high, 16) << 32 | int(low, 16)
    return struct.pack("<Q", value)


_bigint = _int("bigint", 8, -(2**63), 2**63 - 1)

# SQL type: key type, its name inside of other names, function
TYPES: dict[str, tuple[int, str, Callable[[Any], bytes]]] = {
    "smallint": (20, "int8", _int("smallint", 8, -(2**15), 2**15 - 1)),
    "integer": (20, "int8", _int("integer", 8, -(2**31), 2**31 - 1)),
    "bigint": (20, "int8", _bigint),
    "double precision": (701, "float8", _float),
    "real": (701, "float8", _real),
    "numeric": (1700, "numeric", _numeric),
    "money": (790, "money", _int("money", 8, -(2**63), 2**63 - 1)),
    "boolean": (16, "bool", _bool),
    '"char"': (18, '"char"', _char),
    "date": (1082, "date", _date),
    "timestamp": (1114, "timestamp", _timestamp),
    "timestamptz": (1184, "timestamptz", _timestamptz),
    "time": (1083, "time", _time),
    "timetz": (1266, "timetz", _timetz),
    "interval": (1186, "interval", _interval),
    "uuid": (2950, "uuid", lambda value: uuid.UUID(str(value)).bytes),
    "macaddr": (829, "macaddr", _mac(6)),
    "macaddr8": (774, "macaddr8", _mac(8)),
    "inet": (869, "inet", _inet),
    "varbit": (1562, "varbit", _bits),
    "text": (25, "text", _text),
    "bpchar": (25, "text", lambda value: _text(value.rstrip(" "))),
    "bytea": (17, "bytea", _bytea),
    "oid": (26, "oid", _int("oid", 4, 0, 2**32 - 1)),
    "xid": (28, "xid", _int("xid", 4, 0, 2**32 - 1)),
    "cid": (29, "cid", _int("cid", 4, 0, 2**32 - 1)),
    "xid8": (5069, "xid8", _int("xid8", 8, 0, 2**64 - 1)),
    "pg_lsn": (3220, "pg_lsn", _lsn),
    "tid": (27, "tid", _tid),
}

SYNONYMS = {
    "int2": "smallint", "int4": "integer", "int": "integer", "int8": "bigint",
    "float4": "real", "float8": "double precision", "decimal": "numeric",
    "bool": "boolean", "varchar": "text", "name": "text", "char": "bpchar",
    "cidr": "inet", "bit": "varbit", "bit varying": "varbit",
}  # fmt: skip

BY_PYTHON_TYPE: list[tuple[Any, str]] = [
    (bool, "boolean"),
    (numbers.Integral, "bigint"),
    (float, "double precision"),
    (str, "text"),
    ((bytes, bytearray, memoryview), "bytea"),
    (Decimal, "numeric"),
    (uuid.UUID, "uuid"),
    (dt.timedelta, "interval"),
]

# Objects of these do not say their SQL type by their Python type alone.
BY_VALUE = (tuple, Key, dt.datetime, dt.time)

INNER_NAMES = {number: name for number, name, _ in TYPES.values()}
SQL_NAMES = {number: name for name, (number, _, _) in TYPES.items()} | {
    20: "bigint", 25: "text", 701: "double precision"
}  # fmt: skip


@dataclass(frozen=True)
class KeyType:
    """What all keys of a filter are: a number, and a name unless it is built in."""

    number: int
    name: str = ""

    def __str__(self) -> str:
        return self.name or SQL_NAMES.get(self.number, f"of OID {self.number}")

    @property
    def inner_name(self) -> str:
        """What it is called in the name of a row's key type."""
        return self.name or INNER_NAMES[self.number]


def _type_of(value: Any) -> str:
    for python_type, name in BY_PYTHON_TYPE:
        if isinstance(value, python_type):
            return name
    if isinstance(value, dt.datetime):
        return "timestamp" if value.tzinfo is None else "timestamptz"
    if isinstance(value, dt.date):
        return "date"
    if isinstance(value, dt.time):
        return "time" if value.tzinfo is None else "timetz"
    if hasattr(value, "packed") or hasattr(value, "network_address"):
        return "inet"
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
        return "double precision"  # of numpy
    raise KeyTypeError(
        f"no SQL type is known for {type(value).__name__}; use Key(type, value), "
        "which also gives a null column of a row its type"
    )


def _named(name: str) -> KeyType:
    encoded = name.encode("utf-8")
    if len(encoded) > 1024:
        raise ValueError("the key type has more columns than a filter can name")
    return KeyType(NAMED + (xxhash.xxh3_64_intdigest(encoded) & (NAMED - 1)), name)


def _quoted(name: str) -> str:
    plain = name.isascii() and not name[:1].isdigit() and name not in {"", "record"} and all(
        c.islower() or c.isdigit() or c == "_" for c in name
    )
    if plain and name not in INNER_NAMES.values():
        return name
    return '"' + name.replace('"', '""') + '"'


def canonical(key: Any) -> tuple[KeyType, bytes]:
    """The key type of a key, and its canonical bytes."""
    if isinstance(key, tuple):
        names, items = [], []
        for column in key:
            if isinstance(column, Key) and column.value is None:
                names.append(_resolve(column.type)[0].inner_name)
                items.append(b"\xff\xff\xff\xff")
                continue
            column_type, content = canonical(column)
            names.append(column_type.inner_name)
            items.append(struct.pack("<I", len(content)) + content)
        return _named("(" + ",".join(names) + ")"), struct.pack("<I", len(key)) + b"".join(items)
    if not isinstance(key, Key):
        key = Key(_type_of(key), key)
    key_type, encode = _resolve(key.type)
    try:
        return key_type, encode(key.value)
    except (ArithmeticError, AttributeError, TypeError, struct.error) as error:
        raise ValueError(f"{key.value!r} is no key of type {key.type}") from error


def _resolve(name: str) -> tuple[KeyType, Callable[[Any], bytes]]:
    """The key type of an SQL type, and the function that makes canonical bytes."""
    if name.startswith("enum "):
        return _named("enum " + _quoted(name[5:])), _text
    name = SYNONYMS.get(name, name)
    if name not in TYPES:
        raise KeyTypeError(f"no canonical bytes are known for keys of type {name}")
    number, _, encode = TYPES[name]
    return KeyType(number), encode


# ----------------------------------------------------------------
# Sizes
# ----------------------------------------------------------------


def _rate(bits_per_key: int, hashes: int) -> float:
    """The rate by which best_params decides: that of the table, from 2 to 20 bits per key.

    The table has three digits, and 0.092 where 0.0918 is right.
    """
    if (bits_per_key, hashes) == (5, 3):
        return 0.092
    rate = (-math.expm1(-hashes / bits_per_key)) ** hashes
    return float(f"{rate:.3g}") if 2 <= bits_per_key <= 20 else rate


def _number(name: str, value: Any) -> Any:
    """A parameter that is a number: not a bool, and not text."""
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or value != value:
        raise ValueError(f"{name} {value!r} is not a number")
    return value


def best_params(fp_prob: float) -> tuple[int, int]:
    """The least whole number of bits per key that reaches a rate, and the least hashes."""
    fp_prob = float(_number("fp_prob", fp_prob))
    for bits_per_key in range(1, 65):
        for hashes in range(1, math.ceil(bits_per_key * math.log(2)) + 1):
            if _rate(bits_per_key, hashes) <= fp_prob < 1:
                return bits_per_key, hashes
    raise ValueError(f"fp_prob {fp_prob} is out of range: it is at least 4.43e-14, and less than 1")


# ----------------------------------------------------------------
# The filter
# ----------------------------------------------------------------


def _several(keys: Iterable[Any]) -> Iterator[Any]:
    """The keys but None.  TypeError: a text is iterable, and is one key."""
    if isinstance(keys, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"several keys, such as a list, are needed, not one {type(keys).__name__}")
    return (key for key in keys if key is not None)


class Filter:
    """A set of keys that answers "certainly not" or "probably"."""

    def __init__(
        self, capacity: float, fp_prob: float = 0.01, seed: int = 0, key_type: str | None = None
    ) -> None:
        """An empty filter for so many distinct keys, as bloom_empty makes it.

        As there, the capacity is any number, such as 1e6; a fraction is rounded up.
        """
        bits_per_key, hashes = best_params(fp_prob)
        most = MAX_WORDS * 64 // bits_per_key
        capacity = _number("capacity", capacity)
        if not 1 <= capacity <= most:
            raise ValueError(f"capacity {capacity} is out of range: at this fp_prob, it is 1 to {most}")
        capacity = math.ceil(capacity)
        seed = operator.index(seed)
        if not -(2**63) <= seed < 2**63:
            raise ValueError(f"seed {seed} is out of range: it has 64 bits, with a sign")
        self._set_shape(-(-capacity * bits_per_key // 64), hashes, seed, capacity, float(fp_prob))
        if key_type is not None:
            self.key_type = _resolve(key_type)[0]

    def _set_shape(self, words: int, hashes: int, seed: int, capacity: int, fp_prob: float) -> None:
        self.words, self.hashes, self.seed = words, hashes, seed
        self.capacity, self.fp_prob = capacity, fp_prob
        self.key_type: KeyType | None = None
        self._keys: set[int] | None = set()
        self._bits = bytearray()
        self._until_check = 0  # so many keys can be added before the filter can be too full
        self._warned = False

    def _like(self, **changes: Any) -> Filter:
        """Another filter of this shape, with no key."""
        other = Filter.__new__(Filter)
        other._set_shape(**{
            "words": self.words, "hashes": self.hashes, "seed": self.seed,
            "capacity": self.capacity, "fp_prob": self.fp_prob, **changes,
        })  # fmt: skip
        other.key_type = self.key_type
        return other

    # Reading and writing

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> Filter:
        """The filter of these bytes, which are those of filter::bytea.  ValueError: none."""
        data = bytes(data)
        if len(data) < HEADER.size:
            raise ValueError("there are fewer bytes than a header has")
        version, form, hashes, type_words, number, words, seed, capacity, fp_prob, count = (
            HEADER.unpack_from(data)
        )
        name_end = HEADER.size + 8 * type_words
        name, content = data[HEADER.size : name_end], data[name_end:]
        if version != VERSION or form not in (KEYS, BITS):
            raise ValueError("the version or the form is unknown")
        if (number >= NAMED) != (type_words > 0) or type_words > MAX_TYPE_WORDS:
            raise ValueError("the name of the key type has a wrong size")
        if NAMED > number >= MAX_BUILTIN:
            raise ValueError("the key type is not a built-in type")

        self = cls.__new__(cls)
        if words == 0:
            if data != UNSIZED:
                raise ValueError("a filter without a shape is not all zero")
            self._set_shape(0, 0, 0, 0, 0.0)
            return self
        if not (words <= MAX_WORDS and 1 <= hashes <= MAX_HASHES and 0 < fp_prob < 1
                and 1 <= capacity < 2**63):  # fmt: skip
            raise ValueError("the shape is out of range")
        if count > 0 and number == 0:
            raise ValueError("there are keys, but no key type")
        if len(content) != (8 * count if form == KEYS else 8 * words):
            raise ValueError("the number of bytes does not match the header")
        self._set_shape(words, hashes, seed, capacity, fp_prob)
        if type_words:
            self.key_type = _read_name(name, number)
        elif number:
            self.key_type = KeyType(number)
        if form == KEYS:
            keys = struct.unpack(f"<{count}Q", content)
            if count >= words or 0 in keys or any(a >= b for a, b in zip(keys, keys[1:])):
                raise ValueError("the keys are not ascending, or too many")
            self._keys = set(keys)
        else:
            self._keys, self._bits = None, bytearray(content)
            if count == 0 or self._bits_set() != count:
                raise ValueError("the number of bits set does not match")
        return self

    def __bytes__(self) -> bytes:
        """The bytes that the server takes: %s::bytea::bloom."""
        if self._keys is not None:
            form, count = KEYS, len(self._keys)
            content = struct.pack(f"<{count}Q", *sorted(self._keys))
        else:
            form, count, content = BITS, self._bits_set(), bytes(self._bits)
        key_type = self.key_type or KeyType(0)
        name = key_type.name.encode("utf-8")
        name += b"\0" * (-len(name) % 8)
        return (
            HEADER.pack(VERSION, form, self.hashes, len(name) // 8, key_type.number, self.words,
                        self.seed, self.capacity, self.fp_prob, count)
            + name + content
        )  # fmt: skip

    @classmethod
    def from_text(cls, text: str) -> Filter:
        """The filter of its text form, base64."""
        packed = "".join(text.split())
        data = base64.b64decode(packed, validate=True)
        if base64.b64encode(data).decode("ascii") != packed:
            raise ValueError("it is not base64: spare bits are not zero")
        return cls.from_bytes(data)

    def to_text(self) -> str:
        """The text form, base64."""
        return base64.b64encode(bytes(self)).decode("ascii")

    def __repr__(self) -> str:
        if self.words == 0:
            return "<Filter without a shape>"
        form = "bits" if self._keys is None else "keys"
        return (
            f"<Filter of {self.key_type or 'no'} keys in {form} form, about "
            f"{self.cardinality():.0f} of {self.capacity}, rate {self.fp_prob_now():.2g}>"
        )

    def __eq__(self, other: object) -> bool:
        """As = of the server: the same bytes."""
        return isinstance(other, Filter) and bytes(self) == bytes(other)

    __hash__ = None  # type: ignore[assignment]  # it can be changed

    # Keys

    def _hash(self, key: Any) -> tuple[KeyType, int]:
        key_type, content = canonical(key)
        if self.key_type is not None and self.key_type != key_type:
            raise KeyTypeError(f"a key of type {key_type}, where the filter holds {self.key_type}")
        return key_type, xxhash.xxh3_64_intdigest(content, seed=self.seed & MASK) or 1

    def _hashes(self, keys: Iterable[Any]) -> Iterator[int]:
        """Those of keys to be added or tested; what can be done once for many is done once."""
        digest, seed = xxhash.xxh3_64_intdigest, self.seed & MASK
        encode: Callable[[Any], bytes] | None = None
        python_type = None
        for key in keys:
            if encode is not None and type(key) is python_type:
                yield digest(encode(key), seed=seed) or 1
                continue
            self._seen_type, key_hash = self._hash(key)
            if not isinstance(key, BY_VALUE):
                python_type, encode = type(key), _resolve(_type_of(key))[1]
            yield key_hash

    def _positions(self, key_hash: int) -> Iterator[int]:
        a = key_hash
        for _ in range(self.hashes):
            a = (a * MULTIPLIER + INCREMENT) & MASK
            yield a * self.words * 64 >> 64

    def _set(self, hashes: Iterable[int]) -> int:
        """Set the bits of these keys; how many there were."""
        bits, size, rounds = self._bits, self.words * 64, range(self.hashes)
        n = 0
        for n, a in enumerate(hashes, 1):
            for _ in rounds:
                a = (a * MULTIPLIER + INCREMENT) & MASK
                position = a * size >> 64
                bits[position >> 3] |= 1 << (position & 7)
        return n

    def _check_overfull(self, added: int, stacklevel: int = 3) -> None:
        """Warn, once, if there are more keys than the capacity, as the server does."""
        self._until_check -= added
        if self._keys is not None or self._warned or self._until_check > 0:
            return
        keys = self.cardinality()
        if self.is_overfull():
            self._warned = True
            warnings.warn(
                f"the filter holds about {keys:.0f} keys, its capacity is {self.capacity}; "
                f"its false-positive rate is now {self.fp_prob_now():.3g}, not {self.fp_prob:g}",
                OverfullWarning, stacklevel=stacklevel)  # fmt: skip
        # not before each key, where most are repeats
        self._until_check = max(int(self.capacity - keys), self.capacity // 100, 1)

    def _bits_set(self) -> int:
        return int.from_bytes(self._bits, "little").bit_count()

    def _as_bits(self) -> bytearray:
        if self._keys is None:
            return self._bits
        bits = self._like()
        bits._bits = bytearray(self.words * 8)
        bits._set(self._keys)
        return bits._bits

    def _test(self, key_hash: int) -> bool:
        if self._keys is not None:
            return key_hash in self._keys
        return all(self._bits[p >> 3] >> (p & 7) & 1 for p in self._positions(key_hash))

    def __contains__(self, key: Any) -> bool:
        """Is the key possibly in the filter?  False is certain."""
        return self._test(self._hash(key)[1])

    def missing(self, keys: Iterable[Any]) -> list[Any]:
        """Those keys that are certainly not in the filter, in their order; None is none."""
        keys = list(_several(keys))
        return [key for key, key_hash in zip(keys, self._hashes(keys)) if not self._test(key_hash)]

    def add(self, key: Any) -> None:
        """Add a key.  The first one decides on the type of all."""
        self._check_overfull(self._add((key,)))

    def update(self, keys: Iterable[Any]) -> None:
        """Add all keys; None is none, as in SQL.  More of them than the capacity are a OverfullWarning."""
        self._check_overfull(self._add(keys))

    def _add(self, keys: Iterable[Any]) -> int:
        """Add all keys; at least how many have become bits."""
        if self.words == 0:
            raise ValueError("a filter without a shape takes no keys")
        n = 0
        for key_hash in (hashes := self._hashes(_several(keys))):
            self.key_type = self.key_type or self._seen_type
            if self._keys is not None:
                self._keys.add(key_hash)
                if len(self._keys) < self.words:
                    continue
                self._settle()
                n = self._set(hashes)
            else:
                n = self._set(itertools.chain((key_hash,), hashes))
        return n

    def _settle(self) -> None:
        """Turn into bits, when there are too many keys for a list."""
        if self._keys is not None and self._keys and len(self._keys) >= self.words:
            self._bits, self._keys = self._as_bits(), None

    # Filters as sets

    def _combination(self, other: Filter) -> Filter:
        """Without keys yet.  ValueError: they have different shapes."""
        if (self.words, self.hashes, self.seed) != (other.words, other.hashes, other.seed):
            raise ValueError("filters of different shapes cannot be combined")
        if self.key_type and other.key_type and self.key_type != other.key_type:
            raise KeyTypeError(f"filters of {self.key_type} and of {other.key_type}")
        # the larger capacity, with its rate
        capacity, fp_prob = max((self.capacity, self.fp_prob), (other.capacity, other.fp_prob))
        both = self._like(capacity=capacity, fp_prob=fp_prob)
        both.key_type = self.key_type or other.key_type
        return both

    def copy(self) -> Filter:
        """The same filter, to be changed."""
        return Filter.from_bytes(bytes(self))

    def __or__(self, other: Filter) -> Filter:
        """The union: the filter of the keys of both."""
        if not isinstance(other, Filter):
            return NotImplemented
        if other.words == 0 or self.words == 0:
            return Filter.from_bytes(bytes(other if self.words == 0 else self))
        both = self._combination(other)
        if self._keys is not None and other._keys is not None:
            both._keys = self._keys | other._keys
            both._settle()
        else:
            both._keys, both._bits = None, _combine(self._as_bits(), other._as_bits(), int.__or__)
        both._check_overfull(0)
        return both

    def __and__(self, other: Filter) -> Filter:
        """The intersection: at least the keys that are in both, so its rate is higher."""
        if not isinstance(other, Filter):
            return NotImplemented
        if self.words == 0 or other.words == 0:
            return Filter.from_bytes(UNSIZED)
        both = self._combination(other)
        if self.key_type is None or other.key_type is None:
            both.key_type = None
        elif self._keys is not None:
            both._keys = {key_hash for key_hash in self._keys if other._test(key_hash)}
        elif other._keys is not None:
            both._keys = {key_hash for key_hash in other._keys if self._test(key_hash)}
        else:
            bits = _combine(self._bits, other._bits, int.__and__)
            if any(bits):
                both._keys, both._bits = None, bits
        return both

    def cardinality(self) -> float:
        """About how many distinct keys were added; exact in keys form."""
        if self._keys is not None:
            return len(self._keys)
        return _estimate(self.words * 64, self.hashes, self._bits_set())

    def fp_prob_now(self) -> float:
        """The rate of false positives with the keys that are in it now."""
        if self._keys is not None:
            return len(self._keys) / 2**64
        return (self._bits_set() / (self.words * 64)) ** self.hashes

    def is_overfull(self) -> bool:
        """Is the rate above fp_prob, and the estimate above the capacity by more than chance?  As bloom_is_overfull."""
        if self._keys is not None:
            return False
        size, c = self.words * 64, self.hashes * self.capacity / (self.words * 64)
        error = math.sqrt(size * (math.expm1(c) - c)) / self.hashes
        return self.fp_prob_now() > self.fp_prob and self.cardinality() > self.capacity + 4 * error

    def fit(self, fp_prob: float) -> Filter:
        """A copy with no more bits than its keys need for a rate, as bloom_fit makes it."""
        bits_per_key, hashes = best_params(fp_prob)
        fp_prob = float(fp_prob)
        if self._keys is not None:
            capacity = max(len(self._keys), 1)
            words = max(1, -(-capacity * bits_per_key // 64))
            if words >= self.words:
                return self.copy()
            fitted = self._like(words=words, hashes=hashes, capacity=capacity, fp_prob=fp_prob)
            fitted._keys = set(self._keys)
            fitted._settle()
            return fitted
        fill = self._bits_set() / (self.words * 64)
        # the largest factor that can do; a tenth more, in case chance helps
        most = 1.0 if fill == 1 else math.log1p(
            -(min(1.1 * fp_prob, 0.99) ** (1 / self.hashes))) / math.log(1 - fill)  # fmt: skip
        for factor in range(int(min(most, self.words)), 1, -1):
            if self.words % factor:
                continue
            fitted = self._folded(factor)
            if fitted.fp_prob_now() <= fp_prob:
                size = fitted.words * 64
                fitted.fp_prob = fp_prob
                fitted.capacity = max(
                    1, int(_estimate(size, self.hashes, fp_prob ** (1 / self.hashes) * size)))
                return fitted
        return self.copy()

    def _folded(self, factor: int) -> Filter:
        """In bits form, with so many bits in each of the result's."""
        folded = self._like(words=self.words // factor)
        folded._keys, folded._bits = None, bytearray(folded.words * 8)
        for i, byte in enumerate(self._bits):
            while byte:
                position = (8 * i + (byte & -byte).bit_length() - 1) // factor
                folded._bits[position >> 3] |= 1 << (position & 7)
                byte &= byte - 1
        return folded


UNSIZED = HEADER.pack(VERSION, KEYS, 0, 0, 0, 0, 0, 0, 0.0, 0)


def _read_name(name: bytes, number: int) -> KeyType:
    """The key type of this name, which is padded with zeros."""
    unpadded = name.rstrip(b"\0").decode("utf-8")
    if name[-8:] == bytes(8) or any(c < " " or c == "\x7f" for c in unpadded):
        raise ValueError("the name of the key type is padded too much, or not printable")
    key_type = _named(unpadded)
    if key_type.number != number:
        raise ValueError("the number of the key type does not match its name")
    return key_type


def _combine(a: bytearray, b: bytearray, operator: Callable[[int, int], int]) -> bytearray:
    result = operator(int.from_bytes(a, "little"), int.from_bytes(b, "little"))
    return bytearray(result.to_bytes(len(a), "little"))


def _estimate(bits: int, hashes: int, bits_set: float) -> float:
    """How many keys set so many bits."""
    return -bits / hashes * math.log1p(-min(bits_set, bits - 1) / bits)


# ----------------------------------------------------------------
# psycopg 3
# ----------------------------------------------------------------


def register(connection: Any, info: Any = None) -> None:
    """From now on, a bloom is a Filter on this connection of psycopg 3.

    A cursor that was made before keeps returning text.

    For an AsyncConnection, give the type as well:

        register(connection, await TypeInfo.fetch(connection, "bloom"))
    """
    from psycopg.adapt import Dumper, Loader
    from psycopg.pq import Format
    from psycopg.types import TypeInfo

    info = info or TypeInfo.fetch(connection, "bloom")
    if info is None:
        raise LookupError("this database has no type bloom: CREATE EXTENSION bloomtype")

    class TextLoader(Loader):
        def load(self, data: Any) -> Filter:
            return Filter.from_text(bytes(data).decode("ascii"))

    class BinaryLoader(Loader):
        format = Format.BINARY

        def load(self, data: Any) -> Filter:
            return Filter.from_bytes(data)

    class TextDumper(Dumper):
        oid = info.oid

        def dump(self, obj: Filter) -> bytes:
            return obj.to_text().encode("ascii")

    class BinaryDumper(Dumper):
        oid = info.oid
        format = Format.BINARY

        def dump(self, obj: Filter) -> bytes:
            return bytes(obj)

    info.register(connection)
    for loader in (TextLoader, BinaryLoader):
        connection.adapters.register_loader(info.oid, loader)
    for dumper in (TextDumper, BinaryDumper):
        connection.adapters.register_dumper(Filter, dumper)
