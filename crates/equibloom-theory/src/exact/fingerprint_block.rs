//! A block of fingerprints, arrival by arrival.
//!
//! A key's fingerprint is one of M = lists · 2^remainder bits values. Where a key goes when a block turns it
//! away is a function of the block and its fingerprint only, so that two keys with the same fingerprint in one
//! block have one path from there on: whatever holds for the first of them, the second will find. An absent key is
//! found if a key has *arrived* here with the same fingerprint, stored or rejected: in the second case the lookup
//! follows that key's path (all hints on it are set) to where it is.
//!
//! With D different fingerprints among the arrivals an absent key is therefore found with probability D/M,
//! h of which are in the block's slots at most. Another arrival adds a new fingerprint with 1 − D/M: the number D is
//! all there is to follow.
//!
//! - **Sets** store a fingerprint once. The load is min(D, h), R = (D − h)⁺ different ones were rejected, and
//!   each of them marked one hint at random: an absent key that is found nowhere goes on with
//!   probability 1 − (1 − 1/w)^R (w = 0: if the block is full).
//! - **Multisets** store every arrival: after i arrivals the load is min(i, h), and (i − h)⁺ were rejected.
//!   Equal ones among these mark the same hint. Given that none has the absent key's fingerprint they are
//!   draws from the M − 1 others, so R is the number of different ones among that many draws.

use super::block_history::{Chain, Look, Meeting};
use super::window::Window;

/// Hints of which a share of about e^-this is unmarked count as all marked.
const ALL_MARKED: usize = 30;

/// Beyond so many arrivals a block is so crowded that only the mean of D matters.
const MOST_FOLLOWED: usize = 2_000;

pub(crate) struct FingerprintBlock {
    slots: usize,
    /// Number of different fingerprints, M.
    fingerprints: f64,
    hints: u32,
    multiset: bool,
    arrivals: usize,
    /// D.
    distinct: Window,
    /// For multisets: the different ones among those rejected, if none is the absent key's.
    distinct_rejects: Window,
}

impl FingerprintBlock {
    pub(crate) fn new(slots: usize, fingerprints: f64, hints: u32, multiset: bool) -> Self {
        let (distinct, distinct_rejects) = (Window::certain(0), Window::certain(0));
        Self { slots, fingerprints, hints, multiset, arrivals: 0, distinct, distinct_rejects }
    }

    /// Probability that a given hint is set after `rejects` different ones, and the mean square of the share
    /// of hints that are.
    fn marked(&self, rejects: usize) -> (f64, f64) {
        let hints = f64::from(self.hints);
        if self.hints == 0 {
            // The load decides.
            return (1.0, 1.0);
        }
        let rejects = rejects.min(i32::MAX as usize) as i32;
        let one = (1.0 - 1.0 / hints).powi(rejects);
        let two = (1.0 - 2.0 / hints).max(0.0).powi(rejects);
        let unmarked_squared = one / hints + (1.0 - 1.0 / hints) * two;
        (1.0 - one, 1.0 - 2.0 * one + unmarked_squared)
    }

    fn of_a_set(&self) -> Look {
        let Self { slots, fingerprints, .. } = *self;
        let mut meeting = Meeting::default();
        let (mut loads, mut sent_on) = (Window::default(), 0.0);
        for (distinct, mass) in self.distinct.iter() {
            let stored = distinct.min(slots);
            let rejects = distinct - stored;
            let (present, found) = (stored as f64 / fingerprints, distinct as f64 / fingerprints);
            let (found, present) = (found.min(1.0), present.min(1.0));
            loads.add(stored, &[1.0], mass);
            sent_on += mass * rejects as f64;
            meeting.present += mass * present;
            meeting.found += mass * found;
            meeting.found_squared += mass * found * found;
            if stored < slots {
                meeting.admitted += mass * (1.0 - present);
                continue;
            }
            let (marked, marked_squared) = self.marked(rejects);
            meeting.rejected += mass * (1.0 - present);
            meeting.found_further_on += mass * (found - present);
            meeting.goes_on += mass * (1.0 - found) * marked;
            meeting.unmarked += mass * (1.0 - found) * (1.0 - marked);
            meeting.goes_on_squared += mass * (1.0 - found).powi(2) * marked_squared;
            meeting.found_goes_on += mass * found * (1.0 - found) * marked;
        }
        Look { meeting, loads, at_rest: false, sent_on: Some(sent_on) }
    }

    fn of_a_multiset(&self) -> Look {
        let Self { slots, fingerprints, .. } = *self;
        let stored = self.arrivals.min(slots);
        let found = self.distinct.mean_of(|distinct| distinct as f64 / fingerprints);
        let found_squared =
            self.distinct.mean_of(|distinct| (distinct as f64 / fingerprints).powi(2));
        let mut meeting = Meeting { found, found_squared, ..Meeting::default() };
        if stored < slots {
            meeting.admitted = 1.0;
        } else {
            let marked = self.distinct_rejects.mean_of(|rejects| self.marked(rejects).0);
            let marked_squared = self.distinct_rejects.mean_of(|rejects| self.marked(rejects).1);
            meeting.rejected = 1.0;
            meeting.found_further_on = (found - chance_of_one(fingerprints, stored)).max(0.0);
            meeting.goes_on = (1.0 - found) * marked;
            meeting.unmarked = (1.0 - found) * (1.0 - marked);
            meeting.goes_on_squared = (1.0 - 2.0 * found + found_squared) * marked_squared;
            meeting.found_goes_on = (found - found_squared) * marked;
        }
        Look { meeting, loads: Window::certain(stored), at_rest: false, sent_on: None }
    }
}

/// Probability that one of so many random fingerprints is a given one.
fn chance_of_one(fingerprints: f64, number: usize) -> f64 {
    -(number as f64 * (-1.0 / fingerprints).ln_1p()).exp_m1()
}

/// One more draw from `values` values.
fn draw(distinct: &Window, values: f64) -> Window {
    let mut next = Window::default();
    for (number, mass) in distinct.iter() {
        let known = (number as f64 / values).min(1.0);
        next.add(number, &[known, 1.0 - known], mass);
    }
    next.trim();
    next
}

impl Chain for FingerprintBlock {
    fn arrive(&mut self) {
        let Self { slots, fingerprints, multiset, .. } = *self;
        self.distinct = draw(&self.distinct, fingerprints);
        if multiset && self.arrivals >= slots {
            self.distinct_rejects = draw(&self.distinct_rejects, fingerprints - 1.0);
        }
        self.arrivals += 1;
    }

    fn look(&mut self) -> Look {
        if self.multiset { self.of_a_multiset() } else { self.of_a_set() }
    }

    fn hints(&self) -> u32 {
        self.hints
    }

    fn looks_alike(&self) -> f64 {
        1.0 / self.fingerprints
    }

    fn followed_arrivals(&self) -> usize {
        MOST_FOLLOWED.max(self.slots + ALL_MARKED * self.hints as usize)
    }

    /// All hints are set long since, and D is near its mean.
    fn beyond(&self, last: &Meeting, arrivals: usize) -> Meeting {
        let found = chance_of_one(self.fingerprints, arrivals).max(last.found);
        let here = last.found - last.found_further_on;
        let goes_on = 1.0 - found;
        Meeting {
            found,
            found_further_on: found - here,
            goes_on,
            unmarked: 0.0,
            found_squared: found * found,
            goes_on_squared: goes_on * goes_on,
            found_goes_on: found * goes_on,
            ..*last
        }
    }

    fn found_though_rejected(&self) -> f64 {
        let Self { slots, fingerprints, multiset, .. } = *self;
        if multiset { chance_of_one(fingerprints, slots) } else { 0.0 }
    }
}
