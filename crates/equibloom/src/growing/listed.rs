//! Strings that no level has room for, and repeated strings.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

use super::prefix::Prefix;

/// Strings and their copies, in order. Practically always empty, unless keys are repeated in a removable filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Listed(BTreeMap<Prefix, u64>);

/// Estimated bytes per string: key, value, and the free part of its node.
const BYTES_PER_STRING: u64 = 40;

impl Listed {
    pub(super) fn insert(&mut self, string: Prefix, copies: u64) {
        *self.0.entry(string).or_default() += copies;
    }

    /// The longest beginning of a key among strings of these lengths.
    pub(super) fn longest(&self, key: Prefix, lengths: Range<u32>) -> Option<Prefix> {
        if self.0.is_empty() {
            return None;
        }
        lengths.rev().map(|length| key.truncated(length)).find(|string| self.0.contains_key(string))
    }

    /// Removes one copy of a string.
    pub(super) fn remove(&mut self, string: Prefix) {
        if let Some(copies) = self.0.get_mut(&string) {
            *copies -= 1;
            if *copies == 0 {
                self.0.remove(&string);
            }
        }
    }

    /// Takes out all strings of some lists.
    pub(super) fn take(&mut self, list_bits: u32, lists: &Range<u64>) -> Vec<(Prefix, u64)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let range = self.0.range(Prefix::range(list_bits, lists));
        let strings: Vec<_> = range.map(|(&string, &copies)| (string, copies)).collect();
        for (string, _) in &strings {
            self.0.remove(string);
        }
        strings
    }

    /// All strings of some lists.
    pub(super) fn range(
        &self,
        list_bits: u32,
        lists: &Range<u64>,
    ) -> impl Iterator<Item = (Prefix, u64)> {
        self.0.range(Prefix::range(list_bits, lists)).map(|(&string, &copies)| (string, copies))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Prefix, u64)> {
        self.0.iter().map(|(&string, &copies)| (string, copies))
    }

    /// Number of different strings.
    #[cfg(feature = "file")]
    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    pub(super) fn bytes(&self) -> u64 {
        self.0.len() as u64 * BYTES_PER_STRING
    }
}
