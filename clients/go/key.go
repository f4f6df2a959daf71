package bloomtype

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// ErrKeyType is the error of a key of another type than the filter holds, and
// of filters of different key types.
var ErrKeyType = errors.New("bloomtype: key type mismatch")

// KeyType is what all keys of a filter are.  The zero KeyType is that of a
// filter that holds no key yet.
type KeyType struct {
	number uint32
	name   string // unless the type is built in
}

// The key types of which this package makes keys.
var (
	BigintKeys      = KeyType{number: 20} // smallint, integer and bigint
	TextKeys        = KeyType{number: 25} // text, varchar and name
	ByteaKeys       = KeyType{number: 17}
	UUIDKeys        = KeyType{number: 2950}
	FloatKeys       = KeyType{number: 701} // real and double precision
	BooleanKeys     = KeyType{number: 16}
	DateKeys        = KeyType{number: 1082}
	TimestampKeys   = KeyType{number: 1114}
	TimestamptzKeys = KeyType{number: 1184}
)

var typeNames = map[uint32]string{
	20: "bigint", 25: "text", 17: "bytea", 2950: "uuid", 701: "double precision", 16: "boolean",
	1082: "date", 1114: "timestamp", 1184: "timestamptz", 1700: "numeric", 790: "money",
	18: `"char"`, 1083: "time", 1266: "timetz", 1186: "interval", 829: "macaddr",
	774: "macaddr8", 869: "inet", 1562: "varbit", 26: "oid", 28: "xid", 29: "cid",
	5069: "xid8", 3220: "pg_lsn", 27: "tid", 3802: "jsonb",
}

// String is the name of the type, as in SQL, such as bigint or int8[].
func (t KeyType) String() string {
	switch {
	case t.name != "":
		return t.name
	case t.number == 0:
		return "unknown"
	}
	if name, ok := typeNames[t.number]; ok {
		return name
	}
	return fmt.Sprintf("of OID %d", t.number)
}

// Key is a value with its SQL type.  The zero Key is no key, and an error where
// one is needed.
//
// It has four words, which the compiler keeps in registers.
type Key struct {
	number  uint32 // of the key type
	content content
	word    uint64
	text    string // any other number of bytes
}

type content uint8

const (
	none       content = iota
	inWord             // its 8 bytes
	inHalfWord         // its first 4
	inByte             // its first
	inText
	outOfRange
)

// Integer is a key of type smallint, integer or bigint.
func Integer[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32](v T) Key {
	return Key{number: 20, content: inWord, word: uint64(int64(v))}
}

// Text is a key of type text, varchar, name, or char(n) without its trailing
// blanks.  It is in UTF-8, without a character 0.
func Text(v string) Key {
	if strings.IndexByte(v, 0) >= 0 {
		return Key{number: 25, content: outOfRange}
	}
	return Key{number: 25, content: inText, text: v}
}

// Bytea is a key of type bytea.
func Bytea(v []byte) Key { return Key{number: 17, content: inText, text: string(v)} }

// UUID is a key of type uuid.
func UUID[T ~[16]byte](v T) Key {
	b := [16]byte(v)
	return Key{number: 2950, content: inText, text: string(b[:])}
}

// Float is a key of type real or double precision.
func Float[T ~float32 | ~float64](v T) Key {
	f := float64(v)
	word := math.Float64bits(f)
	if f != f {
		word = 0x7ff8000000000000
	} else if f == 0 {
		word = 0 // and not that of -0
	}
	return Key{number: 701, content: inWord, word: word}
}

// Boolean is a key of type boolean.
func Boolean(v bool) Key {
	if v {
		return Key{number: 16, content: inByte, word: 1}
	}
	return Key{number: 16, content: inByte}
}

// Date is a key of type date: the day of v in the location of v.
func Date(v time.Time) Key {
	year, month, day := v.Date()
	seconds := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() - epoch
	days := seconds / (24 * 60 * 60)
	if days <= math.MinInt32 || days >= math.MaxInt32 {
		return Key{number: 1082, content: outOfRange}
	}
	return DateOfDays(int32(days))
}

// DateOfDays is a key of type date: days since 2000-01-01.  The smallest number
// is -infinity, the largest is infinity.
func DateOfDays(days int32) Key {
	return Key{number: 1082, content: inHalfWord, word: uint64(uint32(days))}
}

// Timestamp is a key of type timestamp: the date and time that v shows in its
// location.  It has whole microseconds: use v.Truncate or v.Round.
func Timestamp(v time.Time) Key {
	_, offset := v.Zone()
	return timestamp(1114, v, int64(offset))
}

// TimestampOfMicroseconds is a key of type timestamp: microseconds since
// 2000-01-01 00:00.  The smallest number is -infinity, the largest is infinity.
func TimestampOfMicroseconds(us int64) Key {
	return Key{number: 1114, content: inWord, word: uint64(us)}
}

// Timestamptz is a key of type timestamptz: the instant v.  It has whole
// microseconds: use v.Truncate or v.Round.
func Timestamptz(v time.Time) Key { return timestamp(1184, v, 0) }

// TimestamptzOfMicroseconds is a key of type timestamptz: microseconds since
// 2000-01-01 00:00 UTC.  The smallest number is -infinity, the largest is
// infinity.
func TimestamptzOfMicroseconds(us int64) Key {
	return Key{number: 1184, content: inWord, word: uint64(us)}
}

const epoch = 946684800 // 2000-01-01 in Unix time

func timestamp(number uint32, v time.Time, offset int64) Key {
	const limit = math.MaxInt64/1000000 - 1
	seconds := v.Unix() - epoch + offset
	if seconds <= -limit || seconds >= limit || v.Nanosecond()%1000 != 0 {
		return Key{number: number, content: outOfRange}
	}
	return Key{number: number, content: inWord,
		word: uint64(seconds*1000000 + int64(v.Nanosecond()/1000))}
}

func (k Key) err() error {
	if k.content == outOfRange && k.number == 25 {
		return errors.New("bloomtype: a text has no character 0")
	}
	if k.content == outOfRange {
		return fmt.Errorf("bloomtype: not a %v in whole microseconds, or out of range",
			KeyType{number: k.number})
	}
	return fmt.Errorf("%w: the zero Key has no type", ErrKeyType)
}

// hash is the hash of the key's canonical bytes.  The content is valid.
func (k Key) hash(seed uint64) uint64 {
	var h uint64
	switch k.content {
	case inWord:
		h = xxh3of8(k.word, seed)
	case inText:
		h = xxh3(k.text, seed)
	case inHalfWord:
		h = xxh3of4to8(k.word, k.word, 4, seed)
	case inByte:
		h = avalanche64((k.word<<16 | k.word<<24 | k.word | 1<<8) ^ (flip1 + seed))
	}
	return notZero(h)
}

// notZero makes the hash that no key has into one that it may have.
func notZero(h uint64) uint64 {
	if h == 0 {
		return 1
	}
	return h
}
