//! Reads, tests, builds and combines the Bloom filters of bloomtype, an
//! extension of PostgreSQL, without a server.
//!
//! A filter answers "certainly not" or "probably": [`Filter::contains`] is never
//! false for a key that was added.  Equal sets of keys make equal bytes, here
//! and in the server.
//!
//! ```
//! use bloomtype::{Builder, Filter, Options};
//!
//! let mut builder = Builder::new(&Options { fp_prob: 0.001, ..Options::new(1000) })?;
//! builder.add("https://example.org/")?;
//! let bytes = builder.filter().to_bytes(); // or those of SELECT filter::bytea
//!
//! let filter = Filter::try_from(&bytes[..])?;
//! assert!(filter.contains("https://example.org/")?);
//! assert!(!filter.contains("https://example.org/a")?);
//! assert!(filter.contains(5).is_err()); // a key of another type
//! # Ok::<(), bloomtype::Error>(())
//! ```
//!
//! Without the feature `std`, the crate needs only `alloc`, and lacks what needs
//! logarithms: [`Builder::new`], [`best_params`] and the estimates.

#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

mod base64;
mod build;
mod key;
#[cfg(all(test, feature = "std"))]
mod tests;
mod xxh3;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

pub use build::Builder;
#[cfg(feature = "std")]
pub use build::{best_params, Options};
pub use key::{Key, KeyType};
use xxh3::xxh3;

const VERSION: u8 = 1;
const KEYS_FORM: u8 = 1;
const BITS_FORM: u8 = 2;
const COUNTING: u8 = 16; // in the forms of a counting_bloom
const HEADER: usize = 44;
const MAX_WORDS: u64 = 1 << 26;
const MAX_HASHES: u32 = 64;
const MAX_BUILT_IN: u32 = 10_000; // built-in types have smaller OIDs
const NAMED: u32 = 1 << 31; // the smallest number of a key type with a name
const MAX_NAME: usize = 1024;

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// These bytes, or this text, are not a filter.
    Format(&'static str),
    /// A key or a filter of another type than the filter holds.
    KeyType {
        /// What the filter holds.
        filter: String,
        /// What it was given.
        given: String,
    },
    /// Filters of different bits, hashes or seeds cannot be combined, and one
    /// without a shape cannot hold keys.
    Shape(String),
    /// A number is out of range.
    OutOfRange(String),
    /// There are more keys than the capacity: [`Builder::try_filter`].
    #[cfg(feature = "std")]
    Overfull(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Format(wrong) => write!(f, "not a filter: {wrong}"),
            Error::KeyType { filter, given } => {
                write!(f, "key type {given}, where the filter holds keys of type {filter}")
            }
            Error::Shape(wrong) | Error::OutOfRange(wrong) => f.write_str(wrong),
            #[cfg(feature = "std")]
            Error::Overfull(wrong) => f.write_str(wrong),
        }
    }
}

#[cfg(feature = "std")]
impl std::error::Error for Error {}

/// A value of type `bloom`.
///
/// Two filters are equal if their bytes are.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    shape: Shape,
    key_type: Option<KeyType>,
    content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Shape {
    words: u64, // size in bits, divided by 64
    hashes: u32,
    seed: i64,
    capacity: u64,
    fp_prob: f64,
}

impl Shape {
    const NONE: Shape = Shape { words: 0, hashes: 0, seed: 0, capacity: 0, fp_prob: 0.0 };
}

#[derive(Clone, Debug, PartialEq)]
enum Content {
    Keys(Vec<u64>), // their hashes, ascending
    Bits { bits: Vec<u8>, count: u64 },
}

/// In which form a filter holds its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The hashes of the keys
    Keys,
    /// The bits
    Bits,
}

// ----------------------------------------------------------------
// Reading and writing
// ----------------------------------------------------------------

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Reads the bytes of `filter::bytea`.  Refuses what the server refuses.
impl TryFrom<&[u8]> for Filter {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        decode(bytes).map_err(Error::Format)
    }
}

/// Reads the text form of a filter, base64.
impl FromStr for Filter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bytes = base64::decode(text).ok_or(Error::Format("it is not base64"))?;
        Filter::try_from(&bytes[..])
    }
}

fn decode(bytes: &[u8]) -> Result<Filter, &'static str> {
    if bytes.len() < HEADER {
        return Err("there are fewer bytes than a header has");
    }
    let form = bytes[1];
    let name_size = usize::from(bytes[3]) * 8;
    let number = u32_at(bytes, 4);
    let shape = Shape {
        words: u64::from(u32_at(bytes, 8)),
        hashes: u32::from(bytes[2]),
        seed: u64_at(bytes, 12) as i64,
        capacity: u64_at(bytes, 20),
        fp_prob: f64::from_bits(u64_at(bytes, 28)),
    };
    let count = u64_at(bytes, 36);

    if bytes[0] != VERSION {
        return Err("the version is unknown");
    }
    if form == COUNTING | KEYS_FORM || form == COUNTING | BITS_FORM {
        return Err("it is a counting_bloom");
    }
    if form != KEYS_FORM && form != BITS_FORM {
        return Err("the representation is unknown");
    }
    if (MAX_BUILT_IN..NAMED).contains(&number) {
        return Err("the key type is not a built-in type");
    }
    if (number >= NAMED) != (name_size > 0) || name_size > MAX_NAME {
        return Err("the name of the key type has a wrong size");
    }
    if shape.words == 0 {
        let is_zero = shape == Shape::NONE && shape.fp_prob.is_sign_positive();
        if !is_zero || number != 0 || count != 0 || form != KEYS_FORM {
            return Err("a filter without a shape is not all zero");
        }
    } else if shape.words > MAX_WORDS {
        return Err("the number of bits is out of range");
    } else if shape.hashes < 1 || shape.hashes > MAX_HASHES {
        return Err("the number of hashes is out of range");
    } else if shape.capacity < 1 || shape.capacity > i64::MAX as u64 {
        return Err("the capacity is out of range");
    } else if !(shape.fp_prob > 0.0 && shape.fp_prob < 1.0) {
        return Err("the fp_prob is out of range");
    } else if count > 0 && number == 0 {
        return Err("there are keys, but no key type");
    } else if form == KEYS_FORM && count >= shape.words {
        return Err("there are too many keys for the keys form");
    } else if form == BITS_FORM && count == 0 {
        return Err("no bit is set in the bits form");
    }

    let size = 8 * if form == KEYS_FORM { count } else { shape.words };
    if (bytes.len() - HEADER) as u64 != name_size as u64 + size {
        return Err("the number of bytes does not match the header");
    }
    let (name, content) = bytes[HEADER..].split_at(name_size);
    let key_type = match number {
        0 => None,
        NAMED.. => Some(KeyType::Named(decode_name(name, number)?)),
        _ => Some(KeyType::BuiltIn(number)),
    };

    let content = if form == BITS_FORM {
        if count_bits(content) != count {
            return Err("the number of bits set does not match");
        }
        Content::Bits { bits: content.to_vec(), count }
    } else {
        let keys: Vec<u64> = content.chunks_exact(8).map(|key| u64_at(key, 0)).collect();
        if keys.first() == Some(&0) || keys.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err("the keys are not ascending");
        }
        Content::Keys(keys)
    };
    Ok(Filter { shape, key_type, content })
}

fn decode_name(padded: &[u8], number: u32) -> Result<String, &'static str> {
    let size = padded.iter().rposition(|&c| c != 0).map_or(0, |last| last + 1);
    if padded.len() - size >= 8 {
        return Err("the name of the key type has a wrong size");
    }
    let name = core::str::from_utf8(&padded[..size])
        .map_err(|_| "the name of the key type is not UTF-8")?;
    if name.bytes().any(|c| c < b' ' || c == 0x7f) {
        return Err("the name of the key type has a control character");
    }
    if number_of_name(name) != number {
        return Err("the number of the key type does not match its name");
    }
    Ok(name.to_string())
}

fn number_of_name(name: &str) -> u32 {
    xxh3(name.as_bytes(), 0) as u32 | NAMED
}

fn count_bits(bits: &[u8]) -> u64 {
    bits.chunks_exact(8).map(|word| u64::from(u64_at(word, 0).count_ones())).sum()
}

impl Filter {
    /// The filter without a shape, which `bloom_agg` makes of no rows.  It
    /// contains nothing, and its union with another filter is that filter.
    pub const fn without_shape() -> Filter {
        Filter { shape: Shape::NONE, key_type: None, content: Content::Keys(Vec::new()) }
    }

    /// The bytes that the server reads as `$1::bytea::bloom`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (number, name) = match &self.key_type {
            None => (0, ""),
            Some(KeyType::BuiltIn(oid)) => (*oid, ""),
            Some(KeyType::Named(name)) => (number_of_name(name), &name[..]),
        };
        let name_size = (name.len() + 7) / 8 * 8;
        let (form, count, size) = match &self.content {
            Content::Keys(keys) => (KEYS_FORM, keys.len() as u64, 8 * keys.len()),
            Content::Bits { bits, count } => (BITS_FORM, *count, bits.len()),
        };
        let mut bytes = Vec::with_capacity(HEADER + name_size + size);
        bytes.extend([VERSION, form, self.shape.hashes as u8, (name_size / 8) as u8]);
        bytes.extend(number.to_le_bytes());
        bytes.extend((self.shape.words as u32).to_le_bytes());
        bytes.extend(self.shape.seed.to_le_bytes());
        bytes.extend(self.shape.capacity.to_le_bytes());
        bytes.extend(self.shape.fp_prob.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize(HEADER + name_size, 0);
        match &self.content {
            Content::Keys(keys) => keys.iter().for_each(|key| bytes.extend(key.to_le_bytes())),
            Content::Bits { bits, .. } => bytes.extend(bits),
        }
        bytes
    }

    /// The text form, base64.
    pub fn to_text(&self) -> String {
        base64::encode(&self.to_bytes())
    }
}

// ----------------------------------------------------------------
// Description
// ----------------------------------------------------------------

impl Filter {
    /// What all keys are; `None`, if there is no key yet.
    pub fn key_type(&self) -> Option<&KeyType> {
        self.key_type.as_ref()
    }

    /// The size in bits; 0 for the filter without a shape.
    pub fn bits(&self) -> u64 {
        self.shape.words * 64
    }

    /// How many bits a key sets.
    pub fn hashes(&self) -> u32 {
        self.shape.hashes
    }

    /// The seed of the hash.
    pub fn seed(&self) -> i64 {
        self.shape.seed
    }

    /// How many distinct keys the filter is sized for.
    pub fn capacity(&self) -> u64 {
        self.shape.capacity
    }

    /// The requested false-positive rate.
    pub fn fp_prob(&self) -> f64 {
        self.shape.fp_prob
    }

    /// In which form the filter is.
    pub fn form(&self) -> Form {
        match self.content {
            Content::Keys(_) => Form::Keys,
            Content::Bits { .. } => Form::Bits,
        }
    }

    /// About how many distinct keys were added.
    #[cfg(feature = "std")]
    pub fn estimated_keys(&self) -> f64 {
        match &self.content {
            Content::Keys(keys) => keys.len() as f64,
            Content::Bits { count, .. } => {
                let m = self.bits() as f64;
                // if all bits are set, what all but one would say
                -m / f64::from(self.hashes()) * (-(*count as f64).min(m - 1.0) / m).ln_1p()
            }
        }
    }

    /// The false-positive rate now.
    #[cfg(feature = "std")]
    pub fn fp_prob_now(&self) -> f64 {
        match &self.content {
            Content::Keys(keys) => keys.len() as f64 / 64_f64.exp2(),
            Content::Bits { count, .. } => {
                (*count as f64 / self.bits() as f64).powf(f64::from(self.hashes()))
            }
        }
    }

    /// Is [`Filter::fp_prob_now`] more than requested, and the estimated number
    /// of keys above the capacity by more than chance?  `bloom_is_overfull`.
    #[cfg(feature = "std")]
    pub fn is_overfull(&self) -> bool {
        self.check_overfull().is_err()
    }

    /// An error for what the server raises a WARNING for.
    #[cfg(feature = "std")]
    fn check_overfull(&self) -> Result<(), Error> {
        let (bits, hashes, capacity) =
            (self.bits() as f64, f64::from(self.hashes()), self.capacity() as f64);
        let c = hashes * capacity / bits;
        let deviation = (bits * (c.exp_m1() - c)).sqrt() / hashes;
        let (keys, rate) = (self.estimated_keys(), self.fp_prob_now());
        if self.form() == Form::Keys || rate <= self.fp_prob() || keys <= capacity + 4.0 * deviation
        {
            return Ok(());
        }
        let now = if rate < 0.001 { format!("{rate:.2e}") } else { format!("{rate:.3}") };
        Err(Error::Overfull(format!(
            "the filter holds about {keys:.0} keys, its capacity is {capacity}; \
             its false-positive rate is now {now}, not {}",
            self.fp_prob()
        )))
    }
}

// ----------------------------------------------------------------
// Keys
// ----------------------------------------------------------------

const MULTIPLIER: u64 = 0xd134_2543_de82_ef95;
const INCREMENT: u64 = 0x2545_f491_4f6c_dd1d;

/// Steps the sequence, and returns the next position in m bits.
#[inline]
fn next_position(a: &mut u64, m: u64) -> usize {
    *a = a.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
    ((u128::from(*a) * u128::from(m)) >> 64) as usize
}

/// Four bits are looked at before the answer: to decide after each would let
/// every cache miss wait for the one before.
#[inline]
fn test_bits(bits: &[u8], hashes: u32, hash: u64) -> bool {
    let m = bits.len() as u64 * 8;
    let mut a = hash;
    let mut bit = || {
        let position = next_position(&mut a, m);
        bits[position >> 3] >> (position & 7)
    };
    for _ in 0..hashes / 4 {
        if bit() & bit() & bit() & bit() & 1 == 0 {
            return false;
        }
    }
    (0..hashes % 4).all(|_| bit() & 1 == 1)
}

#[inline]
fn set_bits(bits: &mut [u8], hashes: u32, hash: u64) {
    let m = bits.len() as u64 * 8;
    let mut a = hash;
    for _ in 0..hashes {
        let position = next_position(&mut a, m);
        bits[position >> 3] |= 1 << (position & 7);
    }
}

impl Filter {
    /// Is the key possibly in the filter?  False is certain.  A key of another
    /// type than the filter holds is an error.
    #[inline(always)]
    pub fn contains<'a>(&self, key: impl Into<Key<'a>>) -> Result<bool, Error> {
        let key = key.into();
        if !self.holds_type_of(&key) {
            return self.check(&key).map(|()| false);
        }
        Ok(self.test(key.hash(self.shape.seed)))
    }

    #[inline]
    fn holds_type_of(&self, key: &Key) -> bool {
        matches!(self.key_type, Some(KeyType::BuiltIn(oid)) if oid == key.oid())
            && !key.has_character_0()
    }

    #[inline]
    fn test(&self, hash: u64) -> bool {
        match &self.content {
            Content::Keys(keys) => keys.binary_search(&hash).is_ok(),
            Content::Bits { bits, .. } => test_bits(bits, self.shape.hashes, hash),
        }
    }

    /// An error, if the filter holds keys of another type, or can hold no such key.
    #[cold]
    fn check(&self, key: &Key) -> Result<(), Error> {
        if key.has_character_0() {
            return Err(Error::OutOfRange("a text has no character 0".into()));
        }
        let given = KeyType::BuiltIn(key.oid());
        match &self.key_type {
            Some(filter) if *filter != given => Err(mismatch(filter, &given)),
            _ => Ok(()),
        }
    }
}

fn mismatch(filter: &KeyType, given: &KeyType) -> Error {
    Error::KeyType { filter: filter.to_string(), given: given.to_string() }
}

// ----------------------------------------------------------------
// Union and intersection
// ----------------------------------------------------------------

impl Content {
    /// Distinct, ascending hashes, in the form that their number asks for.
    fn of_keys(keys: Vec<u64>, shape: &Shape) -> Content {
        if (keys.len() as u64) < shape.words {
            return Content::Keys(keys);
        }
        let mut bits = vec![0; shape.words as usize * 8];
        keys.iter().for_each(|&hash| set_bits(&mut bits, shape.hashes, hash));
        let count = count_bits(&bits);
        Content::Bits { bits, count }
    }
}

impl Filter {
    /// The filter of the keys of both.  An error, if they differ in bits, hashes,
    /// seed or key type.
    pub fn union(&self, other: &Filter) -> Result<Filter, Error> {
        if self.shape.words == 0 {
            return Ok(other.clone());
        }
        if other.shape.words == 0 {
            return Ok(self.clone());
        }
        let shape = self.combined_shape(other)?;
        let key_type = self.key_type.as_ref().or(other.key_type.as_ref()).cloned();
        let content = match (&self.content, &other.content) {
            (Content::Keys(a), Content::Keys(b)) => {
                let mut keys = [&a[..], &b[..]].concat();
                sort_distinct(&mut keys);
                Content::of_keys(keys, &shape)
            }
            (Content::Bits { bits, .. }, with) | (with, Content::Bits { bits, .. }) => {
                let mut bits = bits.clone();
                match with {
                    Content::Keys(keys) => {
                        keys.iter().for_each(|&hash| set_bits(&mut bits, shape.hashes, hash));
                    }
                    Content::Bits { bits: other, .. } => {
                        bits.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
                    }
                }
                let count = count_bits(&bits);
                Content::Bits { bits, count }
            }
        };
        Ok(Filter { shape, key_type, content })
    }

    /// A filter that has the keys that both have, and possibly others.  The
    /// errors are those of [`Filter::union`].
    pub fn intersect(&self, other: &Filter) -> Result<Filter, Error> {
        if self.shape.words == 0 || other.shape.words == 0 {
            return Ok(Filter::without_shape());
        }
        let shape = self.combined_shape(other)?;
        // without a key type, one of them holds nothing
        let mut key_type = self.key_type.as_ref().and(other.key_type.clone());
        let content = match (&self.content, &other.content) {
            (Content::Bits { bits: a, .. }, Content::Bits { bits: b, .. }) => {
                let bits: Vec<u8> = a.iter().zip(b).map(|(a, b)| a & b).collect();
                match count_bits(&bits) {
                    0 => {
                        key_type = None;
                        Content::Keys(Vec::new())
                    }
                    count => Content::Bits { bits, count },
                }
            }
            (Content::Keys(keys), _) => {
                Content::Keys(keys.iter().copied().filter(|&hash| other.test(hash)).collect())
            }
            (_, Content::Keys(keys)) => {
                Content::Keys(keys.iter().copied().filter(|&hash| self.test(hash)).collect())
            }
        };
        Ok(Filter { shape, key_type, content })
    }

    /// The larger capacity and its rate; of equal capacities, the larger rate.
    fn combined_shape(&self, other: &Filter) -> Result<Shape, Error> {
        let (a, b) = (&self.shape, &other.shape);
        if (a.words, a.hashes, a.seed) != (b.words, b.hashes, b.seed) {
            return Err(Error::Shape(format!(
                "the filters differ in bits, hashes or seed: {}, {} and {}; {}, {} and {}",
                self.bits(),
                a.hashes,
                a.seed,
                other.bits(),
                b.hashes,
                b.seed
            )));
        }
        if let (Some(mine), Some(given)) = (&self.key_type, &other.key_type) {
            if mine != given {
                return Err(mismatch(mine, given));
            }
        }
        Ok(if (b.capacity, b.fp_prob) > (a.capacity, a.fp_prob) { *b } else { *a })
    }
}

fn sort_distinct(keys: &mut Vec<u64>) {
    keys.sort_unstable();
    keys.dedup();
}
