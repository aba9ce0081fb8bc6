//! Every ISA writes the same bytes and gives the same answers, for any filter.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::{Any, Balanced, designs};
use crate::block::BlockArray;
use crate::block::isa::{DetectedIsa, Engine};
use crate::hashing::KeyHash;
use crate::placement::Choose;

/// The engine of a filter on an ISA.
fn engine<R: Choose, B: BlockArray>(
    isa: DetectedIsa,
    filter: &Balanced<R, B>,
) -> Engine<Balanced<R, B>> {
    Balanced::engine_for(isa, &filter.blocks, &filter.budget)
}

/// The same filter on another ISA.
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
    fn the_same_filter_on_every_isa(
        parameters in designs::parameters(), keys in designs::keys(),
    ) {
        let Ok(empty) = Any::new(&parameters.design) else { return Ok(()) };
        let hashes: Vec<KeyHash> =
            keys.iter().map(|&key| KeyHash::from_u64(u64::from(key) ^ parameters.seed)).collect();
        let absent = (0..500).map(|key| KeyHash::from_u64(key << 20));
        let queried: Vec<KeyHash> = hashes.iter().copied().chain(absent).collect();

        // Observed operations run on the portable ISA, without quick tests or assumptions about the blocks'
        // shape.
        let mut plain = empty.clone();
        let inserted: Vec<_> =
            hashes.iter().map(|&hash| plain.insert_observed(hash, ())).collect();
        let answers: Vec<bool> = queried.iter().map(|&hash| plain.contains_observed(hash, ())).collect();

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
            let mut found = vec![0_u64; queried.len().div_ceil(64)];
            filter.contains_batch(&queried, &mut found);
            for (index, (&hash, &answer)) in queried.iter().zip(&answers).enumerate() {
                prop_assert_eq!(filter.contains(hash), answer);
                prop_assert_eq!(found[index / 64] >> (index % 64) & 1 == 1, answer);
            }
        }
    }
}
