//! The same filter by any number of threads, however the keys are cut into portions.

use alloc::sync::Arc;
use alloc::vec::Vec;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;

use super::level_pass::{LevelPass, LevelPasses, Part};
use super::work_sharing::{Share, WorkSharing};
use super::{BatchSizes, PendingKeys, WorkerScratch, cuts};
use crate::hashing::KeyHash;
use crate::parameters::Parameters;
use crate::placement::{Choose, Level};
use crate::raw::{Any, Balanced, designs};
use equibloom_layout::{Blocks, Layout, Overflow, Rule, WhenFull};

fn check<R: Choose + PartialEq>(
    empty: &Balanced<R>,
    keys: &[KeyHash],
    threads: usize,
    sizes: BatchSizes,
) -> Result<(), TestCaseError> {
    let (mut one, mut many) = (empty.clone(), empty.clone());
    // Into an empty filter, and into one that has keys.
    for keys in keys.chunks(keys.len() / 2 + 1) {
        let expected = one.insert_batch(keys, 1);
        prop_assert_eq!(many.insert_in_batches(keys, threads, sizes), expected);
        prop_assert!(one == many);
    }
    Ok(())
}

/// A thread that is asked at once gives half of its blocks away after the first chunk of keys; level by level, what
/// both have done is what one does alone.
#[test]
fn what_changes_hands_is_filled_as_before() {
    let blocks = Blocks::Bloom { bits: 512, hashes: 6, hints: 24 };
    let layout = Layout::multi_level(blocks, &[5_000, 1_000], Rule::below(33))
        .unwrap()
        .with_overflow(Overflow { capacity: 100_000, when_full: WhenFull::Refuse });
    let Ok(Any::FirstWithRoom(empty)) = Any::new(&layout.into()) else { panic!("of that kind") };
    let keys: Vec<KeyHash> = (0..200_000).map(KeyHash::from_u64).collect();
    let (mut one, mut two) = (empty.clone(), empty);
    let mut pending = PendingKeys::default();
    pending.set_to_all(keys.len());
    for (number, level) in one.plan.levels.as_slice().to_vec().into_iter().enumerate() {
        let mut alone = [WorkerScratch::default()];
        let placed = one.pass_level(number, level, &keys, &pending, 1, &mut alone);

        let passes = LevelPasses::new(two.isa, two.is_common);
        let (plan, words, _) = two.to_change();
        let mut parts = Part::all(words, plan.shape.words_per_block(), [].into_iter());
        let whole = Share { part: parts.pop().unwrap(), start: 0 };
        let work_sharing = WorkSharing::new();
        let level_pass = |share, scratch: &mut WorkerScratch| {
            scratch.sent_on.set_to_none(keys.len());
            let (keys, pending, work_sharing) = (&keys[..], &pending, &work_sharing);
            passes.pass(LevelPass {
                plan,
                number,
                level,
                keys,
                pending,
                share,
                scratch,
                work_sharing,
                keys_for_a_thread: 1,
            })
        };
        let mut scratch = [WorkerScratch::default(), WorkerScratch::default()];
        let [first, second] = &mut scratch;
        let placed_by_each = thread::scope(|scope| {
            let working = work_sharing.begin();
            let asks = scope.spawn(|| {
                let share = work_sharing.ask().expect("a half");
                assert_eq!((share.part.first % 64, share.start > 0), (0, true));
                assert!(share.part.first > level.offset && share.start < keys.len());
                level_pass(share, second)
            });
            while !work_sharing.is_asked() {
                thread::yield_now();
            }
            let placed = level_pass(whole, first);
            drop(working);
            [placed, asks.join().unwrap()]
        });
        assert!(placed_by_each.iter().all(|&placed| placed > 0), "{placed_by_each:?}");
        assert_eq!(placed_by_each.iter().sum::<u64>(), placed[0]);
        assert!(one.words().eq(two.words()), "level {number}");

        pending.set_to_none(keys.len());
        scratch.iter().for_each(|own| pending.join(&own.sent_on));
        assert!(pending.places().eq(alone[0].sent_on.places()));
    }
}

#[test]
fn no_request_waits_for_an_idle_worker_and_no_share_is_lost() {
    let work_sharing = WorkSharing::<()>::new();
    assert!(work_sharing.ask().is_none(), "it has not begun");
    for answers in [false, true] {
        thread::scope(|scope| {
            let working = work_sharing.begin();
            let asks = scope.spawn(|| work_sharing.ask().map(|share| share.start));
            while !work_sharing.is_asked() {
                thread::yield_now();
            }
            assert!(work_sharing.ask().is_none(), "another one asks already");
            if answers {
                work_sharing.answer(Some(Share { part: (), start: 5 }));
            }
            // The answer may not have been fetched yet.
            drop(working);
            assert_eq!(asks.join().unwrap(), answers.then_some(5));
        });
        assert!(!work_sharing.is_asked() && work_sharing.ask().is_none(), "it is done");
    }
}

/// A request is answered when the thread is done, even if it begins again before the other one wakes up.
#[test]
fn a_request_is_answered_although_the_thread_begins_again() {
    for _ in 0..100 {
        let work_sharing = Arc::new(WorkSharing::<()>::new());
        let (done, answers) = mpsc::channel();
        let working = work_sharing.begin();
        let asked = work_sharing.clone();
        // Not joined: if the request were lost, it would wait for ever.
        thread::spawn(move || done.send(asked.ask().is_none()));
        while !work_sharing.is_asked() {
            thread::yield_now();
        }
        drop(working);
        let _working = work_sharing.begin();
        assert_eq!(answers.recv_timeout(Duration::from_secs(10)), Ok(true));
        assert!(!work_sharing.is_asked());
    }
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
