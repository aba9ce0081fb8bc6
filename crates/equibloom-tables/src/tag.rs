//! The parts of a key's hash that a table uses: the tag and the class.

use core::num::NonZeroU8;

use equibloom_layout::KeyHash;

/// The multiplier of [`spread`] in tables whose hash functions never change: 2⁶⁴ divided by the golden ratio,
/// to the nearest odd number.
pub(crate) const DEFAULT_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes the 64 bits of a user's hash by one multiplication. The two halves of the product are folded, so
/// that low bits depend on high bits and the other way round.
///
/// This makes up for common weaknesses of hashers (some bits are always 0), not for bad hashes. Buckets are
/// drawn from the upper bits, tag and class from the lowest.
#[inline]
pub(crate) fn spread(hash: u64, multiplier: u64) -> KeyHash {
    let product = u128::from(hash) * u128::from(multiplier);
    let folded = (product >> 64) as u64 ^ product as u64;
    KeyHash::from(u128::from(folded) << 64 | u128::from(folded))
}

/// The byte of a key that the header of its bucket keeps. 0 stands for a free slot, so the tag 1 stands for
/// two values.
#[inline]
pub(crate) fn tag_of(key: KeyHash) -> NonZeroU8 {
    NonZeroU8::new(key.pattern_word(0) as u8).unwrap_or(NonZeroU8::MIN)
}

/// The class in which a key is counted where it passes a bucket by, from bits that the tag does not use.
#[inline]
pub(crate) fn class_of(key: KeyHash, classes: usize) -> usize {
    let word = key.pattern_word(0) as u32;
    ((u64::from(word >> 8) * classes as u64) >> 24) as usize
}

#[cfg(test)]
mod tests;
