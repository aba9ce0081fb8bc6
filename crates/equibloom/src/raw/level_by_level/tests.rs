//! The same filter by any number of threads, however the keys are cut into portions.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::{Portions, cuts};
use crate::block::BlockArray;
use crate::hashing::KeyHash;
use crate::parameters::Parameters;
use crate::placement::{Level, Rule};
use crate::raw::{Any, Balanced, RawFilter, schemes};

fn check<R: Rule, B: BlockArray>(
    empty: &Balanced<R, B>,
    keys: &[KeyHash],
    threads: usize,
    portions: Portions,
) -> Result<(), TestCaseError>
where
    Balanced<R, B>: RawFilter + Clone + PartialEq,
{
    let (mut one, mut many) = (empty.clone(), empty.clone());
    // Into an empty filter, and into one that has keys.
    for keys in keys.chunks(keys.len() / 2 + 1) {
        let expected = one.insert_batch(keys);
        prop_assert_eq!(many.insert_in_portions(keys, threads, portions), expected);
        prop_assert!(one == many);
    }
    Ok(())
}

/// Portions so small that there are many of them.
fn portions() -> impl Strategy<Value = Portions> {
    let journal = prop_oneof![Just(0), 0_usize..5_000];
    (1_usize..400, journal, prop_oneof![Just(1_usize), 1_usize..50])
        .prop_map(|(slab, journal, thread)| Portions { slab, journal, thread })
}

/// Several parts need several times 64 blocks, and as many keys to fill them.
fn check_enlarged(
    parameters: Parameters,
    factor: u64,
    keys: &[u16],
    threads: usize,
    portions: Portions,
) -> Result<(), TestCaseError> {
    let keys = keys.iter().flat_map(|&key| (0..factor).map(move |i| u64::from(key) << 8 | i));
    let keys: Vec<KeyHash> = keys.map(KeyHash::from_u64).collect();
    match Any::new(&schemes::enlarged(parameters, factor)) {
        Ok(Any::FirstWithRoom(filter)) => check(&filter, &keys, threads, portions),
        Ok(Any::LeastLoaded(filter)) => check(&filter, &keys, threads, portions),
        Ok(Any::Fingerprint(filter)) => check(&filter, &keys, threads, portions),
        Ok(Any::Classical(_)) | Err(_) => Ok(()),
    }
}

proptest! {
    #![proptest_config(schemes::cases(1_000))]

    #[test]
    fn threads_write_what_one_thread_writes(
        parameters in schemes::parameters(),
        factor in 1_u64..20,
        keys in schemes::keys(),
        threads in 2_usize..6,
        portions in portions(),
    ) {
        check_enlarged(parameters, factor, &keys, threads, portions)?;
    }

    #[test]
    fn threads_fill_a_filter_that_stores_every_insert(
        scheme in schemes::fingerprint_scheme(true),
        factor in 1_u64..20,
        keys in schemes::keys(),
        threads in 2_usize..6,
        portions in portions(),
    ) {
        let parameters = Parameters { keys: 100, seed: 5, scheme };
        check_enlarged(parameters, factor, &keys, threads, portions)?;
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
