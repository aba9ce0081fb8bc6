//! One block, arrival by arrival: what the next key finds after 0, 1, 2, … arrivals.
//!
//! A [`Chain`] defines a block and the effect of an arriving key (`bloom_block`, `fingerprint_block`). This
//! module takes its snapshots and mixes them over the number of arrivals.

use super::arrivals;
use super::window::Window;
use crate::poisson::Weights;

/// What the next key finds in a block, averaged over its states.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meeting {
    /// A key that is inserted is apparently present,
    pub(crate) present: f64,
    /// or is rejected,
    pub(crate) rejected: f64,
    /// or is admitted.
    pub(crate) admitted: f64,
    /// An absent key matches one that arrived here: E q.
    pub(crate) found: f64,
    /// The part of `found` whose key was rejected here: the lookup follows it to where it is stored.
    pub(crate) found_further_on: f64,
    /// An absent key matches none that arrived here, and goes on nevertheless: E g.
    pub(crate) goes_on: f64,
    /// An absent key matches none and is stopped by its hint in a block that would reject it.
    pub(crate) unset: f64,
    /// E q².
    pub(crate) found_squared: f64,
    /// E g².
    pub(crate) goes_on_squared: f64,
    /// E q·g.
    pub(crate) found_goes_on: f64,
}

impl Meeting {
    pub(crate) fn add(&mut self, other: &Self, weight: f64) {
        self.present += weight * other.present;
        self.rejected += weight * other.rejected;
        self.admitted += weight * other.admitted;
        self.found += weight * other.found;
        self.found_further_on += weight * other.found_further_on;
        self.goes_on += weight * other.goes_on;
        self.unset += weight * other.unset;
        self.found_squared += weight * other.found_squared;
        self.goes_on_squared += weight * other.goes_on_squared;
        self.found_goes_on += weight * other.found_goes_on;
    }
}

/// A block at some time.
#[derive(Default)]
pub(crate) struct Look {
    pub(crate) meeting: Meeting,
    pub(crate) loads: Window,
    /// Whether further arrivals change nothing.
    pub(crate) at_rest: bool,
    /// Where a block may send on what it has stored: what it has sent on so far.
    pub(crate) sent_on: Option<SentOn>,
}

/// Mean numbers of what a block has sent on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SentOn {
    /// Different entries, R.
    pub(crate) entries: f64,
    /// Arrivals with these entries.
    pub(crate) arrivals: f64,
}

/// A block as a Markov chain over its arrivals.
pub(crate) trait Chain {
    /// One more key arrives.
    fn arrive(&mut self);

    /// What the next key finds now.
    fn look(&mut self) -> Look;

    /// Number of arrivals after which [`Chain::beyond`] replaces single steps.
    fn followed_arrivals(&self) -> usize;

    /// What the next key finds after more arrivals than are followed; `None` if nothing changes any more.
    fn beyond(&self, _arrivals: usize) -> Option<Meeting> {
        None
    }

    /// Hint bits.
    fn hints(&self) -> u32 {
        0
    }
}

/// The state of a block after some number of arrivals.
#[derive(Debug, Clone)]
struct Snapshot {
    meeting: Meeting,
    loads: Window,
    /// Mean load.
    stored: f64,
    /// Sum over the arrivals so far.
    rejected_before: f64,
    sent_on: SentOn,
}

/// A block's snapshots, mixed over its number of arrivals.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mixture {
    pub(crate) meeting: Meeting,
    /// Mean load.
    pub(crate) stored: f64,
    /// Mean number of keys rejected so far.
    pub(crate) rejected_before: f64,
    pub(crate) sent_on: SentOn,
    /// E R², E q·R and E g·R.
    sent_on_squared: f64,
    found_sent_on: f64,
    goes_on_sent_on: f64,
    /// Mean and variance of the arrivals, and their covariance with q, g and R.
    pub(crate) arrivals: f64,
    arrivals_variance: f64,
    found_covariance: f64,
    goes_on_covariance: f64,
    sent_on_covariance: f64,
}

/// Variance of a sum over blocks.
pub(crate) struct Spread {
    /// Variance of a block's part that does not come from its number of arrivals.
    pub(crate) variance: f64,
    /// Growth of the sum with one more arrival.
    pub(crate) slope: f64,
}

impl Mixture {
    /// The spread of `a·q + b·g + c·R`: an absent key is found, goes on; keys are sent on.
    pub(crate) fn spread_of(&self, a: f64, b: f64, c: f64) -> Spread {
        let m = &self.meeting;
        let mean = a * m.found + b * m.goes_on + c * self.sent_on.entries;
        let squares =
            a * a * m.found_squared + b * b * m.goes_on_squared + c * c * self.sent_on_squared;
        let products =
            a * b * m.found_goes_on + a * c * self.found_sent_on + b * c * self.goes_on_sent_on;
        let covariance =
            a * self.found_covariance + b * self.goes_on_covariance + c * self.sent_on_covariance;
        let slope =
            if self.arrivals_variance > 0.0 { covariance / self.arrivals_variance } else { 0.0 };
        let variance = squares + 2.0 * products - mean * mean - slope * covariance;
        Spread { variance: variance.max(0.0), slope }
    }
}

/// The part of a snapshot by which filters are compared: [`Meeting::found`], [`Meeting::found_further_on`],
/// [`Meeting::goes_on`], the keys rejected so far; of those sent on the arrivals, the entries R, R² and, with the
/// arrivals n, n·R.
pub(crate) type Brief = [f64; BRIEF];
const BRIEF: usize = 8;
const ENTRIES: usize = 5;

/// Snapshots of one block after 0, 1, 2, … arrivals, computed on demand.
pub(crate) struct BlockHistory {
    chain: Box<dyn Chain>,
    snapshots: Vec<Snapshot>,
    brief: Vec<Brief>,
    at_rest: bool,
}

impl BlockHistory {
    pub(crate) fn new(chain: impl Chain + 'static) -> Self {
        let mut history = Self {
            chain: Box::new(chain),
            snapshots: Vec::new(),
            brief: Vec::new(),
            at_rest: false,
        };
        history.take_snapshot();
        history
    }

    /// Mixes the snapshots by the number of arrivals.
    pub(crate) fn mix(&mut self, arrivals: &Weights) -> Mixture {
        self.extend_to(arrivals.last());
        let mut mixture = Mixture::default();
        let mut squares = 0.0;
        for (count, weight) in arrivals.iter() {
            let (snapshot, further) = self.snapshot(count);
            let meeting = self.meeting(count);
            mixture.meeting.add(&meeting, weight);
            mixture.stored += weight * snapshot.stored;
            let more_rejects = further * meeting.rejected;
            mixture.rejected_before += weight * (snapshot.rejected_before + more_rejects);
            // After a given number of arrivals R hardly varies.
            let sent_on = snapshot.sent_on.entries + more_rejects;
            mixture.sent_on.entries += weight * sent_on;
            mixture.sent_on.arrivals += weight * (snapshot.sent_on.arrivals + more_rejects);
            mixture.sent_on_squared += weight * sent_on * sent_on;
            mixture.found_sent_on += weight * sent_on * meeting.found;
            mixture.goes_on_sent_on += weight * sent_on * meeting.goes_on;
            let count = count as f64;
            mixture.arrivals += weight * count;
            squares += weight * count * count;
            mixture.found_covariance += weight * count * meeting.found;
            mixture.goes_on_covariance += weight * count * meeting.goes_on;
            mixture.sent_on_covariance += weight * count * sent_on;
        }
        let mean = mixture.arrivals;
        mixture.arrivals_variance = (squares - mean * mean).max(0.0);
        mixture.found_covariance -= mean * mixture.meeting.found;
        mixture.goes_on_covariance -= mean * mixture.meeting.goes_on;
        mixture.sent_on_covariance -= mean * mixture.sent_on.entries;
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
            let meeting = self.meeting(count);
            (present + weight * meeting.present, rejected + weight * meeting.rejected)
        })
    }

    /// Mean number of distinct keys sent on so far with a mean of `other` arrivals, where the weights are Poisson with
    /// mean `load`: the part of `mix` that gives the arrivals of the next level.
    pub(crate) fn sent_on(&mut self, weights: &Weights, load: f64, other: f64) -> f64 {
        if other <= 0.0 {
            return 0.0;
        }
        if (other - load).powi(2) > 25.0 * load {
            let weights = arrivals::poisson(other);
            return self.sent_on(&weights, other, other);
        }
        self.extend_to(weights.last());
        // The ratio of the two Poisson weights is a geometric sequence.
        let ratio = other / load;
        let mut factor = (weights.first as f64 * ratio.ln() + load - other).exp();
        let mut sum = 0.0;
        for (count, &weight) in (weights.first..).zip(&weights.mass) {
            let sent = match self.brief.get(count) {
                Some(brief) => brief[ENTRIES],
                None => {
                    let (snapshot, further) = self.snapshot(count);
                    snapshot.sent_on.entries + further * self.meeting(count).rejected
                }
            };
            sum += weight * factor * sent;
            factor *= ratio;
        }
        sum
    }

    /// Sums over the snapshots that are enough to compare filters, for at most as many arrivals as are followed.
    pub(crate) fn brief(&mut self, weights: &Weights) -> Brief {
        self.extend_to(weights.last());
        let mut sums = [0.0; BRIEF];
        let rows = self.brief.get(weights.first..).unwrap_or_default();
        for (row, weight) in rows.iter().zip(&weights.mass) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += weight * value;
            }
        }
        sums
    }

    /// Arrivals after which the chain is not followed any more.
    pub(crate) fn followed_arrivals(&self) -> f64 {
        self.chain.followed_arrivals() as f64
    }

    /// Adds the hints set by `late` keys per block, on average, that no block may take because the budget is
    /// spent.
    pub(crate) fn set_hints(&self, table: &mut Mixture, late: f64) {
        if self.chain.hints() > 0 && late > 0.0 {
            let meeting = &mut table.meeting;
            let newly = meeting.unset * -(-late / f64::from(self.chain.hints())).exp_m1();
            meeting.unset -= newly;
            // The variances are taken as unchanged.
            let factor = if meeting.goes_on > 0.0 { 1.0 + newly / meeting.goes_on } else { 1.0 };
            meeting.goes_on += newly;
            meeting.goes_on_squared *= factor * factor;
            meeting.found_goes_on *= factor;
            table.goes_on_sent_on *= factor;
            table.goes_on_covariance *= factor;
        }
    }

    /// Whether nothing changes after this many arrivals, as far as is known.
    pub(crate) fn is_settled_at(&self, arrivals: usize) -> bool {
        let full = arrivals > self.chain.followed_arrivals();
        full || (self.at_rest && arrivals >= self.snapshots.len())
    }

    /// The snapshot after `count` arrivals; beyond the last one, the last and the number of arrivals since.
    fn snapshot(&self, count: usize) -> (&Snapshot, f64) {
        let last = self.snapshots.len() - 1;
        (&self.snapshots[count.min(last)], count.saturating_sub(last) as f64)
    }

    fn meeting(&self, count: usize) -> Meeting {
        match self.snapshot(count) {
            (Snapshot { meeting, .. }, further) if further == 0.0 || self.at_rest => *meeting,
            (last, _) => self.chain.beyond(count).unwrap_or(last.meeting),
        }
    }

    fn extend_to(&mut self, arrivals: usize) {
        let needed = arrivals.min(self.chain.followed_arrivals());
        while self.snapshots.len() <= needed && !self.at_rest {
            self.chain.arrive();
            self.take_snapshot();
        }
    }

    fn take_snapshot(&mut self) {
        let Look { meeting, loads, at_rest, sent_on } = self.chain.look();
        self.at_rest = at_rest;
        let rejected_before =
            self.snapshots.last().map_or(0.0, |last| last.rejected_before + last.meeting.rejected);
        let sent_on =
            sent_on.unwrap_or(SentOn { entries: rejected_before, arrivals: rejected_before });
        let stored = loads.mean_of(|load| load as f64);
        let Meeting { found, found_further_on, goes_on, .. } = meeting;
        let SentOn { entries, arrivals } = sent_on;
        let of_arrivals = self.snapshots.len() as f64 * entries;
        let squared = entries * entries;
        self.brief.push([
            found,
            found_further_on,
            goes_on,
            rejected_before,
            arrivals,
            entries,
            squared,
            of_arrivals,
        ]);
        self.snapshots.push(Snapshot { meeting, loads, stored, rejected_before, sent_on });
    }
}
