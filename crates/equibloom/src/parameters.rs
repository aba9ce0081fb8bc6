//! Everything that makes one filter differ from another, as plain data.
//!
//! A [`Parameters`] value can be written down, compared, sent and (with the feature `serde`)
//! serialised; [`AnyFilter::new`](crate::Filter::new) turns it into a filter. The names are those of
//! the papers; [`crate::placement`] shows how few distinct mechanisms stand behind them.

use alloc::vec::Vec;

use crate::error::{BuildError, ShrinkError, check_positive, check_share, check_whole};
use crate::overflow::check_capacity;

/// Smallest block in bits.
pub const MIN_BLOCK_BITS: u32 = 64;
/// Largest block in bits: a page of 4 KiB.
pub const MAX_BLOCK_BITS: u32 = 32_768;
/// Most bits one key can set. A rate of 2⁻⁶⁴ is below what any hash can tell apart.
pub const MAX_HASHES: u32 = 64;
/// Most candidate blocks of one key.
pub const MAX_CHOICES: u32 = 16;
/// Most hint bits of a block.
pub const MAX_HINTS: u32 = 64;

/// A filter, described.
///
/// ```
/// use equibloom::{AnyFilter, BlockTable, Parameters, Scheme};
///
/// let blocks = BlockTable { count: 1_000, bits: 512, hashes: 11 };
/// let parameters = Parameters { keys: 32_000, seed: 7, scheme: Scheme::TwoChoice { blocks } };
/// let filter = AnyFilter::new(&parameters)?;
/// assert_eq!(filter.parameters(), &parameters);
/// # Ok::<(), equibloom::BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parameters {
    /// How many keys the filter is meant for. More are taken as long as there is room; the access
    /// budget of [`Scheme::Sequential`] is a multiple of this.
    pub keys: u64,
    /// Seed of the hash. The same seed and keys in the same order give the same bytes.
    pub seed: u64,
    /// The kind of filter, with its own parameters.
    pub scheme: Scheme,
}

/// The filters of the papers, and one that goes past them.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "kebab-case")
)]
pub enum Scheme {
    /// Bloom's filter: `hashes` bits anywhere in one array. With `hashes = 1` the one-hash filter
    /// of the slides.
    Classical {
        /// Size of the array in bits; any number.
        bits: u64,
        /// Bits per key.
        hashes: u32,
    },
    /// One block per key, as full as it gets.
    Blocked {
        /// The table of blocks.
        blocks: BlockTable,
    },
    /// One block per key; what it turns away goes to the overflow list.
    Single {
        /// The table of blocks.
        blocks: BlockTable,
        /// When a block turns a key away.
        threshold: Threshold,
        /// Bits of a block that remember whom it turned away; 0 as in the papers.
        hints: u32,
        /// Where those keys go.
        overflow: Overflow,
    },
    /// The first of `choices` blocks, each anywhere in the table, that has room.
    Sequential {
        /// The table of blocks.
        blocks: BlockTable,
        /// When a block turns a key away.
        threshold: Threshold,
        /// Bits of a block that remember whom it turned away; 0 as in the papers.
        hints: u32,
        /// Where keys go that every block turned away, or that came when the accesses were spent.
        overflow: Overflow,
        /// Candidate blocks per key.
        choices: u32,
        /// Mean block accesses allowed per placed key: after `accesses × keys` of them in all, new
        /// keys go to the overflow list. At `choices` or above the budget never binds.
        accesses: f64,
    },
    /// The first of several blocks, one in each subtable, that has room.
    MultiLevel {
        /// The table of blocks; the subtables divide it.
        blocks: BlockTable,
        /// When a block turns a key away.
        threshold: Threshold,
        /// Bits of a block that remember whom it turned away; 0 as in the papers.
        hints: u32,
        /// Where keys go that every block turned away.
        overflow: Overflow,
        /// Blocks of each subtable, in the order they are tried.
        subtables: Vec<u64>,
    },
    /// The less loaded of two blocks.
    TwoChoice {
        /// The table of blocks.
        blocks: BlockTable,
    },
    /// The less loaded of two blocks for a share `alpha` of the keys, one block for the others.
    OnePlusAlpha {
        /// The table of blocks.
        blocks: BlockTable,
        /// Share of keys with a second choice, from 0 to 1.
        alpha: f64,
    },
    /// The first block with a free slot, where blocks store fingerprints of keys instead of bits.
    Fingerprint {
        /// The table of blocks.
        blocks: FingerprintTable,
        /// Which blocks a key may go to.
        route: Route,
        /// Where keys go that find no free slot.
        overflow: Overflow,
        /// Whether every insert is stored, that of a key that seems to be there too: then keys can be
        /// removed again. Needs at least one hint.
        multiset: bool,
    },
}

/// The blocks that a key may go to, in the order they are tried.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "kebab-case")
)]
pub enum Route {
    /// One block, anywhere.
    Single,
    /// Several blocks, each anywhere in the table.
    Sequential {
        /// Candidate blocks per key.
        choices: u32,
        /// Mean block accesses allowed per placed key, as in [`Scheme::Sequential`].
        accesses: f64,
    },
    /// One block in each of several subtables.
    MultiLevel {
        /// Blocks of each subtable, in the order they are tried.
        subtables: Vec<u64>,
    },
}

/// A table of blocks of 512 bits, each with slots for fingerprints of keys.
///
/// A fingerprint is one of `lists` × 2^`remainder_bits` numbers; a key that is absent is mistaken for
/// one of the `n` in its block with probability n / (`lists` × 2^`remainder_bits`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FingerprintTable {
    /// Number of blocks; any number.
    pub count: u64,
    /// Keys that a block has room for: 1 to 64.
    pub slots: u32,
    /// Lists that they are divided into: 1 to 256.
    pub lists: u32,
    /// Bits stored of each key beside the list it is in: 1 to 48.
    pub remainder_bits: u32,
    /// Bits of a block that remember whom it turned away: 0 to 64.
    pub hints: u32,
}

/// A table of equal Bloom blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BlockTable {
    /// Number of blocks; any number.
    pub count: u64,
    /// Bits of a block, its load counter included: 64 to 32,768, any number. In memory a block
    /// takes the next multiple of 64.
    pub bits: u32,
    /// Bits one key sets in its block, all distinct.
    pub hashes: u32,
}

/// When a block turns a key away.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Threshold {
    /// A block below this load (the papers' `h`) takes every key.
    pub load: u32,
    /// A block at exactly that load takes a key with this probability (the papers' `p`); above it,
    /// none.
    pub probability: f64,
}

/// The overflow list's size, and what happens when that is not enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Overflow {
    /// Most entries it can hold.
    pub capacity: u64,
    /// What happens to a key that finds it full.
    pub when_full: WhenFull,
}

/// What happens to a key that no block admits when the overflow list is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum WhenFull {
    /// The insert fails with [`FullError`](crate::FullError) and changes nothing.
    Refuse,
    /// The key goes into a candidate block past its threshold, and the rate rises; where a block has
    /// only so many slots, the overflow list grows instead, and the memory.
    /// [`Statistics::saturated`](crate::Statistics::saturated) counts such keys.
    Saturate,
}

impl Overflow {
    /// Room for a mean share `fraction` of `keys`, and for chance: six times the square root more. (Full
    /// blocks turn keys away in clumps, so that this is three to four standard deviations.)
    ///
    /// ```
    /// use equibloom::{Overflow, WhenFull};
    ///
    /// let overflow = Overflow::for_fraction(0.005, 1_000_000, WhenFull::Refuse)?;
    /// assert_eq!(overflow.capacity, 5_000 + 6 * 71);
    /// assert!(Overflow::for_fraction(f64::NAN, 10, WhenFull::Refuse).is_err());
    /// # Ok::<(), equibloom::BuildError>(())
    /// ```
    pub fn for_fraction(fraction: f64, keys: u64, when_full: WhenFull) -> Result<Self, BuildError> {
        check_share("overflow fraction", fraction)?;
        let mean = (fraction * keys as f64) as u64;
        let slack = 6 * (mean.isqrt() + 1);
        let capacity = if fraction > 0.0 { mean.saturating_add(slack) } else { 0 };
        Ok(Self { capacity, when_full })
    }

    /// Bytes of the list: at most 80 bits per entry, and a line.
    pub const fn bytes(&self) -> u64 {
        crate::memory::bytes_for(crate::overflow::slot_count(self.capacity))
    }
}

impl BlockTable {
    /// Bytes of the whole table, padding included; the largest number if they have none.
    pub const fn bytes(&self) -> u64 {
        let words = self.count.saturating_mul(Self::stride_bits(self.bits) / 64);
        crate::memory::bytes_for(words)
    }

    /// Bits that one block of `bits` occupies in memory: the next multiple of 64.
    pub const fn stride_bits(bits: u32) -> u64 {
        (bits as u64).next_multiple_of(64)
    }

    /// As many blocks of `bits` as fit into `memory_bits`, padding counted.
    ///
    /// ```
    /// use equibloom::BlockTable;
    ///
    /// assert_eq!(BlockTable::filling(10_240, 500, 8)?.count, 20);
    /// assert!(BlockTable::filling(400, 500, 8).is_err());
    /// # Ok::<(), equibloom::BuildError>(())
    /// ```
    pub fn filling(memory_bits: u64, bits: u32, hashes: u32) -> Result<Self, BuildError> {
        check_block_bits(bits)?;
        let block_bits = Self::stride_bits(bits);
        match memory_bits / block_bits {
            0 => Err(BuildError::BlockLargerThanMemory { block_bits, memory_bits }),
            count => Ok(Self { count, bits, hashes }),
        }
    }

    /// Checks size, count and number of hashes; `reserved` bits of each block are not for keys.
    fn check(&self, reserved: u32) -> Result<(), BuildError> {
        check_block_bits(self.bits)?;
        check_count(self.count, Self::stride_bits(self.bits))?;
        // Room for two bits at least.
        let most = u64::from(self.bits - 2);
        check_whole("counter and hints of a block in bits", reserved.into(), 0, most)?;
        // More would fill half of the block with one key.
        let most = u64::from(MAX_HASHES.min((self.bits - reserved) / 2));
        check_whole("hashes per key", self.hashes.into(), 1, most)
    }
}

impl FingerprintTable {
    /// Bits of every block.
    pub const BLOCK_BITS: u32 = 512;
    /// Most slots of a block.
    pub const MAX_SLOTS: u32 = 64;
    /// Most lists of a block.
    pub const MAX_LISTS: u32 = 256;
    /// Most bits of a remainder.
    pub const MAX_REMAINDER_BITS: u32 = 48;

    /// Bits of a block that are used: hints, lists, slots.
    ///
    /// ```
    /// use equibloom::FingerprintTable;
    ///
    /// let table =
    ///     FingerprintTable { count: 1, slots: 48, lists: 64, remainder_bits: 8, hints: 16 };
    /// assert_eq!(table.used_bits(), 512);
    /// ```
    pub const fn used_bits(&self) -> u64 {
        let slot = self.remainder_bits as u64 + 1;
        self.hints as u64 + self.lists as u64 + self.slots as u64 * slot
    }

    /// Bytes of the whole table.
    pub const fn bytes(&self) -> u64 {
        self.count.saturating_mul(Self::BLOCK_BITS as u64 / 8)
    }

    fn check(&self) -> Result<(), BuildError> {
        check_whole("slots of a block", self.slots.into(), 1, Self::MAX_SLOTS.into())?;
        check_whole("lists of a block", self.lists.into(), 1, Self::MAX_LISTS.into())?;
        let most = Self::MAX_REMAINDER_BITS.into();
        check_whole("bits of a remainder", self.remainder_bits.into(), 1, most)?;
        check_hints(self.hints)?;
        let most = Self::BLOCK_BITS.into();
        check_whole("hints, lists and slots of a block in bits", self.used_bits(), 1, most)?;
        check_count(self.count, most)
    }
}

impl Threshold {
    /// Highest load a threshold can have: the counter beside it stays within 16 bits.
    pub const MAX_LOAD: u32 = u16::MAX as u32 - 1;

    /// Width of the counter that tells every load up to one above the threshold: ⌈log2(h + 2)⌉.
    ///
    /// ```
    /// use equibloom::Threshold;
    ///
    /// assert_eq!(Threshold { load: 2, probability: 0.5 }.counter_bits(), 2);
    /// assert_eq!(Threshold { load: 3, probability: 0.5 }.counter_bits(), 3);
    /// ```
    pub const fn counter_bits(&self) -> u32 {
        u32::BITS - self.load.saturating_add(1).leading_zeros()
    }

    fn check(&self) -> Result<(), BuildError> {
        check_whole("threshold load", self.load.into(), 0, Self::MAX_LOAD.into())?;
        check_share("threshold probability", self.probability)?;
        if self.load == 0 && self.probability == 0.0 {
            return Err(BuildError::NothingAdmitted);
        }
        Ok(())
    }
}

impl Parameters {
    /// The same filter with a seed that nobody can guess, for keys that come from strangers.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn with_random_seed(self) -> Self {
        use core::hash::{BuildHasher, Hasher};
        let seed = std::collections::hash_map::RandomState::new().build_hasher().finish();
        Self { seed, ..self }
    }

    /// The same filter with every `factor` blocks folded into one.
    pub(crate) fn folded(&self, factor: u64) -> Result<Self, ShrinkError> {
        check_whole("factor", factor, 1, u64::MAX)?;
        let mut folded = self.clone();
        let fold = |size: &mut u64| {
            if !size.is_multiple_of(factor) {
                return Err(ShrinkError::NotDivisible { size: *size, factor });
            }
            *size /= factor;
            Ok(())
        };
        match &mut folded.scheme {
            Scheme::Classical { bits, .. } => fold(bits)?,
            Scheme::Blocked { blocks }
            | Scheme::Single { blocks, .. }
            | Scheme::Sequential { blocks, .. }
            | Scheme::TwoChoice { blocks }
            | Scheme::OnePlusAlpha { blocks, .. } => fold(&mut blocks.count)?,
            Scheme::MultiLevel { blocks, subtables, .. } => {
                subtables.iter_mut().try_for_each(fold)?;
                blocks.count /= factor;
            }
            Scheme::Fingerprint { .. } => return Err(ShrinkError::Fingerprints),
        }
        Ok(folded)
    }

    /// Checks that the parameters make sense, without allocating anything.
    pub fn check(&self) -> Result<(), BuildError> {
        match &self.scheme {
            Scheme::Classical { bits, hashes } => {
                check_whole("bits", *bits, 1, u64::MAX)?;
                check_whole("hashes per key", (*hashes).into(), 1, MAX_HASHES.into())
            }
            Scheme::Blocked { blocks } | Scheme::TwoChoice { blocks } => blocks.check(0),
            Scheme::OnePlusAlpha { blocks, alpha } => {
                blocks.check(0)?;
                check_share("alpha", *alpha)
            }
            Scheme::Single { blocks, threshold, hints, overflow } => {
                check_balanced(blocks, threshold, *hints, overflow)
            }
            Scheme::Sequential { blocks, threshold, hints, overflow, choices, accesses } => {
                check_balanced(blocks, threshold, *hints, overflow)?;
                check_sequence(*choices, *accesses)
            }
            Scheme::MultiLevel { blocks, threshold, hints, overflow, subtables } => {
                check_balanced(blocks, threshold, *hints, overflow)?;
                check_subtables(subtables, blocks.count)
            }
            Scheme::Fingerprint { blocks, route, overflow, multiset } => {
                blocks.check()?;
                check_capacity(overflow.capacity)?;
                if *multiset && blocks.hints == 0 {
                    return Err(BuildError::RemovalWithoutHints);
                }
                match route {
                    Route::Single => Ok(()),
                    Route::Sequential { choices, accesses } => check_sequence(*choices, *accesses),
                    Route::MultiLevel { subtables } => check_subtables(subtables, blocks.count),
                }
            }
        }
    }
}

impl Scheme {
    /// A classical filter of `bits` with the best number of hashes for `keys`: `bits / keys × ln 2`,
    /// rounded.
    ///
    /// ```
    /// use equibloom::Scheme;
    ///
    /// assert_eq!(Scheme::classical(8_000, 1_000), Scheme::Classical { bits: 8_000, hashes: 6 });
    /// assert_eq!(Scheme::classical(100, 1_000), Scheme::Classical { bits: 100, hashes: 1 });
    /// ```
    pub fn classical(bits: u64, keys: u64) -> Self {
        let best = bits as f64 / keys.max(1) as f64 * core::f64::consts::LN_2;
        // The cast rounds down and stops at the type's ends.
        let hashes = ((best + 0.5) as u32).clamp(1, MAX_HASHES);
        Self::Classical { bits, hashes }
    }

    /// The scheme's name, as the command line and its JSON spell it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Classical { .. } => "classical",
            Self::Blocked { .. } => "blocked",
            Self::Single { .. } => "single",
            Self::Sequential { .. } => "sequential",
            Self::MultiLevel { .. } => "multi-level",
            Self::TwoChoice { .. } => "two-choice",
            Self::OnePlusAlpha { .. } => "one-plus-alpha",
            Self::Fingerprint { .. } => "fingerprint",
        }
    }
}

fn check_block_bits(bits: u32) -> Result<(), BuildError> {
    check_whole("block bits", bits.into(), MIN_BLOCK_BITS.into(), MAX_BLOCK_BITS.into())
}

fn check_count(count: u64, bits: u64) -> Result<(), BuildError> {
    check_whole("block count", count, 1, u64::MAX)?;
    if count.checked_mul(bits).is_none() {
        return Err(BuildError::TooLarge { count, bits });
    }
    Ok(())
}

fn check_hints(hints: u32) -> Result<(), BuildError> {
    check_whole("hints of a block", hints.into(), 0, MAX_HINTS.into())
}

fn check_balanced(
    blocks: &BlockTable,
    threshold: &Threshold,
    hints: u32,
    overflow: &Overflow,
) -> Result<(), BuildError> {
    check_block_bits(blocks.bits)?;
    threshold.check()?;
    check_hints(hints)?;
    blocks.check(threshold.counter_bits() + hints)?;
    check_capacity(overflow.capacity)
}

fn check_sequence(choices: u32, accesses: f64) -> Result<(), BuildError> {
    check_whole("choices", choices.into(), 1, MAX_CHOICES.into())?;
    check_positive("accesses per key", accesses)
}

fn check_subtables(subtables: &[u64], blocks: u64) -> Result<(), BuildError> {
    check_whole("number of subtables", subtables.len() as u64, 1, MAX_CHOICES.into())?;
    for &size in subtables {
        check_whole("subtable size", size, 1, blocks)?;
    }
    let sum = subtables.iter().map(|&size| u128::from(size)).sum();
    if sum != u128::from(blocks) {
        return Err(BuildError::SubtablesDoNotAddUp { sum, blocks });
    }
    Ok(())
}
