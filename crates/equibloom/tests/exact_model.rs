//! The real filters against the exact model: rate, loads, overflow and accesses, on several seeds.
//!
//! The rate of a filter is read off its bits (`Statistics::expected_rate`), which is more precise
//! than asking millions of strangers; one test asks them all the same. What is left is the
//! difference between one filter and the next. Tolerance everywhere: 4σ + 1 %.
#![cfg(feature = "planner")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use equibloom::{
    AccessStatistics, AnyFilter, BlockTable, FingerprintTable, KeyHash, KeyHasher, Overflow,
    Parameters, Prediction, Route, Scheme, Stable, Statistics, Threshold, WhenFull,
};

const KEYS: u64 = 200_000;
const SEEDS: [u64; 3] = [1, 2, 0xdead_beef];

/// Every scheme at one size of block: enough overflow, thresholds about the mean load.
fn schemes(keys: u64, bits: u32, bits_per_key: f64, hashes: u32) -> Vec<Parameters> {
    let count = (keys as f64 * bits_per_key / f64::from(bits)) as u64;
    let blocks = BlockTable { count, bits, hashes };
    let load = (keys as f64 / count as f64).round() as u32;
    let overflow = Overflow { capacity: keys / 2, when_full: WhenFull::Refuse };
    let at = |load, probability| Threshold { load, probability };
    let (third, second) = (count / 40, count / 7);
    let subtables = vec![count - second - third, second, third];
    let few = if bits == 64 { 3 } else { 8 };
    [
        Scheme::Classical { bits: (keys as f64 * bits_per_key) as u64, hashes },
        Scheme::Blocked { blocks },
        Scheme::Single { blocks, threshold: at(load + 2, 0.3), hints: 0, overflow },
        Scheme::Sequential {
            blocks,
            threshold: at(load, 0.7),
            hints: 0,
            overflow,
            choices: 3,
            accesses: 3.0,
        },
        Scheme::Sequential {
            blocks,
            threshold: at(load, 0.2),
            hints: 0,
            overflow,
            choices: 3,
            accesses: 1.1,
        },
        Scheme::MultiLevel {
            blocks,
            threshold: at(load, 0.5),
            hints: 0,
            overflow,
            subtables: subtables.clone(),
        },
        Scheme::Single { blocks, threshold: at(load, 0.6), hints: few, overflow },
        Scheme::Sequential {
            blocks,
            threshold: at(load + 1, 0.0),
            hints: 2 * few,
            overflow,
            choices: 3,
            accesses: 3.0,
        },
        Scheme::Sequential {
            blocks,
            threshold: at(load, 0.2),
            hints: few,
            overflow,
            choices: 3,
            accesses: 1.1,
        },
        Scheme::MultiLevel {
            blocks,
            threshold: at(load, 0.5),
            hints: 2 * few,
            overflow,
            subtables: subtables.clone(),
        },
        Scheme::TwoChoice { blocks },
        Scheme::OnePlusAlpha { blocks, alpha: 0.3 },
    ]
    .map(|scheme| Parameters { keys, seed: 0, scheme })
    .into()
}

/// Fingerprint blocks of many shapes, each by every route, as set and as multiset.
fn fingerprint_schemes(keys: u64) -> Vec<Parameters> {
    let shape = |slots, lists, remainder_bits, hints, load: f64| {
        let count = (keys as f64 / (load * f64::from(slots))) as u64;
        FingerprintTable { count, slots, lists, remainder_bits, hints }
    };
    let tables = [
        shape(60, 80, 5, 24, 0.93),
        shape(48, 64, 8, 16, 0.95),
        shape(37, 48, 11, 20, 0.9),
        shape(20, 30, 20, 12, 0.85),
        shape(12, 16, 6, 64, 0.7),
    ];
    let mut all = Vec::new();
    for blocks in tables {
        let (third, second) = (blocks.count / 30, blocks.count / 6);
        let subtables = vec![blocks.count - second - third, second, third];
        let routes = [
            Route::Single,
            Route::Sequential { choices: 3, accesses: 3.0 },
            Route::Sequential { choices: 3, accesses: 1.1 },
            Route::MultiLevel { subtables },
        ];
        let overflow = Overflow { capacity: keys / 2, when_full: WhenFull::Refuse };
        for route in routes {
            let shared = matches!(route, Route::Sequential { .. });
            for multiset in [false, true].into_iter().filter(|multiset| !(shared && *multiset)) {
                let route = route.clone();
                let scheme = Scheme::Fingerprint { blocks, route, overflow, multiset };
                all.push(Parameters { keys, seed: 0, scheme });
            }
        }
        // Without hints, as in the papers.
        let blocks = FingerprintTable { hints: 0, ..blocks };
        let route = Route::Sequential { choices: 2, accesses: 2.0 };
        let scheme = Scheme::Fingerprint { blocks, route, overflow, multiset: false };
        all.push(Parameters { keys, seed: 0, scheme });
    }
    all
}

/// Block sizes from 64 bits to a page, rates from 5 % to 1e-5.
fn configurations() -> Vec<Parameters> {
    let sizes = [(64, 10.0, 5), (256, 8.0, 6), (256, 24.0, 17), (500, 16.0, 11), (512, 12.0, 8)];
    let small =
        sizes.iter().flat_map(|&(bits, per_key, hashes)| schemes(KEYS, bits, per_key, hashes));
    // Pages hold thousands of keys each: more keys, so that there are several hundred of them.
    let pages = schemes(8 * KEYS, 32_768, 10.0, 7);
    let seeded = |parameters: Parameters| {
        SEEDS.into_iter().map(move |seed| Parameters { seed, ..parameters.clone() })
    };
    let fingerprints = fingerprint_schemes(KEYS);
    small.chain(fingerprints).flat_map(seeded).chain(pages).collect()
}

struct Measured {
    keys: f64,
    predicted: Prediction,
    statistics: Statistics,
    accesses: AccessStatistics,
    context: String,
}

impl Measured {
    fn of(parameters: &Parameters) -> Self {
        let keys = parameters.keys;
        let mut filter = AnyFilter::new(parameters).unwrap();
        let mut accesses = AccessStatistics::default();
        for key in 0..keys {
            filter.insert_counted(&key, &mut accesses).unwrap();
        }
        for key in 0..keys {
            assert!(filter.contains_counted(&key, &mut accesses), "{key} was lost");
        }
        // Hits end here; false positives among the misses are counted apart.
        let hits = accesses.hits;
        for key in keys..2 * keys {
            filter.contains_counted(&key, &mut accesses);
        }
        accesses.hits = hits;
        Self {
            keys: keys as f64,
            predicted: parameters.predict(keys).unwrap(),
            statistics: filter.statistics(),
            accesses,
            context: format!("{parameters:?}"),
        }
    }

    fn blocks(&self) -> f64 {
        self.statistics.levels.iter().map(|level| level.blocks).sum::<u64>() as f64
    }

    fn overflow_sigma(&self) -> f64 {
        // A block that overflows turns away not one key but about √load of them.
        let blocks = self.blocks();
        let clumps = if blocks > 0.0 { (self.keys / blocks).sqrt() } else { 1.0 };
        (2.0 * self.predicted.overflow_fraction * clumps / self.keys).sqrt()
    }

    /// What the filter holds in the end: rate, overflow, elements.
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

        // One operation reads up to two blocks more than another, and so it is with blocks: a full
        // one sends all its visitors on.
        let of_blocks = if blocks > 0.0 { 1.0 / blocks.sqrt() } else { 0.0 };
        let sigma = 1.0 / keys.sqrt() + 0.1 * of_blocks;
        filter.check("insert", accesses.inserts.mean_blocks(), predicted.accesses_insert, sigma);
        filter.check("hit", accesses.hits.mean_blocks(), predicted.accesses_hit, sigma);
        let sigma = 1.0 / keys.sqrt() + of_blocks;
        let expected = statistics.expected_accesses_per_miss;
        filter.check("expected miss", expected, predicted.accesses_miss, sigma);
        // The mean over true misses leaves out strangers that were taken for members.
        let sigma = sigma + predicted.rate;
        filter.check("miss", accesses.misses.mean_blocks(), predicted.accesses_miss, sigma);
    });
}

/// Which thread comes first to a block makes another filter, not a worse one.
#[cfg(target_has_atomic = "64")]
#[test]
fn threads_that_share_a_filter_fill_it_like_one_thread() {
    let keys: Vec<u64> = (0..KEYS).collect();
    for parameters in schemes(KEYS, 256, 8.0, 6).iter().chain(&fingerprint_schemes(KEYS)) {
        let one = Measured::of(parameters);
        let filter = equibloom::SharedFilter::new(parameters).unwrap();
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
            let counted = filter.context.contains("threshold") || level.set_bits.is_empty();
            let measured = if counted { &level.loads } else { &level.set_bits };
            let blocks = level.blocks as f64;
            // Later levels get what the earlier ones turned away, and that number varies too.
            let spread = (1 + index) as f64;
            // The model resolves pages by their keys only, and puts the bits where their mean is.
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

/// The rate read off the bits is the rate that strangers meet.
#[test]
fn strangers_are_taken_for_members_at_the_expected_rate() {
    let strangers = 2_000_000_u64;
    for parameters in schemes(KEYS, 256, 10.0, 7).into_iter().chain(fingerprint_schemes(KEYS)) {
        let mut filter = AnyFilter::new(&parameters).unwrap();
        filter.try_extend(0..KEYS).unwrap();
        let hasher = Stable::with_seed(parameters.seed);
        let hash = |key: u64| -> KeyHash { hasher.hash_key(&key) };
        let taken = (KEYS..KEYS + strangers).filter(|&key| filter.contains_hash(hash(key))).count();
        let rate = filter.statistics().expected_rate;
        let sigma = (rate * (1.0 - rate) / strangers as f64).sqrt();
        let measured = taken as f64 / strangers as f64;
        assert!(
            (measured - rate).abs() < 4.0 * sigma,
            "{measured} against {rate}: {:?}",
            parameters.scheme
        );
    }
}
