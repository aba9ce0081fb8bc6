//! Hints and fingerprint blocks: the exact model against straightforward simulations, its limits, and the
//! promised rates.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "clippy.toml allows them in tests, but does not see that helpers of tests are tests"
)]

#[path = "simulator/fingerprints.rs"]
mod fingerprints;
mod simulator;

use equibloom_layout::{Blocks, Candidates, KeyHash, Layout, Rule, Share};
use equibloom_theory::exact::predict;
use equibloom_theory::planner::{Requirements, plan};
use fingerprints::FingerprintFilter;
use simulator::Measured;
use simulator::comparison::{check, compare, sizes};

/// Bloom blocks with `bits` less 6 and the hints for data, whatever the counter takes, and their keys.
fn hinted(
    candidates: Candidates,
    bits: u32,
    (below, coin): (u32, f64),
    hints: u32,
    budget: Option<u64>,
) -> (Layout, u64) {
    let rule = Rule::FirstWithRoom { below, coin: Share::new(coin).unwrap() };
    let blocks = Blocks::bloom(bits - 6 + rule.counter_bits(), 7).with_hints(hints);
    (Layout::new(blocks, candidates, rule).with_budget(budget), 150_000)
}

fn subtables(sizes: &[u64]) -> Candidates {
    Candidates::subtables(sizes).unwrap()
}

fn anywhere(blocks: u64, choices: u32) -> Candidates {
    Candidates::anywhere(blocks, choices)
}

#[test]
fn hinted_subtables_measure_what_the_model_says() {
    let three = subtables(&[5_400, 900, 150]);
    for (load, hints) in [((25, 0.0), 1), ((25, 0.4), 8), ((26, 0.9), 64)] {
        let name = format!("B=256 load {load:?} w={hints}");
        check(&name, hinted(three, 256, load, hints, None));
    }
    check("B=512", hinted(subtables(&[3_000, 300]), 512, (48, 0.2), 16, None));
    check("B=2048", hinted(subtables(&[700, 60]), 2048, (205, 0.5), 32, None));
}

#[test]
fn hinted_tables_measure_what_the_model_says() {
    check("single", hinted(anywhere(6_000, 1), 256, (27, 0.3), 8, None));
    check("sequential", hinted(anywhere(6_000, 3), 256, (27, 0.3), 8, None));
    check("w=1", hinted(anywhere(6_000, 2), 256, (29, 0.0), 1, None));
}

#[test]
fn hinted_tables_with_a_budget_measure_what_the_model_says() {
    check("a=1.05", hinted(anywhere(6_000, 3), 256, (25, 0.3), 8, Some(157_500)));
    check("a=0.9", hinted(anywhere(6_000, 3), 256, (24, 0.0), 16, Some(135_000)));
    check("single, a=0.8", hinted(anywhere(6_000, 1), 256, (21, 0.0), 8, Some(120_000)));
}

const FINGERPRINT_KEYS: u64 = 50_000;

fn fingerprint(sizes: &[u64], slots: u32, lists: u32, remainder_bits: u32) -> Layout {
    Layout::fingerprints(Blocks::Fingerprint { slots, lists, remainder_bits }, sizes).unwrap()
}

/// Small filters, so that all misses can be looked up; and many of them.
const FILTERS: u64 = 8;

/// As a set and as a multiset.
fn check_both(name: &str, layout: Layout) {
    check_one(&format!("{name}, set"), layout);
    check_one(&format!("{name}, multiset"), layout.with_removal());
}

fn check_one(name: &str, layout: Layout) {
    let keys = FINGERPRINT_KEYS;
    let model = predict(&layout.into(), keys).unwrap();
    let runs: Vec<Measured> =
        (0..FILTERS).map(|seed| FingerprintFilter::new(&layout, keys, seed).run()).collect();
    compare(name, &model, keys, &sizes(&layout.candidates), &runs);
}

#[test]
fn subtables_of_fingerprints_measure_what_the_model_says() {
    check_both("four", fingerprint(&[1_000, 120, 18, 3], 48, 32, 6));
    check_both("a whole byte", fingerprint(&[1_000, 120, 15], 48, 12, 8));
    check_both("more than a byte", fingerprint(&[1_000, 100, 15], 48, 5, 9));
    check_both("few slots", fingerprint(&[3_000, 600], 16, 16, 7));
    check_both("one table", fingerprint(&[1_000], 54, 64, 6));
}

#[test]
fn crowded_and_coarse_fingerprints_measure_what_the_model_says() {
    check_both("overfull", fingerprint(&[1_000, 120, 15], 41, 32, 6));
    // So few values that equal ones are common.
    check_one("M=1024", fingerprint(&[1_000, 120, 15], 44, 32, 5));
    check_one("M=256", fingerprint(&[1_200, 150], 35, 8, 5));
}

/// An entry that was sent on stays there when its block has room again: replacing keys fills the later subtables. The
/// planner accounts for that.
#[test]
fn the_list_of_a_removable_filter_stays_short_while_keys_are_replaced() {
    const KEYS: u64 = 20_000;
    for bits in [12.0, 24.0] {
        let requirements = Requirements {
            keys: Some(KEYS),
            bits_per_key: Some(bits),
            multiset: true,
            ..Requirements::default()
        };
        let design = plan(&requirements).unwrap().design;
        let mut filter = FingerprintFilter::new(design.layout().unwrap(), KEYS, 0);
        (0..KEYS).for_each(|key| _ = filter.insert(KeyHash::from_u64(key)));
        for key in 0..10 * KEYS {
            filter.remove(KeyHash::from_u64(key));
            filter.insert(KeyHash::from_u64(key + KEYS));
            assert!(filter.listed() as u64 <= design.overflow().capacity, "{bits}: {key}");
        }
    }
}

#[test]
fn more_hints_spare_more_accesses_and_none_is_the_rule_of_the_papers() {
    let three = subtables(&[5_400, 900, 150]);
    let misses = [0, 1, 2, 8, 64].map(|hints| {
        // The same data bits, so that nothing else differs.
        let (layout, keys) = hinted(three, 186 + hints, (25, 0.0), hints, None);
        assert_eq!(layout.data_bits(), 180);
        predict(&layout.into(), keys).unwrap()
    });
    for pair in misses.windows(2) {
        assert!(pair[1].accesses_miss < pair[0].accesses_miss && pair[1].rate < pair[0].rate);
        assert!((pair[1].accesses_insert - pair[0].accesses_insert).abs() < 1e-12);
    }
    // A full block rejects a key sooner or later: one hint is not much more than the load.
    assert!(misses[0].accesses_miss - misses[1].accesses_miss < 0.2);
    assert!(misses[4].accesses_miss < 1.1);
}

#[test]
fn with_long_fingerprints_sets_and_multisets_are_nearly_the_same() {
    let set = fingerprint(&[3_000, 600], 15, 10, 30);
    let expected = |layout: Layout| predict(&layout.into(), FINGERPRINT_KEYS).unwrap();
    let (one, other) = (expected(set), expected(set.with_removal()));
    // In a multiset byte 0 goes on also from blocks that have sent nothing on.
    let more = other.accesses_miss - one.accesses_miss;
    assert!((0.0..1.5 / 256.0).contains(&more), "{more}");
    assert!((1.0..1.01).contains(&(other.rate / one.rate)));
    // Each of the first level's keys is one of its fingerprints, and few absent keys go further.
    let first = 50_000.0 / 3_000.0 / (10.0 * 2.0_f64.powi(30));
    assert!((1.0..1.6).contains(&(one.rate / first)), "{}", one.rate);
}

#[test]
fn impossible_blocks_are_refused_and_extreme_ones_answered() {
    let good = fingerprint(&[10, 2], 48, 72, 8);
    predict(&good.into(), 1_000).unwrap();
    assert!(predict(&good.into(), u64::MAX).is_err());
    for bad in [
        fingerprint(&[10, 2], 0, 72, 8),
        fingerprint(&[10, 2], 49, 72, 8),
        fingerprint(&[10, 2], 48, 0, 8),
        fingerprint(&[10, 2], 48, 73, 8),
        fingerprint(&[10, 2], 8, 6, 4),
        fingerprint(&[10, 2], 4, 6, 57),
        fingerprint(&[10, 0], 48, 72, 8),
        fingerprint(&[10; 5], 48, 72, 8),
        good.with_budget(Some(500)),
        Layout { rule: Rule::below(48), ..good },
        Layout { candidates: anywhere(10, 1), ..good },
    ] {
        assert!(predict(&bad.into(), 1_000).is_err(), "{bad:?}");
    }
    for keys in [0, 1, 1_000, 100_000_000, 1 << 53] {
        for sizes in [&[10][..], &[1, 7, 1], &[9, 3, 1, 1]] {
            for (slots, lists, remainder_bits) in [(1, 1, 5), (48, 72, 8), (8, 6, 56)] {
                for multiset in [false, true] {
                    let set = fingerprint(sizes, slots, lists, remainder_bits);
                    let layout = Layout { multiset, ..set };
                    let p = predict(&layout.into(), keys).unwrap();
                    assert!((0.0..=1.0 + 1e-9).contains(&p.rate), "{layout:?}: {p:?}");
                    assert!((0.0..=1.0 + 1e-9).contains(&p.overflow_fraction), "{layout:?}");
                    assert!(p.accesses_insert.is_finite() && p.rate_deviation.is_finite());
                    let most = sizes.len() as f64 + 1e-9;
                    assert!(
                        p.accesses_miss >= 1.0 - 1e-9 && p.accesses_miss <= most,
                        "{keys} keys, {layout:?}: {p:?}"
                    );
                }
            }
        }
    }
}
