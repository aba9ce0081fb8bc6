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
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not hash keys of type `{K}`",
    note = "`Stable` hashes every `StableKey`; `WithBuildHasher` hashes every key with `Hash`"
)]
pub trait KeyHasher<K: ?Sized> {
    /// The hash of `key`.
    fn hash_key(&self, key: &K) -> KeyHash;
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
