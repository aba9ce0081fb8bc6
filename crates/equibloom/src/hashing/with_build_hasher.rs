//! Hashing of any `Hash` key with any `BuildHasher`.

use core::hash::{BuildHasher, Hash};

use super::{KeyHash, KeyHasher};

/// Hashes any [`Hash`] key with a custom [`BuildHasher`].
///
/// Rust's `Hash` is not portable between platforms and versions, so such a filter is valid only within the
/// program that built it. The 64-bit result is expanded to 128 bits.
///
/// ```
/// use std::hash::RandomState;
/// use equibloom::{Blocks, Filter, Layout, Parameters, WithBuildHasher};
///
/// let design = Layout::blocked(Blocks::bloom(512, 8), 100).into();
/// let parameters = Parameters { keys: 5_000, seed: 0, design };
/// let mut filter = Filter::with_hasher(&parameters, WithBuildHasher::new(RandomState::new()))?;
/// filter.insert(&("a tuple", 7, ['x', 'y']))?;
/// assert!(filter.contains(&("a tuple", 7, ['x', 'y'])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WithBuildHasher<S> {
    build_hasher: S,
}

impl<S> WithBuildHasher<S> {
    /// Wraps `build_hasher`.
    pub const fn new(build_hasher: S) -> Self {
        Self { build_hasher }
    }
}

impl<S: BuildHasher, K: Hash + ?Sized> KeyHasher<K> for WithBuildHasher<S> {
    #[inline]
    fn hash_key(&self, key: &K) -> KeyHash {
        KeyHash::from_u64(self.build_hasher.hash_one(key))
    }
}
