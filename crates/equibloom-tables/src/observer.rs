//! Observers of what lookups read.

use alloc::vec::Vec;

use super::geometry::Geometry;

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

/// Counts buckets and distinct cache lines of one lookup after the other.
pub(crate) struct ReadCounter {
    geometry: Geometry,
    pub(crate) buckets: usize,
    /// The lines that were touched; a handful.
    lines: Vec<usize>,
    pub(crate) stash_searches: u64,
}

impl ReadCounter {
    pub(crate) fn new(geometry: Geometry) -> Self {
        Self { geometry, buckets: 0, lines: Vec::new(), stash_searches: 0 }
    }

    /// Buckets and lines since the last call.
    pub(crate) fn finish_lookup(&mut self) -> (usize, usize) {
        let read = (self.buckets, self.lines.len());
        self.buckets = 0;
        self.lines.clear();
        read
    }

    fn touch(&mut self, lines: core::ops::RangeInclusive<usize>) {
        for line in lines {
            if !self.lines.contains(&line) {
                self.lines.push(line);
            }
        }
    }
}

impl LookupObserver for ReadCounter {
    fn bucket_read(&mut self, bucket: usize) {
        self.buckets += 1;
        self.touch(self.geometry.header_lines(bucket));
    }

    fn entry_read(&mut self, bucket: usize, slot: usize) {
        self.touch(self.geometry.entry_lines(bucket, slot));
    }

    fn stash_searched(&mut self) {
        self.stash_searches += 1;
    }
}
