//! All placements side by side in one memory.

use super::memory::Sizing;
use super::placement::PlacementName;
use super::search::{Finding, Search};
use super::settle::Candidate;
use super::wishes::{Limits, Wishes};

/// Rates nearer than this share count as equal.
const EQUAL: f64 = 1e-6;

/// The block that is tried beside a cache line if the user has not said which.
const OTHER_BLOCK_BITS: u32 = 256;

/// The best filter of each placement.
pub(crate) struct Survey {
    pub(crate) sizing: Sizing,
    pub(crate) limits: Limits,
    pub(crate) findings: Vec<(PlacementName, Finding)>,
    /// The best placement with smaller blocks, if the size of blocks is open.
    pub(crate) smaller_blocks: Option<Candidate>,
}

impl Survey {
    pub(crate) fn take(wishes: &Wishes, sizing: Sizing) -> Self {
        let mut survey = Self::of(&placements(wishes), wishes.limits(), sizing);
        if wishes.block_bits.is_none()
            && let Some(best) = survey.best()
            && best.layout.placement() != PlacementName::Classical
        {
            let limits = Limits { block_bits: OTHER_BLOCK_BITS, ..survey.limits };
            let search = Search { sizing, limits };
            survey.smaller_blocks = search.best(best.layout.placement()).ok();
        }
        survey
    }

    /// Only these placements, only the given size of blocks.
    pub(crate) fn of(placements: &[PlacementName], limits: Limits, sizing: Sizing) -> Self {
        let search = Search { sizing, limits };
        let findings = placements.iter().map(|&name| (name, search.best(name))).collect();
        Self { sizing, limits, findings, smaller_blocks: None }
    }

    /// The lowest rate; of equal ones the filter with the fewest accesses, then the simplest.
    pub(crate) fn best(&self) -> Option<&Candidate> {
        let mut best: Option<&Candidate> = None;
        for candidate in self.candidates() {
            let better = best.is_none_or(|best| {
                let (this, that) = (&candidate.expected, &best.expected);
                let equal = (this.rate - that.rate).abs() <= EQUAL * that.rate;
                if equal { this.accesses_miss < that.accesses_miss } else { this.rate < that.rate }
            });
            if better {
                best = Some(candidate);
            }
        }
        best
    }

    /// Every filter that keeps to the limits, the simplest placements first.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        let found = self.findings.iter().filter_map(|(_, finding)| finding.as_ref().ok());
        found.chain(&self.smaller_blocks)
    }
}

/// The placements in question.
pub(crate) fn placements(wishes: &Wishes) -> Vec<PlacementName> {
    wishes.placement.map_or_else(|| PlacementName::ALL.to_vec(), |only| vec![only])
}
