//! What keys find in the blocks of a table, averaged over all blocks.

/// What the next key finds in a block.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meeting {
    /// A key that is inserted into Bloom blocks is apparently present,
    pub(crate) present: f64,
    /// or is rejected.
    pub(crate) rejected: f64,
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
    #[inline]
    pub(crate) fn add(&mut self, other: &Self, weight: f64) {
        self.present += weight * other.present;
        self.rejected += weight * other.rejected;
        self.found += weight * other.found;
        self.found_further_on += weight * other.found_further_on;
        self.goes_on += weight * other.goes_on;
        self.unset += weight * other.unset;
        self.found_squared += weight * other.found_squared;
        self.goes_on_squared += weight * other.goes_on_squared;
        self.found_goes_on += weight * other.found_goes_on;
    }
}

/// The blocks of a table. R is the number of different entries that a block has sent on, n that of its arrivals.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mixture {
    pub(crate) meeting: Meeting,
    /// Mean load.
    pub(crate) stored: f64,
    /// Mean number of inserts that went on from a block.
    pub(crate) rejected_before: f64,
    /// E R, and the mean number of arrivals with these entries.
    pub(crate) sent_on: f64,
    pub(crate) sent_on_arrivals: f64,
    /// E R², E q·R and E g·R.
    pub(crate) sent_on_squared: f64,
    pub(crate) found_sent_on: f64,
    pub(crate) goes_on_sent_on: f64,
    /// Mean and variance of n.
    pub(crate) arrivals: f64,
    pub(crate) arrivals_variance: f64,
    /// E n·q, E n·g and E n·R.
    pub(crate) arrivals_found: f64,
    pub(crate) arrivals_goes_on: f64,
    pub(crate) arrivals_sent_on: f64,
}

/// Variance of a sum over blocks.
pub(crate) struct Spread {
    /// Variance of a block's part that does not come from its number of arrivals.
    pub(crate) variance: f64,
    /// Growth of the sum with one more arrival.
    pub(crate) slope: f64,
}

impl Mixture {
    /// Adds a share of blocks with `arrivals` arrivals, of which `sent_on` are sent on.
    #[inline]
    pub(crate) fn add(&mut self, weight: f64, meeting: &Meeting, arrivals: f64, sent_on: f64) {
        self.meeting.add(meeting, weight);
        self.arrivals_found += weight * arrivals * meeting.found;
        self.arrivals_goes_on += weight * arrivals * meeting.goes_on;
        let weight = weight * sent_on;
        self.sent_on += weight;
        self.sent_on_squared += weight * sent_on;
        self.found_sent_on += weight * meeting.found;
        self.goes_on_sent_on += weight * meeting.goes_on;
        self.arrivals_sent_on += weight * arrivals;
    }

    /// The spread of `a·q + b·g + c·R`: an absent key is found, goes on; keys are sent on.
    pub(crate) fn spread_of(&self, a: f64, b: f64, c: f64) -> Spread {
        let m = &self.meeting;
        let mean = a * m.found + b * m.goes_on + c * self.sent_on;
        let squares =
            a * a * m.found_squared + b * b * m.goes_on_squared + c * c * self.sent_on_squared;
        let products =
            a * b * m.found_goes_on + a * c * self.found_sent_on + b * c * self.goes_on_sent_on;
        let with_arrivals =
            a * self.arrivals_found + b * self.arrivals_goes_on + c * self.arrivals_sent_on;
        let covariance = with_arrivals - mean * self.arrivals;
        let slope =
            if self.arrivals_variance > 0.0 { covariance / self.arrivals_variance } else { 0.0 };
        let variance = squares + 2.0 * products - mean * mean - slope * covariance;
        Spread { variance: variance.max(0.0), slope }
    }

    /// Adds the hints, `hints` per block, that are set by `late` keys per block, on average, that no block may take
    /// because the budget is spent.
    pub(crate) fn set_hints(&mut self, hints: u32, late: f64) {
        if hints > 0 && late > 0.0 {
            let meeting = &mut self.meeting;
            let newly = meeting.unset * -(-late / f64::from(hints)).exp_m1();
            meeting.unset -= newly;
            // The variances are taken as unchanged.
            let factor = if meeting.goes_on > 0.0 { 1.0 + newly / meeting.goes_on } else { 1.0 };
            meeting.goes_on += newly;
            meeting.goes_on_squared *= factor * factor;
            meeting.found_goes_on *= factor;
            self.goes_on_sent_on *= factor;
            self.arrivals_goes_on *= factor;
        }
    }
}
