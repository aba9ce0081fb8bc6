//! How much memory does a growing filter take, and what do its lookups cost, while it grows?
//!
//! `cargo run --release -p equibloom --example growth -- 10000000 0.01` prints a row for each doubling of the keys:
//! bits per key now, their ratio to those of a planned filter, the mean of that over log n since 100,000 keys and the
//! highest since then, blocks per miss, the rate that is expected and measured on absent keys, and listed strings. At
//! the end the most that one insert did. With `chain` as a third argument, bits per key and blocks per miss of a
//! chain of filters as others build it: each twice as large as the one before, for a rate of 6/(πi)² of the whole.

use std::time::{Duration, Instant};

use equibloom::{AccessStatistics, Filter};

const ABSENT: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let keys: u64 = arguments.next().map_or(Ok(1_000_000), |keys| keys.parse())?;
    let rate: f64 = arguments.next().map_or(Ok(0.01), |rate| rate.parse())?;
    let planned = Filter::<u64>::builder().keys(1_000_000).rate(rate).plan()?.bits_per_key();
    if arguments.next().is_some_and(|kind| kind == "chain") {
        return chain(keys, rate);
    }
    let mut filter = Filter::<u64>::builder().rate(rate).build_growing()?;

    println!("planned for its keys: {planned:.2} bits per key");
    println!("      keys  bits/key  ratio  mean  highest  blocks/miss  expected  measured  listed");
    let (mut next_row, mut next_sample) = (1_000, 100_000.0);
    let (mut sum, mut samples, mut highest) = (0.0, 0_u32, 0.0_f64);
    let mut longest = Duration::ZERO;
    for key in 0..keys {
        let start = Instant::now();
        filter.insert(&key)?;
        longest = longest.max(start.elapsed());
        let stored = (key + 1) as f64;
        if stored >= next_sample {
            let ratio = 8.0 * filter.bytes() as f64 / stored / planned;
            (sum, samples, highest) = (sum + ratio, samples + 1, highest.max(ratio));
            next_sample *= 1.005;
        }
        if key + 1 == next_row || key + 1 == keys {
            next_row *= 2;
            let mut accesses = AccessStatistics::default();
            let absent = u64::MAX - ABSENT..u64::MAX;
            let found = absent.filter(|key| filter.contains_counted(key, &mut accesses)).count();
            let statistics = filter.statistics();
            let bits = statistics.memory.total() as f64 * 8.0 / stored;
            println!(
                "{:10} {bits:9.2} {:6.2} {:5.2} {highest:8.2} {:12.3} {:9.2e} {:9.2e} {:7}",
                key + 1,
                bits / planned,
                sum / f64::from(samples.max(1)),
                accesses.misses.mean_blocks(),
                statistics.expected_rate,
                found as f64 / ABSENT as f64,
                statistics.overflowed,
            );
        }
    }
    let work = filter.longest_insert();
    println!(
        "one insert: at most {} blocks moved, {} bytes zeroed, {longest:?}",
        work.blocks, work.bytes
    );
    let lost = (0..keys).filter(|key| !filter.contains(key)).count();
    println!("keys not found: {lost}");
    Ok(())
}

/// Bits per key and blocks per miss of a chain of filters.
fn chain(keys: u64, rate: f64) -> Result<(), Box<dyn std::error::Error>> {
    let mut stages: Vec<Filter<u64>> = Vec::new();
    let mut next_row = 1_000;
    println!("      keys  bits/key  blocks/miss");
    for key in 0..keys {
        if stages.iter().rev().any(|stage| stage.contains(&key)) {
            continue;
        }
        if stages.last().is_none_or(|stage| stage.len() >= stage.parameters().keys) {
            let number = stages.len() as i32 + 1;
            let share = 6.0 / (std::f64::consts::PI * f64::from(number)).powi(2);
            let stage = Filter::builder().keys(500 << number).rate(rate * share).build()?;
            stages.push(stage);
        }
        if let Some(stage) = stages.last_mut() {
            stage.insert(&key)?;
        }
        if key + 1 >= next_row || key + 1 == keys {
            next_row *= 2;
            let statistics: Vec<_> = stages.iter().map(Filter::statistics).collect();
            let bytes: u64 = statistics.iter().map(|stage| stage.memory.total()).sum();
            let blocks: f64 = statistics.iter().map(|stage| stage.expected_accesses_per_miss).sum();
            let bits = 8.0 * bytes as f64 / (key + 1) as f64;
            println!("{:10} {bits:9.2} {blocks:12.2}", key + 1);
        }
    }
    Ok(())
}
