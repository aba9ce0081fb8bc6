//! Compares placements and kinds of blocks in one memory.

use equibloom_layout::{BlockKind, Placement};

use super::contender::Contender;
use super::cost;
use super::memory::Sizing;
use super::requirements::{Limits, Requirements};
use super::search::{Finding, Search};
use super::settle::Predicted;
use crate::error::Error;

/// Rates within this factor count as equal; with that of the fingerprint blocks themselves 0.5 %.
const EQUAL: f64 = 1.002;

/// Filters with a higher rate are hardly of use; there any placement may be the best.
const USEFUL: f64 = 0.5;

/// With fewer bits per key a blocked filter has a closed form.
const FEW_BITS: f64 = 20.0;

/// The filters that the requirements allow, at any size.
pub(crate) struct Survey {
    pub(crate) limits: Limits,
    pub(crate) contenders: Vec<Contender>,
}

impl Survey {
    pub(crate) fn new(requirements: &Requirements) -> Result<Self, Error> {
        Ok(Self::within(requirements.limits(), Contender::of(requirements)?))
    }

    /// The same contenders within other limits.
    pub(crate) fn within(limits: Limits, contenders: Vec<Contender>) -> Self {
        Self { limits, contenders }
    }

    /// The best filter of every contender, or why there is none, where a rate of `to_beat` is reached.
    pub(crate) fn findings(&self, sizing: Sizing, to_beat: f64) -> Vec<(Contender, Finding)> {
        let search = Search {
            sizing,
            limits: self.limits,
            to_beat,
            compares: to_beat.is_finite(),
            enough: 0.0,
        };
        self.contenders.iter().map(|&contender| (contender, search.best(contender))).collect()
    }

    /// The lowest rate; of equal ones the filter with the fastest lookups, then the simplest. Its prediction has
    /// only what filters are compared by.
    pub(crate) fn best(&self, sizing: Sizing) -> Option<Predicted> {
        self.reaching(sizing, 0.0)
    }

    /// The same, or a filter whose rate is low enough.
    pub(crate) fn reaching(&self, sizing: Sizing, enough: f64) -> Option<Predicted> {
        let mut found: Vec<Predicted> = Vec::new();
        let mut to_beat = f64::INFINITY;
        let Self { contenders, limits } = self;
        let in_slots = |contender: &&Contender| contender.block == Some(BlockKind::Fingerprint);
        // First the quickest: the closed form of the blocked filter, while it has few hash functions.
        let mut order = contenders.clone();
        order.sort_by_key(|contender| match contender.placement {
            Placement::List => 0,
            Placement::Blocked if sizing.bits_per_key() < FEW_BITS => 0,
            _ if in_slots(&contender) => 1,
            _ => 2,
        });
        for contender in order {
            let search = Search { sizing, limits: *limits, to_beat, compares: false, enough };
            // Within the default limits no other placement has the lowest rate (`tests/planner_grid.rs`).
            let needless = limits.are_default()
                && to_beat < USEFUL
                && contenders.len() > 1
                && contenders[0].placement == Placement::Blocked
                && contenders.iter().any(|contender| in_slots(&contender))
                && contender.block != Some(BlockKind::Fingerprint)
                && !matches!(contender.placement, Placement::Blocked | Placement::List);
            if !needless && let Ok(best) = search.best(contender) {
                to_beat = to_beat.min(best.expected.rate);
                found.push(best);
            }
        }
        found.retain(|filter| filter.expected.rate <= EQUAL * to_beat);
        let cost = |filter: &Predicted| {
            cost::of_lookup(&filter.design, sizing.keys, filter.expected.accesses_miss)
        };
        found.into_iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }
}
