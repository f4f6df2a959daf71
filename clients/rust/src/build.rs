//! Building filters.

use alloc::vec::Vec;

use crate::{count_bits, set_bits, sort_distinct, Content, Error, Filter, Key, KeyType};
#[cfg(feature = "std")]
use crate::{Shape, MAX_WORDS};

/// Which filter to build.  Filters that are built with the same options, here or
/// in the server, can be combined.
///
/// There are no other options:
///
/// ```compile_fail,E0560
/// use bloomtype::Options;
///
/// let options = Options { fpProb: 0.001, ..Options::new(1000) };
/// ```
#[cfg(feature = "std")]
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How many distinct keys
    pub capacity: u64,
    /// The false-positive rate
    pub fp_prob: f64,
    /// The seed of the hash
    pub seed: i64,
    /// What all keys are; `None`: what the first one is
    pub key_type: Option<KeyType>,
}

#[cfg(feature = "std")]
impl Options {
    /// This capacity, the rate 0.01, and the seed 0.
    pub const fn new(capacity: u64) -> Options {
        Options { capacity, fp_prob: 0.01, seed: 0, key_type: None }
    }
}

/// Makes a filter of keys.
#[derive(Clone, Debug)]
pub struct Builder {
    filter: Filter,    // without the pending keys; its bits are not counted
    pending: Vec<u64>, // if it is in keys form
}

/// Starts with the keys of a filter.  An error for the one without a shape.
impl TryFrom<Filter> for Builder {
    type Error = Error;

    fn try_from(filter: Filter) -> Result<Self, Error> {
        if filter.shape.words == 0 {
            return Err(Error::Shape("a filter without a shape has no room for keys".into()));
        }
        Ok(Builder { filter, pending: Vec::new() })
    }
}

impl Builder {
    /// An empty filter, of the size that the server gives it.
    #[cfg(feature = "std")]
    pub fn new(options: &Options) -> Result<Self, Error> {
        let (bits_per_key, hashes) = best_params(options.fp_prob)?;
        let capacity = options.capacity;
        let most = MAX_WORDS * 64 / u64::from(bits_per_key);
        if capacity < 1 || capacity > most {
            return Err(Error::OutOfRange(format!(
                "capacity {capacity} is out of range: at fp_prob {}, it is 1 to {most}",
                options.fp_prob
            )));
        }
        let shape = Shape {
            words: (capacity * u64::from(bits_per_key) + 63) / 64,
            hashes,
            seed: options.seed,
            capacity,
            fp_prob: options.fp_prob,
        };
        let content = Content::Keys(Vec::new());
        Builder::try_from(Filter { shape, key_type: options.key_type.clone(), content })
    }

    /// Adds a key.  One of another type than those before is an error.
    pub fn add<'a>(&mut self, key: impl Into<Key<'a>>) -> Result<(), Error> {
        let key = key.into();
        if !self.filter.holds_type_of(&key) {
            self.filter.check(&key)?;
            self.filter.key_type = Some(KeyType::BuiltIn(key.oid()));
        }
        let hash = key.hash(self.filter.shape.seed);
        match &mut self.filter.content {
            Content::Bits { bits, .. } => set_bits(bits, self.filter.shape.hashes, hash),
            Content::Keys(_) => {
                self.pending.push(hash);
                if self.pending.len() as u64 >= self.filter.shape.words {
                    self.flush();
                }
            }
        }
        Ok(())
    }

    fn flush(&mut self) {
        if let Content::Keys(keys) = &mut self.filter.content {
            let mut keys = core::mem::take(keys);
            keys.append(&mut self.pending);
            sort_distinct(&mut keys);
            self.filter.content = Content::of_keys(keys, &self.filter.shape);
        }
    }

    /// The filter of the keys so far.  It can have more keys than its capacity:
    /// see [`Filter::is_overfull`] and [`Builder::try_filter`].
    pub fn filter(mut self) -> Filter {
        self.flush();
        if let Content::Bits { bits, count } = &mut self.filter.content {
            *count = count_bits(bits);
        }
        self.filter
    }

    /// The same, or [`Error::Overfull`], if there were more keys than the capacity, so
    /// that the rate is higher than requested.
    #[cfg(feature = "std")]
    pub fn try_filter(self) -> Result<Filter, Error> {
        let filter = self.filter();
        filter.check_overfull()?;
        Ok(filter)
    }
}

/// The smallest whole number of bits per key that reaches the false-positive
/// rate, and the smallest number of hashes that then still does: `best_params`.
#[cfg(feature = "std")]
pub fn best_params(fp_prob: f64) -> Result<(u32, u32), Error> {
    for bits_per_key in 1..=64 {
        let most = (f64::from(bits_per_key) * std::f64::consts::LN_2).ceil() as u32;
        for hashes in 1..=most {
            if fp_prob < 1.0 && rate(bits_per_key, hashes) <= fp_prob {
                return Ok((bits_per_key, hashes));
            }
        }
    }
    Err(Error::OutOfRange(format!(
        "fp_prob {fp_prob} is out of range: it is at least 4.43e-14, and less than 1"
    )))
}

/// The false-positive rate at capacity.  From 2 to 20 bits per key, it is that of
/// the table that is published: three digits, and 0.092 where 0.0918 is right.
#[cfg(feature = "std")]
fn rate(bits_per_key: u32, hashes: u32) -> f64 {
    let fill = -(-f64::from(hashes) / f64::from(bits_per_key)).exp_m1();
    let rate = fill.powf(f64::from(hashes));
    match (bits_per_key, hashes) {
        (5, 3) => 0.092,
        (2..=20, _) => format!("{rate:.2e}").parse().unwrap_or(rate),
        _ => rate,
    }
}
