//! What does a key become? One 128-bit hash, from which everything is drawn ([`KeyHash`]).

mod stable;
mod with_build_hasher;

pub use equibloom_layout::KeyHash;
pub use stable::{Stable, StableKey};
pub use with_build_hasher::WithBuildHasher;

pub(crate) use equibloom_layout::{scale, scale_in_halves};

/// Turns keys of type `K` into hashes.
pub trait KeyHasher<K: ?Sized> {
    /// The hash of `key`.
    fn hash_key(&self, key: &K) -> KeyHash;
}
