//! The lookup of an absent key.

use super::mixture::Mixture;

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
    /// One block in each of these tables, in order.
    pub(crate) fn through<'a>(levels: impl IntoIterator<Item = &'a Mixture>) -> Self {
        let mut miss = Self { found: 0.0, accesses: 0.0, walks_off: 0.0 };
        // Absent keys without a match so far, and those that follow a matching entry.
        let (mut free, mut following) = (1.0, 0.0);
        for Mixture { meeting, sent_on_arrivals, arrivals, .. } in levels {
            miss.accesses += free + following;
            miss.found += free * meeting.found;
            let passed = if *arrivals > 0.0 { sent_on_arrivals / arrivals } else { 0.0 };
            following = free * meeting.found_further_on + following * passed;
            free *= meeting.goes_on;
        }
        miss.walks_off = free + following;
        miss
    }

    /// `choices` blocks of one table.
    pub(crate) fn within(table: &Mixture, choices: u32) -> Self {
        Self::through(core::iter::repeat_n(table, choices as usize))
    }
}
