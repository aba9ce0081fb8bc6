//! Parameters that cannot work: each is refused with the value and what would be accepted, and
//! nothing is allocated first.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use equibloom::{
    AnyFilter, BlockTable, BuildError, FingerprintTable, Overflow, Parameters, Route, Scheme,
    Threshold, WhenFull,
};

const TABLE: BlockTable = BlockTable { count: 10, bits: 256, hashes: 8 };
const THRESHOLD: Threshold = Threshold { load: 10, probability: 0.5 };
const OVERFLOW: Overflow = Overflow { capacity: 10, when_full: WhenFull::Refuse };

fn blocked(blocks: BlockTable) -> Scheme {
    Scheme::Blocked { blocks }
}

fn single(threshold: Threshold) -> Scheme {
    Scheme::Single { blocks: TABLE, threshold, hints: 0, overflow: OVERFLOW }
}

fn sequential(choices: u32, accesses: f64) -> Scheme {
    Scheme::Sequential {
        blocks: TABLE,
        threshold: THRESHOLD,
        hints: 0,
        overflow: OVERFLOW,
        choices,
        accesses,
    }
}

fn multi_level(subtables: Vec<u64>) -> Scheme {
    Scheme::MultiLevel {
        blocks: TABLE,
        threshold: THRESHOLD,
        hints: 0,
        overflow: OVERFLOW,
        subtables,
    }
}

fn hinted(hints: u32, bits: u32) -> Scheme {
    let blocks = BlockTable { count: 10, bits, hashes: 2 };
    Scheme::Single { blocks, threshold: THRESHOLD, hints, overflow: OVERFLOW }
}

const FINGERPRINTS: FingerprintTable =
    FingerprintTable { count: 10, slots: 48, lists: 64, remainder_bits: 8, hints: 16 };

fn fingerprint(blocks: FingerprintTable, route: Route) -> Scheme {
    Scheme::Fingerprint { blocks, route, overflow: OVERFLOW, multiset: true }
}

fn one_plus_alpha(alpha: f64) -> Scheme {
    Scheme::OnePlusAlpha { blocks: TABLE, alpha }
}

fn refusal(scheme: Scheme) -> BuildError {
    match AnyFilter::new(&Parameters { keys: 100, seed: 0, scheme: scheme.clone() }) {
        Ok(_) => panic!("{scheme:?} was accepted"),
        Err(error) => error,
    }
}

#[test]
fn every_bad_value_is_named_together_with_what_would_be_accepted() {
    let cases = [
        (blocked(BlockTable { count: 0, ..TABLE }), "block count is 0: give at least 1"),
        (
            blocked(BlockTable { bits: 63, ..TABLE }),
            "block bits is 63: give a whole number from 64 to 32768",
        ),
        (blocked(BlockTable { bits: 32_769, ..TABLE }), "block bits is 32769"),
        (blocked(BlockTable { bits: 0, ..TABLE }), "block bits is 0"),
        (
            blocked(BlockTable { hashes: 0, ..TABLE }),
            "hashes per key is 0: give a whole number from 1 to 64",
        ),
        (blocked(BlockTable { hashes: 65, ..TABLE }), "hashes per key is 65"),
        (
            single(Threshold { load: 65_535, ..THRESHOLD }),
            "threshold load is 65535: give a whole number from 0 to 65534",
        ),
        (single(Threshold { load: u32::MAX, ..THRESHOLD }), "threshold load is 4294967295"),
        (
            single(Threshold { probability: 1.5, ..THRESHOLD }),
            "threshold probability is 1.5: give a number from 0 to 1",
        ),
        (single(Threshold { probability: -0.1, ..THRESHOLD }), "threshold probability is -0.1"),
        (single(Threshold { probability: f64::NAN, ..THRESHOLD }), "threshold probability is NaN"),
        (single(Threshold { load: 0, probability: 0.0 }), "lets no key into any block"),
        (sequential(0, 1.2), "choices is 0: give a whole number from 1 to 16"),
        (sequential(17, 1.2), "choices is 17"),
        (sequential(3, 0.0), "accesses per key is 0: give a finite number above 0"),
        (sequential(3, -1.0), "accesses per key is -1"),
        (sequential(3, f64::NAN), "accesses per key is NaN"),
        (sequential(3, f64::INFINITY), "accesses per key is inf"),
        (multi_level(vec![]), "number of subtables is 0"),
        (multi_level(vec![1; 17]), "number of subtables is 17"),
        (multi_level(vec![10, 0]), "subtable size is 0: give a whole number from 1 to 10"),
        (multi_level(vec![8, 1]), "the subtables hold 9 blocks together, the table has 10"),
        (multi_level(vec![u64::MAX, u64::MAX]), "subtable size is 18446744073709551615"),
        (one_plus_alpha(-0.01), "alpha is -0.01: give a number from 0 to 1"),
        (one_plus_alpha(1.01), "alpha is 1.01"),
        (one_plus_alpha(f64::NAN), "alpha is NaN"),
        (hinted(65, 256), "hints of a block is 65: give a whole number from 0 to 64"),
        (
            hinted(61, 64),
            "counter and hints of a block in bits is 65: give a whole number from 0 to 62",
        ),
        (hinted(58, 64), "hashes per key is 2: give a whole number from 1 to 1"),
        (
            fingerprint(FingerprintTable { slots: 65, ..FINGERPRINTS }, Route::Single),
            "slots of a block is 65: give a whole number from 1 to 64",
        ),
        (
            fingerprint(FingerprintTable { lists: 0, ..FINGERPRINTS }, Route::Single),
            "lists of a block is 0: give a whole number from 1 to 256",
        ),
        (
            fingerprint(FingerprintTable { remainder_bits: 49, ..FINGERPRINTS }, Route::Single),
            "bits of a remainder is 49: give a whole number from 1 to 48",
        ),
        (
            fingerprint(FingerprintTable { lists: 65, ..FINGERPRINTS }, Route::Single),
            "hints, lists and slots of a block in bits is 513: give a whole number from 1 to 512",
        ),
        (
            fingerprint(FingerprintTable { hints: 0, ..FINGERPRINTS }, Route::Single),
            "give each block at least 1 hint bit",
        ),
        (
            fingerprint(FingerprintTable { count: 0, ..FINGERPRINTS }, Route::Single),
            "block count is 0",
        ),
        (
            fingerprint(FINGERPRINTS, Route::Sequential { choices: 3, accesses: 3.0 }),
            "keys cannot be removed from a table in which each has 3 candidates anywhere",
        ),
        (
            fingerprint(FINGERPRINTS, Route::Sequential { choices: 0, accesses: 1.0 }),
            "choices is 0",
        ),
        (
            fingerprint(FINGERPRINTS, Route::MultiLevel { subtables: vec![8, 1] }),
            "the subtables hold 9 blocks together, the table has 10",
        ),
        (Scheme::Classical { bits: 0, hashes: 3 }, "bits is 0: give at least 1"),
        (Scheme::Classical { bits: 100, hashes: 0 }, "hashes per key is 0"),
        (Scheme::Classical { bits: 100, hashes: 1_000 }, "hashes per key is 1000"),
    ];
    for (scheme, expected) in cases {
        let message = refusal(scheme).to_string();
        assert!(message.contains(expected), "«{message}» does not say «{expected}»");
    }
}

#[test]
fn sizes_beyond_64_bits_and_beyond_the_machine_are_refused_without_an_abort() {
    let too_many = refusal(blocked(BlockTable { count: u64::MAX / 100, ..TABLE }));
    assert!(matches!(too_many, BuildError::TooLarge { bits: 256, .. }), "{too_many}");
    let no_memory = refusal(blocked(BlockTable { count: u64::MAX / 256, ..TABLE }));
    assert!(matches!(no_memory, BuildError::OutOfMemory { .. }), "{no_memory}");
    let a_petabyte = refusal(Scheme::Classical { bits: 1 << 53, hashes: 3 });
    assert_eq!(a_petabyte, BuildError::OutOfMemory { bytes: 1 << 50 });
    assert!(matches!(
        refusal(Scheme::Classical { bits: u64::MAX, hashes: 3 }),
        BuildError::OutOfMemory { .. }
    ));
    for capacity in [u64::MAX, u64::MAX / 128] {
        let overflow = Overflow { capacity, when_full: WhenFull::Refuse };
        refusal(Scheme::Single { blocks: TABLE, threshold: THRESHOLD, hints: 0, overflow });
    }
}

/// A counter takes its bits from the block, and a key may set half of what is left.
#[test]
fn hashes_must_fit_beside_the_counter() {
    let blocks = BlockTable { count: 1, bits: 64, hashes: 31 };
    let threshold = Threshold { load: 10, probability: 0.0 };
    let refused = refusal(Scheme::Single { blocks, threshold, hints: 0, overflow: OVERFLOW });
    assert!(refused.to_string().contains("hashes per key is 31: give a whole number from 1 to 30"));
}

#[cfg(feature = "serde")]
#[test]
fn parameters_survive_a_round_trip_through_json() {
    let parameters = Parameters { keys: 5, seed: 9, scheme: multi_level(vec![8, 2]) };
    let json = serde_json::to_string(&parameters).unwrap();
    assert!(json.contains(r#""kind":"multi-level""#));
    assert_eq!(serde_json::from_str::<Parameters>(&json).unwrap(), parameters);
}
