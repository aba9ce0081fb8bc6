//! Hash tables: the papers' second application, and cuckoo hashing.
//!
//! ```
//! use equibloom::table::{BalancedMap, CuckooMap};
//!
//! let mut ages = BalancedMap::new();
//! ages.insert("alice", 31);
//! *ages.entry("bob").or_insert(0) += 1;
//! assert_eq!(ages.get("alice"), Some(&31));
//! assert_eq!(ages.remove("bob"), Some(1));
//!
//! let squares: CuckooMap<u64, u64> = (0..1_000).map(|n| (n, n * n)).collect();
//! assert_eq!(squares[&30], 900);
//! ```
//!
//! | map | an entry is in | a lookup reads at most |
//! |---|---|---|
//! | [`BalancedMap`] | the first of a few buckets that had room, or the stash | d buckets and the stash |
//! | [`CuckooMap`] | one of two buckets, others make room for it, or the stash | 2 buckets and the stash |
//!
//! Both are one façade, [`Map`], over a [`RawTable`]: [`Balanced`], whose buckets are filled by the
//! same placement rules as the blocks of the filters, or [`Cuckoo`]. [`BalancedSet`] and [`CuckooSet`]
//! are the same without values.
//!
//! Keys need [`Hash`](core::hash::Hash) and [`Eq`], as everywhere. The maps stay right whatever these do:
//! if all hashes are equal the stash takes the entries, and if they panic nothing is lost.

mod balanced;
mod buckets;
mod counters;
mod cuckoo;
mod geometry;
mod map;
mod mark;
mod observer;
mod raw;
mod set;
mod stash;
mod statistics;
mod storage;
mod tags;

pub use balanced::{Balanced, BucketPlacement, BucketPlan, MAX_SLOTS};
pub use cuckoo::{
    Cuckoo, CuckooHistory, Lecture, Move, Outcome, Seeded, Step, Trace, TwoFunctions,
};
pub use map::{
    BalancedMap, CuckooMap, DefaultState, Drain, Entry, IntoIter, Iter, IterMut, Keys, Map,
    OccupiedEntry, Usual, VacantEntry, Values, ValuesMut,
};
pub use observer::LookupObserver;
pub use raw::RawTable;
pub use set::{BalancedSet, CuckooSet, Set};
pub use statistics::{Distribution, LookupStatistics, TableStatistics};
pub use storage::Place;
