//! How the buckets of a balanced table are filled, whatever its size.

use equibloom_layout::placement::Levels;
use equibloom_layout::{
    Blocks, Candidates, Layout, LayoutError, MAX_CHOICES, PerSubtable, Placement, Proportions,
    Rule, Share, check_positive, check_real, check_whole,
};

/// Maximum number of slots per bucket.
pub const MAX_SLOTS: u32 = 1_024;

/// A balanced table, described by its proportions: it keeps them when it grows.
///
/// The constructors have the papers' names. Entries that no bucket admits go to the stash.
///
/// ```
/// use equibloom_tables::{BalancedMap, BucketPlan};
///
/// // Two entries in a bucket of three on average, the less full of two buckets for each key.
/// let plan = BucketPlan::two_choice(2.0, 3);
/// let mut map = BalancedMap::with_plan(1_000, plan)?;
/// map.insert("alice", 1);
/// assert_eq!(map.get("alice"), Some(&1));
/// # Ok::<(), equibloom_tables::TableError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BucketPlan {
    /// Mean entries per bucket when the table is as full as planned (the papers' `r`). It may exceed the
    /// slots: the stash takes the rest.
    pub load: f64,
    /// The candidates of an entry.
    pub proportions: Proportions,
    /// The rule that selects one.
    pub rule: Rule,
    /// Capacity of a bucket.
    pub slots: u32,
    /// Bucket accesses per entry, on average, that placing may cost. Entries beyond it go to the stash.
    #[cfg_attr(feature = "serde", serde(default))]
    pub budget: Option<f64>,
}

/// The optimal multi-level plan for six entries a bucket, 1.2 buckets per insert and three subtables. A
/// bucket has seven slots: with entries of 16 bytes that is two cache lines, of which a miss reads one.
impl Default for BucketPlan {
    fn default() -> Self {
        // Without the theory crate; a test compares.
        let shares = PerSubtable::from([0.833_333_3, 0.142_350_3, 0.024_316_4]);
        let rule = Rule::FirstWithRoom { below: 6, coin: Share::clamped(0.651_952_2) };
        Self::first_with_room(6.0, Proportions::Subtables { shares }, rule)
    }
}

impl BucketPlan {
    /// One bucket, as long as the rule admits the entry there.
    pub const fn single(load: f64, rule: Rule) -> Self {
        Self::sequential(load, 1, rule)
    }

    /// The first of `choices` buckets anywhere that admits the entry.
    pub const fn sequential(load: f64, choices: u32, rule: Rule) -> Self {
        Self::first_with_room(load, Proportions::anywhere(choices), rule)
    }

    /// The first of several buckets that admits the entry, one in each subtable. Sizes of the subtables are
    /// shares of all buckets, in the order they are tried.
    pub fn multi_level(load: f64, subtables: &[f64], rule: Rule) -> Result<Self, LayoutError> {
        Ok(Self::first_with_room(load, Proportions::subtables(subtables)?, rule))
    }

    /// The less full of two buckets.
    pub const fn two_choice(load: f64, slots: u32) -> Self {
        Self::one_plus_alpha(load, slots, Share::ALL)
    }

    /// The less full of two buckets for a share `alpha` of the keys, one bucket for the others.
    pub const fn one_plus_alpha(load: f64, slots: u32, alpha: Share) -> Self {
        let proportions = Proportions::Anywhere { choices: 2, share: alpha };
        Self { load, proportions, rule: Rule::LeastLoaded, slots, budget: None }
    }

    /// With as many slots as the rule fills.
    const fn first_with_room(load: f64, proportions: Proportions, rule: Rule) -> Self {
        let slots = match rule.capacity() {
            Some(capacity) => capacity,
            // The least-loaded rule would fill any number of slots: `check` requires one.
            None => 0,
        };
        Self { load, proportions, rule, slots, budget: None }
    }

    /// The papers' name of the way entries are placed.
    pub fn placement(&self) -> Placement {
        self.as_filter().placement()
    }

    /// Maximum number of buckets that one lookup reads.
    pub const fn choices(&self) -> u32 {
        self.proportions.choices()
    }

    /// Refuses a plan that cannot work, without allocating anything. Of several reasons the first is given.
    pub fn check(&self) -> Result<(), LayoutError> {
        self.as_filter().check()?;
        check_whole("slots per bucket", self.slots.into(), 1, MAX_SLOTS.into())?;
        if let Some(capacity) = self.rule.capacity() {
            check_whole("entries that a bucket admits", capacity.into(), 1, self.slots.into())?;
        }
        if let Proportions::Subtables { shares } = self.proportions {
            check_shares(&shares)?;
        }
        if let Some(budget) = self.budget {
            check_real("bucket accesses per entry", budget, 1.0, MAX_CHOICES.into())?;
        }
        check_positive("mean entries per bucket", self.load)
    }

    /// A small filter with the same candidates and rule: its checks apply to the table too.
    fn as_filter(&self) -> Layout {
        let candidates = self.proportions.with_blocks(MAX_CHOICES.into());
        Layout::new(Blocks::bloom(512, 1), candidates, self.rule)
            .with_budget(self.budget.map(|_| u64::MAX))
    }

    /// Buckets for `capacity` entries: at least one in each subtable.
    pub(crate) fn buckets_for(&self, capacity: usize) -> usize {
        if capacity == 0 {
            return 0;
        }
        let buckets = capacity as f64 / self.load;
        let whole = buckets as usize;
        let rounded_up = whole.saturating_add(usize::from(buckets > whole as f64));
        rounded_up.max(self.choices() as usize)
    }

    /// Without buckets there are no candidates.
    pub(crate) fn levels(&self, buckets: usize) -> Levels {
        Levels::new(&match buckets {
            0 => Candidates::anywhere(0, 0),
            _ => self.proportions.with_blocks(buckets as u64),
        })
    }
}

fn check_shares(shares: &[f64]) -> Result<(), LayoutError> {
    for &share in shares {
        check_real("share of a subtable", share, 0.0, 1.0)?;
    }
    // Tolerance for shares that were rounded to six digits.
    check_real("sum of the subtables' shares", shares.iter().sum(), 1.0 - 1e-6, 1.0 + 1e-6)
}

/// Plans with which the variance of the bucket sizes is the least that any scheme can have (Theorems 3 to
/// 6 with the cost i²).
#[cfg(feature = "planner")]
mod optimal {
    use equibloom_theory::optimum::{self, Optimum};

    use super::BucketPlan;
    use crate::error::TableError;

    impl BucketPlan {
        /// One bucket per key; a share `overflow` of the entries goes to the stash.
        pub fn optimal_single(load: f64, overflow: f64) -> Result<Self, TableError> {
            Self::optimal(load, &optimum::single(load, overflow)?)
        }

        /// Up to `choices` buckets anywhere, `accesses` per insert on average.
        pub fn optimal_sequential(
            load: f64,
            accesses: f64,
            choices: u32,
        ) -> Result<Self, TableError> {
            Self::optimal(load, &optimum::sequential(load, accesses, choices, None)?)
        }

        /// One bucket in each of `choices` subtables, `accesses` per insert on average.
        ///
        /// ```
        /// use equibloom_tables::BucketPlan;
        ///
        /// let plan = BucketPlan::optimal_multi_level(2.0, 1.2, 3)?;
        /// // With entries of 16 bytes, such a bucket is one cache line.
        /// assert_eq!(plan.slots, 3);
        /// # Ok::<(), equibloom_tables::TableError>(())
        /// ```
        pub fn optimal_multi_level(
            load: f64,
            accesses: f64,
            choices: u32,
        ) -> Result<Self, TableError> {
            Self::optimal(load, &optimum::multi_level(load, accesses, choices, None)?)
        }

        /// The plan with these parameters: at any point of the optimality region, within its accesses.
        pub fn optimal(load: f64, best: &Optimum) -> Result<Self, TableError> {
            let budget = best.is_limited().then_some(best.accesses);
            let plan = Self { budget, ..Self::first_with_room(load, best.candidates, best.rule()) };
            plan.check()?;
            Ok(plan)
        }
    }
}

#[cfg(test)]
mod tests;
