//! The classical Bloom filter, against its formula and the slides' examples.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use equibloom::{AccessStatistics, Design, Filter, Parameters};

const KEYS: u64 = 100_000;

fn filled(design: Design) -> Filter<u64> {
    let mut filter = Filter::new(&Parameters { keys: KEYS, seed: 3, design }).unwrap();
    filter.try_extend(0..KEYS).unwrap();
    filter
}

/// The slides' first filter: one hash function, rate 1 − e^{−n/m}. (They print 0.0095 for m = 100 n;
/// it is 0.00995.)
#[test]
fn one_hash_gives_the_rates_of_the_slides() {
    for (bits, rate) in [(KEYS, 0.632_12), (100 * KEYS, 0.009_95), (KEYS / 10, 0.999_95)] {
        let expected = filled(Design::Classical { bits, hashes: 1 }).statistics().expected_rate;
        assert!((expected - rate).abs() < 0.01 * rate, "{bits} bits: {expected}");
    }
}

#[test]
fn the_optimal_number_of_hashes_beats_its_neighbours() {
    for bits_per_key in [4, 8, 10, 16, 24] {
        let bits = bits_per_key * KEYS;
        let best = Design::classical(bits, KEYS).hashes();
        let rate = |hashes| filled(Design::Classical { bits, hashes }).statistics().expected_rate;
        assert!(rate(best) <= 1.01 * rate(best + 1));
        assert!(rate(best) <= 1.01 * rate(best - 1));
        // 0.6185 to the power of the bits per key, where k is a whole number.
        let bound = 0.618_503_f64.powi(bits_per_key as i32);
        assert!((0.98..1.1).contains(&(rate(best) / bound)), "{bits_per_key} bits per key");
    }
}

#[test]
fn a_miss_stops_at_the_first_unset_bit() {
    let filter = filled(Design::Classical { bits: 16 * KEYS, hashes: 11 });
    let mut accesses = AccessStatistics::default();
    for key in KEYS..2 * KEYS {
        filter.as_hash_filter().contains_counted(filter.hash(&key), &mut accesses);
    }
    // Half of the bits are set: 1 + 1/2 + 1/4 + …, σ = √2 per lookup.
    assert!((accesses.misses.mean_blocks() - 2.0).abs() < 0.02 + 4.0 * (2.0 / KEYS as f64).sqrt());
    for key in 0..KEYS {
        filter.as_hash_filter().contains_counted(filter.hash(&key), &mut accesses);
    }
    assert!(accesses.hits.mean_blocks() > 10.9);
}

#[test]
fn any_size_works_down_to_one_bit() {
    for bits in [1, 2, 63, 64, 65, 1_000_003] {
        let filter = filled(Design::Classical { bits, hashes: 3 });
        assert!((0..KEYS).all(|key| filter.contains(&key)));
    }
}
