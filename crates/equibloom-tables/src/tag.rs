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
mod tests {
    use super::*;
    use alloc::vec;

    /// Weak hashers give sequential numbers or multiples of a power of two. Their buckets, tags and classes are
    /// as evenly filled as those of random numbers.
    #[test]
    fn weak_hashes_are_spread_over_buckets_tags_and_classes() {
        let count = 1 << 16;
        for step in [1_u64, 8, 64, 4_096, 1 << 32, 1 << 40, 1 << 47] {
            let mut counts = [vec![0_u32; 256], vec![0; 256], vec![0; 256], vec![0; 256]];
            for index in 0..count {
                let key = spread(step.wrapping_mul(index), DEFAULT_MULTIPLIER);
                counts[0][(key.candidate(0) >> 56) as usize] += 1;
                counts[1][(key.candidate(1) >> 56) as usize] += 1;
                counts[2][usize::from(tag_of(key).get())] += 1;
                counts[3][class_of(key, 256)] += 1;
            }
            // The tag 1 stands for two values.
            counts[2][0] = counts[2][1] / 2;
            counts[2][1] /= 2;
            let mean = count as f64 / 256.0;
            for (draw, counts) in counts.iter().enumerate() {
                let most = f64::from(counts.iter().copied().max().unwrap_or(0));
                assert!(most < mean + 6.0 * mean.sqrt(), "draw {draw}, step {step}: {most}");
            }
        }
    }
}
