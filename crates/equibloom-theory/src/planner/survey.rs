//! Compares all placements and kinds of blocks in one memory.

use core::f64::consts::LN_2;

use equibloom_layout::{BlockKind, Placement};

use super::contender::Contender;
use super::memory::Sizing;
use super::requirements::{CACHE_LINE_BITS, Limits, Requirements};
use super::search::{Finding, Search};
use super::settle::Predicted;

/// Rates nearer than this share count as equal.
const EQUAL: f64 = 1e-6;

/// The block size that is tried besides a cache line if the size is open.
const OTHER_BLOCK_BITS: u32 = 256;

/// The best filter of each placement.
pub(crate) struct Survey {
    pub(crate) sizing: Sizing,
    pub(crate) limits: Limits,
    pub(crate) findings: Vec<(Contender, Finding)>,
    /// The best placement with smaller blocks, if the block size is open.
    pub(crate) smaller_blocks: Option<Predicted>,
}

impl Survey {
    pub(crate) fn take(
        requirements: &Requirements,
        contenders: &[Contender],
        sizing: Sizing,
    ) -> Self {
        let mut survey = Self::of(contenders, requirements.limits(), sizing);
        if requirements.block_bits.is_none()
            && let Some(best) = survey.best()
            && best.design.block_kind() == Some(BlockKind::Bloom)
        {
            let limits = Limits { block_bits: OTHER_BLOCK_BITS, ..survey.limits };
            let search = Search { sizing, limits, to_beat: best.expected.rate };
            survey.smaller_blocks = search.best(best.contender()).ok();
        }
        survey
    }

    /// Only these contenders, and only the given block size.
    pub(crate) fn of(contenders: &[Contender], limits: Limits, sizing: Sizing) -> Self {
        let mut survey = Self { sizing, limits, findings: Vec::new(), smaller_blocks: None };
        survey.look_at(contenders.iter());
        survey.sort_as(contenders);
        survey
    }

    /// Only these contenders, without those that a quick bound shows to be further than a factor from the best.
    pub(crate) fn near_best(
        contenders: &[Contender],
        limits: Limits,
        sizing: Sizing,
        factor: f64,
    ) -> Self {
        let mut survey = Self { sizing, limits, findings: Vec::new(), smaller_blocks: None };
        let has_slots = |contender: &&Contender| contender.block == Some(BlockKind::Fingerprint);
        survey.look_at(contenders.iter().filter(has_slots));
        let most = survey.best().map_or(f64::INFINITY, |best| factor * best.expected.rate);
        if least_rate_of_bits(&sizing, &limits) <= most {
            survey.look_at(contenders.iter().filter(|contender| !has_slots(contender)));
        }
        survey.sort_as(contenders);
        survey
    }

    fn look_at<'a>(&mut self, contenders: impl Iterator<Item = &'a Contender> + Clone) {
        let Self { sizing, limits, .. } = *self;
        // The slowest search last, when the rate to beat is known.
        let slow = |contender: &&Contender| contender.placement == Placement::OnePlusAlpha;
        let quick = contenders.clone().filter(|contender| !slow(contender));
        for &contender in quick.chain(contenders.filter(slow)) {
            let to_beat =
                self.found().map(|found| found.expected.rate).fold(f64::INFINITY, f64::min);
            self.findings.push((contender, Search { sizing, limits, to_beat }.best(contender)));
        }
    }

    fn sort_as(&mut self, contenders: &[Contender]) {
        let place = |contender| contenders.iter().position(|&other| other == contender);
        self.findings.sort_by_key(|&(contender, _)| place(contender));
    }

    /// The lowest rate; of equal ones the filter with the fewest accesses, then the simplest.
    pub(crate) fn best(&self) -> Option<&Predicted> {
        let mut best: Option<&Predicted> = None;
        for found in self.found() {
            let better = best.is_none_or(|best| {
                let (this, that) = (&found.expected, &best.expected);
                let equal = (this.rate - that.rate).abs() <= EQUAL * that.rate;
                if equal { this.accesses_miss < that.accesses_miss } else { this.rate < that.rate }
            });
            if better {
                best = Some(found);
            }
        }
        best
    }

    /// The alternatives that were evaluated.
    pub(crate) fn contenders(&self) -> Vec<Contender> {
        self.findings.iter().map(|(contender, _)| *contender).collect()
    }

    /// Every filter that meets the limits, the simplest placements first.
    pub(crate) fn found(&self) -> impl Iterator<Item = &Predicted> {
        let found = self.findings.iter().filter_map(|(_, finding)| finding.as_ref().ok());
        found.chain(&self.smaller_blocks)
    }
}

/// A lower bound for filters whose keys set bits in lines: the rate of the classical filter, in which all bits
/// are evenly set, less the gain from k distinct bits among few keys in a block. That is up to a third while a
/// line has 16 keys; for fewer there is no bound.
fn least_rate_of_bits(sizing: &Sizing, limits: &Limits) -> f64 {
    let bits = sizing.bits_per_key();
    if limits.block_bits < CACHE_LINE_BITS || bits > f64::from(CACHE_LINE_BITS) / 16.0 {
        return 0.0;
    }
    2.0 / 3.0 * (-bits * LN_2 * LN_2).exp()
}
