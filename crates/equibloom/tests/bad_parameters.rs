//! Invalid parameters: each is refused with the value and the accepted range, and nothing is allocated first.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use equibloom::{
    Blocks, BuildError, Candidates, Design, Filter, Layout, LayoutError, Overflow, Parameters,
    Rule, Share, WhenFull,
};

const BLOCKS: Blocks = Blocks::bloom(256, 8);
const RULE: Rule = Rule::FirstWithRoom { below: 10, coin: Share::clamped(0.5) };
const OVERFLOW: Overflow = Overflow { capacity: 10, when_full: WhenFull::Refuse };

const BLOCKED: Layout = Layout::blocked(BLOCKS, 10);
const SINGLE: Layout = single(BLOCKS, RULE);
const SHAPE: Blocks = Blocks::Fingerprint { slots: 48, lists: 72, remainder_bits: 8 };

const fn single(blocks: Blocks, rule: Rule) -> Layout {
    Layout::single(blocks, 10, rule).with_overflow(OVERFLOW)
}

fn below(below: u32) -> Layout {
    single(BLOCKS, Rule::FirstWithRoom { below, coin: Share::clamped(0.5) })
}

fn sequential(choices: u32) -> Layout {
    Layout::sequential(BLOCKS, 10, choices, RULE).with_overflow(OVERFLOW)
}

fn multi_level(sizes: &[u64]) -> Layout {
    Layout::multi_level(BLOCKS, sizes, RULE).unwrap().with_overflow(OVERFLOW)
}

fn hinted(hints: u32, bits: u32) -> Layout {
    single(Blocks::bloom(bits, 2).with_hints(hints), RULE)
}

/// A filter whose keys can be removed.
fn removable(blocks: Blocks, sizes: &[u64]) -> Layout {
    Layout::fingerprints(blocks, sizes).unwrap().with_overflow(OVERFLOW).with_removal()
}

fn fingerprints(slots: u32, lists: u32, remainder_bits: u32) -> Layout {
    removable(Blocks::Fingerprint { slots, lists, remainder_bits }, &[8, 2])
}

fn refusal(design: impl Into<Design>) -> BuildError {
    let design = design.into();
    match Filter::<u64>::new(&Parameters { keys: 100, seed: 0, design }) {
        Ok(_) => panic!("{design:?} was accepted"),
        Err(error) => error,
    }
}

fn check(cases: &[(Design, &str)]) {
    for &(design, expected) in cases {
        let refused = refusal(design);
        let message = refused.to_string();
        assert!(message.contains(expected), "«{message}» does not say «{expected}»");
        // Checking without building gives the same error.
        assert_eq!(BuildError::from(design.check().unwrap_err()), refused);
    }
}

#[test]
fn every_bad_value_is_named_with_the_accepted_range() {
    check(&[
        (Layout::blocked(BLOCKS, 0).into(), "block count is 0: give at least 1"),
        (
            Layout::blocked(Blocks::bloom(3, 1), 10).into(),
            "block bits is 3: give a whole number from 4 to 32768",
        ),
        (Layout::blocked(Blocks::bloom(32_769, 8), 10).into(), "block bits is 32769"),
        (Layout::blocked(Blocks::bloom(0, 8), 10).into(), "block bits is 0"),
        (
            Layout::blocked(Blocks::bloom(256, 0), 10).into(),
            "hashes per key is 0: give a whole number from 1 to 64",
        ),
        (Layout::blocked(Blocks::bloom(256, 65), 10).into(), "hashes per key is 65"),
        (below(65_535).into(), "threshold is 65535: give a whole number from 0 to 65534"),
        (below(u32::MAX).into(), "threshold is 4294967295"),
        (sequential(0).into(), "choices is 0: give a whole number from 1 to 16"),
        (sequential(17).into(), "choices is 17"),
        (multi_level(&[10, 0]).into(), "blocks of a subtable is 0: give at least 1"),
        (
            SINGLE.with_overflow(Overflow { capacity: u64::MAX, ..OVERFLOW }).into(),
            "overflow capacity is 18446744073709551615: give a whole number from 0 to 144115188075855871",
        ),
        (hinted(65, 256).into(), "hints of a block is 65: give a whole number from 0 to 64"),
        (
            hinted(61, 64).into(),
            "counter and hints of a block in bits is 65: give a whole number from 0 to 62",
        ),
        (hinted(58, 64).into(), "hashes per key is 2: give a whole number from 1 to 1"),
        (
            fingerprints(65, 72, 8).into(),
            "slots of a block is 65: give a whole number from 1 to 64",
        ),
        (fingerprints(48, 0, 8).into(), "lists of a block is 0: give a whole number from 1 to 256"),
        (
            fingerprints(48, 72, 57).into(),
            "bits of a remainder is 57: give a whole number from 5 to 56",
        ),
        (fingerprints(48, 72, 4).into(), "bits of a remainder is 4"),
        (
            fingerprints(48, 73, 8).into(),
            "watermark, lists and slots of a block in bits is 513: give a whole number from 1 to 512",
        ),
        (removable(SHAPE, &[8, 0]).into(), "blocks of a subtable is 0"),
        (Design::Classical { bits: 0, hashes: 3 }, "bits is 0: give at least 1"),
        (Design::Classical { bits: 100, hashes: 0 }, "hashes per key is 0"),
        (Design::Classical { bits: 100, hashes: 1_000 }, "hashes per key is 1000"),
    ]);
}

/// Parts that are valid by themselves and conflict.
#[test]
fn every_conflict_is_named_with_its_cure() {
    let share = Share::clamped(0.5);
    let some = Candidates::Anywhere { blocks: 10, choices: 2, share };
    let subtables = Candidates::subtables(&[8, 2]).unwrap();
    let fingerprints = removable(SHAPE, &[8, 2]);
    check(&[
        (
            single(BLOCKS, Rule::below(0)).into(),
            "threshold 0 without a coin admits no key to any block: raise the threshold to 1",
        ),
        (
            Layout { rule: Rule::LeastLoaded, ..fingerprints }.into(),
            "makes room by itself: give the rule `KeepLargest`, or Bloom blocks",
        ),
        (
            Layout { rule: Rule::below(48), ..fingerprints }.into(),
            "makes room by itself: give the rule `KeepLargest`, or Bloom blocks",
        ),
        (
            Layout { rule: Rule::KeepLargest, ..SINGLE }.into(),
            "a key on that it has stored: give the rule `FirstWithRoom` or `LeastLoaded`, or fingerprint",
        ),
        (
            Layout { candidates: Candidates::anywhere(10, 3), ..fingerprints }.into(),
            "through one to four subtables: give 1 to 4 subtables, or Bloom blocks",
        ),
        (removable(SHAPE, &[5; 5]).into(), "give 1 to 4 subtables, or Bloom blocks"),
        (
            fingerprints.with_budget(Some(100)).into(),
            "whatever that costs: give no budget, or Bloom blocks and the rule `FirstWithRoom`",
        ),
        (
            Layout { candidates: some, ..SINGLE }.into(),
            "give the share 1, or the rule `LeastLoaded`",
        ),
        (
            Layout { candidates: subtables, ..BLOCKED }.into(),
            "compares blocks of one table: give candidates `Anywhere`",
        ),
        (
            Layout { blocks: BLOCKS.with_hints(1), ..BLOCKED }.into(),
            "hints tell of rejected keys: give 0 hints, or the rule `FirstWithRoom`",
        ),
        (
            BLOCKED.with_overflow(OVERFLOW).into(),
            "nothing overflows: give `Overflow::NONE`, or the rule `FirstWithRoom`",
        ),
        (
            BLOCKED.with_budget(Some(100)).into(),
            "beyond an access budget: give no budget, or the rule `FirstWithRoom`",
        ),
        (
            BLOCKED.with_removal().into(),
            "keys cannot be removed from Bloom blocks, whose bits belong to several keys: give fingerprint blocks",
        ),
        (SINGLE.with_removal().into(), "keys cannot be removed from Bloom blocks"),
    ]);
}

/// Invalid shares and lists are refused before there is a layout.
#[test]
fn shares_and_subtables_are_refused_where_they_are_made() {
    for (value, text) in [(1.5, "1.5"), (-0.1, "-0.1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let refused = Share::new(value).unwrap_err().to_string();
        assert_eq!(refused, format!("share is {text}: give a number from 0 to 1"));
    }
    for sizes in [&[][..], &[1; 17]] {
        let refused = Layout::multi_level(BLOCKS, sizes, RULE).unwrap_err().to_string();
        let expected =
            format!("number of subtables is {}: give a whole number from 1 to 16", sizes.len());
        assert_eq!(refused, expected);
    }
}

#[test]
fn sizes_beyond_64_bits_and_beyond_memory_are_refused_without_an_abort() {
    let too_many = refusal(Layout::blocked(BLOCKS, u64::MAX / 100));
    assert!(
        matches!(too_many, BuildError::Layout(LayoutError::TooLarge { bits: 256, .. })),
        "{too_many}"
    );
    let too_many = refusal(multi_level(&[u64::MAX, u64::MAX]));
    assert!(matches!(too_many, BuildError::Layout(LayoutError::TooLarge { .. })), "{too_many}");
    let no_memory = refusal(Layout::blocked(BLOCKS, u64::MAX / 256));
    assert!(matches!(no_memory, BuildError::OutOfMemory { .. }), "{no_memory}");
    let a_petabyte = refusal(Design::Classical { bits: 1 << 53, hashes: 3 });
    assert_eq!(a_petabyte, BuildError::OutOfMemory { bytes: 1 << 50 });
    assert!(matches!(
        refusal(Design::Classical { bits: u64::MAX, hashes: 3 }),
        BuildError::OutOfMemory { .. }
    ));
    for capacity in [u64::MAX, u64::MAX / 128] {
        refusal(SINGLE.with_overflow(Overflow { capacity, when_full: WhenFull::Refuse }));
    }
}

/// A counter takes its bits from the block, and a key may set half of what is left.
#[test]
fn hashes_must_fit_beside_the_counter() {
    let refused = refusal(single(Blocks::bloom(64, 31), Rule::below(10)));
    assert!(refused.to_string().contains("hashes per key is 31: give a whole number from 1 to 30"));
}

#[cfg(feature = "serde")]
#[test]
fn parameters_survive_a_round_trip_through_json() {
    let parameters = Parameters { keys: 5, seed: 9, design: multi_level(&[8, 2]).into() };
    let json = serde_json::to_string(&parameters).unwrap();
    assert!(json.contains(r#""kind":"subtables","sizes":[8,2]"#), "{json}");
    assert_eq!(serde_json::from_str::<Parameters>(&json).unwrap(), parameters);
}
