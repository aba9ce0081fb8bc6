//! What a table draws from a key's hash.

use core::num::NonZeroU8;

use crate::hashing::KeyHash;

/// The multiplier of [`spread`] that tables use which never exchange their functions: 2⁶⁴ divided by
/// the golden ratio, to the nearest odd number.
pub(crate) const USUAL_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The user's hash, its 64 bits mixed by one multiplication: the two halves of the product are folded,
/// so that the lowest bits depend on the highest and the other way round.
///
/// The hasher is asked for good hashes, and this mends what is usual in others (some bits are always 0).
/// Buckets are drawn from the upper bits and the mark from the lowest.
#[inline]
pub(crate) fn spread(hash: u64, multiplier: u64) -> KeyHash {
    let product = u128::from(hash) * u128::from(multiplier);
    let folded = (product >> 64) as u64 ^ product as u64;
    KeyHash::from(u128::from(folded) << 64 | u128::from(folded))
}

/// A key's tag, and the class it is counted in where it passes by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) tag: NonZeroU8,
    word: u32,
}

impl Mark {
    #[inline]
    pub(crate) fn of(key: KeyHash) -> Self {
        let word = key.pattern_word(0) as u32;
        // 0 marks free slots, so the tag 1 stands for two values.
        Self { tag: NonZeroU8::new(word as u8).unwrap_or(NonZeroU8::MIN), word }
    }

    /// The key's class among `classes`, from bits that the tag does not use.
    #[inline]
    pub(crate) fn class(&self, classes: usize) -> usize {
        ((u64::from(self.word >> 8) * classes as u64) >> 24) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Sequential numbers, multiples of a power of two and their like are the hashes of careless hashers.
    /// Their buckets, tags and classes are no more crowded than those of random numbers.
    #[test]
    fn careless_hashes_are_spread_over_buckets_tags_and_classes() {
        let count = 1 << 16;
        for step in [1_u64, 8, 64, 4_096, 1 << 32, 1 << 40, 1 << 47] {
            let mut counts = [vec![0_u32; 256], vec![0; 256], vec![0; 256], vec![0; 256]];
            for index in 0..count {
                let key = spread(step.wrapping_mul(index), USUAL_MULTIPLIER);
                let mark = Mark::of(key);
                counts[0][(key.candidate(0) >> 56) as usize] += 1;
                counts[1][(key.candidate(1) >> 56) as usize] += 1;
                counts[2][usize::from(mark.tag.get())] += 1;
                counts[3][mark.class(256)] += 1;
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
