//! Filters of every kind on every ISA.

use alloc::vec::Vec;

use equibloom_layout::{Blocks, Design, Layout};
use proptest::prelude::*;

use super::{Any, Balanced, designs};
use crate::block::isa::DetectedIsa;
use crate::error::MergeError;
use crate::hashing::KeyHash;
use crate::placement::Choose;

#[test]
fn filters_of_different_kinds_are_not_merged() {
    let blocked = Layout::blocked(Blocks::bloom(512, 3), 2).into();
    let [mut ours, theirs] = [Design::Classical { bits: 1_024, hashes: 3 }, blocked]
        .map(|design| Any::new(&design).unwrap());
    let before = ours.clone();
    assert_eq!(ours.merge(&theirs, 1), Err(MergeError::OtherKind));
    assert!(ours == before);
}

fn balanced_on<R: Choose>(isa: DetectedIsa, filter: &Balanced<R>) -> Balanced<R> {
    let Balanced { plan, words, ledger, is_common, .. } = filter;
    Balanced::new(plan.clone(), words.clone(), ledger.clone(), isa, *is_common)
}

/// The same filter on another ISA.
fn on(isa: DetectedIsa, filter: &Any) -> Any {
    match filter {
        Any::Classical(filter) => Any::Classical(filter.clone()),
        Any::FirstWithRoom(filter) => Any::FirstWithRoom(balanced_on(isa, filter)),
        Any::LeastLoaded(filter) => Any::LeastLoaded(balanced_on(isa, filter)),
        Any::Fingerprint(filter) => Any::Fingerprint(filter.on(isa)),
        Any::List(_) | Any::Parts(_) => filter.clone(),
    }
}

proptest! {
    #![proptest_config(designs::cases(600))]

    /// Every ISA writes the same bytes and gives the same answers, for any filter.
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
            prop_assert!(filter == plain);
            let mut in_batches = on(isa, &empty);
            if in_batches.insert_batch(&hashes, 1).is_ok() {
                // The words of shortened blocks depend on the order.
                let is_overloaded = plain.contents()[0].1.overloaded;
                prop_assert!(in_batches == plain || is_overloaded);
                prop_assert!(hashes.iter().all(|&hash| in_batches.contains(hash)));
            }
            let mut found = vec![0_u64; queried.len().div_ceil(64)];
            filter.contains_batch(&queried, &mut found);
            for (index, (&hash, &answer)) in queried.iter().zip(&answers).enumerate() {
                prop_assert_eq!(filter.contains(hash), answer);
                prop_assert_eq!(found[index / 64] >> (index % 64) & 1 == 1, answer);
            }
            #[cfg(target_has_atomic = "64")]
            {
                let shared = super::shared::Shared::share(on(isa, &empty));
                for (&hash, inserted) in hashes.iter().zip(&inserted) {
                    prop_assert_eq!(&shared.insert(hash), inserted);
                }
                for (&hash, &answer) in queried.iter().zip(&answers) {
                    prop_assert_eq!(shared.contains(hash), answer);
                }
                prop_assert!(shared.into_own() == plain);
            }
        }
    }
}
