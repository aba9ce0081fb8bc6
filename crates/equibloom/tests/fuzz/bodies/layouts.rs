//! Any design: refused with a cure, or it works.

use equibloom::{BuildError, Filter, LayoutError, Parameters, WhenFull};

use super::input::Input;

/// Larger filters are checked, not built.
const MOST_BYTES: u64 = 1 << 20;

pub fn layouts(bytes: &[u8]) {
    let mut input = Input(bytes);
    let design = input.any_design();
    let parameters = Parameters { keys: input.byte().into(), seed: input.word(), design };
    // Every design has a name and a size, valid or not.
    let _ = (design.name(), design.placement(), design.max_accesses(), design.max_hashes());
    if let Err(error) = parameters.check() {
        assert_eq!(Filter::<u8>::new(&parameters).err(), Some(BuildError::Layout(error)));
        let parts = match error {
            LayoutError::OutOfRange { name, value, accepted } => {
                vec![name.to_owned(), value.to_string(), accepted.to_string()]
            }
            LayoutError::Conflict { reason, cure } => vec![reason.to_owned(), cure.to_owned()],
            LayoutError::TooLarge { count, bits } => {
                vec![count.to_string(), bits.to_string(), "give fewer or smaller".to_owned()]
            }
            _ => panic!("{error} has no known cure"),
        };
        let text = error.to_string();
        assert!(parts.iter().all(|part| !part.is_empty() && text.contains(part)), "{text}");
        return;
    }
    if design.bytes() > MOST_BYTES {
        return;
    }
    let mut filter = Filter::new(&parameters).unwrap();
    let refuses = design.overflow().when_full == WhenFull::Refuse;
    let mut taken = Vec::new();
    for key in input.keys() {
        match filter.insert(&key) {
            Ok(_) => taken.push(key),
            Err(error) => assert!(refuses, "{error}: {parameters:?}"),
        }
    }
    for key in &taken {
        assert!(filter.contains(key), "{key} was lost: {parameters:?}");
    }
    let rate = filter.statistics().expected_rate;
    assert!((0.0..=1.0 + 1e-9).contains(&rate), "rate {rate}: {parameters:?}");
}
