//! Errors: the value, the accepted range, and the cure.

use core::fmt;

use equibloom_layout::LayoutError;

/// Why a question has no answer.
///
/// ```
/// use equibloom_theory::planner::{Requirements, plan};
///
/// let requirements = Requirements { keys: Some(1_000), rate: Some(2.0), ..Requirements::default() };
/// let error = plan(&requirements).unwrap_err();
/// assert!(error.to_string().starts_with("rate is 2"), "{error}");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// An argument lies outside its mathematical domain.
    OutOfRange {
        /// Name of the argument.
        argument: &'static str,
        /// Its value.
        value: f64,
        /// The accepted range in words.
        accepted: String,
    },
    /// No scheme of this kind reaches the lower bound at this point of the (accesses, overflow) plane.
    OutsideOptimalityRegion {
        /// Required mean accesses.
        accesses: f64,
        /// Required overflow fraction.
        overflow: f64,
        /// Largest number of accesses of one element.
        choices: u32,
        /// Least feasible overflow at these accesses.
        least_overflow: f64,
        /// Most feasible accesses at this overflow.
        most_accesses: f64,
    },
    /// The threshold would be infinite: nothing may overflow and nothing may be read twice.
    InfiniteThreshold {
        /// Required mean accesses.
        accesses: f64,
        /// Required overflow fraction.
        overflow: f64,
    },
    /// The lower bound holds for convex, non-decreasing costs only.
    UnfitCost {
        /// `"convex"`, `"non-decreasing"` or `"finite"`.
        property: &'static str,
        /// Load at which the cost fails.
        load: u32,
        /// The offending costs, from that load on.
        costs: Vec<f64>,
        /// First load that carries probability.
        from: u32,
        /// Last load that carries probability.
        to: u32,
    },
    /// The filter cannot be built.
    Layout(LayoutError),
    /// The requirements fix no size, or more than one.
    SizeNotFixed {
        /// The size requirements that were given.
        given: String,
    },
    /// No filter meets all requirements.
    Contradiction {
        /// Requirements that cannot be met together.
        conflict: String,
        /// Requirements to relax, any one of which is enough, each with a value that can be met.
        remedies: Vec<String>,
    },
    /// The ODE solver failed; carries its message.
    Integration(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // As a power of ten, without dozens of digits.
            Self::OutOfRange { argument, value, accepted }
                if value.is_normal() && !(1e-5..1e16).contains(&value.abs()) =>
            {
                write!(f, "{argument} is {value:e}, but it must be {accepted}")
            }
            Self::OutOfRange { argument, value, accepted } => {
                write!(f, "{argument} is {value}, but it must be {accepted}")
            }
            Self::OutsideOptimalityRegion {
                accesses,
                overflow,
                choices,
                least_overflow,
                most_accesses,
            } => write!(
                f,
                "overflow {overflow} is outside the optimality region at {accesses} accesses and {choices} \
                 choices: raise overflow to at least {least_overflow:e}, or lower accesses to at most \
                 {most_accesses}"
            ),
            Self::InfiniteThreshold { accesses, overflow } => write!(
                f,
                "accesses {accesses} with overflow {overflow} leaves nothing to balance (the threshold is \
                 infinite): raise overflow above 0 or accesses above 1"
            ),
            Self::UnfitCost { property, load, costs, from, to } => write!(
                f,
                "the cost function is not {property} at load {load} (costs {costs:?} at loads \
                 {load}..), which carries probability: the lower bound needs a convex, non-decreasing \
                 cost over loads {from} to {to}"
            ),
            Self::Layout(error) => error.fmt(f),
            Self::SizeNotFixed { given } => write!(
                f,
                "{given} cannot be planned for: give keys with memory, bits_per_key or rate; or memory with \
                 rate or bits_per_key (but not keys, memory and bits_per_key at once)"
            ),
            Self::Contradiction { conflict, remedies } => {
                write!(f, "{conflict}: {}", remedies.join(", or "))
            }
            Self::Integration(why) => {
                write!(f, "the differential equations could not be solved: {why}")
            }
        }
    }
}

impl core::error::Error for Error {}

impl From<LayoutError> for Error {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error)
    }
}

/// Refuses `value` unless `accepted` holds (NaN never does).
pub(crate) fn require(
    holds: bool,
    argument: &'static str,
    value: f64,
    accepted: impl Into<String>,
) -> Result<(), Error> {
    if holds {
        Ok(())
    } else {
        Err(Error::OutOfRange { argument, value, accepted: accepted.into() })
    }
}
