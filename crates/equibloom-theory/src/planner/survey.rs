//! All placements and kinds of blocks side by side in one memory.

use core::f64::consts::LN_2;

use super::block_kind::BlockKind;
use super::contender::Contender;
use super::memory::Sizing;
use super::placement::PlacementName;
use super::search::{Finding, Search};
use super::settle::Candidate;
use super::wishes::{Limits, Wishes};

/// Rates nearer than this share count as equal.
const EQUAL: f64 = 1e-6;

/// Bits of a cache line.
const LINE_BITS: u32 = 512;

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
        let mut survey = Self { sizing, limits, findings: Vec::new(), smaller_blocks: None };
        survey.look_at(contenders.iter());
        survey.sort_as(contenders);
        survey
    }

    /// Only these, and of them only those that may come within a factor of the best: that is seen from afar of some.
    pub(crate) fn near_best(
        contenders: &[Contender],
        limits: Limits,
        sizing: Sizing,
        factor: f64,
    ) -> Self {
        let mut survey = Self { sizing, limits, findings: Vec::new(), smaller_blocks: None };
        let has_slots = |who: &&Contender| who.block == Some(BlockKind::Fingerprint);
        survey.look_at(contenders.iter().filter(has_slots));
        let most = survey.best().map_or(f64::INFINITY, |best| factor * best.expected.rate);
        if least_rate_of_bits(&sizing, &limits) <= most {
            survey.look_at(contenders.iter().filter(|who| !has_slots(who)));
        }
        survey.sort_as(contenders);
        survey
    }

    fn look_at<'a>(&mut self, contenders: impl Iterator<Item = &'a Contender> + Clone) {
        let Self { sizing, limits, .. } = *self;
        // The slowest search last, when it is known what is to be beaten.
        let slow = |who: &&Contender| who.placement == PlacementName::OnePlusAlpha;
        for &who in contenders.clone().filter(|who| !slow(who)).chain(contenders.filter(slow)) {
            let rates = self.candidates().map(|found| found.expected.rate);
            let to_beat = rates.fold(f64::INFINITY, f64::min);
            self.findings.push((who, Search { sizing, limits, to_beat }.best(who)));
        }
    }

    fn sort_as(&mut self, contenders: &[Contender]) {
        let place = |who: Contender| contenders.iter().position(|&other| other == who);
        self.findings.sort_by_key(|&(who, _)| place(who));
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

/// A filter whose keys set bits in lines is not below this: the rate of Bloom's filter, in which all bits are evenly
/// set, less what a key gains whose bits differ among few others in a block. That is up to a third while a line has 16
/// keys; where it may have fewer, nothing is said.
fn least_rate_of_bits(sizing: &Sizing, limits: &Limits) -> f64 {
    let bits = sizing.bits_per_key();
    if limits.block_bits < LINE_BITS || bits > f64::from(LINE_BITS) / 16.0 {
        return 0.0;
    }
    2.0 / 3.0 * (-bits * LN_2 * LN_2).exp()
}
