//! The same filter by any number of threads, however the keys are cut into portions.

use alloc::sync::Arc;
use alloc::vec::Vec;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;

use super::seat::{Seat, Share};
use super::visit::{Part, Visit};
use super::{Luggage, Portions, Travellers, cuts};
use crate::block::BlockArray;
use crate::hashing::KeyHash;
use crate::parameters::Parameters;
use crate::placement::{Choose, Level};
use crate::raw::contents::Contents;
use crate::raw::{Any, Balanced, designs};
use equibloom_layout::{Blocks, Layout, Overflow, Rule, WhenFull};

fn check<R: Choose + PartialEq, B: Contents>(
    empty: &Balanced<R, B>,
    keys: &[KeyHash],
    threads: usize,
    portions: Portions,
) -> Result<(), TestCaseError> {
    let (mut one, mut many) = (empty.clone(), empty.clone());
    // Into an empty filter, and into one that has keys.
    for keys in keys.chunks(keys.len() / 2 + 1) {
        let expected = one.insert_batch(keys, 1);
        prop_assert_eq!(many.insert_in_portions(keys, threads, portions), expected);
        prop_assert!(one == many);
    }
    Ok(())
}

/// A thread that is asked at once gives half of its blocks away after the first chunk of keys; level by level, what
/// both have done is what one does alone.
#[test]
fn what_changes_hands_is_filled_as_before() {
    let blocks = Blocks::Fingerprint { slots: 33, lists: 59, remainder_bits: 12, hints: 24 };
    let layout = Layout::multi_level(blocks, &[5_000, 1_000], Rule::below(33))
        .unwrap()
        .with_overflow(Overflow { capacity: 0, when_full: WhenFull::Saturate });
    let Ok(Any::Fingerprint(empty)) = Any::new(&layout.into()) else { panic!("of that kind") };
    let keys: Vec<KeyHash> = (0..200_000).map(KeyHash::from_u64).collect();
    let (mut one, mut two) = (empty.clone(), empty);
    let mut travellers = Travellers::default();
    travellers.set_to_all(keys.len());
    for (probe, level) in one.candidates.as_slice().to_vec().into_iter().enumerate() {
        let mut alone = [Luggage::default()];
        let placed = one.visit_level(probe, level, &keys, &travellers, 1, &mut alone);

        let (divided, mut parts) = two.blocks.divide(&[]);
        let whole = Share { part: Part { first: 0, blocks: parts.pop().unwrap() }, start: 0 };
        let seat = Seat::new();
        let visit = |share, luggage: &mut Luggage| {
            luggage.sent_on.set_to_none(keys.len());
            let (filter, keys, travellers, seat) = (&two, &keys[..], &travellers, &seat);
            two.engine.run(Visit {
                filter,
                probe,
                level,
                keys,
                travellers,
                share,
                luggage,
                seat,
                keys_for_a_thread: 1,
            })
        };
        let mut luggage = [Luggage::default(), Luggage::default()];
        let [first, second] = &mut luggage;
        let placed_by_each = thread::scope(|scope| {
            let working = seat.begin();
            let asks = scope.spawn(|| {
                let share = seat.ask().expect("a half");
                assert_eq!((share.part.first % 64, share.start > 0), (0, true));
                assert!(share.part.first > level.offset && share.start < keys.len());
                visit(share, second)
            });
            while !seat.is_asked() {
                thread::yield_now();
            }
            let placed = visit(whole, first);
            drop(working);
            [placed, asks.join().unwrap()]
        });
        *two.blocks.storage_mut() = divided.unite();
        assert!(placed_by_each.iter().all(|&placed| placed > 0), "{placed_by_each:?}");
        assert_eq!(placed_by_each.iter().sum::<u64>(), placed[0]);
        assert!(one.words().eq(two.words()), "level {probe}");

        travellers.set_to_none(keys.len());
        luggage.iter().for_each(|own| travellers.join(&own.sent_on));
        assert!(travellers.places().eq(alone[0].sent_on.places()));
    }
}

#[test]
fn nobody_waits_for_a_thread_that_is_done_and_no_share_is_lost() {
    let seat = Seat::<()>::new();
    assert!(seat.ask().is_none(), "it has not begun");
    for answers in [false, true] {
        thread::scope(|scope| {
            let working = seat.begin();
            let asks = scope.spawn(|| seat.ask().map(|share| share.start));
            while !seat.is_asked() {
                thread::yield_now();
            }
            assert!(seat.ask().is_none(), "another one asks already");
            if answers {
                seat.answer(Some(Share { part: Part { first: 64, blocks: () }, start: 5 }));
            }
            // The answer may not have been fetched yet.
            drop(working);
            assert_eq!(asks.join().unwrap(), answers.then_some(5));
        });
        assert!(!seat.is_asked() && seat.ask().is_none(), "it is done");
    }
}

/// A request is answered when the thread is done, even if it begins again before the other one wakes up.
#[test]
fn a_request_is_answered_although_the_thread_begins_again() {
    for _ in 0..100 {
        let seat = Arc::new(Seat::<()>::new());
        let (done, answers) = mpsc::channel();
        let working = seat.begin();
        let asked = seat.clone();
        // Not joined: if the request were lost, it would wait for ever.
        thread::spawn(move || done.send(asked.ask().is_none()));
        while !seat.is_asked() {
            thread::yield_now();
        }
        drop(working);
        let _working = seat.begin();
        assert_eq!(answers.recv_timeout(Duration::from_secs(10)), Ok(true));
        assert!(!seat.is_asked());
    }
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
    match Any::new(&designs::enlarged(parameters, factor).design) {
        Ok(Any::FirstWithRoom(filter)) => check(&filter, &keys, threads, portions),
        Ok(Any::LeastLoaded(filter)) => check(&filter, &keys, threads, portions),
        Ok(Any::Fingerprint(filter)) => check(&filter, &keys, threads, portions),
        Ok(Any::Classical(_)) | Err(_) => Ok(()),
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
        portions in portions(),
    ) {
        check_enlarged(parameters, factor, &keys, threads, portions)?;
    }

    #[test]
    fn threads_fill_a_filter_that_stores_every_insert(
        layout in designs::fingerprints(true),
        factor in 1_u64..20,
        keys in designs::keys(),
        threads in prop_oneof![Just(0_usize), 2_usize..6],
        portions in portions(),
    ) {
        let parameters = Parameters { keys: 100, seed: 5, design: layout.into() };
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
