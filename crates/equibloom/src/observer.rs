//! Counters of memory accesses.

pub(crate) use equibloom_layout::placement::Observer;

/// Accesses of one operation, or the sum over many.
///
/// ```
/// use equibloom::{AccessStatistics, Filter};
///
/// let mut filter = Filter::<u64>::builder().keys(1_000).rate(0.01).build()?;
/// let (hash, mut counted) = (filter.hash(&5), AccessStatistics::default());
/// filter.as_hash_filter_mut().insert_counted(hash, &mut counted)?;
/// assert_eq!(counted.inserts.accesses.blocks, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Accesses {
    /// Blocks read.
    pub blocks: u64,
    /// Probes of the overflow list.
    pub overflow_probes: u64,
}

impl Observer for Accesses {
    #[inline]
    fn block_read(&mut self) {
        self.blocks += 1;
    }

    #[inline]
    fn overflow_probed(&mut self) {
        self.overflow_probes += 1;
    }
}

/// Sum of accesses over operations of one kind.
///
/// ```
/// use equibloom::{AccessStatistics, Filter};
///
/// let mut filter = Filter::<u64>::builder().keys(1_000).rate(0.01).build()?;
/// filter.try_extend(0..1_000)?;
/// let mut counted = AccessStatistics::default();
/// for key in 0..1_000 {
///     filter.as_hash_filter().contains_counted(filter.hash(&key), &mut counted);
/// }
/// assert_eq!((counted.hits.operations, counted.misses.operations), (1_000, 0));
/// assert!((1.0..1.5).contains(&counted.hits.mean_blocks()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct AccessSum {
    /// Number of operations.
    pub operations: u64,
    /// Their accesses in all.
    pub accesses: Accesses,
}

impl AccessSum {
    pub(crate) fn record(&mut self, accesses: Accesses) {
        self.operations += 1;
        self.accesses.blocks += accesses.blocks;
        self.accesses.overflow_probes += accesses.overflow_probes;
    }

    /// Mean block accesses per operation; 0 if there were none.
    pub fn mean_blocks(&self) -> f64 {
        self.mean(self.accesses.blocks)
    }

    /// Mean probes of the overflow list per operation; 0 if there were none.
    pub fn mean_overflow_probes(&self) -> f64 {
        self.mean(self.accesses.overflow_probes)
    }

    fn mean(&self, sum: u64) -> f64 {
        sum as f64 / self.operations.max(1) as f64
    }
}

/// Accesses of inserts, hits and misses, counted separately.
///
/// Once an access budget is spent, inserts place nothing, and only check that a key is not present before they list
/// it: they count as inserts that read no block, and what the checks read stands apart.
///
/// ```
/// use equibloom::{AccessStatistics, Blocks, HashFilter, KeyHash, Layout, Parameters};
///
/// let design = Layout::two_choice(Blocks::bloom(512, 8), 100).into();
/// let mut filter = HashFilter::new(&Parameters { keys: 5_000, seed: 0, design })?;
/// let mut accesses = AccessStatistics::default();
/// filter.insert_counted(KeyHash::from_u64(1), &mut accesses)?;
/// filter.contains_counted(KeyHash::from_u64(2), &mut accesses);
/// assert_eq!(accesses.inserts.mean_blocks(), 2.0);
/// assert_eq!(accesses.misses.mean_blocks(), 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct AccessStatistics {
    /// Inserts of new and of present keys.
    pub inserts: AccessSum,
    /// Checks of keys that came after the access budget was spent.
    #[cfg_attr(feature = "serde", serde(default))]
    pub checks: AccessSum,
    /// Lookups that answered "present".
    pub hits: AccessSum,
    /// Lookups that answered "absent".
    pub misses: AccessSum,
}
