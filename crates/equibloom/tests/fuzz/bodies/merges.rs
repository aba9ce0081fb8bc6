//! Two or three filters merged in every order: the same answers, and no key is lost.

use equibloom::{BlockKind, Filter, MergeError};

use super::input::Input;

pub fn merges(bytes: &[u8]) {
    let mut input = Input(bytes);
    let parameters = input.parameters();
    let parts: Vec<(Filter<u8>, Vec<u8>)> = (0..input.between(2, 3))
        .map(|_| {
            let mut filter = Filter::new(&parameters).unwrap();
            let keys = input.keys().into_iter().filter(|key| filter.insert(key).is_ok()).collect();
            (filter, keys)
        })
        .collect();
    let orders: &[&[usize]] = if parts.len() == 2 {
        &[&[0, 1], &[1, 0]]
    } else {
        &[&[0, 1, 2], &[0, 2, 1], &[1, 0, 2], &[1, 2, 0], &[2, 0, 1], &[2, 1, 0]]
    };
    let mut merged: Vec<Filter<u8>> = Vec::new();
    for order in orders {
        let filters = || order.iter().map(|&part| &parts[part].0);
        // (a + b) + c, and c + (b + a).
        merged.extend(union(filters(), sum));
        merged.extend(union(filters(), |merged, filter| sum(filter, merged)));
    }
    for filter in &merged {
        for key in parts.iter().flat_map(|(_, keys)| keys) {
            assert!(filter.contains(key), "a merge lost {key}: {parameters:?}");
        }
        if parameters.design.is_multiset() {
            let sum = parts.iter().map(|(_, keys)| keys.len() as u64).sum();
            assert_eq!(filter.len(), sum, "{parameters:?}");
        }
    }
    // Shortened blocks hold other keys besides, depending on the order.
    let is_overloaded = |filter: &Filter<u8>| {
        let fingerprints = parameters.design.block_kind() == Some(BlockKind::Fingerprint);
        fingerprints && filter.statistics().saturated > 0
    };
    if merged.iter().any(is_overloaded) {
        return;
    }
    for pair in merged.windows(2) {
        let differs = (0..=u8::MAX).find(|key| pair[0].contains(key) != pair[1].contains(key));
        assert_eq!(differs, None, "two orders of merging differ: {parameters:?}");
    }
}

/// `None` if there is no room for all.
fn union<'a>(
    mut filters: impl Iterator<Item = &'a Filter<u8>>,
    sum: impl Fn(&Filter<u8>, &Filter<u8>) -> Option<Filter<u8>>,
) -> Option<Filter<u8>> {
    let first = filters.next()?.clone();
    filters.try_fold(first, |merged, filter| sum(&merged, filter))
}

/// The union of both; `None` if there is no room for it, in which case nothing has changed.
fn sum(ours: &Filter<u8>, theirs: &Filter<u8>) -> Option<Filter<u8>> {
    let mut merged = ours.clone();
    match merged.merge(theirs) {
        Ok(()) => Some(merged),
        Err(MergeError::Full(_)) => {
            assert!(merged == *ours, "a refused merge has changed the filter");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
