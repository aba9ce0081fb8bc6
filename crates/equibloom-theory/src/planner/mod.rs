//! The planner: from what a user wants to the best filter that does it, with every choice explained.
//!
//! ```
//! use equibloom_theory::planner::{DEFAULT_ACCESSES_MISS, Wishes, plan};
//!
//! let wishes =
//!     Wishes { keys: Some(1_000_000), bits_per_key: Some(24.0), ..Wishes::default() };
//! let plan = plan(&wishes)?;
//! assert!(plan.bytes() <= 3_000_000);
//! assert!(plan.expected.rate < 3e-5); // a blocked filter of this size: 5e-5
//! assert!(plan.expected.accesses_miss <= DEFAULT_ACCESSES_MISS);
//! println!("{}: {}", plan.layout.placement(), plan.reasons.join(" "));
//! # Ok::<(), equibloom_theory::Error>(())
//! ```
//!
//! For each placement and each kind of blocks the best parameters are searched (`search/`), all within the same memory, in which
//! everything counts (`memory`), and the lowest rate by the exact model wins. If the memory or the number of
//! keys is open, the planner looks for the size at which the best filter just reaches the wished rate
//! (`sizes`). What it answers is promised by the exact model, never by the classical formula.

mod block_kind;
mod contender;
mod contradiction;
mod estimate;
mod fingerprint_table;
mod layout;
mod memory;
#[cfg(feature = "papers")]
mod papers;
mod placement;
mod reasons;
mod search;
mod settle;
mod sizes;
mod survey;
mod wishes;

use crate::error::Error;
use crate::exact::Prediction;

pub use block_kind::{BlockKind, UnknownBlockKind};
pub use fingerprint_table::{FingerprintBlocks, Route};
pub use layout::{Blocks, Layout, Threshold};
#[cfg(feature = "papers")]
pub use papers::paper_layout;
pub use placement::{PlacementName, UnknownPlacement};
pub use wishes::{DEFAULT_ACCESSES_MISS, Wishes};

use contender::Contender;
use memory::Sizing;
use sizes::Sizes;
use survey::Survey;

/// The filter to build, and what to expect of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Keys it is for.
    pub keys: u64,
    /// The filter.
    pub layout: Layout,
    /// What it will measure once all keys are in.
    pub expected: Prediction,
    /// Mean cache lines that a miss touches in the table (see [`Layout::lines_per_miss`]).
    pub lines_miss: f64,
    /// What the hash adds to the rate: keys that have the same hash cannot be told apart.
    pub rate_floor: f64,
    /// Why: one sentence for each choice and for each alternative that was rejected.
    pub reasons: Vec<String>,
}

impl Plan {
    /// All memory: blocks with padding, overflow list as allocated, header.
    pub fn bytes(&self) -> u64 {
        self.layout.bytes()
    }

    /// The same per key, in bits.
    pub fn bits_per_key(&self) -> f64 {
        8.0 * self.bytes() as f64 / self.keys as f64
    }

    /// The false-positive rate to expect: that of the filter and that of the hash. The library's own hash of 128
    /// bits adds nothing that could be measured.
    pub fn rate(&self) -> f64 {
        (self.expected.rate + self.rate_floor).min(1.0)
    }
}

/// The best filter for these wishes: the lowest exact rate within the memory and the accesses allowed.
///
/// # Errors
/// [`Error::OutOfRange`] names a wish that makes no sense by itself, [`Error::WishesDoNotFixASize`] says what
/// is missing, and [`Error::Contradiction`] which wish to relax and by how much.
pub fn plan(wishes: &Wishes) -> Result<Plan, Error> {
    wishes.check()?;
    let contenders = Contender::of(wishes)?;
    let sizes = Sizes::of(wishes)?;
    let survey = match sizes {
        Sizes::Known(sizing) => Survey::take(wishes, &contenders, sizing),
        Sizes::Open { rate, known } => sizes::reach(wishes, rate, known)?,
    };
    let Some(best) = survey.best() else {
        return Err(contradiction::nothing_fits(wishes, &survey));
    };
    let Sizing { keys, .. } = survey.sizing;
    let rate_floor = wishes.rate_floor(keys);
    if let Some(rate) = wishes.rate
        && best.expected.rate + rate_floor > rate
    {
        return Err(contradiction::rate_out_of_reach(wishes, &survey, rate));
    }
    Ok(Plan {
        keys,
        lines_miss: best.layout.lines_per_miss(keys, best.expected.accesses_miss),
        layout: best.layout.clone(),
        expected: best.expected.clone(),
        rate_floor,
        reasons: reasons::of(wishes, &survey, best),
    })
}
