//! A fingerprint block that keeps its largest entries.
//!
//! An entry is one of M = lists · 2^remainder bits fingerprints. A full block keeps the `slots` largest entries
//! and sends the others on. Its watermark is the largest byte among those, one of V values. What a block holds
//! depends on the entries that have arrived, not on their order, so their number E is the whole state.
//!
//! - **Sets** store a fingerprint once: E counts the different ones among n arrivals. If n is Poisson, each of the M
//!   fingerprints is there with the same probability, independent of the others, so that E is binomial. In the first
//!   subtable the sum of all n is fixed; there E is taken as binomial with the exact mean and variance.
//!   **Multisets** store every arrival: E = n.
//! - An absent key is found if an entry with its fingerprint has *arrived*, kept or sent on: where an entry goes
//!   from here depends on block and fingerprint only, so that the lookup follows it to where it is stored. With D
//!   different fingerprints among the arrivals that has probability D/M.
//! - Of S = E − slots entries sent on, the largest stands at a random place of the order: an absent key is below
//!   it with probability S/(E + 1), a beta variable's mean. The lookup compares bytes, `byte <= watermark`, which
//!   adds half a byte less half a fingerprint, (1/V − 1/M)/2, and E/(12 V²) if S = 1: the Euler-Maclaurin formula
//!   for the sum over all bytes.
//! - The watermark of a block that has sent nothing on is 0: byte 0 goes on in vain. In sets only a full block
//!   lets it.
//! - An insert goes on from a full block that does not keep its fingerprint, with probability 1 − slots/M. On average
//!   M/(M − e) arrivals come while a block has e entries, if there will be more.
//!
//! Only full blocks need sums: of what is found, mean and variance are known.

use super::arrivals::{Arrivals, Binomial};
use super::flow::SentOn;
use super::mixture::{Meeting, Mixture};

#[derive(Debug, Clone, Copy)]
pub(crate) struct FingerprintBlock {
    slots: f64,
    /// Number of different fingerprints, M.
    fingerprints: f64,
    /// Number of different bytes, V.
    bytes: f64,
    /// (1/V − 1/M)/2 and 1/(12 V²).
    half_a_byte: f64,
    twelfth: f64,
    multiset: bool,
}

impl FingerprintBlock {
    pub(crate) fn new(slots: u32, lists: u32, remainder_bits: u32, multiset: bool) -> Self {
        let fingerprints = f64::from(lists) * 2.0_f64.powi(remainder_bits as i32);
        let bytes = 2.0_f64.powi(remainder_bits.min(8) as i32);
        Self {
            slots: slots.into(),
            fingerprints,
            bytes,
            half_a_byte: (1.0 / bytes - 1.0 / fingerprints) / 2.0,
            twelfth: 1.0 / (12.0 * bytes * bytes),
            multiset,
        }
    }

    /// The distribution of E.
    fn entries(&self, arrivals: &Arrivals) -> Binomial {
        match self.multiset {
            true => arrivals.number(),
            false => arrivals.different(self.fingerprints),
        }
    }

    /// The share of bytes that a full block lets pass, and its variance.
    fn passes(&self, entries: f64) -> (f64, f64) {
        let sent_on = entries - self.slots;
        if sent_on <= 0.0 {
            return (1.0 / self.bytes, 0.0);
        }
        let of_one = if sent_on == 1.0 { entries * self.twelfth } else { 0.0 };
        let below = sent_on / (entries + 1.0);
        let variance = below * (1.0 - below) / (entries + 2.0) + self.twelfth;
        ((below + self.half_a_byte + of_one).min(1.0), variance)
    }

    /// The average over all blocks.
    pub(crate) fn mix(&self, arrivals: &Arrivals) -> Mixture {
        let Self { slots, fingerprints, bytes, multiset, .. } = *self;
        let entries = self.entries(arrivals);
        let mean = entries.mean;
        let number = arrivals.number();
        let different = arrivals.different(fingerprints);
        // What an entry adds to the chance of being found, and the arrivals that have the same entry.
        let (each, copies) = match mean > 0.0 {
            true => (different.mean / fingerprints / mean, number.mean / mean),
            false => (0.0, 1.0),
        };
        // Of the different fingerprints the variance over their mean.
        let spread = if mean > 0.0 { different.variance / different.mean } else { 0.0 };
        // Sums over full blocks: their number, S, S², the share g that goes on, g², g·S.
        let mut sums = [0.0; 6];
        let mut full_missed = 0.0;
        // An absent key misses one of several arrivals with probability 1 − 1/M.
        let log_kept = (-1.0 / fingerprints).ln_1p();
        entries.visit_from(slots, |count, weight| {
            let sent_on = count - slots;
            let missed = match multiset {
                true => (count * log_kept).exp(),
                false => 1.0 - (each * count).min(1.0),
            };
            full_missed += weight * missed;
            let (passes, variance) = self.passes(count);
            let goes_on = missed * passes;
            sums[0] += weight;
            sums[1] += weight * sent_on;
            sums[2] += weight * sent_on * sent_on;
            sums[3] += weight * goes_on;
            sums[4] += weight * (goes_on * goes_on + missed * missed * variance);
            sums[5] += weight * goes_on * sent_on;
        });
        let [full, sent_on, sent_on_squared, mut goes_on, mut goes_on_squared, goes_on_sent_on] =
            sums;
        // E = S + slots.
        let mut goes_on_entries = goes_on_sent_on + slots * goes_on;
        let with_room = (mean - sent_on - slots * full).max(0.0);
        if multiset {
            // Byte 0 goes on from blocks with room, of which each is taken as missed alike.
            let room = (1.0 - full).max(0.0);
            let missed = (1.0 - different.mean / fingerprints - full_missed).max(0.0);
            let share = if room > 0.0 { (missed / room).min(1.0) } else { 0.0 };
            goes_on += missed / bytes;
            goes_on_squared += missed * share / (bytes * bytes);
            goes_on_entries += with_room * share / bytes;
        }
        let sent_on_entries = sent_on_squared + slots * sent_on;
        // An entry that comes again may go on again: the sum of (M − slots)/(M − e).
        let again = match multiset {
            true => 0.0,
            false => (sent_on_squared - sent_on) / 2.0 / (fingerprints - slots).max(1.0),
        };
        Mixture {
            meeting: Meeting {
                found: (different.mean / fingerprints).min(1.0),
                found_further_on: each * sent_on,
                goes_on,
                found_squared: different.mean * (spread + different.mean) / fingerprints.powi(2),
                goes_on_squared,
                found_goes_on: each * goes_on_entries,
                ..Meeting::default()
            },
            stored: with_room + slots * full,
            rejected_before: sent_on + again,
            sent_on,
            sent_on_arrivals: copies * sent_on,
            sent_on_squared,
            found_sent_on: each * sent_on_entries,
            goes_on_sent_on,
            arrivals: number.mean,
            arrivals_variance: number.variance,
            arrivals_found: number.mean * (spread + different.mean) / fingerprints,
            arrivals_goes_on: copies * goes_on_entries,
            arrivals_sent_on: copies * sent_on_entries,
        }
    }

    /// The entries sent on.
    pub(crate) fn sent_on(&self, arrivals: &Arrivals) -> SentOn {
        let entries = self.entries(arrivals);
        let (mut mean, mut squares) = (0.0, 0.0);
        entries.visit_from(self.slots, |count, weight| {
            let sent_on = weight * (count - self.slots);
            mean += sent_on;
            squares += sent_on * (count - self.slots);
        });
        // With E, in place of the number of arrivals.
        let covariance = squares + (self.slots - entries.mean) * mean;
        let explained =
            if entries.variance > 0.0 { covariance * covariance / entries.variance } else { 0.0 };
        let variance = (squares - mean * mean - explained).max(0.0);
        SentOn::new(mean, variance, self.free(entries.mean - mean))
    }

    /// Mean number of free slots, by that of stored entries.
    pub(crate) const fn free(&self, stored: f64) -> f64 {
        (self.slots - stored).max(0.0)
    }

    /// The distribution of the loads.
    pub(crate) fn loads(&self, arrivals: &Arrivals) -> Vec<f64> {
        let entries = self.entries(arrivals).weights();
        let last = entries.last().min(self.slots as usize);
        let mut loads = vec![0.0; last + 1];
        for (count, weight) in entries.iter() {
            loads[count.min(last)] += weight;
        }
        loads
    }
}

#[cfg(test)]
#[path = "fingerprint_block_tests.rs"]
mod tests;
