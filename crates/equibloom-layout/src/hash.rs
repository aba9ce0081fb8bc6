//! A key's 128-bit hash, and everything derived from it.
//!
//! A key is hashed once, to 128 bits. One half selects the blocks; the other is expanded into a stream of
//! words for the bits in a block, the coins and the overflow entry. Each use has its own domain, so that no
//! two are correlated:
//!
//! | drawn | from | used for |
//! |---|---|---|
//! | [`KeyHash::candidate`] | `blocks`, probe index | which block |
//! | [`KeyHash::pattern_word`] | `pattern`, word index | which bits of the classical filter, of a large block |
//! | [`KeyHash::pattern_lanes`] | `pattern`, word index | which bits of a block within a cache line |
//! | [`KeyHash::coin`] | `pattern`, probe index | admission at the threshold |
//! | [`KeyHash::second_choice`] | `pattern` | one or two candidates |
//! | [`KeyHash::overflow_entry`] | `pattern` | the entry in the overflow list |
//!
//! A fingerprint block stores less of a key than its hash. The way onward is that of another hash,
//! [`KeyHash::onward`], drawn from all that is known there: the block and the fingerprint.

/// A key's 128-bit hash, in two independent halves.
///
/// All 128 bits must be uniform: filters do not mix them again.
///
/// ```
/// use equibloom_layout::KeyHash;
///
/// let hash = KeyHash::from(0x0123_4567_89ab_cdef_1111_2222_3333_4444_u128);
/// assert_eq!(u128::from(hash), 0x0123_4567_89ab_cdef_1111_2222_3333_4444);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash {
    blocks: u64,
    pattern: u64,
}

/// 2⁶⁴ divided by the golden ratio: multiples of it are spread evenly and never repeat.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// Separates the coins from the pattern words, which come from the same half.
const COIN_DOMAIN: u64 = 0xd1b5_4a32_d192_ed03;
/// Increment and multiplier of the stream of lanes (the constants of wyrand).
const LANE_STEP: u64 = 0xa076_1d64_78bd_642f;
const LANE_DOMAIN: u64 = 0xe703_7ed1_a0b4_28db;
/// Separates the two halves of a hash that is drawn from a block and a fingerprint.
const ONWARD_DOMAIN: u64 = 0xd6e8_feb8_6659_fd93;
/// Separates the choice between one and two candidates from both.
const SECOND_CHOICE_DOMAIN: u64 = 0x8cb9_2ba7_2f3d_8dd7;

/// A bijection of 64-bit words after which every bit depends on every bit (the finaliser of
/// SplitMix64).
#[inline]
const fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

impl KeyHash {
    /// Expands a 64-bit hash. Keys with equal 64-bit hashes are indistinguishable, so that the rate of such
    /// a filter is at least about `keys / 2⁶⁴`.
    #[inline]
    pub const fn from_u64(hash: u64) -> Self {
        Self { blocks: mix(hash.wrapping_add(GOLDEN)), pattern: mix(hash ^ COIN_DOMAIN) }
    }

    /// A uniform word for the candidate tried at `probe`, counted from 0.
    #[inline]
    pub const fn candidate(self, probe: usize) -> u64 {
        // The first probe is the hot one, and this half is already uniform.
        if probe == 0 {
            self.blocks
        } else {
            mix(self.blocks.wrapping_add(GOLDEN.wrapping_mul(probe as u64)))
        }
    }

    /// The `index`-th uniform word of the stream that the bits inside a block are drawn from.
    #[inline]
    pub const fn pattern_word(self, index: u32) -> u64 {
        if index == 0 {
            self.pattern
        } else {
            mix(self.pattern.wrapping_add(GOLDEN.wrapping_mul(index as u64)))
        }
    }

    /// The `index`-th uniform word of the stream whose 16-bit lanes choose bits within a cache line. The
    /// generator is wyrand, half as many instructions as [`pattern_word`](Self::pattern_word): inserts and
    /// hits spend most of their time here.
    #[inline(always)]
    pub const fn pattern_lanes(self, index: u32) -> u64 {
        if index == 0 {
            return self.pattern;
        }
        let state = self.pattern.wrapping_add(LANE_STEP.wrapping_mul(index as u64));
        let product = state as u128 * (state ^ LANE_DOMAIN) as u128;
        (product >> 64) as u64 ^ product as u64
    }

    /// A uniform word for the coin at `probe`. A coin of the key alone would correlate the levels.
    #[inline]
    pub const fn coin(self, probe: usize) -> u64 {
        mix((self.pattern ^ COIN_DOMAIN).wrapping_add(GOLDEN.wrapping_mul(probe as u64)))
    }

    /// A uniform word that decides whether the key has a second candidate.
    #[inline]
    pub const fn second_choice(self) -> u64 {
        mix(self.pattern ^ SECOND_CHOICE_DOMAIN)
    }

    /// The hash that stands for a fingerprint after `block` has sent it on.
    #[inline(always)]
    pub const fn onward(block: u64, fingerprint: u64) -> Self {
        let blocks = mix(fingerprint.wrapping_add(GOLDEN.wrapping_mul(block.wrapping_add(1))));
        Self { blocks, pattern: mix(blocks ^ ONWARD_DOMAIN) }
    }

    /// The entry of the key in the overflow list.
    #[inline]
    pub const fn overflow_entry(self) -> u64 {
        self.pattern
    }
}

impl From<u128> for KeyHash {
    #[inline]
    fn from(hash: u128) -> Self {
        Self { blocks: (hash >> 64) as u64, pattern: hash as u64 }
    }
}

impl From<KeyHash> for u128 {
    #[inline]
    fn from(hash: KeyHash) -> Self {
        (Self::from(hash.blocks) << 64) | Self::from(hash.pattern)
    }
}

/// Maps a uniform word to a uniform number below `bound`, for any bound up to 2⁶⁴ − 1, without
/// division (Lemire). The bias is at most `bound / 2⁶⁴`.
#[inline]
pub const fn scale(word: u64, bound: u64) -> u64 {
    ((word as u128 * bound as u128) >> 64) as u64
}

/// [`scale`] for bounds below 2³², with 64-bit products, which compilers vectorise.
#[inline(always)]
pub const fn scale_in_halves(word: u64, bound: u32) -> u64 {
    let low = (word & 0xffff_ffff) * bound as u64;
    let high = (word >> 32) * bound as u64;
    (high + (low >> 32)) >> 32
}

#[cfg(test)]
mod tests;
