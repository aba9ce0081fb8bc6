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
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;

    /// Reference values of the XXH3-128 reference implementation: a changed hash would invalidate every
    /// stored filter.
    #[test]
    fn the_hash_of_known_keys_never_changes() {
        let hasher = Stable::default();
        assert_eq!(u128::from(hasher.hash_key("")), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
        assert_eq!(u128::from(hasher.hash_key("a")), 0xa96f_af70_5af1_6834_e6c6_32b6_1e96_4e1f);
        assert_eq!(u128::from(hasher.hash_key("abc")), 0x06b0_5ab6_733a_6185_78af_5f94_892f_3950);
    }

    #[test]
    fn owned_and_borrowed_keys_hash_alike() {
        let hasher = Stable::with_seed(3);
        let key = "alice@example.com";
        assert_eq!(hasher.hash_key(key), hasher.hash_key(&String::from(key)));
        assert_eq!(hasher.hash_key(key), hasher.hash_key(&Vec::from(key.as_bytes())));
        assert_eq!(hasher.hash_key(key), hasher.hash_key(&key));
    }
}
