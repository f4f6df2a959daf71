//! Keys: values of SQL types, as canonical bytes.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::xxh3::xxh3;
use crate::Error;

/// What all keys of a filter are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyType {
    /// A built-in type, by its OID.
    BuiltIn(u32),
    /// Any other type, by the name that the format gives it, such as `int8[]`.
    Named(String),
}

impl KeyType {
    /// `smallint`, `integer` and `bigint`
    pub const BIGINT: KeyType = KeyType::BuiltIn(20);
    /// `text`, `varchar` and `name`
    pub const TEXT: KeyType = KeyType::BuiltIn(25);
    /// `bytea`
    pub const BYTEA: KeyType = KeyType::BuiltIn(17);
    /// `uuid`
    pub const UUID: KeyType = KeyType::BuiltIn(2950);
    /// `real` and `double precision`
    pub const FLOAT: KeyType = KeyType::BuiltIn(701);
    /// `boolean`
    pub const BOOLEAN: KeyType = KeyType::BuiltIn(16);
    /// `date`
    pub const DATE: KeyType = KeyType::BuiltIn(1082);
    /// `timestamp`
    pub const TIMESTAMP: KeyType = KeyType::BuiltIn(1114);
    /// `timestamptz`
    pub const TIMESTAMPTZ: KeyType = KeyType::BuiltIn(1184);
}

/// The name of the type, as in SQL.
impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let oid = match self {
            KeyType::Named(name) => return f.write_str(name),
            KeyType::BuiltIn(oid) => *oid,
        };
        f.write_str(match oid {
            16 => "boolean",
            17 => "bytea",
            18 => "\"char\"",
            20 => "bigint",
            25 => "text",
            26 => "oid",
            27 => "tid",
            28 => "xid",
            29 => "cid",
            701 => "double precision",
            774 => "macaddr8",
            790 => "money",
            829 => "macaddr",
            869 => "inet",
            1082 => "date",
            1083 => "time",
            1114 => "timestamp",
            1184 => "timestamptz",
            1186 => "interval",
            1266 => "timetz",
            1562 => "varbit",
            1700 => "numeric",
            2950 => "uuid",
            3220 => "pg_lsn",
            3802 => "jsonb",
            5069 => "xid8",
            _ => return write!(f, "of OID {oid}"),
        })
    }
}

/// A value with its SQL type.
///
/// Rust's integers, floats, `bool`, `&str` and `&[u8]` convert to keys by
/// themselves: `filter.contains(5)`, `filter.contains("mary")`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Key<'a> {
    /// `smallint`, `integer` or `bigint`
    Integer(i64),
    /// `text`, `varchar`, `name`, or `char(n)` without its trailing blanks
    Text(&'a str),
    /// `bytea`
    Bytea(&'a [u8]),
    /// `uuid`, in the order of its text
    Uuid([u8; 16]),
    /// `real` or `double precision`
    Float(f64),
    /// `boolean`
    Boolean(bool),
    /// `date`: days since 2000-01-01.  The smallest is `-infinity`, the largest
    /// `infinity`.
    Date(i32),
    /// `timestamp`: microseconds since 2000-01-01 00:00.  The smallest is
    /// `-infinity`, the largest `infinity`.
    Timestamp(i64),
    /// `timestamptz`: microseconds since 2000-01-01 00:00 UTC.  The smallest is
    /// `-infinity`, the largest `infinity`.
    Timestamptz(i64),
}

impl Key<'_> {
    /// A `date` of a year, month and day of the Gregorian calendar, in which
    /// 1 BC is year 0.
    pub fn date(year: i32, month: u32, day: u32) -> Result<Self, Error> {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let lengths = [31, 28 + u32::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        if !(1..=12).contains(&month) || day < 1 || day > lengths[month as usize - 1] {
            return Err(Error::OutOfRange(format!("{year}-{month:02}-{day:02} is not a date")));
        }
        // Count years from March, so that a leap day is the last of its year.
        let (y, m) = (i64::from(year) - i64::from(month < 3), (i64::from(month) + 9) % 12);
        let in_year = (153 * m + 2) / 5 + i64::from(day) - 1;
        let days = 365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + in_year;
        match i32::try_from(days - 730_425) {
            Ok(days) if days != i32::MIN && days != i32::MAX => Ok(Key::Date(days)),
            _ => Err(Error::OutOfRange(format!("{year}-{month:02}-{day:02} is out of range"))),
        }
    }

    /// A `timestamptz` of microseconds since 1970-01-01 00:00 UTC.
    pub fn unix_microseconds(microseconds: i64) -> Result<Self, Error> {
        match microseconds.checked_sub(946_684_800_000_000) {
            Some(us) if us != i64::MIN && us != i64::MAX => Ok(Key::Timestamptz(us)),
            _ => Err(Error::OutOfRange(format!(
                "{microseconds} microseconds since 1970 are out of range for a timestamp"
            ))),
        }
    }

    pub(crate) const fn oid(&self) -> u32 {
        match self {
            Key::Integer(_) => 20,
            Key::Text(_) => 25,
            Key::Bytea(_) => 17,
            Key::Uuid(_) => 2950,
            Key::Float(_) => 701,
            Key::Boolean(_) => 16,
            Key::Date(_) => 1082,
            Key::Timestamp(_) => 1114,
            Key::Timestamptz(_) => 1184,
        }
    }

    /// No text in PostgreSQL has one.
    #[inline]
    pub(crate) fn has_character_0(&self) -> bool {
        matches!(self, Key::Text(v) if v.as_bytes().contains(&0))
    }

    /// The hash of the key in a filter of this seed.
    #[inline(always)]
    pub fn hash(&self, seed: i64) -> u64 {
        let seed = seed as u64;
        let hash = match self {
            Key::Integer(v) | Key::Timestamp(v) | Key::Timestamptz(v) => {
                xxh3(&v.to_le_bytes(), seed)
            }
            Key::Text(v) => xxh3(v.as_bytes(), seed),
            Key::Bytea(v) => xxh3(v, seed),
            Key::Uuid(v) => xxh3(v, seed),
            // one NaN, and 0 for -0
            Key::Float(v) if v.is_nan() => xxh3(&0x7ff8_0000_0000_0000_u64.to_le_bytes(), seed),
            Key::Float(v) => xxh3(&(v + 0.0).to_le_bytes(), seed),
            Key::Boolean(v) => xxh3(&[u8::from(*v)], seed),
            Key::Date(v) => xxh3(&v.to_le_bytes(), seed),
        };
        hash.max(1)
    }
}

macro_rules! from {
    ($($from:ty => $key:ident),*) => { $(
        impl From<$from> for Key<'_> {
            #[inline]
            fn from(v: $from) -> Self {
                Key::$key(v.into())
            }
        }
    )* };
}

from!(i8 => Integer, i16 => Integer, i32 => Integer, i64 => Integer, u8 => Integer,
      u16 => Integer, u32 => Integer, f32 => Float, f64 => Float, bool => Boolean);

impl<'a> From<&'a str> for Key<'a> {
    #[inline]
    fn from(v: &'a str) -> Self {
        Key::Text(v)
    }
}

impl<'a> From<&'a String> for Key<'a> {
    #[inline]
    fn from(v: &'a String) -> Self {
        Key::Text(v)
    }
}

impl<'a> From<&'a [u8]> for Key<'a> {
    #[inline]
    fn from(v: &'a [u8]) -> Self {
        Key::Bytea(v)
    }
}

/// A `timestamptz`.  It has whole microseconds.
#[cfg(feature = "std")]
impl TryFrom<std::time::SystemTime> for Key<'_> {
    type Error = Error;

    fn try_from(time: std::time::SystemTime) -> Result<Self, Error> {
        let (nanoseconds, sign) = match time.duration_since(std::time::UNIX_EPOCH) {
            Ok(after) => (after.as_nanos(), 1),
            Err(before) => (before.duration().as_nanos(), -1),
        };
        if nanoseconds % 1000 != 0 {
            return Err(Error::OutOfRange(format!(
                "{nanoseconds} nanoseconds are no whole microseconds, which a timestamp has"
            )));
        }
        match i64::try_from(nanoseconds / 1000) {
            Ok(us) => Key::unix_microseconds(sign * us),
            Err(_) => Err(Error::OutOfRange(format!(
                "{nanoseconds} nanoseconds from 1970 are out of range for a timestamp"
            ))),
        }
    }
}
