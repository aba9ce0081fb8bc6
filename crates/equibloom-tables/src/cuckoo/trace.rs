//! Cuckoo hashing step by step, with the functions of the lecture.

use alloc::vec::Vec;

use super::{Cuckoo, Lecture, RawTable};
use crate::error::TableError;
use crate::storage::Place;

/// Limit of rehashes in a row: the keys do not fit.
const MAX_REHASHES: u64 = 100;

/// Two tables with one slot a bucket, and the steps in which keys came into them.
///
/// ```
/// use equibloom_tables::Trace;
///
/// let mut trace = Trace::new(11)?;
/// let step = trace.insert(20);
/// assert_eq!(step.tables[0][9], Some(20));
/// // 53 has the same place and displaces 20, which goes to the second table.
/// let step = trace.insert(53);
/// assert_eq!(step.moves.len(), 2);
/// assert_eq!((step.tables[0][9], step.tables[1][1]), (Some(53), Some(20)));
/// # Ok::<(), equibloom_tables::TableError>(())
/// ```
#[derive(Clone)]
pub struct Trace {
    table: Cuckoo<u64, 1, Lecture>,
}

/// The steps of one key's insertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The key.
    pub key: u64,
    /// Its buckets in the two tables.
    pub buckets: [u64; 2],
    /// The placed keys, in order.
    pub moves: Vec<Move>,
    /// How it ended.
    pub outcome: Outcome,
    /// The tables after that.
    pub tables: [Vec<Option<u64>>; 2],
}

/// A key comes into a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// The key.
    pub key: u64,
    /// Which table, 0 or 1.
    pub table: usize,
    /// Which bucket of it.
    pub bucket: usize,
    /// The key that was there before and is moved next.
    pub displaced: Option<u64>,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Every key has its place.
    Placed,
    /// The key was already present.
    AlreadyPresent,
    /// The walk did not end. All keys were placed again, with the functions after this many exchanges.
    Rehashed {
        /// Exchanges of the functions so far.
        functions: u64,
    },
    /// The walk did not end, and other functions did not help. The keys that found no place are in the stash.
    Stashed {
        /// Their number.
        keys: usize,
    },
}

impl Trace {
    /// Two empty tables of `size` buckets.
    ///
    /// # Errors
    /// If there are no buckets, or their allocation fails.
    pub fn new(size: u64) -> Result<Self, TableError> {
        equibloom_layout::check_whole("buckets per table", size, 1, u64::MAX)?;
        Ok(Self { table: Cuckoo::with_functions(size, 1.0, Lecture::default())? })
    }

    /// Inserts a key and returns the steps.
    pub fn insert(&mut self, key: u64) -> Step {
        let buckets = self.buckets_of(key);
        let (mut moves, size) = (Vec::new(), self.table.size as usize);
        let known = self.table.find(key, |&other| other == key, &mut |_| {}).is_some();
        let outcome = if known {
            Outcome::AlreadyPresent
        } else {
            let mut record = |&key: &u64, bucket, displaced: Option<&u64>| {
                let (table, bucket) = (bucket / size, bucket % size);
                moves.push(Move { key, table, bucket, displaced: displaced.copied() });
            };
            let place = self.table.place_observed(key, key, |&key| key, &mut record);
            let failed = self.table.storage.stash.len() > 0;
            debug_assert!(failed || matches!(place, Place::Bucket(_)));
            if failed { self.rehash() } else { Outcome::Placed }
        };
        Step { key, buckets, moves, outcome, tables: self.tables() }
    }

    /// The buckets of a key under the current functions.
    pub fn buckets_of(&self, key: u64) -> [u64; 2] {
        use super::TwoFunctions;
        self.table.functions.buckets(key, self.table.size)
    }

    fn rehash(&mut self) -> Outcome {
        let size = self.table.capacity();
        for _ in 0..MAX_REHASHES {
            // Without memory the tables stay as they are.
            if self.table.rebuild(size, |&key| key).is_err() || self.table.storage.stash.len() == 0
            {
                break;
            }
        }
        match self.table.storage.stash.len() {
            0 => Outcome::Rehashed { functions: self.table.functions.rehashes() },
            keys => Outcome::Stashed { keys },
        }
    }

    /// The current contents of both tables.
    pub fn tables(&self) -> [Vec<Option<u64>>; 2] {
        use crate::buckets::Slot;
        let size = self.table.size as usize;
        [0, size].map(|from| {
            let key = |bucket| self.table.storage.buckets.get(Slot { bucket, slot: 0 }).copied();
            (from..from + size).map(key).collect()
        })
    }
}
