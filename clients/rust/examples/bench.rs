//! Prints the time of a hash and of a test of the same integer keys, in a filter
//! of a million keys, of which half are there: the best of many rounds, since
//! other programs only ever add to it.
//!
//!     cargo run --release --example bench

use std::ops::Range;
use std::time::Instant;

use bloomtype::{Builder, Key, Options};

const N: i64 = 1_000_000;
const STEP: i64 = 100_000;

fn best(keys: Range<i64>, mut work: impl FnMut(i64) -> u64) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        for from in keys.clone().step_by(STEP as usize) {
            let start = Instant::now();
            let sum = (from..from + STEP).fold(0, |sum: u64, key| sum.wrapping_add(work(key)));
            best = best.min(start.elapsed().as_nanos() as f64 / STEP as f64);
            assert!(sum > 0, "so that the sum is computed");
        }
    }
    best
}

fn main() -> Result<(), bloomtype::Error> {
    let mut builder = Builder::new(&Options::new(N as u64))?;
    for key in 0..N {
        builder.add(key)?;
    }
    let filter = builder.filter();
    let seed = filter.seed();
    let hash = best(0..2 * N, |key| Key::from(key).hash(seed));
    let present = best(0..N, |key| u64::from(matches!(filter.contains(key), Ok(true))));
    let absent = best(N..2 * N, |key| u64::from(matches!(filter.contains(key), Ok(true))));
    let ratio = (present + absent) / 2.0 / hash;
    println!("{hash:.1} ns/hash, {present:.1} ns/present, {absent:.1} ns/absent, ratio {ratio:.1}");
    Ok(())
}
