//! The real filters against the exact model: rate, loads, overflow and accesses, on several seeds.
//!
//! The rate of a filter is computed from its bits (`Statistics::expected_rate`), which is more precise than
//! looking up millions of absent keys; one test looks them up nevertheless. The rest is the difference between
//! one filter and the next. Tolerance everywhere: 4σ + 1 %.
#![cfg(feature = "planner")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use equibloom::{
    AccessStatistics, Blocks, Candidates, Design, Filter, HashFilter, KeyHasher, Layout, Overflow,
    Parameters, Prediction, Rule, Share, Stable, Statistics, WhenFull,
};

const KEYS: u64 = 200_000;
const SEEDS: [u64; 3] = [1, 2, 0xdead_beef];

/// A budget of this many accesses per key.
fn budget(accesses: f64, keys: u64) -> Option<u64> {
    Some((accesses * keys as f64) as u64)
}

/// Every placement at one size of block: enough overflow, thresholds about the mean load.
fn bloom_filters(keys: u64, bits: u32, bits_per_key: f64, hashes: u32) -> Vec<Parameters> {
    let count = (keys as f64 * bits_per_key / f64::from(bits)) as u64;
    let blocks = Blocks::bloom(bits, hashes);
    let load = (keys as f64 / count as f64).round() as u32;
    let at = |below, coin| Rule::FirstWithRoom { below, coin: Share::clamped(coin) };
    let (third, second) = (count / 40, count / 7);
    let subtables = Candidates::subtables(&[count - second - third, second, third]).unwrap();
    let [one, three] = [1, 3].map(|choices| Candidates::anywhere(count, choices));
    let few = if bits == 64 { 3 } else { 8 };
    let all_accesses = None;
    let few_accesses = budget(1.1, keys);
    let rejecting = [
        (0, one, at(load + 2, 0.3), all_accesses),
        (0, three, at(load, 0.7), all_accesses),
        (0, three, at(load, 0.2), few_accesses),
        (0, subtables, at(load, 0.5), all_accesses),
        (0, subtables, at(load, 0.5), few_accesses),
        (few, one, at(load, 0.6), all_accesses),
        (2 * few, three, at(load + 1, 0.0), all_accesses),
        (few, three, at(load, 0.2), few_accesses),
        (2 * few, subtables, at(load, 0.5), all_accesses),
        (few, subtables, at(load, 0.5), few_accesses),
    ];
    let overflow = Overflow { capacity: keys / 2, when_full: WhenFull::Refuse };
    let rejecting = rejecting.map(|(hints, candidates, rule, budget)| {
        Layout::new(blocks.with_hints(hints), candidates, rule)
            .with_overflow(overflow)
            .with_budget(budget)
    });
    let least_loaded = [
        Layout::blocked(blocks, count),
        Layout::two_choice(blocks, count),
        Layout::one_plus_alpha(blocks, count, Share::clamped(0.3)),
    ];
    let layouts = rejecting.into_iter().chain(least_loaded).map(Design::Blocked);
    [Design::Classical { bits: (keys as f64 * bits_per_key) as u64, hashes }]
        .into_iter()
        .chain(layouts)
        .map(|design| Parameters { keys, seed: 0, design })
        .collect()
}

/// Fingerprint blocks of many shapes, in one to four subtables, as set and as multiset.
fn fingerprint_filters(keys: u64) -> Vec<Parameters> {
    let shapes = [
        (60, 80, 5, 0.93),
        (48, 72, 8, 0.95),
        (37, 48, 11, 0.9),
        (20, 30, 20, 0.85),
        (12, 16, 6, 0.7),
    ];
    let mut all = Vec::new();
    for (slots, lists, remainder_bits, load) in shapes {
        let count = (keys as f64 / (load * f64::from(slots))) as u64;
        let blocks = Blocks::Fingerprint { slots, lists, remainder_bits };
        let (fourth, third, second) = (count / 100, count / 30, count / 6);
        let all_sizes = [count - second - third - fourth, second, third, fourth];
        let overflow = Overflow { capacity: keys / 2, when_full: WhenFull::Refuse };
        let layout =
            |sizes: &[u64]| Layout::fingerprints(blocks, sizes).unwrap().with_overflow(overflow);
        all.extend([
            layout(&[count]),
            layout(&[count]).with_removal(),
            layout(&[count - second, second]),
            layout(&all_sizes[..3]),
            layout(&all_sizes),
            layout(&all_sizes).with_removal(),
        ]);
    }
    let parameters = |layout: Layout| Parameters { keys, seed: 0, design: layout.into() };
    all.into_iter().map(parameters).collect()
}

/// Block sizes from 64 bits to a page, rates from 5 % to 1e-5.
fn configurations() -> Vec<Parameters> {
    let sizes = [(64, 10.0, 5), (256, 8.0, 6), (256, 24.0, 17), (500, 16.0, 11), (512, 12.0, 8)];
    let small = sizes
        .iter()
        .flat_map(|&(bits, per_key, hashes)| bloom_filters(KEYS, bits, per_key, hashes));
    // Pages hold thousands of keys each: more keys, so that there are several hundred of them.
    let pages = bloom_filters(8 * KEYS, 32_768, 10.0, 7);
    let seeded = |parameters: Parameters| {
        SEEDS.into_iter().map(move |seed| Parameters { seed, ..parameters })
    };
    let fingerprints = fingerprint_filters(KEYS);
    small.chain(fingerprints).flat_map(seeded).chain(pages).collect()
}

struct Measured {
    keys: f64,
    predicted: Prediction,
    statistics: Statistics,
    accesses: AccessStatistics,
    /// Whether the blocks count their keys.
    is_counted: bool,
    context: String,
}

impl Measured {
    fn of(parameters: &Parameters) -> Self {
        let keys = parameters.keys;
        let mut filter = HashFilter::new(parameters).unwrap();
        let hasher = Stable::with_seed(parameters.seed);
        let mut accesses = AccessStatistics::default();
        for key in 0..keys {
            filter.insert_counted(hasher.hash_key(&key), &mut accesses).unwrap();
        }
        for key in 0..keys {
            let found = filter.contains_counted(hasher.hash_key(&key), &mut accesses);
            assert!(found, "{key} was lost");
        }
        // Hits end here; false positives among the misses are counted separately.
        let hits = accesses.hits;
        for key in keys..2 * keys {
            filter.contains_counted(hasher.hash_key(&key), &mut accesses);
        }
        accesses.hits = hits;
        Self {
            keys: keys as f64,
            predicted: parameters.predict(keys).unwrap(),
            statistics: filter.statistics(),
            accesses,
            is_counted: parameters
                .design
                .layout()
                .is_some_and(|layout| layout.rule != Rule::LeastLoaded),
            context: format!("{parameters:?}"),
        }
    }

    fn blocks(&self) -> f64 {
        self.statistics.levels.iter().map(|level| level.blocks).sum::<u64>() as f64
    }

    fn overflow_sigma(&self) -> f64 {
        // A block that overflows rejects not one key but about √load of them.
        let blocks = self.blocks();
        let clumps = if blocks > 0.0 { (self.keys / blocks).sqrt() } else { 1.0 };
        (2.0 * self.predicted.overflow_fraction * clumps / self.keys).sqrt()
    }

    /// The contents of the filled filter: rate, overflow, elements.
    fn check_contents(&self) {
        let Self { keys, predicted, statistics, .. } = self;
        self.check("rate", statistics.expected_rate, predicted.rate, predicted.rate_deviation);
        let overflowed = statistics.overflowed as f64 / keys;
        self.check("overflow", overflowed, predicted.overflow_fraction, self.overflow_sigma());
        let stored = statistics.elements as f64 / keys;
        self.check("stored", stored, predicted.stored_fraction, (0.1 / keys).sqrt());
    }

    fn check(&self, what: &str, measured: f64, predicted: f64, sigma: f64) {
        let allowed = 4.0 * sigma + 0.01 * predicted;
        assert!(
            (measured - predicted).abs() <= allowed,
            "{what}: measured {measured:e}, predicted {predicted:e} ± {allowed:e}; {}",
            self.context
        );
    }
}

/// Runs `check` on every configuration and seed.
fn for_all(check: impl Fn(&Measured)) {
    for parameters in configurations() {
        check(&Measured::of(&parameters));
    }
}

#[test]
fn rates_overflow_and_accesses_are_what_the_exact_model_says() {
    for_all(|filter| {
        let Measured { keys, predicted, statistics, accesses, .. } = filter;
        filter.check_contents();
        let blocks = filter.blocks();
        let probes = accesses.hits.mean_overflow_probes();
        filter.check(
            "overflow probes of hits",
            probes,
            predicted.overflow_probes_hit,
            filter.overflow_sigma(),
        );

        // One operation reads up to two blocks more than another, and operations are correlated: a full block
        // sends all its keys on.
        let of_blocks = if blocks > 0.0 { 1.0 / blocks.sqrt() } else { 0.0 };
        let sigma = 1.0 / keys.sqrt() + 0.1 * of_blocks;
        filter.check("insert", accesses.inserts.mean_blocks(), predicted.accesses_insert, sigma);
        let checks = accesses.checks.accesses.blocks as f64 / keys;
        let late = filter.overflow_sigma();
        filter.check("checks of late keys", checks, predicted.accesses_check, late);
        filter.check("hit", accesses.hits.mean_blocks(), predicted.accesses_hit, sigma);
        let sigma = 1.0 / keys.sqrt() + of_blocks;
        let expected = statistics.expected_accesses_per_miss;
        filter.check("expected miss", expected, predicted.accesses_miss, sigma);
        // The mean over true misses leaves out false positives.
        let sigma = sigma + predicted.rate;
        filter.check("miss", accesses.misses.mean_blocks(), predicted.accesses_miss, sigma);
    });
}

/// The order in which threads reach a block gives another filter, not a worse one.
#[cfg(target_has_atomic = "64")]
#[test]
fn threads_that_share_a_filter_fill_it_like_one_thread() {
    let keys: Vec<u64> = (0..KEYS).collect();
    for parameters in bloom_filters(KEYS, 256, 8.0, 6).iter().chain(&fingerprint_filters(KEYS)) {
        let one = Measured::of(parameters);
        let filter = Filter::<u64>::new(parameters).unwrap().into_shared().unwrap();
        std::thread::scope(|scope| {
            for keys in keys.chunks(keys.len().div_ceil(3)) {
                let filter = &filter;
                scope.spawn(move || filter.insert_batch(keys).unwrap());
            }
        });
        let filter = filter.into_filter();
        assert!(keys.iter().all(|key| filter.contains(key)));
        let threads = filter.statistics();
        let sigma = one.predicted.rate_deviation;
        one.check("rate", threads.expected_rate, one.statistics.expected_rate, sigma);
        let share = |count: u64| count as f64 / one.keys;
        let (overflowed, of_one) = (share(threads.overflowed), share(one.statistics.overflowed));
        one.check("overflow", overflowed, of_one, one.overflow_sigma());
        let (stored, by_one) = (share(threads.elements), share(one.statistics.elements));
        one.check("stored", stored, by_one, (0.1 / one.keys).sqrt());
    }
}

#[test]
fn loads_are_distributed_as_the_exact_model_says() {
    for_all(|filter| {
        let levels = filter.statistics.levels.iter().zip(&filter.predicted.load_distributions);
        for (index, (level, distribution)) in levels.enumerate() {
            // Blocks without a counter are compared by their set bits.
            let counted = filter.is_counted;
            let measured = if counted { &level.loads } else { &level.set_bits };
            let blocks = level.blocks as f64;
            // Later levels receive the keys that earlier ones rejected, and that number varies too.
            let spread = (1 + index) as f64;
            // The model resolves pages by load only, with the mean of the set bits.
            let resolved = counted || distribution.len() < 2_000;
            for (load, &probability) in distribution.iter().enumerate().filter(|_| resolved) {
                let share = measured.get(load).copied().unwrap_or(0) as f64 / blocks;
                // 4σ for each of ten thousand cells would fail now and then; 5.5σ is as rare.
                let sigma = spread * 5.5 / 4.0 * ((probability / blocks).sqrt() + 1.0 / blocks);
                filter.check(&format!("level {index}, load {load}"), share, probability, sigma);
            }
            let mean = |shares: &mut dyn Iterator<Item = f64>| -> f64 {
                shares.enumerate().map(|(load, share)| load as f64 * share).sum()
            };
            let measured_mean = mean(&mut measured.iter().map(|&count| count as f64 / blocks));
            let predicted_mean = mean(&mut distribution.iter().copied());
            let sigma = spread * (predicted_mean / blocks).sqrt();
            filter.check(
                &format!("level {index}, mean load"),
                measured_mean,
                predicted_mean,
                sigma,
            );
        }
    });
}

/// The rate computed from the bits is the measured rate.
#[test]
fn absent_keys_are_found_at_the_expected_rate() {
    let absent = 2_000_000_u64;
    for parameters in bloom_filters(KEYS, 256, 10.0, 7).into_iter().chain(fingerprint_filters(KEYS))
    {
        let mut filter = Filter::<u64>::new(&parameters).unwrap();
        filter.try_extend(0..KEYS).unwrap();
        let taken = (KEYS..KEYS + absent).filter(|key| filter.contains(key)).count();
        let rate = filter.statistics().expected_rate;
        let sigma = (rate * (1.0 - rate) / absent as f64).sqrt();
        let measured = taken as f64 / absent as f64;
        assert!(
            (measured - rate).abs() < 4.0 * sigma,
            "{measured} against {rate}: {:?}",
            parameters.design
        );
    }
}
