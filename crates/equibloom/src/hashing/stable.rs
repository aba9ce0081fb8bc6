//! The default hash, the same on every platform and in every version.

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::{KeyHash, KeyHasher, StableKey};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stable {
    seed: u64,
}

impl Stable {
    /// The hash function with this seed.
    pub const fn with_seed(seed: u64) -> Self {
        Self { seed }
    }

    /// The seed.
    pub const fn seed(&self) -> u64 {
        self.seed
    }
}

impl<K: StableKey + ?Sized> KeyHasher<K> for Stable {
    #[inline]
    fn hash_key(&self, key: &K) -> KeyHash {
        key.with_bytes(|bytes| xxh3_128_with_seed(bytes, self.seed).into())
    }
}

#[cfg(test)]
mod tests;
