//! The lookup of an absent key.

use super::block_history::Mixture;

/// Its outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Miss {
    /// It is found.
    pub(crate) found: f64,
    /// Mean number of blocks read.
    pub(crate) accesses: f64,
    /// It reads all its blocks and the overflow list in the end.
    pub(crate) walks_off: f64,
}

impl Miss {
    /// One block in each of these tables.
    pub(crate) fn through(levels: &[Mixture]) -> Self {
        walk(levels.iter().map(|level| (level, 1.0)))
    }

    /// `choices` blocks of one table. A lookup follows a matching rejected key through the remaining candidates
    /// only.
    pub(crate) fn within(table: &Mixture, choices: u32) -> Self {
        let rejected = table.meeting.rejected;
        walk((1..=choices).map(|probe| (table, 1.0 - rejected.powi((choices - probe) as i32))))
    }
}

/// Tables in order, each with the share of followed keys that are there or further on.
fn walk<'a>(levels: impl Iterator<Item = (&'a Mixture, f64)>) -> Miss {
    let mut miss = Miss { found: 0.0, accesses: 0.0, walks_off: 0.0 };
    // Absent keys without a match so far, and those that follow a matching key.
    let (mut free, mut following) = (1.0, 0.0);
    for (level, reached) in levels {
        let Mixture { meeting, rejected_before, arrivals, .. } = level;
        miss.accesses += free + following;
        miss.found += free * (meeting.found - (1.0 - reached) * meeting.found_further_on);
        let rejected = if *arrivals > 0.0 { rejected_before / arrivals } else { 0.0 };
        following = free * meeting.found_further_on + following * rejected;
        free *= meeting.goes_on;
    }
    miss.walks_off = free + following;
    miss
}
