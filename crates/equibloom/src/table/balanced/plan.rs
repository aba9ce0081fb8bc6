//! How the buckets of a balanced table are filled, whatever its size.

use alloc::vec::Vec;

use crate::error::{Accepted, BuildError, Number, check_positive, check_share, check_whole};
use crate::parameters::{MAX_CHOICES, Threshold};
use crate::placement::{FirstWithRoom, LeastLoaded, Levels};
use equibloom_layout::{Proportions, Share};

/// Most entries that a bucket can have room for.
pub const MAX_SLOTS: u32 = 1_024;

/// A balanced table, described by its proportions: it keeps them when it grows.
///
/// ```
/// use equibloom::table::{BalancedMap, BucketPlan, BucketPlacement};
///
/// // Two entries in a bucket of three on average, the less full of two buckets for each key.
/// let plan = BucketPlan { load: 2.0, placement: BucketPlacement::TwoChoice { slots: 3 } };
/// let mut map = BalancedMap::with_plan(1_000, plan)?;
/// map.insert("alice", 1);
/// assert_eq!(map.get("alice"), Some(&1));
/// # Ok::<(), equibloom::BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BucketPlan {
    /// Mean entries per bucket when the table is as full as planned (the papers' `r`).
    pub load: f64,
    /// Which bucket an entry gets.
    pub placement: BucketPlacement,
}

/// Which of its candidate buckets an entry gets. Those that no bucket admits go to the stash.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "kebab-case")
)]
pub enum BucketPlacement {
    /// One bucket, while it is below its threshold.
    Single {
        /// When a bucket turns an entry away.
        threshold: Threshold,
    },
    /// The first of `choices` buckets anywhere that has room.
    Sequential {
        /// When a bucket turns an entry away.
        threshold: Threshold,
        /// Candidate buckets per key.
        choices: u32,
    },
    /// The first bucket with room, one in each subtable.
    MultiLevel {
        /// When a bucket turns an entry away.
        threshold: Threshold,
        /// Sizes of the subtables as shares of all buckets, in the order they are tried.
        subtables: Vec<f64>,
    },
    /// The less full of two buckets.
    TwoChoice {
        /// Entries a bucket has room for.
        slots: u32,
    },
    /// The less full of two buckets for a share `alpha` of the keys, one bucket for the others.
    OnePlusAlpha {
        /// Entries a bucket has room for.
        slots: u32,
        /// Share of keys with a second choice, from 0 to 1.
        alpha: f64,
    },
}

/// The optimal multi-level plan for six entries a bucket, 1.2 buckets per insert and three subtables. A
/// bucket has seven slots: with entries of 16 bytes that is two cache lines, of which a miss reads one.
impl Default for BucketPlan {
    fn default() -> Self {
        Self {
            load: 6.0,
            placement: BucketPlacement::MultiLevel {
                threshold: Threshold { load: DEFAULT_THRESHOLD, probability: DEFAULT_PROBABILITY },
                subtables: DEFAULT_SUBTABLES.to_vec(),
            },
        }
    }
}

// The core does without the theory crate; the test below compares.
const DEFAULT_THRESHOLD: u32 = 6;
const DEFAULT_PROBABILITY: f64 = 0.651_952_2;
const DEFAULT_SUBTABLES: [f64; 3] = [0.833_333_3, 0.142_350_3, 0.024_316_4];

/// The rule of the library's placements that a plan asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BucketRule {
    FirstWithRoom(FirstWithRoom),
    LeastLoaded(LeastLoaded),
}

impl BucketPlan {
    /// Checks that the plan makes sense, without allocating anything.
    pub fn check(&self) -> Result<(), BuildError> {
        match &self.placement {
            BucketPlacement::Single { threshold } => check_threshold(threshold)?,
            BucketPlacement::Sequential { threshold, choices } => {
                check_threshold(threshold)?;
                check_whole("choices", (*choices).into(), 1, MAX_CHOICES.into())?;
            }
            BucketPlacement::MultiLevel { threshold, subtables } => {
                check_threshold(threshold)?;
                check_subtables(subtables)?;
            }
            BucketPlacement::TwoChoice { slots } => check_slots(*slots)?,
            BucketPlacement::OnePlusAlpha { slots, alpha } => {
                check_slots(*slots)?;
                check_share("alpha", *alpha)?;
            }
        }
        // It may exceed the slots: the stash takes the rest, as much as the plan lets overflow.
        check_positive("mean entries per bucket", self.load)
    }

    /// Entries a bucket has room for.
    pub fn slots(&self) -> usize {
        match &self.placement {
            BucketPlacement::Single { threshold }
            | BucketPlacement::Sequential { threshold, .. }
            | BucketPlacement::MultiLevel { threshold, .. } => {
                threshold.load as usize + usize::from(threshold.probability > 0.0)
            }
            BucketPlacement::TwoChoice { slots } | BucketPlacement::OnePlusAlpha { slots, .. } => {
                *slots as usize
            }
        }
    }

    /// Most buckets that one lookup reads.
    pub fn choices(&self) -> usize {
        match &self.placement {
            BucketPlacement::Single { .. } => 1,
            BucketPlacement::Sequential { choices, .. } => *choices as usize,
            BucketPlacement::MultiLevel { subtables, .. } => subtables.len(),
            BucketPlacement::TwoChoice { .. } | BucketPlacement::OnePlusAlpha { .. } => 2,
        }
    }

    /// Buckets for `capacity` entries: at least one in each subtable.
    pub(crate) fn buckets_for(&self, capacity: usize) -> usize {
        if capacity == 0 {
            return 0;
        }
        let buckets = capacity as f64 / self.load;
        let whole = buckets as usize;
        let rounded_up = whole.saturating_add(usize::from(buckets > whole as f64));
        rounded_up.max(self.choices())
    }

    /// Without buckets there are no candidates.
    pub(crate) fn levels(&self, buckets: usize) -> Levels {
        if buckets == 0 {
            return Levels::new(&Proportions::anywhere(0).with_blocks(0));
        }
        let proportions = match &self.placement {
            BucketPlacement::Single { .. } => Proportions::anywhere(1),
            BucketPlacement::Sequential { choices, .. } => Proportions::anywhere(*choices),
            BucketPlacement::MultiLevel { subtables, .. } => {
                Proportions::subtables(subtables).unwrap_or(Proportions::anywhere(1))
            }
            BucketPlacement::TwoChoice { .. } => Proportions::anywhere(2),
            BucketPlacement::OnePlusAlpha { alpha, .. } => {
                Proportions::Anywhere { choices: 2, share: Share::clamped(*alpha) }
            }
        };
        Levels::new(&proportions.with_blocks(buckets as u64))
    }

    pub(crate) fn rule(&self) -> BucketRule {
        match &self.placement {
            BucketPlacement::Single { threshold }
            | BucketPlacement::Sequential { threshold, .. }
            | BucketPlacement::MultiLevel { threshold, .. } => {
                let coin = Share::clamped(threshold.probability);
                BucketRule::FirstWithRoom(FirstWithRoom::new(threshold.load, coin, false))
            }
            BucketPlacement::TwoChoice { .. } | BucketPlacement::OnePlusAlpha { .. } => {
                BucketRule::LeastLoaded(LeastLoaded)
            }
        }
    }
}

fn check_slots(slots: u32) -> Result<(), BuildError> {
    check_whole("slots per bucket", slots.into(), 1, MAX_SLOTS.into())
}

fn check_threshold(threshold: &Threshold) -> Result<(), BuildError> {
    check_share("threshold probability", threshold.probability)?;
    check_whole("threshold load", threshold.load.into(), 0, u64::from(MAX_SLOTS) - 1)?;
    if threshold.load == 0 && threshold.probability == 0.0 {
        return Err(BuildError::NothingAdmitted);
    }
    Ok(())
}

fn check_subtables(shares: &[f64]) -> Result<(), BuildError> {
    check_whole("number of subtables", shares.len() as u64, 1, MAX_CHOICES.into())?;
    for &share in shares {
        check_share("share of a subtable", share)?;
    }
    let sum: f64 = shares.iter().sum();
    if (sum - 1.0).abs() <= 1e-6 {
        return Ok(());
    }
    Err(BuildError::OutOfRange {
        name: "sum of the subtables' shares",
        value: Number::Real(sum),
        accepted: Accepted::Real(1.0, 1.0),
    })
}

/// Plans with which the variance of the bucket sizes is the least that any scheme can have (Theorems 3 to
/// 6 with the cost i²).
#[cfg(feature = "planner")]
mod optimal {
    use super::{BucketPlacement, BucketPlan};
    use crate::parameters::Threshold;
    use alloc::vec::Vec;
    use equibloom_theory::{Error, optimum};

    fn threshold(best: &optimum::Optimum) -> Threshold {
        Threshold { load: best.threshold, probability: best.probability }
    }

    impl BucketPlan {
        /// One bucket per key; a share `overflow` of the entries goes to the stash.
        pub fn optimal_single(load: f64, overflow: f64) -> Result<Self, Error> {
            let best = optimum::single(load, overflow)?;
            Ok(Self { load, placement: BucketPlacement::Single { threshold: threshold(&best) } })
        }

        /// Up to `choices` buckets anywhere, `accesses` per insert on average.
        pub fn optimal_sequential(load: f64, accesses: f64, choices: u32) -> Result<Self, Error> {
            let best = optimum::sequential(load, accesses, choices, None)?;
            let placement = BucketPlacement::Sequential { threshold: threshold(&best), choices };
            Ok(Self { load, placement })
        }

        /// One bucket in each of `choices` subtables, `accesses` per insert on average.
        ///
        /// ```
        /// use equibloom::table::BucketPlan;
        ///
        /// let plan = BucketPlan::optimal_multi_level(2.0, 1.2, 3)?;
        /// // With entries of 16 bytes, such a bucket is one cache line.
        /// assert_eq!(plan.slots(), 3);
        /// # Ok::<(), equibloom_theory::Error>(())
        /// ```
        pub fn optimal_multi_level(load: f64, accesses: f64, choices: u32) -> Result<Self, Error> {
            let best = optimum::multi_level(load, accesses, choices, None)?;
            let (threshold, subtables) = (threshold(&best), Vec::clone(&best.subtables));
            Ok(Self { load, placement: BucketPlacement::MultiLevel { threshold, subtables } })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    #[cfg(feature = "planner")]
    fn the_default_plan_is_the_optimum_of_the_theory() {
        let best = BucketPlan::optimal_multi_level(6.0, 1.2, 3).unwrap();
        let plan = BucketPlan::default();
        assert_eq!(plan.slots(), best.slots());
        let (
            BucketPlacement::MultiLevel { threshold, subtables },
            BucketPlacement::MultiLevel { threshold: best_threshold, subtables: best_subtables },
        ) = (plan.placement, best.placement)
        else {
            unreachable!()
        };
        assert!(
            (threshold.probability - best_threshold.probability).abs() < 1e-6,
            "{best_threshold:?}"
        );
        for (share, best) in subtables.iter().zip(&best_subtables) {
            assert!((share - best).abs() < 1e-6, "{best_subtables:?}");
        }
    }

    #[test]
    fn plans_that_cannot_work_name_the_value_and_the_cure() {
        let threshold = Threshold { load: 3, probability: 0.5 };
        let plan = |load, placement| BucketPlan { load, placement }.check().unwrap_err();
        for (error, expected) in [
            (plan(-4.5, BucketPlacement::Single { threshold }), "mean entries per bucket is -4.5"),
            (plan(f64::NAN, BucketPlacement::Single { threshold }), "is NaN: give a finite number"),
            (plan(0.0, BucketPlacement::Single { threshold }), "mean entries per bucket is 0"),
            (
                plan(1.0, BucketPlacement::Sequential { threshold, choices: 17 }),
                "choices is 17: give a whole number from 1 to 16",
            ),
            (plan(1.0, BucketPlacement::TwoChoice { slots: 0 }), "slots per bucket is 0"),
            (plan(1.0, BucketPlacement::TwoChoice { slots: 2_000 }), "slots per bucket is 2000"),
            (
                plan(1.0, BucketPlacement::OnePlusAlpha { slots: 2, alpha: 1.5 }),
                "alpha is 1.5: give a number from 0 to 1",
            ),
            (
                plan(1.0, BucketPlacement::MultiLevel { threshold, subtables: vec![0.5, 0.4] }),
                "sum of the subtables' shares is 0.9",
            ),
            (
                plan(1.0, BucketPlacement::MultiLevel { threshold, subtables: vec![] }),
                "number of subtables is 0",
            ),
        ] {
            let message = error.to_string();
            assert!(message.contains(expected), "«{message}» does not say «{expected}»");
        }
    }
}
