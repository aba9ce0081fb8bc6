//! Every machine writes the same bytes and gives the same answers, whatever the filter.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::{Any, Insertion, RawFilter, schemes};
use crate::block::simd::{Best, Portable};
use crate::error::FullError;
use crate::hashing::KeyHash;

/// The same filter on the machine that is always there.
fn portable(filter: &Any) -> Any {
    let mut filter = filter.clone();
    match &mut filter {
        Any::Classical(_) => {}
        Any::FirstWithRoom(filter) => filter.machine = Best::Portable,
        Any::LeastLoaded(filter) => filter.machine = Best::Portable,
        Any::Fingerprint(filter) => filter.machine = Best::Portable,
    }
    filter
}

/// The same again, without taking anything for granted of the blocks' shape.
fn insert_plainly(filter: &mut Any, hash: KeyHash) -> Result<Insertion, FullError> {
    match filter {
        Any::Classical(filter) => filter.insert(hash, &mut ()),
        Any::FirstWithRoom(filter) => filter.insert_on(Portable, hash, &mut ()),
        Any::LeastLoaded(filter) => filter.insert_on(Portable, hash, &mut ()),
        Any::Fingerprint(filter) => filter.insert_on(Portable, hash, &mut ()),
    }
}

fn contains_plainly(filter: &Any, hash: KeyHash) -> bool {
    match filter {
        Any::Classical(filter) => filter.contains(hash, &mut ()),
        Any::FirstWithRoom(filter) => filter.contains_on(Portable, hash, &mut ()),
        Any::LeastLoaded(filter) => filter.contains_on(Portable, hash, &mut ()),
        Any::Fingerprint(filter) => filter.contains_on(Portable, hash, &mut ()),
    }
}

proptest! {
    #![proptest_config(schemes::cases(600))]

    #[test]
    fn the_same_filter_on_every_machine(
        parameters in schemes::parameters(), keys in schemes::keys(),
    ) {
        let Ok(mut best) = Any::new(&parameters) else { return Ok(()) };
        let mut slow = portable(&best);
        let mut plain = slow.clone();
        let hashes: Vec<KeyHash> =
            keys.iter().map(|&key| KeyHash::from_u64(u64::from(key) ^ parameters.seed)).collect();
        for &hash in &hashes {
            let inserted = best.insert(hash, &mut ());
            prop_assert_eq!(&slow.insert(hash, &mut ()), &inserted);
            prop_assert_eq!(&insert_plainly(&mut plain, hash), &inserted);
        }
        prop_assert!(best.words().eq(slow.words()));
        prop_assert!(best.words().eq(plain.words()));
        let strangers = (0..500).map(|key| KeyHash::from_u64(key << 20));
        let asked: Vec<KeyHash> = hashes.into_iter().chain(strangers).collect();
        let mut answers = [vec![0; asked.len().div_ceil(64)], vec![0; asked.len().div_ceil(64)]];
        best.contains_batch(&asked, &mut answers[0]);
        slow.contains_batch(&asked, &mut answers[1]);
        prop_assert_eq!(&answers[0], &answers[1]);
        for &hash in &asked {
            let answer = best.contains(hash, &mut ());
            prop_assert_eq!(slow.contains(hash, &mut ()), answer);
            prop_assert_eq!(contains_plainly(&plain, hash), answer);
        }
    }
}
