//! How the buckets of a balanced table are filled, whatever its size.

use equibloom_layout::placement::Levels;
use equibloom_layout::{
    Accepted, Blocks, Candidates, Layout, LayoutError, MAX_CHOICES, Number, PerSubtable, Placement,
    Proportions, Rule, Share, check_positive, check_whole,
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
        Self { load, proportions, rule: Rule::LeastLoaded, slots }
    }

    /// With as many slots as the rule fills.
    const fn first_with_room(load: f64, proportions: Proportions, rule: Rule) -> Self {
        let slots = match rule.capacity() {
            Some(capacity) => capacity,
            // The least-loaded rule would fill any number of slots: `check` requires one.
            None => 0,
        };
        Self { load, proportions, rule, slots }
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
        check_positive("mean entries per bucket", self.load)
    }

    /// A small filter with the same candidates and rule: its checks apply to the table too.
    fn as_filter(&self) -> Layout {
        let candidates = self.proportions.with_blocks(MAX_CHOICES.into());
        Layout::new(Blocks::bloom(512, 1), candidates, self.rule)
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
    let check = |name, value, low, high| {
        let accepted = Accepted::Real(low, high);
        let error = LayoutError::OutOfRange { name, value: Number::Real(value), accepted };
        if (low..=high).contains(&value) { Ok(()) } else { Err(error) }
    };
    for &share in shares {
        check("share of a subtable", share, 0.0, 1.0)?;
    }
    // Tolerance for shares that were rounded to six digits.
    check("sum of the subtables' shares", shares.iter().sum(), 1.0 - 1e-6, 1.0 + 1e-6)
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

        fn optimal(load: f64, best: &Optimum) -> Result<Self, TableError> {
            let plan = Self::first_with_room(load, best.candidates, best.rule());
            plan.check()?;
            Ok(plan)
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    #[cfg(feature = "planner")]
    fn the_default_plan_is_the_optimum_of_the_theory() {
        let best = BucketPlan::optimal_multi_level(6.0, 1.2, 3).unwrap();
        let plan = BucketPlan::default();
        assert_eq!((plan.load, plan.slots), (best.load, best.slots));
        let numbers = |plan: &BucketPlan| match (plan.rule, plan.proportions) {
            (Rule::FirstWithRoom { below, coin }, Proportions::Subtables { shares }) => {
                let mut numbers = shares.to_vec();
                numbers.extend([below.into(), coin.get()]);
                numbers
            }
            other => panic!("{other:?}"),
        };
        let (numbers, best) = (numbers(&plan), numbers(&best));
        assert_eq!(numbers.len(), best.len());
        let mut pairs = numbers.iter().zip(&best);
        assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-6), "{numbers:?} {best:?}");
    }

    #[test]
    fn plans_have_the_names_of_the_papers() {
        let rule = Rule::below(3);
        for (plan, name) in [
            (BucketPlan::single(2.0, rule), "single"),
            (BucketPlan::sequential(2.0, 3, rule), "sequential"),
            (BucketPlan::default(), "multi-level"),
            (BucketPlan::two_choice(2.0, 3), "two-choice"),
            (BucketPlan::one_plus_alpha(2.0, 3, Share::clamped(0.3)), "one-plus-alpha"),
        ] {
            assert_eq!((plan.check(), plan.placement().as_str()), (Ok(()), name));
        }
    }

    #[test]
    fn plans_that_cannot_work_name_the_value_and_the_cure() {
        let rule = Rule::FirstWithRoom { below: 3, coin: Share::clamped(0.5) };
        let multi_level = |shares| BucketPlan::multi_level(1.0, shares, rule).unwrap();
        let two_choice = BucketPlan::two_choice(1.0, 2);
        let share = Share::clamped(0.5);
        for (plan, expected) in [
            (BucketPlan::single(-4.5, rule), "mean entries per bucket is -4.5"),
            (BucketPlan::single(f64::NAN, rule), "is NaN: give a finite number"),
            (BucketPlan::single(0.0, rule), "mean entries per bucket is 0"),
            (BucketPlan::single(1.0, Rule::below(0)), "raise the threshold to 1"),
            (BucketPlan::single(1.0, Rule::below(1_025)), "slots per bucket is 1025"),
            (BucketPlan::single(1.0, Rule::below(u32::MAX)), "threshold is 4294967295"),
            (
                BucketPlan { slots: 3, ..BucketPlan::single(1.0, rule) },
                "entries that a bucket admits is 4: give a whole number from 1 to 3",
            ),
            (
                BucketPlan::sequential(1.0, 17, rule),
                "choices is 17: give a whole number from 1 to 16",
            ),
            (BucketPlan::single(1.0, Rule::LeastLoaded), "slots per bucket is 0"),
            (BucketPlan::two_choice(1.0, 2_000), "slots per bucket is 2000"),
            (BucketPlan { rule, ..BucketPlan::one_plus_alpha(1.0, 4, share) }, "give the share 1"),
            (
                BucketPlan { proportions: multi_level(&[1.0]).proportions, ..two_choice },
                "give candidates `Anywhere`",
            ),
            (multi_level(&[0.5, 0.4]), "sum of the subtables' shares is 0.9: give a number from"),
            (multi_level(&[1.5, -0.5]), "share of a subtable is 1.5: give a number from 0 to 1"),
            (multi_level(&[f64::NAN]), "share of a subtable is NaN"),
        ] {
            let message = plan.check().unwrap_err().to_string();
            assert!(message.contains(expected), "«{message}» does not say «{expected}»");
        }
        let error = BucketPlan::multi_level(1.0, &[], rule).unwrap_err().to_string();
        assert!(error.contains("number of subtables is 0"), "{error}");
    }

    #[test]
    #[cfg(feature = "serde")]
    fn a_plan_comes_back_from_json() {
        for plan in [BucketPlan::default(), BucketPlan::two_choice(2.0, 3)] {
            let json = serde_json::to_string(&plan).unwrap();
            assert_eq!(serde_json::from_str::<BucketPlan>(&json).unwrap(), plan, "{json}");
        }
    }
}
