//! Hash maps and sets whose lookups read few buckets, and never more than planned.
//!
//! ```
//! use equibloom_tables::{BalancedMap, CuckooMap};
//!
//! let mut ages = BalancedMap::new();
//! ages.insert("alice", 31);
//! *ages.entry("bob").or_insert(0) += 1;
//! assert_eq!((ages.get("alice"), ages.get("carol")), (Some(&31), None));
//!
//! let squares: CuckooMap<u64, u64> = (0..1_000).map(|n| (n, n * n)).collect();
//! assert_eq!(squares[&30], 900);
//! let statistics = squares.statistics();
//! assert!(statistics.bytes_per_entry() < 20.0); // of which the entry has 16
//! assert_eq!(statistics.misses.buckets.max, 2); // never more, whatever the keys; then the stash
//! ```
//!
//! | map | an entry is in | a lookup reads at most |
//! |---|---|---|
//! | [`BalancedMap`] | the first of a few buckets that had room, or the stash | d buckets and the stash |
//! | [`CuckooMap`] | one of two buckets, where it may displace another entry, or the stash | 2 buckets and the stash |
//!
//! Both are one façade, [`Map`], over a [`RawTable`]: [`Balanced`], whose buckets are filled by the
//! same [placement rules](equibloom_layout::placement) as the blocks of Equibloom's filters, or [`Cuckoo`].
//! [`BalancedSet`] and [`CuckooSet`] are the same without values.
//!
//! Keys need [`Hash`](core::hash::Hash) and [`Eq`]. The maps answer correctly whatever these do: if all hashes
//! are equal, the stash takes the entries; if they panic, no entry is lost.
//!
//! # Features
//! - `std` (default): `BalancedMap::new` and its like, with std's hasher. Without it the crate needs `alloc` only.
//! - `planner`: the plans of least variance, `BucketPlan::optimal_multi_level` and its like.
//! - `huge-pages`: large tables ask Linux for pages of 2 MiB.
//! - `serde`: `Serialize` and `Deserialize` for [`BucketPlan`] and the statistics.
#![no_std]
// Not `forbid`, for two exceptions: buckets hold entries in slots that may be free (`buckets/`), and `madvise`
// has no safe wrapper (`huge_pages.rs`).
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
#[cfg_attr(test, macro_use)]
extern crate std;

mod balanced;
mod buckets;
mod counters;
mod cuckoo;
mod error;
mod geometry;
#[cfg(all(feature = "huge-pages", target_os = "linux"))]
mod huge_pages;
mod map;
mod raw;
mod set;
mod stash;
mod statistics;
mod storage;
mod tag;
mod tag_word;

pub use balanced::{Balanced, BucketPlan, MAX_SLOTS};
pub use cuckoo::{
    Cuckoo, CuckooHistory, Lecture, Move, Outcome, Seeded, Step, Trace, TwoFunctions,
};
pub use error::TableError;
pub use map::{
    BalancedMap, CuckooMap, DefaultHashBuilder, Drain, Entry, IntoIter, Iter, IterMut, Map,
    OccupiedEntry, VacantEntry,
};
pub use raw::RawTable;
pub use set::{BalancedSet, CuckooSet, Set};
pub use statistics::{Distribution, LookupStatistics, TableStatistics};
pub use storage::{Place, Read};
