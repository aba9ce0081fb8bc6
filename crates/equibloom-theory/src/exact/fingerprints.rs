//! Filters of fingerprint blocks.

use super::block_history::BlockHistory;
use super::fingerprint_block::{FingerprintBlock, Slots};
use super::{Levels, MOST_HINTS, Prediction, check_keys, predict_levels};
use crate::error::{Error, require};

/// A filter whose blocks of 512 bits hold fingerprints, as built, with its keys.
///
/// A block is `hints` bits, a unary code of `lists` + `slots` bits, and `slots` remainders of
/// `remainder_bits`. A fingerprint is a list and a remainder.
///
/// ```
/// use equibloom_theory::exact::{FingerprintMachine, Levels};
///
/// let machine = FingerprintMachine {
///     keys: 1_000_000,
///     slots: 48,
///     lists: 64,
///     remainder_bits: 8,
///     hints: 16,
///     levels: Levels::Subtables(vec![18_500, 3_000, 500]),
///     multiset: false,
///     access_budget: None,
/// };
/// let expected = machine.predict()?;
/// assert!(expected.rate < 4.5e-3);
/// assert!(expected.accesses_miss < 1.45);
/// # Ok::<(), equibloom_theory::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FingerprintMachine {
    /// Number of distinct keys inserted.
    pub keys: u64,
    /// Keys that a block stores.
    pub slots: u32,
    /// Lists of a block.
    pub lists: u32,
    /// Bits of a remainder.
    pub remainder_bits: u32,
    /// Hint bits of a block; without any, a lookup goes on where the block is full.
    pub hints: u32,
    /// The candidates.
    pub levels: Levels,
    /// Whether every insert is stored, apparently present or not, so that keys can be removed.
    pub multiset: bool,
    /// Block accesses that placing keys may cost in all; later keys go to the overflow list.
    pub access_budget: Option<u64>,
}

/// Bits of every fingerprint block: a cache line.
pub const FINGERPRINT_BLOCK_BITS: u32 = 512;

/// Most slots of a block.
pub(crate) const MOST_SLOTS: u32 = 64;
/// Most lists of a block.
pub(crate) const MOST_LISTS: u32 = 256;
/// Most bits of a remainder.
pub(crate) const MOST_REMAINDER_BITS: u32 = 48;

impl FingerprintMachine {
    /// What to expect of this filter.
    pub fn predict(&self) -> Result<Prediction, Error> {
        self.check()?;
        let block = FingerprintBlock::new(Slots {
            slots: self.slots as usize,
            fingerprints: f64::from(self.lists) * 2.0_f64.powi(self.remainder_bits as i32),
            hints: self.hints,
            multiset: self.multiset,
        });
        Ok(predict_levels(BlockHistory::new(block), self.keys, &self.levels, self.access_budget))
    }

    fn check(&self) -> Result<(), Error> {
        check_keys(self.keys)?;
        self.levels.check()?;
        let within = |argument, value: u32, least: u32, most: u32| {
            let holds = (least..=most).contains(&value);
            require(holds, argument, f64::from(value), format!("between {least} and {most}"))
        };
        within("slots", self.slots, 1, MOST_SLOTS)?;
        within("lists", self.lists, 1, MOST_LISTS)?;
        within("remainder_bits", self.remainder_bits, 1, MOST_REMAINDER_BITS)?;
        within("hints", self.hints, 0, MOST_HINTS)?;
        require(
            self.hints > 0 || !self.multiset,
            "hints",
            0.0,
            "at least 1 where keys can be removed: the load of a block tells nothing about its past",
        )?;
        let bits = self.hints + self.lists + self.slots * (1 + self.remainder_bits);
        require(
            bits <= FINGERPRINT_BLOCK_BITS,
            "slots",
            f64::from(self.slots),
            format!(
                "fewer, or of fewer bits: hints + lists + slots × (1 + remainder bits) is {bits}, above \
                 {FINGERPRINT_BLOCK_BITS}"
            ),
        )
    }
}
