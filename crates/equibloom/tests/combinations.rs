//! Random layouts: each is refused for one reason, which its cure removes, or it works.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod designs;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use equibloom::{
    Blocks, Candidates, Design, Filter, Layout, LayoutError, Overflow, Parameters, Rule, Share,
    WhenFull,
};
use equibloom_layout::{Accepted, Number};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

const CASES: u32 = 4_000;
const KEYS: u64 = 200;

/// Mostly a number in range, sometimes an extreme one.
fn mostly(
    range: std::ops::RangeInclusive<u32>,
    ends: &[u32],
) -> impl Strategy<Value = u32> + use<> {
    prop_oneof![19 => range, 1 => prop::sample::select(ends.to_vec())]
}

fn blocks() -> impl Strategy<Value = Blocks> {
    let bits = prop_oneof![
        8 => prop::sample::select(vec![4, 6, 64, 65, 100, 512, 4_096]),
        1 => 4_u32..=1_024,
        1 => prop::sample::select(vec![0, 3, 32_769, u32::MAX]),
    ];
    let hints = prop_oneof![Just(0), mostly(1..=64, &[65, u32::MAX])];
    let hashes = prop_oneof![5 => 1_u32..12, 1 => mostly(1..=64, &[0, 65, u32::MAX])];
    let shape = (
        mostly(1..=30, &[0, 64, 65, u32::MAX]),
        mostly(1..=64, &[0, 256, 257, u32::MAX]),
        mostly(5..=16, &[0, 4, 56, 57, u32::MAX]),
    );
    let bloom = (bits, hashes, hints).prop_map(|(bits, hashes, hints)| Blocks::Bloom {
        bits,
        hashes,
        hints,
    });
    let fingerprints = shape.prop_map(|(slots, lists, remainder_bits)| Blocks::Fingerprint {
        slots,
        lists,
        remainder_bits,
    });
    prop_oneof![bloom, fingerprints]
}

fn share() -> impl Strategy<Value = Share> {
    prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0].prop_map(Share::clamped)
}

fn candidates() -> impl Strategy<Value = Candidates> {
    let size = || prop_oneof![60 => 1_u64..20, 1 => Just(0), 1 => Just(u64::MAX)];
    let choices = mostly(1..=5, &[0, 16, 17, u32::MAX]);
    let share = prop_oneof![2 => Just(Share::ALL), 1 => share()];
    prop_oneof![
        (size(), choices, share).prop_map(|(blocks, choices, share)| Candidates::Anywhere {
            blocks,
            choices,
            share
        }),
        prop::collection::vec(size(), 1..=6)
            .prop_map(|sizes| Candidates::subtables(&sizes).unwrap()),
    ]
}

/// A rule, mostly one for such blocks.
fn rule(blocks: Blocks) -> impl Strategy<Value = Rule> {
    let usual = match blocks {
        Blocks::Bloom { .. } => Rule::below(6),
        Blocks::Fingerprint { .. } => Rule::KeepLargest,
    };
    let below = mostly(0..=12, &[0, 65_534, 65_535, u32::MAX]);
    prop_oneof![
        1 => Just(Rule::LeastLoaded),
        1 => Just(Rule::KeepLargest),
        4 => Just(usual),
        2 => (below, share()).prop_map(|(below, coin)| Rule::FirstWithRoom { below, coin }),
    ]
}

fn overflow() -> impl Strategy<Value = Overflow> {
    let capacity = prop_oneof![19 => 0_u64..300, 1 => Just(u64::MAX)];
    let when_full = prop_oneof![Just(WhenFull::Refuse), Just(WhenFull::Saturate)];
    let list =
        (capacity, when_full).prop_map(|(capacity, when_full)| Overflow { capacity, when_full });
    prop_oneof![Just(Overflow::NONE), list]
}

fn layout() -> impl Strategy<Value = Layout> {
    let budget =
        prop_oneof![2 => Just(None), 1 => (0_u64..400).prop_map(Some), 1 => Just(Some(u64::MAX))];
    let rest = (candidates(), budget, overflow(), prop::bool::weighted(0.3));
    (blocks(), rest).prop_flat_map(|(blocks, (candidates, budget, overflow, multiset))| {
        rule(blocks).prop_map(move |rule| Layout {
            blocks,
            candidates,
            rule,
            budget,
            overflow,
            multiset,
        })
    })
}

/// The name of a number, or the reason of a conflict.
fn reason(error: &LayoutError) -> &'static str {
    match error {
        LayoutError::OutOfRange { name, .. } => name,
        LayoutError::Conflict { reason, .. } => reason,
        _ => "too large",
    }
}

/// The layouts that follow the cure of a refusal: nothing else is changed.
fn cured(layout: Layout, error: &LayoutError) -> Vec<Layout> {
    match *error {
        LayoutError::OutOfRange {
            name,
            value: Number::Whole(value),
            accepted: Accepted::Whole(low, high),
        } => vec![with_number(layout, name, value, low, high)],
        LayoutError::Conflict { cure, .. } => without_conflict(layout, cure),
        LayoutError::TooLarge { .. } => {
            let mut layout = layout;
            layout.candidates.sizes_mut().iter_mut().for_each(|size| *size = 9.min(*size));
            vec![layout]
        }
        _ => panic!("{error} has no cure here"),
    }
}

fn with_number(mut layout: Layout, name: &str, value: u64, low: u64, high: u64) -> Layout {
    let good = value.clamp(low, high) as u32;
    if let Blocks::Bloom { bits, hashes, hints } = &mut layout.blocks {
        match name {
            "block bits" => *bits = good,
            "hashes per key" => *hashes = good,
            // Fewer hints; in the smallest blocks a lower threshold, too.
            "counter and hints of a block in bits" => {
                match hints.checked_sub(value as u32 - good) {
                    Some(fewer) => *hints = fewer,
                    None => {
                        *hints = 0;
                        if let Rule::FirstWithRoom { below, .. } = &mut layout.rule {
                            *below = (1 << good.min(16)) - 2;
                        }
                    }
                }
            }
            _ => {}
        }
    }
    if let Blocks::Fingerprint { slots, lists, remainder_bits } = &mut layout.blocks {
        match name {
            "slots of a block" => *slots = good,
            "lists of a block" => *lists = good,
            "bits of a remainder" => *remainder_bits = good,
            "watermark, lists and slots of a block in bits" => {
                *slots = (good - 8 - *lists) / (*remainder_bits + 1);
            }
            _ => {}
        }
    }
    match (&mut layout.candidates, &mut layout.rule, name) {
        (Candidates::Anywhere { blocks, .. }, _, "block count") => *blocks = good.into(),
        (Candidates::Anywhere { choices, .. }, _, "choices") => *choices = good,
        (Candidates::Subtables { sizes }, _, "blocks of a subtable") => {
            sizes.iter_mut().for_each(|size| *size = (*size).clamp(low, high));
        }
        (_, Rule::FirstWithRoom { below, .. }, "threshold") => *below = good,
        (_, _, "hints of a block") => layout.blocks = layout.blocks.with_hints(good),
        // The longest list that is accepted does not fit into memory.
        (_, _, "overflow capacity") => layout.overflow.capacity = 300.min(high),
        _ => {}
    }
    layout
}

fn without_conflict(layout: Layout, cure: &str) -> Vec<Layout> {
    let (hints, count) = (layout.blocks.hints(), layout.candidates.blocks());
    let bloom = Layout { blocks: Blocks::bloom(512, 4).with_hints(hints), ..layout };
    let fingerprints = Blocks::Fingerprint { slots: 9, lists: 16, remainder_bits: 8 };
    let least_loaded = Layout { rule: Rule::LeastLoaded, ..layout };
    let first_with_room = Layout { rule: Rule::below(5), ..layout };
    let keep_largest = Layout { rule: Rule::KeepLargest, ..layout };
    let anywhere = Candidates::anywhere(count, 1);
    match cure {
        "raise the threshold to 1 or the coin above 0" => {
            let coin = Share::clamped(0.5);
            [Rule::below(1), Rule::FirstWithRoom { below: 0, coin }]
                .map(|rule| Layout { rule, ..layout })
                .to_vec()
        }
        "give the rule `KeepLargest`, or Bloom blocks" => vec![keep_largest, bloom],
        "give the rule `FirstWithRoom` or `LeastLoaded`, or fingerprint blocks" => {
            vec![first_with_room, least_loaded, Layout { blocks: fingerprints, ..layout }]
        }
        "give 1 to 4 subtables, or Bloom blocks" => {
            let subtables = Candidates::subtables(&[count, 1, 1]).unwrap();
            vec![Layout { candidates: subtables, ..layout }, bloom]
        }
        "give no budget, or Bloom blocks and the rule `FirstWithRoom`" => {
            vec![layout.with_budget(None), Layout { rule: Rule::below(5), ..bloom }]
        }
        "give the share 1, or the rule `LeastLoaded`" => {
            let choices = layout.candidates.choices();
            let candidates = Candidates::anywhere(count, choices);
            vec![Layout { candidates, ..layout }, least_loaded]
        }
        "give candidates `Anywhere`, or the rule `FirstWithRoom`" => {
            vec![Layout { candidates: anywhere, ..layout }, first_with_room]
        }
        "give 0 hints, or the rule `FirstWithRoom`" => {
            vec![Layout { blocks: layout.blocks.with_hints(0), ..layout }, first_with_room]
        }
        "give `Overflow::NONE`, or the rule `FirstWithRoom`" => {
            vec![layout.with_overflow(Overflow::NONE), first_with_room]
        }
        "give no budget, or the rule `FirstWithRoom`" => {
            vec![layout.with_budget(None), first_with_room]
        }
        "give fingerprint blocks, or `multiset: false`" => {
            vec![Layout { blocks: fingerprints, ..layout }, Layout { multiset: false, ..layout }]
        }
        _ => panic!("unknown cure «{cure}»"),
    }
}

/// An accepted layout builds, stores keys, finds them, and is predicted.
fn check_that_it_works(layout: Layout, seed: u64) -> Result<(), TestCaseError> {
    let parameters = Parameters { keys: KEYS, seed, design: layout.into() };
    let mut filter = Filter::<u64>::new(&parameters).unwrap();
    let taken: Vec<u64> = (0..KEYS).filter(|key| filter.insert(key).is_ok()).collect();
    prop_assert!(taken.iter().all(|key| filter.contains(key)));
    prop_assert!(taken.len() as u64 == KEYS || layout.overflow.when_full == WhenFull::Refuse);

    let mut other = Filter::<u64>::new(&parameters).unwrap();
    let others: Vec<u64> = (KEYS..2 * KEYS).filter(|key| other.insert(key).is_ok()).collect();
    let merged = other.merge(&filter).is_ok();
    prop_assert!(others.iter().all(|key| other.contains(key)));
    prop_assert!(!merged || taken.iter().all(|key| other.contains(key)));

    let removed = taken.iter().filter(|key| filter.remove(key).is_ok()).count();
    prop_assert_eq!(removed, if layout.multiset { taken.len() } else { 0 });

    #[cfg(feature = "planner")]
    {
        let predicted = parameters.predict(KEYS);
        let rate = predicted.map(|predicted| predicted.rate);
        prop_assert!(
            rate.as_ref().is_ok_and(|rate| (0.0..=1.0 + 1e-9).contains(rate)),
            "{:?}",
            rate
        );
    }
    Ok(())
}

/// The properties of every layout can be computed.
fn ask(layout: Layout) {
    let design = Design::from(layout);
    let _ = (design.name(), design.placement(), design.bytes(), design.max_accesses());
    let _ = (layout.rule.capacity(), layout.data_bits(), layout.blocks.used_bits());
}

#[test]
fn a_combination_is_refused_for_one_reason_or_works() {
    let accepted_at_once = Cell::new(0);
    let reasons = RefCell::new(HashSet::new());
    let outcome =
        TestRunner::new(designs::cases(CASES)).run(&(layout(), any::<u64>()), |(drawn, seed)| {
            ask(drawn);
            let mut layout = drawn;
            let mut refusals = Vec::new();
            // The cures, one after the other, lead to a filter.
            while let Err(error) = layout.check() {
                prop_assert_eq!(layout.check(), Err(error));
                prop_assert!(refusals.len() < 16, "{:?}: {:?}", drawn, refusals);
                let parameters = Parameters { keys: KEYS, seed, design: layout.into() };
                prop_assert_eq!(Filter::<u64>::new(&parameters).err(), Some(error.into()));
                let cures = cured(layout, &error);
                for &cured in &cures {
                    prop_assert!(
                        cured.check() != Err(error),
                        "«{}» did not cure {:?}",
                        error,
                        layout
                    );
                }
                reasons.borrow_mut().insert(reason(&error));
                refusals.push(error);
                layout = cures[0];
            }
            accepted_at_once.set(accepted_at_once.get() + u32::from(refusals.is_empty()));
            check_that_it_works(layout, seed)
        });
    outcome.unwrap();
    assert!(accepted_at_once.get() > CASES / 8, "only {} were accepted", accepted_at_once.get());
    // 13 numbers, 11 conflicts, and the size.
    let reasons = reasons.into_inner();
    assert_eq!(reasons.len(), 25, "{reasons:#?}");
}
