//! The present edition.

use equibloom as library;

#[path = "second.rs"]
mod adapter;

pub(super) use adapter::entries;
