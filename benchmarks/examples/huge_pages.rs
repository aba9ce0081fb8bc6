//! The effect of huge pages on a filter and a map: two copies of each, one in small and one in huge pages,
//! measured in turn.
//!
//!     cargo run --release -p equibloom-benchmarks --example huge_pages -- --keys 100000000
//!
//! Needs Linux and 70 bytes of memory per key. `MiB in huge pages` shows what the system gave; 0 means none.

use std::error::Error;
use std::time::Instant;

use clap::Parser;
use equibloom::{Filter, HashFilter, KeyHash};
use equibloom_tables::BalancedMap;

#[derive(Parser)]
struct Arguments {
    /// Keys in the filter; the map holds a quarter of them.
    #[arg(long, default_value_t = 60_000_000)]
    keys: u64,
    /// Lookups per measurement.
    #[arg(long, default_value_t = 2_000_000)]
    lookups: u64,
    /// Number of rounds; the median is reported.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { keys, lookups, rounds } = Arguments::parse();
    let absent: Vec<KeyHash> = (0..lookups).map(|key| KeyHash::from_u64(key | 1 << 60)).collect();
    let filters = each_kind_of_pages(|| filter(keys))?;
    let single = |filter: &HashFilter| absent.iter().filter(|&&hash| filter.contains(hash)).count();
    let mut bits = Vec::new();
    report("filter, misses one by one", lookups, rounds, &filters, single);
    report("filter, misses in batches", lookups, rounds, &filters, |filter| {
        filter.contains_batch_bitmap(&absent, &mut bits);
        bits.iter().map(|word| word.count_ones() as usize).sum()
    });
    drop(filters);
    let maps = each_kind_of_pages(|| map(keys / 4))?;
    let get = |map: &BalancedMap<u64, u64>, key: u64| map.get(&key).is_some();
    report("map, misses", lookups, rounds, &maps, |map| {
        (0..lookups).filter(|key| get(map, scattered(key | 1 << 60))).count()
    });
    report("map, hits", lookups, rounds, &maps, |map| {
        (0..lookups).filter(|key| get(map, scattered(key * 7_919 % (keys / 4)))).count()
    });
    Ok(())
}

fn filter(keys: u64) -> Result<HashFilter, Box<dyn Error>> {
    let plan = Filter::<u64>::builder().keys(keys).bits_per_key(16.0);
    let mut filter = HashFilter::new(&plan.parameters()?)?;
    let mut start = 0;
    while start < keys {
        let end = keys.min(start + (1 << 20));
        let hashes: Vec<KeyHash> = (start..end).map(KeyHash::from_u64).collect();
        filter.insert_parallel(&hashes, 2)?;
        start = end;
    }
    Ok(filter)
}

fn map(entries: u64) -> Result<BalancedMap<u64, u64>, Box<dyn Error>> {
    let mut map = BalancedMap::with_capacity(entries as usize);
    for key in 0..entries {
        map.insert(scattered(key), key);
    }
    Ok(map)
}

fn scattered(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The same contents in small pages and in huge pages.
fn each_kind_of_pages<T>(
    mut make: impl FnMut() -> Result<T, Box<dyn Error>>,
) -> Result<[T; 2], Box<dyn Error>> {
    allow_huge_pages(false);
    let small = make()?;
    let before = in_huge_pages()?;
    allow_huge_pages(true);
    let huge = make()?;
    println!("MiB in huge pages: {before:.0}, then {:.0}", in_huge_pages()?);
    Ok([small, huge])
}

/// Allows or forbids huge pages for this process from now on.
#[allow(unsafe_code, reason = "prctl has no safe wrapper")]
fn allow_huge_pages(allow: bool) {
    let disable = libc::c_ulong::from(!allow);
    // SAFETY: sets one flag of the process and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, disable, 0, 0, 0) };
}

/// MiB of this process that lie in huge pages.
fn in_huge_pages() -> Result<f64, Box<dyn Error>> {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup")?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("AnonHugePages:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).ok_or("no AnonHugePages")?;
    Ok(kib.trim().parse::<f64>()? / 1_024.0)
}

/// Times both in turn.
fn report<T>(
    what: &str,
    lookups: u64,
    rounds: usize,
    both: &[T; 2],
    mut ask: impl FnMut(&T) -> usize,
) {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        let mut answers = Vec::new();
        for (contestant, times) in both.iter().zip(&mut times) {
            let start = Instant::now();
            answers.push(ask(contestant));
            times.push(start.elapsed().as_secs_f64() * 1e9 / lookups as f64);
        }
        assert_eq!(answers[0], answers[1], "the same answers from any pages");
    }
    let [small, huge] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    println!(
        "{what}: {small:.1} ns in small pages, {huge:.1} in huge ones, ratio {:.2}",
        small / huge
    );
}
