//! What can be wrong with a question, said so that the asker can mend it.

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument lies outside its mathematical domain.
    #[error("{argument} is {value}, but it must be {accepted}")]
    OutOfRange {
        /// Name of the argument.
        argument: &'static str,
        /// Its value.
        value: f64,
        /// The accepted range in words.
        accepted: String,
    },
    /// No scheme of this kind reaches the lower bound at this point of the (accesses, overflow) plane.
    #[error(
        "overflow {overflow} is outside the optimality region at {accesses} accesses and {choices} \
         choices: raise overflow to at least {least_overflow:e}, or lower accesses to at most \
         {most_accesses}"
    )]
    OutsideOptimalityRegion {
        /// Mean accesses asked for.
        accesses: f64,
        /// Overflow fraction asked for.
        overflow: f64,
        /// Largest number of accesses of one element.
        choices: u32,
        /// Least feasible overflow at these accesses.
        least_overflow: f64,
        /// Most feasible accesses at this overflow.
        most_accesses: f64,
    },
    /// The threshold would be infinite: nothing may overflow and nothing may be read twice.
    #[error(
        "accesses {accesses} with overflow {overflow} leaves nothing to balance (the threshold is \
         infinite): raise overflow above 0 or accesses above 1"
    )]
    InfiniteThreshold {
        /// Mean accesses asked for.
        accesses: f64,
        /// Overflow fraction asked for.
        overflow: f64,
    },
    /// The lower bound holds for convex, non-decreasing costs only.
    #[error(
        "the cost function is not {property} at load {load} (costs {costs:?} at loads \
         {first_load}..), which carries probability: the lower bound needs a convex, non-decreasing \
         cost over loads {from} to {to}"
    )]
    UnfitCost {
        /// `"convex"`, `"non-decreasing"` or `"finite"`.
        property: &'static str,
        /// Where it fails.
        load: u32,
        /// Load of the first entry of `costs`.
        first_load: u32,
        /// The offending costs.
        costs: Vec<f64>,
        /// First load that carries probability.
        from: u32,
        /// Last load that carries probability.
        to: u32,
    },
    /// Too little was said to plan a filter, or too much.
    #[error(
        "{given} cannot be planned for: give keys with memory, bits_per_key or rate; or memory with rate or \
         bits_per_key (but not keys, memory and bits_per_key at once)"
    )]
    WishesDoNotFixASize {
        /// The wishes about sizes that were given.
        given: String,
    },
    /// No filter does all that is asked.
    #[error("{conflict}: {}", .remedies.join(", or "))]
    Contradiction {
        /// What cannot be had together.
        conflict: String,
        /// Wishes to relax, any one of which is enough, each with the value that can be had.
        remedies: Vec<String>,
    },
    /// The ODE solver gave up; carries its own words.
    #[error("the differential equations could not be solved: {0}")]
    Integration(String),
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
