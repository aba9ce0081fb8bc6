//! The lab's exact bits against the theory crate's independent computation.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use equibloom_lab::subject::Subject;
use equibloom_theory::paper::Scheme;

const ELEMENTS: u64 = 1_000_000_000;

/// Definition and filter differ only by apparently present keys, which are rare at many bits per element.
#[test]
fn definition_and_filter_agree_where_no_key_is_apparently_present() {
    let schemes = [
        (Scheme::Blocked, 1e-4),
        (Scheme::Single { overflow: 0.005 }, 4e-3),
        (Scheme::Sequential { accesses: 1.2, choices: 3, overflow: None }, 4e-3),
        (Scheme::MultiLevel { accesses: 1.2, choices: 3, overflow: None }, 4e-3),
    ];
    for (scheme, tolerance) in schemes {
        for (block_bits, bits_per_element) in [(256, 24.0), (256, 40.0), (512, 20.0)] {
            let subject = Subject { scheme, block_bits, bits_per_element };
            let definition = subject.definition_model(ELEMENTS, ELEMENTS).unwrap();
            let (exact, _) = subject.exact_model(ELEMENTS, ELEMENTS).unwrap();
            for (what, a, b) in [
                ("rate", definition.rate, exact.rate),
                ("insert", definition.insert, exact.insert),
                ("hit", definition.hit, exact.hit),
                ("miss", definition.miss, exact.miss),
                ("overflow", definition.overflow, exact.overflow),
            ] {
                let off = (a - b).abs();
                assert!(off <= tolerance * b.abs(), "{what}: {a} is not {b}; {subject:?}");
            }
        }
    }
}

#[test]
fn an_empty_table_has_rate_zero() {
    for scheme in [Scheme::Blocked, Scheme::Classical, Scheme::Single { overflow: 0.01 }] {
        let subject = Subject { scheme, block_bits: 256, bits_per_element: 16.0 };
        assert_eq!(subject.simulate(10_000, 0, 1).unwrap().rate, 0.0);
        assert_eq!(subject.definition_model(10_000, 0).unwrap().rate, 0.0);
        assert_eq!(subject.run_filter(10_000, 0, 10, 1).unwrap().rate, 0.0);
    }
}
