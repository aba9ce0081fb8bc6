//! Membership filters that need few memory accesses.
//!
//! ```
//! use equibloom::Filter;
//!
//! let mut filter = Filter::builder().keys(100_000).rate(0.001).build()?;
//! filter.insert("alice@example.com")?;
//! assert!(filter.contains("alice@example.com"));
//! assert!(filter.statistics().memory.total() < 200_000); // bytes, everything counted
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A classical Bloom filter reads `k` scattered cache lines per key. A blocked one reads a single block (a
//! cache line or a page), but overloaded blocks cause most of its false positives. The filters here balance
//! the blocks: a key goes into the first of a few candidate blocks that has room, or into the less loaded
//! of two; or a full block keeps the largest of its keys' fingerprints and sends the smallest on to another
//! block. The few keys that no block admits go to a small overflow list.
//!
//! - [`Filter`] is an approximate set of keys of one type. [`Filter::builder`] plans the best one for given
//!   requirements: keys, memory, rate, accesses.
//! - [`SharedFilter`] accepts inserts and lookups from many threads at once. [`GrowingFilter`] accepts any
//!   number of keys.
//! - [`FilterGroup`] asks many filters for the same keys, hashed once.
//! - [`HashFilter`] is the same filter over [`KeyHash`]es.
//! - [`StableKey`] defines a key's bytes, the same on every platform and in every language.
//! - [`Parameters`] describe a filter as plain data, with a [`Design`]: blocks, candidates, rule, sizes.
//! - [`Statistics`] report loads, bytes and the expected rate of the current contents. [`AccessStatistics`]
//!   count the block accesses of inserts, hits and misses.
//!
//! [`guide`] has two pages: which filter for me, and coming from fastbloom.
//!
//! # Promises
//! - No false negatives, whatever the order of inserts, refusals and full overflow lists.
//! - The same seed and keys in the same order give the same bytes, on every platform. Filters of fingerprint
//!   blocks that are not removable give them for any order of the keys, any number of threads and any way of
//!   merging.
//! - No panics: invalid parameters give a [`BuildError`] before anything is allocated.
//!
//! # Features
//! - `std` (default): threads, [`SharedFilter`] and [`HashFilter::insert_parallel`]. Without it the crate needs
//!   `alloc` only.
//! - `planner` (default): [`Filter::builder`], which growing filters come from, too, and [`Parameters::predict`], which
//!   predicts a filter's rate and accesses before it is built.
//! - `file` (default): filters in files ([`mod@file`]): [`Filter::save`], [`Filter::load`], and [`Filter::open`],
//!   which queries a mapped file in place.
//! - `huge-pages`: pages of 2 MiB for large tables, on Linux.
//! - `serde`: `Serialize` and `Deserialize` for [`Parameters`] and the statistics, and with `file` for whole
//!   filters.
#![no_std]
// Not `forbid`, for two exceptions: memory that is zeroed lazily, borrowed or shared (`storage/`,
// `file/`), and CPU intrinsics (`block/isa/`).
#![deny(unsafe_code)]

extern crate alloc;
// Test helpers refer to this crate by its public name.
#[cfg(test)]
extern crate self as equibloom;
#[cfg(any(feature = "std", test))]
#[cfg_attr(test, macro_use)]
extern crate std;

mod block;
#[cfg(feature = "planner")]
mod builder;
mod error;
#[cfg(feature = "file")]
pub mod file;
mod filter;
mod group;
#[cfg_attr(
    not(all(feature = "std", target_has_atomic = "64")),
    allow(dead_code, reason = "some functions serve shared filters only")
)]
mod growing;
#[cfg(all(any(doc, doctest), feature = "planner", feature = "file"))]
pub mod guide;
mod hash_filter;
mod hashing;
mod observer;
mod overflow;
mod parameters;
#[cfg(feature = "planner")]
mod prediction;
mod raw;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod shared;
mod statistics;
mod storage;

use equibloom_layout::placement;

#[cfg(feature = "planner")]
pub use builder::{DEFAULT_ACCESSES_MISS, FilterBuilder, Lookup, Plan, PlanError};
pub use equibloom_layout::{
    Accepted, BlockKind, Blocks, Candidates, Design, Layout, LayoutError, MAX_BLOCK_BITS,
    MAX_CHOICES, MAX_HASHES, MAX_HINTS, MIN_BLOCK_BITS, Number, Overflow, PerSubtable, Placement,
    Proportions, Rule, Share, UnknownName, WhenFull,
};
pub use error::{BuildError, FullError, MergeError, RemoveError, ShrinkError};
pub use filter::Filter;
pub use group::{FilterGroup, GroupError};
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use growing::SharedGrowingFilter;
pub use growing::{GrowingFilter, GrowthWork};
pub use hash_filter::HashFilter;
pub use hashing::{KeyHash, KeyHasher, KeyKind, NamedHasher, Stable, StableKey, WithBuildHasher};
pub use observer::{AccessStatistics, AccessSum, Accesses};
pub use parameters::Parameters;
#[cfg(feature = "planner")]
pub use prediction::{Prediction, PredictionError};
pub use raw::Insertion;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use shared::SharedFilter;
pub use statistics::{LevelStatistics, Memory, Statistics};

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The example of the package's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct PackagePage;
