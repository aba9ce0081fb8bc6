//! Random filters of fingerprint blocks: no key is lost, and the rate is that of the exact model.
#![cfg(feature = "planner")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod random;

use equibloom::{Blocks, Filter, Layout, Overflow, Parameters, WhenFull};
use random::Random;

const FILTERS: u64 = 30;
const ABSENT: u64 = 400_000;

/// A filter described without the crate's types.
#[derive(Debug)]
struct Spec {
    slots: u32,
    lists: u32,
    remainder_bits: u32,
    subtables: Vec<u64>,
    seed: u64,
    keys: u64,
}

impl Spec {
    /// Blocks that use most of their bits, with a rate between about 1/30 and 1/10,000.
    fn random(random: &mut Random) -> Self {
        let slots = random.between(8, 60);
        let lists = slots * random.between(8, 16) / 8;
        let remainder_bits = ((504 - lists) / slots - 1).min(random.between(5, 12));
        let blocks = random.between(400, 2_000);
        Self {
            slots: slots as u32,
            lists: lists as u32,
            remainder_bits: remainder_bits as u32,
            subtables: random.subtables(blocks),
            seed: random.word(),
            keys: blocks * slots * random.between(60, 97) / 100,
        }
    }
}

/// The only function that knows the crate's description of a filter: returns the filter and its expected rate,
/// with the standard deviation from one filter to the next.
fn build(spec: &Spec) -> (Filter<u64>, f64, f64) {
    let &Spec { slots, lists, remainder_bits, seed, keys, .. } = spec;
    let blocks = Blocks::Fingerprint { slots, lists, remainder_bits };
    let layout = Layout::fingerprints(blocks, &spec.subtables)
        .unwrap()
        .with_overflow(Overflow { capacity: keys, when_full: WhenFull::Refuse });
    let parameters = Parameters { keys, seed, design: layout.into() };
    let expected = parameters.predict(keys).unwrap();
    (Filter::new(&parameters).unwrap(), expected.rate, expected.rate_deviation)
}

#[test]
fn no_key_is_lost_and_the_rate_is_that_of_the_model() {
    let mut random = Random(16);
    for _ in 0..FILTERS {
        let spec = Spec::random(&mut random);
        let (mut filter, rate, deviation) = build(&spec);
        for key in 0..spec.keys {
            filter.insert(&key).unwrap();
        }
        for key in 0..spec.keys {
            assert!(filter.contains(&key), "{key} was lost, {spec:?}");
        }
        let absent = spec.keys..spec.keys + ABSENT;
        let found = absent.filter(|key| filter.contains(key)).count() as f64;
        let expected = rate * ABSENT as f64;
        // Random variation of the absent keys, and of the filter.
        let sigma = (expected * (1.0 - rate) + (deviation * ABSENT as f64).powi(2)).sqrt();
        println!("{found} found, {expected:.1} ± {sigma:.1} expected, {spec:?}");
        assert!(expected > 10.0, "too few to compare, {spec:?}");
        assert!(
            (found - expected).abs() <= 4.0 * sigma + 0.01 * expected,
            "{found} found, {expected:.1} ± {sigma:.1} expected, {spec:?}"
        );
    }
}
