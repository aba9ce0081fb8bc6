//! The planner: from requirements to the best filter that meets them, with every choice explained.
//!
//! ```
//! use equibloom_theory::planner::{DEFAULT_ACCESSES_MISS, Requirements, plan};
//!
//! let plan = plan(&Requirements {
//!     keys: Some(1_000_000),
//!     bits_per_key: Some(24.0),
//!     ..Requirements::default()
//! })?;
//! assert!(plan.bytes() <= 3_000_000);
//! assert!(plan.expected.rate < 3e-5); // a blocked filter of this size: 5e-5
//! assert!(plan.expected.accesses_miss <= DEFAULT_ACCESSES_MISS);
//! println!("{}: {}", plan.design.placement(), plan.reasons.join(" "));
//! # Ok::<(), equibloom_theory::Error>(())
//! ```
//!
//! For each placement and each kind of blocks the best parameters are searched (`search/`), all within the same
//! memory, in which everything counts (`memory`), and the lowest rate by the exact model wins. If the memory or
//! the number of keys is open, the planner finds the size at which the best filter just reaches the required
//! rate (`sizes`). All results are predicted by the exact model, never by the classical formula.

mod contender;
mod contradiction;
mod cost;
mod estimate;
mod frontier;
mod memory;
#[cfg(feature = "papers")]
mod papers;
mod reasons;
mod requirements;
mod search;
mod settle;
mod sizes;
mod survey;

use equibloom_layout::{Design, Rule, WhenFull};

use crate::error::Error;
use crate::exact::{Prediction, predict};

pub use cost::{lines_per_insert, lines_per_miss};
#[cfg(feature = "papers")]
pub use papers::paper_design;
pub use requirements::{DEFAULT_ACCESSES_MISS, Lookup, Requirements};

use memory::Sizing;
use sizes::Sizes;
use survey::Survey;

/// The best filter and its expected properties.
///
/// ```
/// use equibloom_theory::planner::{Requirements, plan};
///
/// let requirements =
///     Requirements { keys: Some(1_000_000), bits_per_key: Some(12.0), ..Requirements::default() };
/// let plan = plan(&requirements)?;
/// assert!(plan.bits_per_key() <= 12.0 && plan.rate() < 0.002);
/// assert_eq!(plan.bytes(), plan.design.bytes());
/// # Ok::<(), equibloom_theory::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// Number of keys.
    pub keys: u64,
    /// The filter.
    pub design: Design,
    /// Expected properties with all keys inserted.
    pub expected: Prediction,
    /// Mean cache lines that a miss touches in the table (see [`lines_per_miss`]).
    pub lines_miss: f64,
    /// Mean cache lines that an insert touches there.
    pub lines_insert: f64,
    /// The hash's part of the rate: keys with equal hashes cannot be distinguished.
    pub rate_floor: f64,
    /// One sentence for each choice.
    pub reasons: Vec<String>,
    requirements: Requirements,
    /// The bytes that the filter may have.
    memory: u64,
}

impl Plan {
    /// All memory: blocks with padding, overflow list as allocated, header.
    pub fn bytes(&self) -> u64 {
        self.design.bytes()
    }

    const fn sizing(&self) -> Sizing {
        Sizing { keys: self.keys, bytes: self.memory }
    }

    /// The same per key, in bits.
    pub fn bits_per_key(&self) -> f64 {
        8.0 * self.bytes() as f64 / self.keys as f64
    }

    /// One sentence for each alternative: its rate in the same memory, or why it is out of the question. This
    /// compares every placement and kind of blocks, which takes longer than the plan.
    ///
    /// ```
    /// use equibloom_theory::planner::{Requirements, plan};
    ///
    /// let plan = plan(&Requirements { keys: Some(1_000_000), bits_per_key: Some(16.0), ..Requirements::default() })?;
    /// assert!(plan.alternatives().iter().any(|sentence| sentence.starts_with("Not blocked: rate")));
    /// # Ok::<(), equibloom_theory::Error>(())
    /// ```
    pub fn alternatives(&self) -> Vec<String> {
        reasons::against_others(self)
    }

    /// The expected false-positive rate of filter and hash. The library's own hash of 128 bits adds nothing
    /// measurable.
    pub fn rate(&self) -> f64 {
        (self.expected.rate + self.rate_floor).min(1.0)
    }
}

/// The best filter for these requirements: the lowest exact rate within the memory and the accesses allowed.
///
/// # Errors
/// [`Error::OutOfRange`] names an invalid requirement, [`Error::SizeNotFixed`] a missing one, and
/// [`Error::Contradiction`] which requirement to relax and by how much.
pub fn plan(requirements: &Requirements) -> Result<Plan, Error> {
    requirements.check()?;
    let survey = Survey::new(requirements)?;
    let (sizing, best) = match Sizes::of(requirements)? {
        Sizes::Known(sizing) => match survey.best(sizing) {
            Some(best) => (sizing, best),
            None => return Err(contradiction::nothing_fits(requirements, &survey, sizing)),
        },
        Sizes::Open { rate, known } => sizes::reach(requirements, &survey, rate, known)?,
    };
    let Sizing { keys, bytes: memory } = sizing;
    let mut design = best.design;
    let grows = requirements.when_full.is_some_and(WhenFull::grows);
    let list = match &mut design {
        Design::Blocked(layout) if grows || layout.rule != Rule::LeastLoaded => {
            Some(&mut layout.overflow)
        }
        Design::List { overflow, .. } => Some(overflow),
        // It is never full.
        Design::Blocked(_) | Design::Classical { .. } => None,
    };
    if let (Some(list), Some(when_full)) = (list, requirements.when_full) {
        list.when_full = when_full;
    }
    let expected = predict(&design, keys)?;
    let rate_floor = requirements.rate_floor(keys);
    if let Some(rate) = requirements.planned_rate()
        && expected.rate + rate_floor > rate
    {
        if survey.limits.one_by_one {
            // Nothing of the rate can be given up.
            return plan(&Requirements { prefer: None, ..requirements.clone() });
        }
        return Err(contradiction::rate_out_of_reach(requirements, &survey, sizing, rate));
    }
    let lines_miss = lines_per_miss(&design, keys, expected.accesses_miss);
    let lines_insert = lines_per_insert(&design, expected.accesses_insert);
    let requirements = requirements.clone();
    let plan = Plan {
        keys,
        design,
        expected,
        lines_miss,
        lines_insert,
        rate_floor,
        reasons: Vec::new(),
        requirements,
        memory,
    };
    if let Some(error) = contradiction::too_many_lines(&plan) {
        return Err(error);
    }
    let reasons = reasons::of(&plan);
    Ok(Plan { reasons, ..plan })
}
