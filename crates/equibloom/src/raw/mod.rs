//! Filters over hashes.
//!
//! There are four kinds: [`Classical`], [`Balanced`], of Bloom blocks and generic over the rule,
//! [`Fingerprints`], and [`list::List`]. Each is written once, over [plain or shared](held::Held) words. [`Any`] holds
//! one of them, or several as [`Parts`], and dispatches once per operation.

mod any;
mod balanced;
mod batch;
mod budget;
mod classical;
#[cfg(test)]
#[path = "../../tests/designs/mod.rs"]
pub(crate) mod designs;
mod fingerprint;
mod held;
mod insert;
mod ledger;
mod level_by_level;
mod list;
mod lookup;
mod parts;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub(crate) mod shared;
#[cfg(test)]
mod tests;
mod threads;

pub(crate) use any::Any;
pub(crate) use balanced::Balanced;
pub(crate) use classical::Classical;
use fingerprint::Fingerprints;
#[cfg(feature = "file")]
pub use ledger::Counters;
pub(crate) use parts::{Part, Parts};

/// The result of an insert.
///
/// ```
/// use equibloom::{Filter, Insertion};
///
/// let mut filter = Filter::builder().keys(1_000).rate(0.001).build()?;
/// assert_eq!(filter.insert("alice@example.com")?, Insertion::New);
/// assert_eq!(filter.insert("alice@example.com")?, Insertion::AlreadyPresent);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Insertion {
    /// The key has been stored: it was absent, or the filter is removable and stores every insert.
    New,
    /// The key was already present, or a false positive (at the filter's rate). Nothing has been stored;
    /// lookups find the key in either case.
    AlreadyPresent,
}

impl Insertion {
    /// Whether the key has been stored.
    pub const fn is_new(self) -> bool {
        matches!(self, Self::New)
    }
}
