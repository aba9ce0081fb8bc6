//! One Bloom block, arrival by arrival: what the next key finds after 0, 1, 2, … arrivals.

use super::bloom_block::{BloomBlock, Look};
use super::mixture::{Meeting, Mixture};
use super::window::Window;
use crate::poisson::Weights;

/// The state of a block after some number of arrivals.
#[derive(Debug, Clone)]
struct Snapshot {
    meeting: Meeting,
    loads: Window,
    /// Sum over the arrivals so far.
    rejected_before: f64,
}

/// Snapshots of one block after 0, 1, 2, … arrivals, computed on demand.
pub(crate) struct BlockHistory {
    block: BloomBlock,
    snapshots: Vec<Snapshot>,
    at_rest: bool,
}

impl BlockHistory {
    pub(crate) fn new(block: BloomBlock) -> Self {
        let mut history = Self { block, snapshots: Vec::new(), at_rest: false };
        history.take_snapshot();
        history
    }

    /// Mixes the snapshots by the number of arrivals.
    pub(crate) fn mix(&mut self, arrivals: &Weights) -> Mixture {
        self.extend_to(arrivals.last());
        let mut mixture = Mixture::default();
        let mut squares = 0.0;
        for (count, weight) in arrivals.iter() {
            let (Snapshot { meeting, loads, rejected_before }, further) = self.snapshot(count);
            // After a given number of arrivals R hardly varies.
            let sent_on = rejected_before + further * meeting.rejected;
            let count = count as f64;
            mixture.add(weight, meeting, count, sent_on);
            mixture.stored += weight * loads.mean_of(|load| load as f64);
            mixture.arrivals += weight * count;
            squares += weight * count * count;
        }
        mixture.rejected_before = mixture.sent_on;
        mixture.sent_on_arrivals = mixture.sent_on;
        mixture.arrivals_variance = (squares - mixture.arrivals * mixture.arrivals).max(0.0);
        mixture
    }

    /// The distribution of the loads.
    pub(crate) fn loads(&mut self, arrivals: &Weights) -> Vec<f64> {
        self.extend_to(arrivals.last());
        let mut loads = Window::default();
        for (count, weight) in arrivals.iter() {
            let Snapshot { loads: Window { first, mass }, .. } = self.snapshot(count).0;
            loads.add(*first, mass, weight);
        }
        loads.to_vec()
    }

    /// Probability that an inserted key is apparently present, and that it is rejected: the part of `mix` that
    /// integrals need.
    pub(crate) fn present_and_rejected(&mut self, arrivals: &Weights) -> (f64, f64) {
        self.extend_to(arrivals.last());
        arrivals.iter().fold((0.0, 0.0), |(present, rejected), (count, weight)| {
            let meeting = &self.snapshot(count).0.meeting;
            (present + weight * meeting.present, rejected + weight * meeting.rejected)
        })
    }

    /// Arrivals after which the block counts as full.
    pub(crate) fn followed_arrivals(&self) -> usize {
        self.block.arrivals_to_fill()
    }

    pub(crate) const fn hints(&self) -> u32 {
        self.block.hints
    }

    /// Whether nothing changes after this many arrivals, as far as is known.
    pub(crate) fn is_settled_at(&self, arrivals: usize) -> bool {
        let full = arrivals > self.followed_arrivals();
        full || (self.at_rest && arrivals >= self.snapshots.len())
    }

    /// The snapshot after `count` arrivals; beyond the last one, the last and the number of arrivals since.
    fn snapshot(&self, count: usize) -> (&Snapshot, f64) {
        let last = self.snapshots.len() - 1;
        (&self.snapshots[count.min(last)], count.saturating_sub(last) as f64)
    }

    fn extend_to(&mut self, arrivals: usize) {
        let needed = arrivals.min(self.followed_arrivals());
        while self.snapshots.len() <= needed && !self.at_rest {
            self.block.arrive();
            self.take_snapshot();
        }
    }

    fn take_snapshot(&mut self) {
        let Look { meeting, loads, at_rest } = self.block.look();
        self.at_rest = at_rest;
        let rejected_before =
            self.snapshots.last().map_or(0.0, |last| last.rejected_before + last.meeting.rejected);
        self.snapshots.push(Snapshot { meeting, loads, rejected_before });
    }
}
