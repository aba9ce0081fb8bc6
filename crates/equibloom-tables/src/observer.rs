//! Observers of what lookups read.

/// Observes everything that a lookup reads. The unit type ignores it and compiles to nothing.
pub trait LookupObserver {
    /// The header of a bucket was read.
    fn bucket_read(&mut self, bucket: usize);
    /// A tag agreed, and the entry was compared.
    fn entry_read(&mut self, bucket: usize, slot: usize);
    /// The stash was searched.
    fn stash_searched(&mut self);
}

impl LookupObserver for () {
    #[inline(always)]
    fn bucket_read(&mut self, _bucket: usize) {}
    #[inline(always)]
    fn entry_read(&mut self, _bucket: usize, _slot: usize) {}
    #[inline(always)]
    fn stash_searched(&mut self) {}
}
