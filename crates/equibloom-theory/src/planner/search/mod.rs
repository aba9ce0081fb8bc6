//! The best filter of each placement in a given memory, within the limits.

mod blocked;
mod classical;
mod fingerprints;
mod subtables;
mod threshold;

use equibloom_layout::{BlockKind, Design, MAX_HASHES, Overflow, Placement, WhenFull};

use super::contender::Contender;
use super::memory::Sizing;
use super::requirements::{LOWEST_RATE, Limits};
use super::settle::Predicted;
use crate::error::{Error, require};
use crate::exact::Prediction;

/// Keys, memory and limits of all compared filters.
pub(crate) struct Search {
    pub(crate) sizing: Sizing,
    pub(crate) limits: Limits,
    /// A rate that is already reached.
    pub(crate) to_beat: f64,
    /// Whether a filter is sought only to be compared with a better one.
    pub(crate) compares: bool,
    /// A rate that is low enough; the lowest is sought if it is 0.
    pub(crate) enough: f64,
}

/// The best filter of a placement, or why there is none.
pub(crate) type Finding = Result<Predicted, Refusal>;

/// Why a placement is excluded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Refusal {
    /// It needs this many accesses per miss.
    AccessesPerMiss { accesses: f64 },
    /// No key may read a second block.
    SecondBlock,
    /// Perfectly even blocks would lower the rate by this share only, and second choices raise it.
    SecondChoicesDoNotPay { gain: f64 },
    /// Even with perfectly even blocks the rate would be this, above the best.
    EvenBlocks { rate: f64 },
    /// The best rate need not be lower.
    LowEnough,
    /// A block receives more keys than it can have slots.
    TooManyKeysABlock { load: f64 },
    /// No parameters meet the limits on accesses and overflow.
    Limits,
    /// The memory or the load does not allow it.
    Impossible(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Impossible(error)
    }
}

impl Search {
    /// The best filter of one placement and kind of blocks.
    pub(crate) fn best(&self, contender: Contender) -> Finding {
        if self.compares && self.to_beat < LOWEST_RATE {
            return Err(Refusal::LowEnough);
        }
        if contender.block == Some(BlockKind::Fingerprint) {
            return self.fingerprints();
        }
        match contender.placement {
            Placement::Classical => self.classical(),
            Placement::Blocked if self.compares => self.blocked(),
            Placement::Blocked => {
                self.can_win(self.least_rate_of_blocks(0)).and_then(|()| self.blocked())
            }
            Placement::TwoChoice => self.two_choice(),
            Placement::OnePlusAlpha => self.one_plus_alpha(),
            Placement::Single => self.single(),
            Placement::Sequential => self.sequential(),
            Placement::MultiLevel => self.multi_level(),
            // `List`: no contender has a name beyond these.
            _ => self.list(),
        }
    }

    /// A list with room for all keys.
    fn list(&self) -> Finding {
        let Sizing { keys, bytes } = self.sizing;
        let overflow = Overflow { capacity: keys, when_full: WhenFull::Saturate };
        let design = Design::List { overflow, multiset: self.limits.multiset };
        let accepted = || format!("at least {} bytes for a list of {keys} hashes", design.bytes());
        require(design.bytes() <= bytes, "memory", bytes as f64, accepted())?;
        Ok(Predicted::new(design, keys)?)
    }

    /// Whether a filter meets the limits.
    fn keeps_to_limits(&self, expected: &Prediction) -> bool {
        expected.accesses_miss <= self.limits.accesses_miss
            && expected.accesses_insert <= self.limits.accesses_insert
            && expected.overflow_fraction <= self.limits.overflow
    }

    /// Maximum number of bits that a key may set in a block.
    fn most_hashes(&self) -> u32 {
        MAX_HASHES.min(self.limits.block_bits / 2)
    }
}
