//! Hashing: a key becomes one 128-bit [`KeyHash`], from which everything else is derived.

use core::borrow::Borrow;

use crate::error::FullError;

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

/// Hashes keys in chunks of up to `AT_ONCE` and passes each chunk to `visit`.
pub(crate) fn hash_chunks<const AT_ONCE: usize, K: ?Sized, Q: Borrow<K>, H: KeyHasher<K>>(
    hasher: &H,
    keys: impl IntoIterator<Item = Q>,
    mut visit: impl FnMut(&[KeyHash]) -> Result<(), FullError>,
) -> Result<(), FullError> {
    let mut hashes = [KeyHash::from_u64(0); AT_ONCE];
    let mut keys = keys.into_iter().fuse();
    loop {
        let mut count = 0;
        for (hash, key) in hashes.iter_mut().zip(&mut keys) {
            *hash = hasher.hash_key(key.borrow());
            count += 1;
        }
        if count == 0 {
            return Ok(());
        }
        visit(&hashes[..count])?;
    }
}
