//! Constructors.

use core::marker::PhantomData;

use super::{BalancedMap, CuckooMap, Map, RawTable};
use crate::balanced::{Balanced, BucketPlan};
use crate::cuckoo::{Cuckoo, CuckooHistory};
use crate::error::TableError;

/// The default hasher: std's, with random keys.
#[cfg(feature = "std")]
pub type DefaultHashBuilder = std::hash::RandomState;

/// Without `std` there is no default hasher: use the constructors that take one.
#[cfg(not(feature = "std"))]
#[derive(Debug, Clone, Copy)]
pub enum DefaultHashBuilder {}

impl<K, V, T, S> Map<K, V, T, S> {
    /// A map over an existing table.
    pub const fn from_table(table: T, hasher: S) -> Self {
        Self { table, hasher, entries: PhantomData }
    }
}

impl<K, V, T: RawTable + Default, S> Map<K, V, T, S> {
    /// An empty map that allocates nothing yet.
    pub fn with_hasher(hasher: S) -> Self {
        Self::with_capacity_and_hasher(0, hasher)
    }

    /// An empty map with room for `capacity` entries, filled by the [default plan](BucketPlan::default) or up
    /// to the [default load](Cuckoo::DEFAULT_LOAD). If the allocation fails, it starts without memory.
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        let empty = T::default();
        Self::from_table(empty.emptied(capacity).unwrap_or(empty), hasher)
    }
}

#[cfg(feature = "std")]
impl<K, V, T: RawTable + Default> Map<K, V, T, DefaultHashBuilder> {
    /// An empty map that allocates nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty map with room for `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, DefaultHashBuilder::new())
    }
}

impl<K, V, S> BalancedMap<K, V, S> {
    /// An empty map for `capacity` entries, filled by this plan.
    ///
    /// # Errors
    /// If the plan is invalid or the allocation fails.
    pub fn with_plan_and_hasher(
        capacity: usize,
        plan: BucketPlan,
        hasher: S,
    ) -> Result<Self, TableError> {
        Ok(Self::from_table(Balanced::new(capacity, plan)?, hasher))
    }

    /// How the buckets are filled.
    pub fn plan(&self) -> &BucketPlan {
        self.table.plan()
    }
}

#[cfg(feature = "std")]
impl<K, V> BalancedMap<K, V> {
    /// An empty map for `capacity` entries, filled by this plan.
    ///
    /// # Errors
    /// If the plan is invalid or the allocation fails.
    pub fn with_plan(capacity: usize, plan: BucketPlan) -> Result<Self, TableError> {
        Self::with_plan_and_hasher(capacity, plan, DefaultHashBuilder::new())
    }
}

impl<K, V, S, const SLOTS: usize> CuckooMap<K, V, S, SLOTS> {
    /// An empty map for `capacity` entries that fill a share `load` of its slots.
    ///
    /// ```
    /// use equibloom_tables::CuckooMap;
    ///
    /// let hasher = std::hash::RandomState::new();
    /// let map = CuckooMap::<u64, u64>::with_load_and_hasher(1_000, 0.95, hasher)?;
    /// assert!(map.capacity() >= 1_000);
    /// # Ok::<(), equibloom_tables::TableError>(())
    /// ```
    ///
    /// # Errors
    /// If the load is above [the highest](Cuckoo::MAX_LOAD), or the allocation fails.
    pub fn with_load_and_hasher(capacity: usize, load: f64, hasher: S) -> Result<Self, TableError> {
        Ok(Self::from_table(Cuckoo::new(capacity, load)?, hasher))
    }

    /// Events in the map so far.
    pub fn history(&self) -> CuckooHistory {
        self.table.history()
    }
}
