//! Inserts past capacity: the time of an insert before and after 100 % of the planned keys, and the rate beside a
//! Bloom filter of the same bytes.
//!
//!     cargo run --release -p equibloom-benchmarks --example overload -- 1000000

use std::error::Error;
use std::time::Instant;

use equibloom::{Design, Filter, HashFilter, KeyHash, KeyHasher, Parameters, Stable, WhenFull};

const QUERIES: u64 = 4_000_000;
const RATES: [f64; 4] = [1e-2, 1e-3, 1e-4, 1e-6];
const LOADS: [u64; 7] = [100, 105, 110, 125, 150, 200, 300];

fn rate(filter: &HashFilter, asked: &[KeyHash]) -> f64 {
    asked.iter().filter(|&&hash| filter.contains(hash)).count() as f64 / asked.len() as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    let keys: u64 = std::env::args().nth(1).map_or(Ok(1_000_000), |keys| keys.parse())?;
    let hash = |key: u64| Stable::default().hash_key(&key);
    let all: Vec<KeyHash> = (0..3 * keys).map(hash).collect();
    let asked: Vec<KeyHash> = (0..QUERIES).map(|query| hash(u64::MAX - query)).collect();
    for planned in RATES {
        let builder = Filter::<u64>::builder().keys(keys).rate(planned);
        let mut filter = builder.when_full(WhenFull::Saturate).build()?.into_hash_filter();
        let memory = filter.statistics().memory;
        let design = Design::classical(8 * (memory.blocks + memory.overflow), keys);
        let mut bloom = HashFilter::new(&Parameters { keys, seed: 0, design })?;
        let (mut stored, mut before) = (0, 0.0);
        for percent in LOADS {
            let some = &all[stored..(keys * percent / 100) as usize];
            let start = Instant::now();
            for &key in some {
                filter.insert(key)?;
            }
            let each = start.elapsed().as_nanos() as f64 / some.len() as f64;
            before = if stored == 0 { each } else { before };
            stored += some.len();
            bloom.insert_batch(some)?;
            let (ours, theirs) = (rate(&filter, &asked), rate(&bloom, &asked));
            println!(
                "{planned:e} {percent:>3} %  rate {ours:.3e}  expected {:.3e}  Bloom {theirs:.3e}  ÷ {:.2}  \
                 insert {each:.1} ns, {:.2} of before",
                filter.statistics().expected_rate,
                ours / theirs,
                each / before
            );
        }
        let lost = all.iter().filter(|&&key| !filter.contains(key)).count();
        println!("{planned:e} lost keys: {lost}, bytes {}\n", filter.statistics().memory.total());
    }
    Ok(())
}
