//! Growing filters as collections.

use core::borrow::Borrow;

use super::GrowingFilter;
use crate::error::BuildError;
use crate::hashing::{KeyHasher, Stable, StableKey};

/// The rate of a filter for which none was given.
const DEFAULT_RATE: f64 = 0.01;

/// An empty filter with a false-positive rate of 1 %. [`Filter::builder`](crate::Filter::builder) makes others.
impl<K: StableKey + ?Sized> Default for GrowingFilter<K> {
    fn default() -> Self {
        let filter = Self::new(DEFAULT_RATE, 0, false, Stable::default());
        // The rate is a valid one.
        filter
            .unwrap_or(Err(BuildError::OutOfMemory { bytes: 0 }))
            .unwrap_or_else(|error| out_of_memory(&error))
    }
}

/// As [`try_extend`](GrowingFilter::try_extend), but, as with other collections, a lack of memory ends the program.
impl<K: ?Sized, Q: Borrow<K>, H: KeyHasher<K>> Extend<Q> for GrowingFilter<K, H> {
    fn extend<I: IntoIterator<Item = Q>>(&mut self, keys: I) {
        if let Err(error) = self.try_extend(keys) {
            out_of_memory(&error)
        }
    }
}

/// A filter of all keys with a false-positive rate of 1 %.
///
/// ```
/// use equibloom::GrowingFilter;
///
/// let squares: GrowingFilter<u64> = (0..1_000_u64).map(|number| number * number).collect();
/// assert!(squares.contains(&961));
/// ```
impl<K: StableKey + ?Sized, Q: Borrow<K>> FromIterator<Q> for GrowingFilter<K> {
    fn from_iter<I: IntoIterator<Item = Q>>(keys: I) -> Self {
        let mut filter = Self::default();
        filter.extend(keys);
        filter
    }
}

/// What collections of the standard library do.
fn out_of_memory(error: &BuildError) -> ! {
    let bytes = if let &BuildError::OutOfMemory { bytes } = error { bytes } else { 0 };
    let bytes = usize::try_from(bytes).unwrap_or(0);
    let layout = core::alloc::Layout::from_size_align(bytes, 1);
    alloc::alloc::handle_alloc_error(layout.unwrap_or(core::alloc::Layout::new::<u64>()))
}
