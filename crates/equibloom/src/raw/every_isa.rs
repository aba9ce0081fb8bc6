//! Every machine writes the same bytes and gives the same answers, whatever the filter.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::{Any, Balanced, designs};
use crate::block::BlockArray;
use crate::block::isa::{DetectedIsa, Engine};
use crate::hashing::KeyHash;
use crate::placement::Choose;

/// What runs a filter on a machine.
fn engine<R: Choose, B: BlockArray>(
    isa: DetectedIsa,
    filter: &Balanced<R, B>,
) -> Engine<Balanced<R, B>> {
    Balanced::engine_for(isa, &filter.blocks, &filter.budget)
}

/// The same filter on a machine.
fn on(isa: DetectedIsa, filter: &Any) -> Any {
    let mut filter = filter.clone();
    match &mut filter {
        Any::Classical(_) => {}
        Any::FirstWithRoom(filter) => filter.engine = engine(isa, filter),
        Any::LeastLoaded(filter) => filter.engine = engine(isa, filter),
        Any::Fingerprint(filter) => filter.engine = engine(isa, filter),
    }
    filter
}

proptest! {
    #![proptest_config(designs::cases(600))]

    #[test]
    fn the_same_filter_on_every_machine(
        parameters in designs::parameters(), keys in designs::keys(),
    ) {
        let Ok(empty) = Any::new(&parameters.design) else { return Ok(()) };
        let hashes: Vec<KeyHash> =
            keys.iter().map(|&key| KeyHash::from_u64(u64::from(key) ^ parameters.seed)).collect();
        let strangers = (0..500).map(|key| KeyHash::from_u64(key << 20));
        let asked: Vec<KeyHash> = hashes.iter().copied().chain(strangers).collect();

        // Observed operations run on the machine that is always there, without a glance, and take nothing
        // for granted of the blocks' shape.
        let mut plain = empty.clone();
        let inserted: Vec<_> =
            hashes.iter().map(|&hash| plain.insert_observed(hash, ())).collect();
        let answers: Vec<bool> = asked.iter().map(|&hash| plain.contains_observed(hash, ())).collect();

        for isa in DetectedIsa::all() {
            let mut filter = on(isa, &empty);
            for (&hash, inserted) in hashes.iter().zip(&inserted) {
                prop_assert_eq!(&filter.insert(hash), inserted);
            }
            prop_assert!(filter.words().eq(plain.words()));
            let mut in_batches = on(isa, &empty);
            if in_batches.insert_batch(&hashes, 1).is_ok() {
                prop_assert!(in_batches.words().eq(plain.words()));
            }
            let mut found = vec![0_u64; asked.len().div_ceil(64)];
            filter.contains_batch(&asked, &mut found);
            for (index, (&hash, &answer)) in asked.iter().zip(&answers).enumerate() {
                prop_assert_eq!(filter.contains(hash), answer);
                prop_assert_eq!(found[index / 64] >> (index % 64) & 1 == 1, answer);
            }
        }
    }
}
