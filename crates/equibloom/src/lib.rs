//! Membership filters that need few memory accesses.
//!
//! ```
//! use equibloom::{AnyFilter, BlockTable, Parameters, Scheme};
//!
//! let blocks = BlockTable { count: 3_200, bits: 512, hashes: 11 }; // 205 kB, 16 bits per key
//! let parameters = Parameters { keys: 100_000, seed: 0, scheme: Scheme::Blocked { blocks } };
//! let mut filter = AnyFilter::new(&parameters)?;
//! filter.insert("alice@example.com")?;
//! assert!(filter.contains("alice@example.com"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A classical Bloom filter touches `k` scattered places for each key. A blocked one touches a
//! single block (a cache line, a page), but some blocks are overloaded, and false positives come from
//! those. The schemes here balance the blocks: a key goes into the first of a few blocks that has
//! room ([single](Scheme::Single), [sequential](Scheme::Sequential),
//! [multi-level](Scheme::MultiLevel)) or into the less loaded of two
//! ([two-choice](Scheme::TwoChoice), [one-plus-alpha](Scheme::OnePlusAlpha)), and the few keys that
//! no block admits go to a small overflow list.
//!
//! - [`Parameters`] describe a filter as plain data; [`AnyFilter`] is made from them.
//! - [`Filter`] is generic over the mechanism ([`raw`]) and the hash ([`KeyHasher`]).
//! - [`Statistics`] tell loads, bytes and the rate to expect from what the filter holds now;
//!   [`AccessStatistics`] count block accesses of inserts, hits and misses.
//! - [`SharedFilter`] takes inserts and lookups of many threads at once.
//!
//! # Promises
//! - No false negatives, whatever the order of inserts, refusals and full overflow lists.
//! - The same seed and keys in the same order give the same bytes, on every platform.
//! - No panics: parameters that cannot work give a [`BuildError`] before anything is allocated.
//!
//! # Features
//! - `std` (default): [`Parameters::with_random_seed`], and threads: [`SharedFilter`], which many of them
//!   use at once, and [`AnyFilter::insert_hashes_parallel`]. Without it the crate needs `alloc` only.
//! - `planner` (default): [`AnyFilter::builder`], the best filter for what a user wants, and
//!   [`Parameters::predict`], what to expect of a filter before it is made.
//! - `file`: filters in files ([`mod@file`]): [`AnyFilter::save`], [`AnyFilter::load`], and
//!   [`AnyFilter::open`], which asks a file in place.
//! - `serde`: `Serialize` and `Deserialize` for [`Parameters`] and the statistics.
#![no_std]
// Not `forbid`, for two exceptions: words are zeroed lazily or mapped from a file (`memory.rs`), and
// processors have instructions without a safe name (`block/simd/`).
#![deny(unsafe_code)]

extern crate alloc;
// The tests' random filters are described in the words of a user.
#[cfg(test)]
extern crate self as equibloom;
#[cfg(any(feature = "std", test))]
#[cfg_attr(test, macro_use)]
extern crate std;

pub mod block;
#[cfg(feature = "planner")]
mod builder;
mod error;
#[cfg(feature = "file")]
pub mod file;
mod filter;
#[cfg(feature = "planner")]
mod growing;
mod hashing;
mod memory;
mod observer;
mod overflow;
mod parameters;
#[cfg(feature = "planner")]
mod planned;
#[cfg(feature = "planner")]
mod prediction;
pub mod raw;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod shared;
mod statistics;

#[cfg(feature = "planner")]
pub use builder::{
    BlockKind, DEFAULT_ACCESSES_MISS, FilterBuilder, PlacementName, Plan, PlanError,
};
// The one description of a filter, and where a hash leads.
use equibloom_layout::placement;

pub use error::{Accepted, BuildError, FullError, MergeError, Number, RemoveError, ShrinkError};
pub use filter::{AnyFilter, Filter};
#[cfg(feature = "planner")]
pub use growing::GrowingFilter;
pub use hashing::{KeyHash, KeyHasher, Stable, StableKey, WithBuildHasher};
pub use observer::{AccessStatistics, AccessSum, Accesses, Observer};
pub use parameters::{
    BlockTable, FingerprintTable, MAX_BLOCK_BITS, MAX_CHOICES, MAX_HASHES, MAX_HINTS,
    MIN_BLOCK_BITS, Overflow, Parameters, Route, Scheme, Threshold, WhenFull,
};
#[cfg(feature = "planner")]
pub use prediction::{Prediction, PredictionError};
pub use raw::{Insertion, RawFilter};
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use shared::SharedFilter;
pub use statistics::{LevelStatistics, Memory, Statistics};

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
