//! A block of fingerprints, arrival by arrival.
//!
//! A key's fingerprint is one of M = lists · 2^remainder bits values. The next candidate of a rejected key is a
//! function of the block and its fingerprint only, so that two keys with the same fingerprint in one block
//! share their path from there on: the second finds the first. An absent key is found if a key has *arrived*
//! here with the same fingerprint, stored or rejected: if rejected, the lookup follows that key's path (all
//! hints on it are set) to where it is stored.
//!
//! With D distinct fingerprints among the arrivals an absent key is therefore found with probability D/M; at
//! most h of them are in the block's slots. Another arrival adds a new fingerprint with probability 1 − D/M: D
//! is the whole state.
//!
//! - **Sets** store a fingerprint once. The load is min(D, h), R = (D − h)⁺ different ones were rejected, and
//!   each of them set one hint at random: an absent key that is found nowhere goes on with
//!   probability 1 − (1 − 1/w)^R (w = 0: if the block is full).
//! - **Multisets** store every arrival: after i arrivals the load is min(i, h), and (i − h)⁺ were rejected.
//!   Equal ones among these set the same hint. Given that none has the absent key's fingerprint they are
//!   draws from the M − 1 others, so R is the number of different ones among that many draws.

use super::block_history::{Chain, Look, Meeting};
use super::window::Window;

/// If a share of about e^-this is unset, all hints count as set.
const ALL_SET: usize = 30;

/// Beyond this many arrivals only the mean of D matters.
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
    /// For multisets: the distinct ones among the rejected, if none is the absent key's.
    distinct_rejects: Window,
}

impl FingerprintBlock {
    pub(crate) fn new(slots: usize, fingerprints: f64, hints: u32, multiset: bool) -> Self {
        let (distinct, distinct_rejects) = (Window::certain(0), Window::certain(0));
        Self { slots, fingerprints, hints, multiset, arrivals: 0, distinct, distinct_rejects }
    }

    /// Probability that a given hint is set after `rejects` different ones, and the mean square of the share
    /// of hints that are.
    fn set_share(&self, rejects: usize) -> (f64, f64) {
        let hints = f64::from(self.hints);
        if self.hints == 0 {
            // The load decides.
            return (1.0, 1.0);
        }
        let rejects = rejects.min(i32::MAX as usize) as i32;
        let one = (1.0 - 1.0 / hints).powi(rejects);
        let two = (1.0 - 2.0 / hints).max(0.0).powi(rejects);
        let unset_squared = one / hints + (1.0 - 1.0 / hints) * two;
        (1.0 - one, 1.0 - 2.0 * one + unset_squared)
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
            let (set, set_squared) = self.set_share(rejects);
            meeting.rejected += mass * (1.0 - present);
            meeting.found_further_on += mass * (found - present);
            meeting.goes_on += mass * (1.0 - found) * set;
            meeting.unset += mass * (1.0 - found) * (1.0 - set);
            meeting.goes_on_squared += mass * (1.0 - found).powi(2) * set_squared;
            meeting.found_goes_on += mass * found * (1.0 - found) * set;
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
            let set = self.distinct_rejects.mean_of(|rejects| self.set_share(rejects).0);
            let set_squared = self.distinct_rejects.mean_of(|rejects| self.set_share(rejects).1);
            meeting.rejected = 1.0;
            meeting.found_further_on = (found - chance_of_one(fingerprints, stored)).max(0.0);
            meeting.goes_on = (1.0 - found) * set;
            meeting.unset = (1.0 - found) * (1.0 - set);
            meeting.goes_on_squared = (1.0 - 2.0 * found + found_squared) * set_squared;
            meeting.found_goes_on = (found - found_squared) * set;
        }
        Look { meeting, loads: Window::certain(stored), at_rest: false, sent_on: None }
    }
}

/// Probability that one of this many random fingerprints is a given one.
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
        MOST_FOLLOWED.max(self.slots + ALL_SET * self.hints as usize)
    }

    /// All hints are set, and D is near its mean.
    fn beyond(&self, last: &Meeting, arrivals: usize) -> Meeting {
        let found = chance_of_one(self.fingerprints, arrivals).max(last.found);
        let here = last.found - last.found_further_on;
        let goes_on = 1.0 - found;
        Meeting {
            found,
            found_further_on: found - here,
            goes_on,
            unset: 0.0,
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
