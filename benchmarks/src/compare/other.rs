//! The edition that the present one is compared with.

#[cfg(not(other_edition))]
use equibloom as library;
#[cfg(other_edition)]
use other as library;

#[cfg_attr(other_edition = "first", path = "first.rs")]
#[cfg_attr(not(other_edition = "first"), path = "second.rs")]
mod adapter;

pub(super) use adapter::entries;
