//! The same filter by any number of threads, however the keys are cut into portions.

use alloc::vec::Vec;
use proptest::prelude::*;

use super::BatchSizes;
use super::pass::cuts;
use crate::hashing::KeyHash;
use crate::parameters::Parameters;
use crate::placement::{Choose, Level};
use crate::raw::{Any, Balanced, designs};

fn check<R: Choose>(
    empty: &Balanced<R>,
    keys: &[KeyHash],
    threads: usize,
    sizes: BatchSizes,
) -> Result<(), TestCaseError> {
    let (mut one, mut many) = (empty.clone(), empty.clone());
    // Into an empty filter, and into one that has keys.
    for keys in keys.chunks(keys.len() / 2 + 1) {
        let expected = one.insert_one_by_one(keys);
        prop_assert_eq!(many.insert_in_batches(keys, threads, sizes), expected);
        prop_assert!(one.words == many.words && one.ledger == many.ledger);
    }
    Ok(())
}

/// BatchSizes so small that there are many of them.
fn sizes() -> impl Strategy<Value = BatchSizes> {
    let journal = prop_oneof![Just(0), 0_usize..5_000];
    (1_usize..400, journal, prop_oneof![Just(1_usize), 1_usize..50])
        .prop_map(|(slab, journal, thread)| BatchSizes { slab, journal, thread })
}

/// Several parts need several times 64 blocks, and as many keys to fill them.
fn check_enlarged(
    parameters: Parameters,
    factor: u64,
    keys: &[u16],
    threads: usize,
    sizes: BatchSizes,
) -> Result<(), TestCaseError> {
    let keys = keys.iter().flat_map(|&key| (0..factor).map(move |i| u64::from(key) << 8 | i));
    let keys: Vec<KeyHash> = keys.map(KeyHash::from_u64).collect();
    match Any::new(&designs::enlarged(parameters, factor).design) {
        Ok(Any::FirstWithRoom(filter)) => check(&filter, &keys, threads, sizes),
        Ok(Any::LeastLoaded(filter)) => check(&filter, &keys, threads, sizes),
        Ok(Any::Classical(_) | Any::Fingerprint(_)) | Err(_) => Ok(()),
    }
}

proptest! {
    #![proptest_config(designs::cases(1_000))]

    #[test]
    fn threads_write_what_one_thread_writes(
        parameters in designs::parameters(),
        factor in 1_u64..20,
        keys in designs::keys(),
        threads in prop_oneof![Just(0_usize), 2_usize..6],
        sizes in sizes(),
    ) {
        check_enlarged(parameters, factor, &keys, threads, sizes)?;
    }

    #[test]
    fn cuts_lie_on_lines_within_the_level(
        offset in 0_u64..1_000, size in 1_u64..2_000, parts in 1_usize..9,
    ) {
        let cuts: Vec<u64> = cuts(Level { offset, size }, parts).collect();
        prop_assert!(cuts.len() < parts);
        prop_assert!(cuts.is_sorted());
        prop_assert!(cuts.iter().all(|cut| cut % 64 == 0 && *cut < offset + size));
        let even = size >= 64 * parts as u64;
        prop_assert!(!even || cuts.len() == parts - 1);
    }
}
