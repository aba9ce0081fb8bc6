//! The same filter by any number of threads, however the keys are cut into portions.

use alloc::vec::Vec;
use proptest::prelude::*;

use super::BatchSizes;
use crate::hashing::KeyHash;
use crate::parameters::Parameters;
use crate::placement::{Choose, Level};
use crate::raw::threads::Part;
use crate::raw::{Any, Balanced, designs};
use crate::storage::WORDS_PER_LINE;

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
        prop_assert_eq!(many.insert_batch(keys, threads, sizes), expected);
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
        Ok(Any::Classical(_) | Any::Fingerprint(_) | Any::List(_) | Any::Parts(_)) | Err(_) => {
            Ok(())
        }
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
    fn parts_are_the_blocks_of_the_level_on_lines_of_their_own(
        words in 1_usize..20, offset in 0_u64..100, size in 1_u64..200, after in 0_u64..9,
        count in 1_usize..9,
    ) {
        let all = (offset + size + after) as usize * words;
        let mut lines = alloc::vec![[0; WORDS_PER_LINE]; all.div_ceil(WORDS_PER_LINE)];
        let begin = lines.as_ptr().addr();
        let mut next = None;
        let mut parts = 0;
        for part in Part::all(&mut lines, words, Level { offset, size }, count) {
            // Where its first block is, and where the part before it ends.
            let place = (part.lines.as_ptr().addr() - begin) / 8;
            prop_assert_eq!(place, part.first as usize * words);
            prop_assert!(next.unwrap_or(place) == place);
            prop_assert!(parts > 0 || part.first <= offset);
            next = Some(place + part.lines.len() * WORDS_PER_LINE);
            parts += 1;
        }
        prop_assert!((1..=count).contains(&parts));
        prop_assert!(next.unwrap() >= (offset + size) as usize * words);
        prop_assert!(size < 8 * count as u64 * count as u64 || parts == count);
    }
}
