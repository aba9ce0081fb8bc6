//! Lines in segments, so that a table can be allocated and freed little by little.

use alloc::vec::Vec;
#[cfg(feature = "file")]
use core::ops::Range;

use crate::block::isa::{Nearness, prefetch};
use crate::error::BuildError;
#[cfg(feature = "file")]
use crate::storage::Bytes;
use crate::storage::{Line, WORDS_PER_LINE, Words};

/// Most lines of a segment: 16 KiB. Three levels may each begin one in the same insert.
const MAX_SEGMENT: usize = 256;

/// Fewest lines of a segment, in small tables.
const MIN_SEGMENT: usize = 16;

/// A small table has at least about so many segments: what the first and the last of them waste is little.
const SEGMENTS: usize = 32;

/// A number of zeroed lines, of which a first part is allocated, and a first part of that freed again.
#[derive(Debug, Clone)]
pub(super) struct Segments {
    segments: Vec<Words>,
    lines: usize,
    /// `log2` of the lines of a segment.
    bits: u32,
}

impl Segments {
    /// `lines` lines, none of them allocated.
    pub(super) fn new(lines: usize) -> Self {
        let segment = (lines / SEGMENTS).clamp(MIN_SEGMENT, MAX_SEGMENT);
        Self { segments: Vec::new(), lines, bits: segment.ilog2() }
    }

    /// The segment of a line, and the line's number in it.
    #[inline(always)]
    const fn place(&self, line: usize) -> (usize, usize) {
        (line >> self.bits, line & ((1 << self.bits) - 1))
    }

    /// Allocates segments until line `line` exists; returns the number of new bytes.
    pub(super) fn allocate_to(&mut self, line: usize) -> Result<u64, BuildError> {
        // All pointers at once: to move them later would take longer than to zero a segment.
        let missing = self.lines.div_ceil(1 << self.bits) - self.segments.len();
        let refused = |_| BuildError::OutOfMemory { bytes: (missing * size_of::<Words>()) as u64 };
        self.segments.try_reserve_exact(missing).map_err(refused)?;
        self.extend_to(line)
    }

    /// The same, with memory for the pointers as it is needed.
    pub(super) fn extend_to(&mut self, line: usize) -> Result<u64, BuildError> {
        let mut bytes = 0;
        while self.segments.len() <= self.place(line).0 {
            let left = self.lines - (self.segments.len() << self.bits);
            let segment = Words::zeroed((left.min(1 << self.bits) * WORDS_PER_LINE) as u64)?;
            bytes += segment.bytes();
            self.segments.push(segment);
        }
        Ok(bytes)
    }

    /// Leaves out the segments before the one of line `line`; nothing is allocated yet.
    #[cfg(feature = "file")]
    pub(super) fn skip_to(&mut self, line: usize) {
        self.segments.resize_with(self.place(line).0, Words::none);
    }

    /// Takes some lines from a file in memory, where they begin at `offset`. Segments that are partly these lines are
    /// copied. Fails if memory for that is short, or if the lines are not there or not on a line boundary.
    #[cfg(feature = "file")]
    pub(super) fn borrow(
        &mut self,
        lines: Range<usize>,
        bytes: &Bytes,
        offset: u64,
    ) -> Result<(), ()> {
        let whole = Words::borrowed(bytes, offset, lines.len() as u64 * 64).ok_or(())?;
        self.skip_to(lines.start);
        let mut at = lines.start;
        while at < lines.end {
            let segment = self.place(at).0;
            let start = segment << self.bits;
            let end = (start + (1 << self.bits)).min(self.lines);
            let copied = &whole[at - lines.start..end.min(lines.end) - lines.start];
            if copied.len() == end - start {
                let offset = offset + (at - lines.start) as u64 * 64;
                let length = copied.len() as u64 * 64;
                self.segments.push(Words::borrowed(bytes, offset, length).ok_or(())?);
            } else {
                self.extend_to(at).map_err(|_| ())?;
                let segment = self.segments.last_mut().ok_or(())?;
                segment[at - start..][..copied.len()].copy_from_slice(copied);
            }
            at = end;
        }
        Ok(())
    }

    /// Whether any line is still where it was borrowed.
    #[cfg(feature = "file")]
    pub(super) fn is_mapped(&self) -> bool {
        self.segments.iter().any(Words::is_mapped)
    }

    /// Copies borrowed lines into memory.
    #[cfg(feature = "file")]
    pub(super) fn detach(&mut self) -> Result<(), BuildError> {
        self.segments.iter_mut().try_for_each(Words::detach)
    }

    /// Frees the segments before the one of line `line`.
    pub(super) fn free_before(&mut self, line: usize) {
        // Mostly one: those before it were freed earlier.
        let end = self.place(line).0.min(self.segments.len());
        for segment in self.segments[..end].iter_mut().rev() {
            if segment.is_empty() {
                break;
            }
            *segment = Words::none();
        }
    }

    /// A line, if it is allocated.
    #[inline(always)]
    pub(super) fn get(&self, line: usize) -> Option<&Line> {
        let (segment, line) = self.place(line);
        self.segments.get(segment)?.get(line)
    }

    /// A line, if it is allocated.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, line: usize) -> Option<&mut Line> {
        let (segment, line) = self.place(line);
        self.segments.get_mut(segment)?.get_mut(line)
    }

    /// Prefetches a line, if it is allocated.
    #[inline(always)]
    pub(super) fn prefetch(&self, line: usize, nearness: Nearness) {
        if let Some(line) = self.get(line) {
            prefetch(line.as_ptr().cast(), nearness);
        }
    }

    /// [`bytes`](Self::bytes) once all lines are allocated.
    #[cfg(feature = "planner")]
    pub(super) const fn bytes_when_full(&self) -> u64 {
        let pointers = (self.lines.div_ceil(1 << self.bits) * size_of::<Words>()) as u64;
        (self.lines as u64).saturating_mul(size_of::<Line>() as u64).saturating_add(pointers)
    }

    /// Bytes of the allocated lines, and of the segments' pointers.
    pub(super) fn bytes(&self) -> u64 {
        let pointers = self.segments.capacity() * size_of::<Words>();
        self.segments.iter().map(Words::bytes).sum::<u64>() + pointers as u64
    }
}
