//! All placements and kinds of blocks side by side in one memory.

use super::block_kind::BlockKind;
use super::contender::Contender;
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
    pub(crate) findings: Vec<(Contender, Finding)>,
    /// The best placement with smaller blocks, if the size of blocks is open.
    pub(crate) smaller_blocks: Option<Candidate>,
}

impl Survey {
    pub(crate) fn take(wishes: &Wishes, contenders: &[Contender], sizing: Sizing) -> Self {
        let mut survey = Self::of(contenders, wishes.limits(), sizing);
        if wishes.block_bits.is_none()
            && let Some(best) = survey.best()
            && best.layout.block_kind() == Some(BlockKind::Bloom)
        {
            let limits = Limits { block_bits: OTHER_BLOCK_BITS, ..survey.limits };
            let search = Search { sizing, limits, to_beat: best.expected.rate };
            survey.smaller_blocks = search.best(best.contender()).ok();
        }
        survey
    }

    /// Only these, only the given size of blocks.
    pub(crate) fn of(contenders: &[Contender], limits: Limits, sizing: Sizing) -> Self {
        let mut findings: Vec<(Contender, Finding)> = Vec::new();
        // The slowest search last, when it is known what is to be beaten.
        let slow = |who: &&Contender| who.placement == PlacementName::OnePlusAlpha;
        let others = contenders.iter().filter(|who| !slow(who));
        let mut to_beat = f64::INFINITY;
        for &who in others.chain(contenders.iter().filter(slow)) {
            let finding = Search { sizing, limits, to_beat }.best(who);
            if let Ok(found) = &finding {
                to_beat = to_beat.min(found.expected.rate);
            }
            findings.push((who, finding));
        }
        let place = |who: Contender| contenders.iter().position(|&other| other == who);
        findings.sort_by_key(|&(who, _)| place(who));
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

    /// Who was looked at.
    pub(crate) fn contenders(&self) -> Vec<Contender> {
        self.findings.iter().map(|(who, _)| *who).collect()
    }

    /// Every filter that keeps to the limits, the simplest placements first.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        let found = self.findings.iter().filter_map(|(_, finding)| finding.as_ref().ok());
        found.chain(&self.smaller_blocks)
    }
}
