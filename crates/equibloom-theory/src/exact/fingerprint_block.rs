//! A fingerprint block that keeps its largest entries, arrival by arrival.
//!
//! An entry is one of M = lists · 2^remainder bits fingerprints. A full block keeps the `slots` largest entries
//! and sends the others on. Its watermark is the largest byte among those, one of V values. What a block holds
//! depends on the entries that have arrived, not on their order, so their number E is the whole state.
//!
//! - **Sets** store a fingerprint once: E counts different ones, and another arrival is new with probability
//!   1 − E/M. **Multisets** store every arrival: E counts them all.
//! - An absent key is found if an entry with its fingerprint has *arrived*, kept or sent on: where an entry goes
//!   from here depends on block and fingerprint only, so that the lookup follows it to where it is stored. With D
//!   different fingerprints among the arrivals that has probability D/M.
//! - Of S = E − slots entries sent on, the largest stands at a random place of the order: an absent key is below
//!   it with probability S/(E + 1), a beta variable's mean. The lookup compares bytes, `byte <= watermark`, which
//!   adds half a byte less half a fingerprint, (1/V − 1/M)/2, and E/(12 V²) if S = 1: the Euler-Maclaurin formula
//!   for the sum over all bytes.
//! - The watermark of a block that has sent nothing on is 0: byte 0 goes on in vain. In sets only a full block
//!   lets it.

use super::block_history::{Chain, Look, Meeting, SentOn};
use super::window::Window;

/// Numbers of different fingerprints less likely than this are left out.
const NEGLIGIBLE: f64 = 1e-15;

/// Beyond this many arrivals per slot a block is full, and only the mean number of different fingerprints matters.
const FOLLOWED_PER_SLOT: f64 = 4.0;

pub(crate) struct FingerprintBlock {
    slots: f64,
    /// Number of different fingerprints, M.
    fingerprints: f64,
    /// Number of different bytes, V.
    bytes: f64,
    multiset: bool,
    arrivals: usize,
    /// Different fingerprints among the arrivals.
    distinct: Window,
}

impl FingerprintBlock {
    pub(crate) fn new(slots: u32, lists: u32, remainder_bits: u32, multiset: bool) -> Self {
        Self {
            slots: slots.into(),
            fingerprints: f64::from(lists) * 2.0_f64.powi(remainder_bits as i32),
            bytes: 2.0_f64.powi(remainder_bits.min(8) as i32),
            multiset,
            arrivals: 0,
            distinct: Window::certain(0),
        }
    }

    /// E.
    fn entries(&self, arrivals: usize, distinct: f64) -> f64 {
        if self.multiset { arrivals as f64 } else { distinct }
    }

    /// What the next key finds after `entries` entries, of which `distinct` are different.
    fn meeting(&self, entries: f64, distinct: f64) -> Meeting {
        let Self { slots, fingerprints, bytes, multiset, .. } = *self;
        let (full, stored) = (entries >= slots, entries.min(slots));
        let sent_on = entries - stored;
        let found = (distinct / fingerprints).min(1.0);
        let found_further_on = found * sent_on / entries.max(1.0);
        let present = if multiset { 0.0 } else { found - found_further_on };
        let (passes, variance) = if sent_on > 0.0 {
            let half_a_byte = (1.0 / bytes - 1.0 / fingerprints) / 2.0;
            let of_one = if sent_on == 1.0 { entries / (12.0 * bytes * bytes) } else { 0.0 };
            let below = sent_on / (entries + 1.0);
            let variance = below * (1.0 - below) / (entries + 2.0) + 1.0 / (12.0 * bytes * bytes);
            ((below + half_a_byte + of_one).min(1.0), variance)
        } else if full || multiset {
            (1.0 / bytes, 0.0)
        } else {
            (0.0, 0.0)
        };
        let goes_on = (1.0 - found) * passes;
        Meeting {
            present,
            rejected: if full { 1.0 - present } else { 0.0 },
            admitted: if full { 0.0 } else { 1.0 - present },
            found,
            found_further_on,
            goes_on,
            unset: 0.0,
            found_squared: found * found,
            goes_on_squared: goes_on * goes_on + (1.0 - found).powi(2) * variance,
            found_goes_on: found * goes_on,
        }
    }
}

impl Chain for FingerprintBlock {
    fn arrive(&mut self) {
        let Self { distinct: Window { first, mass }, fingerprints, .. } = self;
        mass.push(0.0);
        for index in (0..mass.len()).rev() {
            let known = |index: usize| ((*first + index) as f64 / *fingerprints).min(1.0);
            let new = if index > 0 { mass[index - 1] * (1.0 - known(index - 1)) } else { 0.0 };
            mass[index] = mass[index] * known(index) + new;
        }
        self.distinct.trim_below(NEGLIGIBLE);
        self.arrivals += 1;
    }

    fn look(&mut self) -> Look {
        let (mut look, mut sent_on) = (Look::default(), SentOn::default());
        for (distinct, mass) in self.distinct.iter() {
            let entries = self.entries(self.arrivals, distinct as f64);
            let stored = entries.min(self.slots);
            look.meeting.add(&self.meeting(entries, distinct as f64), mass);
            look.loads.add(stored as usize, &[1.0], mass);
            let share = (entries - stored) / entries.max(1.0);
            sent_on.entries += mass * share * entries;
            sent_on.arrivals += mass * share * self.arrivals as f64;
        }
        look.sent_on = Some(sent_on);
        look
    }

    fn followed_arrivals(&self) -> usize {
        (FOLLOWED_PER_SLOT * self.slots) as usize + 100
    }

    fn beyond(&self, arrivals: usize) -> Option<Meeting> {
        let known = -(arrivals as f64 * (-1.0 / self.fingerprints).ln_1p()).exp_m1();
        let distinct = known * self.fingerprints;
        Some(self.meeting(self.entries(arrivals, distinct), distinct))
    }
}

#[cfg(test)]
#[path = "fingerprint_block_tests.rs"]
mod tests;
