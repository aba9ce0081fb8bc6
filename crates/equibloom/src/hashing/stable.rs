//! The default hash, the same on every platform and in every version.

use core::fmt;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::{KeyHash, KeyHasher, KeyKind, NamedHasher, StableKey};

/// XXH3-128 with a seed, over a key's bytes.
///
/// Any language with an XXH3 implementation can query the same filter; [`StableKey`] defines a key's bytes.
///
/// ```
/// use equibloom::{KeyHash, KeyHasher, Stable};
///
/// let hasher = Stable::with_seed(1);
/// assert_eq!(hasher.hash_key("abc"), hasher.hash_key(b"abc"));
/// assert_eq!(hasher.hash_key(&5_u8), hasher.hash_key(&5_i64));
/// assert_ne!(hasher.hash_key("abc"), Stable::with_seed(2).hash_key("abc"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stable {
    seed: u64,
    /// The seed and XXH3's secret, as keys of eight bytes are combined with them.
    flip: u64,
}

impl Stable {
    /// Its name in files.
    pub(crate) const NAME: &str = "xxh3-128";

    /// The hash function with this seed.
    pub const fn with_seed(seed: u64) -> Self {
        let mixed = seed ^ ((seed as u32).swap_bytes() as u64) << 32;
        Self { seed, flip: 0xc4f0_2334_4dc9_94ac_u64.wrapping_add(mixed) }
    }

    /// XXH3-128 of eight bytes: integers. What depends on the seed alone is not computed for every key.
    #[inline(always)]
    fn hash_of_eight(&self, bytes: [u8; 8]) -> KeyHash {
        let keyed = u64::from_le_bytes(bytes) ^ self.flip;
        let product = u128::from(keyed) * 0x9e37_79b1_85eb_caa7;
        let high = ((product >> 64) as u64).wrapping_add((product as u64) << 1);
        let low = product as u64 ^ high >> 3;
        let low = (low ^ low >> 35).wrapping_mul(0x9fb2_1c65_1e98_df25);
        let high = (high ^ high >> 37).wrapping_mul(0x1656_6791_9e37_79f9);
        (u128::from(high ^ high >> 32) << 64 | u128::from(low ^ low >> 28)).into()
    }

    /// The seed.
    pub const fn seed(&self) -> u64 {
        self.seed
    }
}

impl<K: StableKey + ?Sized> KeyHasher<K> for Stable {
    #[inline]
    fn hash_key(&self, key: &K) -> KeyHash {
        key.with_bytes(|bytes| match bytes.try_into() {
            Ok(eight) => self.hash_of_eight(eight),
            Err(_) => xxh3_128_with_seed(bytes, self.seed).into(),
        })
    }
}

impl<K: StableKey + ?Sized> NamedHasher<K> for Stable {
    const NAME: &str = Self::NAME;
    const KIND: KeyKind = K::KIND;

    fn seed(&self) -> u64 {
        self.seed
    }

    fn with_seed(seed: u64) -> Self {
        Self::with_seed(seed)
    }
}

impl Default for Stable {
    fn default() -> Self {
        Self::with_seed(0)
    }
}

/// Shows the seed, from which the rest follows.
impl fmt::Debug for Stable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stable").field("seed", &self.seed).finish()
    }
}

#[cfg(test)]
mod tests;
