//! Hashing: a key becomes one 128-bit [`KeyHash`], from which everything else is derived.

use core::borrow::Borrow;

mod key;
mod stable;
mod with_build_hasher;

pub use equibloom_layout::KeyHash;
pub use key::{KeyKind, StableKey};
pub use stable::Stable;
pub use with_build_hasher::WithBuildHasher;

pub(crate) use equibloom_layout::scale;

/// Turns keys of type `K` into hashes.
///
/// ```
/// use equibloom::{Filter, KeyHash, KeyHasher};
///
/// /// For keys that are random already.
/// #[derive(Clone, PartialEq)]
/// struct Identity;
///
/// impl KeyHasher<u128> for Identity {
///     fn hash_key(&self, key: &u128) -> KeyHash {
///         KeyHash::from(*key)
///     }
/// }
///
/// let random = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835_u128;
/// let mut filter = Filter::builder().keys(100).rate(0.01).build_with_hasher(Identity)?;
/// filter.insert(&random)?;
/// assert!(filter.contains(&random));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not hash keys of type `{K}`",
    note = "`Stable` hashes every `StableKey`; `WithBuildHasher` hashes every key with `Hash`"
)]
pub trait KeyHasher<K: ?Sized> {
    /// The hash of `key`.
    fn hash_key(&self, key: &K) -> KeyHash;
}

/// A hasher that a file can name, so that a filter is only ever read with the hasher it was written with.
///
/// [`Stable`] is one. Another has a name of its own, and gives the same hashes in every program that uses the name.
///
/// ```
/// # #[cfg(feature = "file")] {
/// use equibloom::{Filter, KeyHash, KeyHasher, NamedHasher};
///
/// /// Multiplies: for keys that are random already.
/// struct Multiply(u64);
///
/// impl KeyHasher<u64> for Multiply {
///     fn hash_key(&self, key: &u64) -> KeyHash {
///         KeyHash::from_u64(key.wrapping_mul(self.0 | 1))
///     }
/// }
///
/// impl NamedHasher<u64> for Multiply {
///     const NAME: &str = "example-multiply";
///     fn seed(&self) -> u64 {
///         self.0
///     }
///     fn with_seed(seed: u64) -> Self {
///         Self(seed)
///     }
/// }
///
/// let mut filter: Filter<u64, _> = Filter::builder().keys(100).rate(0.01).build_with_hasher(Multiply(77))?;
/// filter.insert(&5)?;
/// let bytes = filter.to_bytes()?;
/// let read: Filter<u64, Multiply> = Filter::read_named(&bytes[..])?; // or `load_named`, from a file
/// assert!(read.contains(&5) && read.hasher().seed() == 77);
/// let refused = Filter::<u64>::from_bytes(&bytes).unwrap_err().to_string();
/// assert!(refused.contains("\"example-multiply\", and \"xxh3-128\" was asked for"));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait NamedHasher<K: ?Sized>: KeyHasher<K> {
    /// The name, of at most 32 bytes.
    const NAME: &str;
    /// What is known of the keys' bytes: files record it.
    const KIND: KeyKind = KeyKind::Unspecified;

    /// The seed, which files record.
    fn seed(&self) -> u64;

    /// The hasher with this seed.
    fn with_seed(seed: u64) -> Self;
}

/// Keys hashed per chunk of a batch insert: enough for level-by-level insertion.
pub(crate) const INSERTED_AT_ONCE: usize = 2_048;
/// Keys hashed per chunk of a batch lookup: whole words of a bitmap.
pub(crate) const ANSWERED_AT_ONCE: usize = 512;

/// Hashes keys until there are no more or `hashes` is full; returns their hashes.
pub(crate) fn hash_next<'a, K: ?Sized, Q: Borrow<K>>(
    hasher: &impl KeyHasher<K>,
    keys: impl Iterator<Item = Q>,
    hashes: &'a mut [KeyHash],
) -> &'a [KeyHash] {
    let mut count = 0;
    for (hash, key) in hashes.iter_mut().zip(keys) {
        *hash = hasher.hash_key(key.borrow());
        count += 1;
    }
    &hashes[..count]
}
