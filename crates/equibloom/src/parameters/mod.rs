//! Everything that makes one filter differ from another, as plain data.
//!
//! A [`Parameters`] value can be written down, compared, sent and (with the feature `serde`)
//! serialised; [`AnyFilter::new`](crate::Filter::new) turns it into a filter. The names are those of
//! the papers; [`crate::placement`] shows how few distinct mechanisms stand behind them.

mod admission;
mod blocks;
mod scheme;

pub use admission::{Overflow, Threshold, WhenFull};
pub use blocks::{BlockTable, FingerprintTable};
pub use scheme::{Route, Scheme};

use crate::error::{BuildError, ShrinkError, check_positive, check_share, check_whole};
use crate::overflow::check_capacity;
use blocks::{check_block_bits, check_hints};

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
                    Route::Sequential { choices: choices @ 2.., .. } if *multiset => {
                        Err(BuildError::RemovalFromSharedTable { choices: *choices })
                    }
                    Route::Single => Ok(()),
                    Route::Sequential { choices, accesses } => check_sequence(*choices, *accesses),
                    Route::MultiLevel { subtables } => check_subtables(subtables, blocks.count),
                }
            }
        }
    }
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
