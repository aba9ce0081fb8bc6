//! Words on cache-line boundaries: allocated, or mapped from a file.
//!
//! Reads use a pointer and a length, wherever the words are. The operating system zeroes allocated words
//! page by page on first use, so that a large unused filter costs nothing. Mapped words are the file's own
//! pages and are never written: the first change copies them into allocated memory.
//!
//! The code is unsafe, behind a safe interface that checks every index. It is needed
//! because `alloc_zeroed` has no safe form for aligned memory (a vector of lines is zeroed by writing to
//! every page, and so is every allocation with more than the allocator's own alignment), and because the
//! length of a mapping is known only at run time.
//!
//! **Invariant.** `start` points to `count` initialised lines on a line boundary, valid as long as `owner`
//! lives. Only this array writes to them, and nothing does while they are mapped. While threads share them
//! (`shared.rs`), all accesses are atomic.

#![allow(unsafe_code, reason = "lazily zeroed aligned memory and mapped files, see above")]

use alloc::alloc::{alloc_zeroed, dealloc, handle_alloc_error};
#[cfg(feature = "std")]
use alloc::sync::Arc;
#[cfg(feature = "std")]
use alloc::vec::Vec;
use core::alloc::Layout;
use core::fmt;
use core::ptr::NonNull;
use core::slice;

use super::huge_pages::request_huge_pages;
use super::{Line, Storage, Update, WORDS_PER_LINE};
use crate::block::isa::{Nearness, prefetch};
use crate::error::BuildError;

const LINE_BYTES: usize = 64;

/// The mapping that a mapped array keeps alive.
#[cfg(feature = "file")]
pub(crate) type Mapping = alloc::sync::Arc<memmap2::Mmap>;

/// Maps a whole file for reading.
///
/// # Safety
/// While the mapping lives, the file must neither change nor shrink.
#[cfg(feature = "file")]
pub(crate) unsafe fn map(file: &std::fs::File) -> std::io::Result<Mapping> {
    // SAFETY: the mapping is read as words, and any bits are valid words; the caller promises that the file
    // does not change.
    let mapping = unsafe { memmap2::Mmap::map(file) }?;
    // A lookup needs one page: read-ahead would waste the pages around it.
    #[cfg(unix)]
    mapping.advise(memmap2::Advice::Random)?;
    Ok(Mapping::new(mapping))
}

/// One cache line. An array of lines starts on a line boundary, so that a block whose size divides 512 bits
/// never straddles two lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct AlignedLine([u64; WORDS_PER_LINE]);

/// Bytes that `words` words occupy: whole lines.
pub(crate) const fn bytes_for(words: u64) -> u64 {
    words.div_ceil(WORDS_PER_LINE as u64).saturating_mul(LINE_BYTES as u64)
}

/// A fixed number of 64-bit words, initially zero or what a file holds.
pub(crate) struct Words {
    pub(super) start: NonNull<AlignedLine>,
    pub(super) count: usize,
    owner: Owner,
}

/// What owns the allocation.
enum Owner {
    /// Nothing: the array is empty.
    Empty,
    /// This array. The allocation begins up to a line before the first word.
    Allocator(NonNull<u8>),
    /// The array that was divided into parts, of which this is one. The last part frees it.
    #[cfg(feature = "std")]
    Divided(#[expect(dead_code, reason = "only to keep it alive")] Arc<Words>),
    /// A mapping, shared by all arrays over the same file.
    #[cfg(feature = "file")]
    Mapping(Mapping),
}

// SAFETY: the array owns its words like a `Vec<u64>`, or shares them with other readers.
unsafe impl Send for Words {}
// SAFETY: as above; a shared reference gives out shared references only.
unsafe impl Sync for Words {}

impl Words {
    /// At least `count` zero words, or an error if memory is short.
    pub(crate) fn zeroed(count: u64) -> Result<Self, BuildError> {
        let lines = count.div_ceil(WORDS_PER_LINE as u64);
        let refused = BuildError::OutOfMemory { bytes: bytes_for(count) };
        match usize::try_from(lines).ok().and_then(Self::zeroed_lines) {
            Some(words) => Ok(words),
            None => Err(refused),
        }
    }

    /// No words, and no memory.
    pub(crate) const fn none() -> Self {
        Self { start: NonNull::dangling(), count: 0, owner: Owner::Empty }
    }

    /// The allocation: words, not lines, because the allocator would zero more strictly aligned memory
    /// itself, page by page; and one line more, to align the start.
    fn layout(lines: usize) -> Option<Layout> {
        Layout::array::<u64>(lines.checked_add(1)?.checked_mul(WORDS_PER_LINE)?).ok()
    }

    /// Allocates zeroed lines. The only allocation of the library's tables.
    fn zeroed_lines(lines: usize) -> Option<Self> {
        if lines == 0 {
            return Some(Self::none());
        }
        let layout = Self::layout(lines)?;
        // SAFETY: the layout is not empty.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        request_huge_pages(base, layout.size());
        let to_boundary = base.align_offset(LINE_BYTES);
        if to_boundary >= LINE_BYTES {
            // A pointer can always be aligned at run time; otherwise treat it as a failed allocation.
            // SAFETY: allocated above with this layout.
            unsafe { dealloc(base.as_ptr(), layout) };
            return None;
        }
        // SAFETY: less than a line further on, and the layout has a line to spare.
        let start = unsafe { base.add(to_boundary) }.cast();
        Some(Self { start, count: lines, owner: Owner::Allocator(base) })
    }

    /// Words of a mapped file, from byte `offset` on; `None` if they are not whole lines within it, on a
    /// line boundary.
    #[cfg(feature = "file")]
    pub(crate) fn mapped(mapping: &Mapping, offset: u64, bytes: u64) -> Option<Self> {
        let offset = usize::try_from(offset).ok()?;
        let bytes = usize::try_from(bytes).ok()?;
        let section = mapping.get(offset..offset.checked_add(bytes)?)?;
        let start = NonNull::from(section).cast::<AlignedLine>();
        if !bytes.is_multiple_of(LINE_BYTES) || !start.is_aligned() {
            return None;
        }
        // Moving the handle does not move the mapping, and any bits are valid words. The contract of `map`
        // keeps the file unchanged.
        let owner = Owner::Mapping(mapping.clone());
        Some(Self { start, count: bytes / LINE_BYTES, owner })
    }

    /// Whether the words are those of a mapped file.
    #[inline(always)]
    pub(crate) const fn is_mapped(&self) -> bool {
        #[cfg(feature = "file")]
        return matches!(self.owner, Owner::Mapping(_));
        #[cfg(not(feature = "file"))]
        false
    }

    /// Copies mapped words into allocated memory, where they can be changed.
    #[cfg(feature = "file")]
    pub(crate) fn detach(&mut self) -> Result<(), BuildError> {
        if self.is_mapped() {
            let out_of_memory = BuildError::OutOfMemory { bytes: self.bytes() };
            *self = self.copied().ok_or(out_of_memory)?;
        }
        Ok(())
    }

    /// Divides the words into parts for several threads: one begins with the first line, and one with each
    /// of these lines, in ascending order.
    #[cfg(feature = "std")]
    pub(crate) fn divide(mut self, cuts: impl Iterator<Item = usize>) -> (Divided, Vec<Self>) {
        let count = self.lines_mut().len();
        let whole = Arc::new(self);
        let mut end = 0;
        let mut parts = Vec::new();
        for cut in cuts.chain([count]) {
            let start = end;
            end = cut.clamp(start, count);
            // SAFETY: within the array. Parts do not overlap, and the whole array is inaccessible while
            // parts exist: see `Divided`.
            let first = unsafe { whole.start.add(start) };
            let owner = Owner::Divided(Arc::clone(&whole));
            parts.push(Self { start: first, count: end - start, owner });
        }
        (Divided(whole), parts)
    }

    fn copied(&self) -> Option<Self> {
        let mut copy = Self::zeroed_lines(self.count)?;
        copy.lines_mut().copy_from_slice(self.lines());
        Some(copy)
    }

    /// Copies mapped words on the first change. Out of line, because inserts call it.
    #[cold]
    #[inline(never)]
    fn replace_by_copy(&mut self) {
        *self = self.copied_or_abort();
    }

    /// A copy. Aborts the program if memory is short, like the collections of the standard library.
    fn copied_or_abort(&self) -> Self {
        match (self.copied(), Self::layout(self.count)) {
            (Some(copy), _) => copy,
            (None, layout) => handle_alloc_error(layout.unwrap_or(Layout::new::<AlignedLine>())),
        }
    }

    #[inline(always)]
    fn lines(&self) -> &[AlignedLine] {
        // SAFETY: the invariant.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.count) }
    }

    #[inline(always)]
    pub(super) fn lines_mut(&mut self) -> &mut [AlignedLine] {
        if self.is_mapped() {
            self.replace_by_copy();
        }
        // SAFETY: the invariant; the words are not mapped, so that only this array uses them, and it is
        // borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.count) }
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> u64 {
        self.lines()[index / WORDS_PER_LINE].0[index % WORDS_PER_LINE]
    }

    /// Eight words at once.
    #[inline(always)]
    pub(crate) fn line(&self, line: usize) -> &[u64; WORDS_PER_LINE] {
        &self.lines()[line].0
    }

    #[inline(always)]
    pub(crate) fn line_mut(&mut self, line: usize) -> &mut [u64; WORDS_PER_LINE] {
        &mut self.lines_mut()[line].0
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> &mut u64 {
        &mut self.lines_mut()[index / WORDS_PER_LINE].0[index % WORDS_PER_LINE]
    }

    /// All words, including the padding of the last line.
    #[inline(always)]
    pub(crate) fn words(&self) -> &[u64] {
        let lines = self.lines();
        // SAFETY: a line is eight words without padding, and the slice is borrowed from the same array.
        unsafe { slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * WORDS_PER_LINE) }
    }

    /// Mutable access to all words, for many changes at once.
    #[inline(always)]
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        let lines = self.lines_mut();
        let words = lines.len() * WORDS_PER_LINE;
        // SAFETY: as above, and borrowed mutably.
        unsafe { slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), words) }
    }

    /// Mutable access to all lines.
    pub(crate) fn all_lines_mut(&mut self) -> &mut [Line] {
        self.words_mut().as_chunks_mut().0
    }

    /// All words, including the padding of the last line.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        self.words().iter().copied()
    }

    pub(crate) fn fill_with_zeros(&mut self) {
        self.lines_mut().fill(AlignedLine([0; WORDS_PER_LINE]));
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.count as u64 * LINE_BYTES as u64
    }

    /// The words in native byte order.
    #[cfg(feature = "file")]
    pub(crate) fn native_bytes(&self) -> &[u8] {
        let lines = self.lines();
        // SAFETY: a line is 64 bytes without padding, any of them can be read as such, and the slice is
        // borrowed from the same array.
        unsafe { slice::from_raw_parts(lines.as_ptr().cast(), size_of_val(lines)) }
    }

    /// Mutable access to the words in native byte order.
    #[cfg(feature = "file")]
    pub(crate) fn native_bytes_mut(&mut self) -> &mut [u8] {
        let lines = self.lines_mut();
        let bytes = size_of_val(lines);
        // SAFETY: as above, and any bytes make a line.
        unsafe { slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), bytes) }
    }

    /// Converts words that were read as little-endian bytes; does nothing on little-endian targets.
    #[cfg(feature = "file")]
    pub(crate) fn read_as_little_endian(mut self) -> Self {
        if cfg!(target_endian = "big") {
            for line in self.lines_mut() {
                line.0 = line.0.map(u64::from_le);
            }
        }
        self
    }
}

impl Storage for Words {
    type Read<'a> = &'a Line;

    #[inline(always)]
    fn load(&self, line: usize) -> &Line {
        self.line(line)
    }

    #[inline(always)]
    fn snapshot(&self, _level: usize, line: usize) -> &Line {
        self.line(line)
    }

    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        self.get(index)
    }

    #[inline(always)]
    fn prefetch(&self, line: usize, nearness: Nearness) {
        prefetch(self.start.as_ptr().wrapping_add(line).cast(), nearness);
    }
}

/// Exclusive access: nothing to lock.
impl Update for &mut Words {
    type Words = Words;

    #[inline(always)]
    fn words(&self) -> &Words {
        self
    }

    #[inline(always)]
    fn set(&mut self, word: usize, bits: u64) {
        *self.get_mut(word) |= bits;
    }

    #[inline(always)]
    fn try_change(&mut self, word: usize, change: impl Fn(u64) -> Option<u64>) -> bool {
        let word = self.get_mut(word);
        let changed = change(*word);
        *word = changed.unwrap_or(*word);
        changed.is_some()
    }

    #[inline(always)]
    fn lock(&mut self, _level: usize, _line: usize) {}

    #[inline(always)]
    fn write(&mut self, _level: usize, line: usize, change: impl FnOnce(&mut Line)) {
        change(self.line_mut(line));
    }

    #[inline(always)]
    fn unlock(&mut self, _level: usize, _line: usize) {}
}

/// A divided array. It can be reassembled once no parts are left.
#[cfg(feature = "std")]
pub(crate) struct Divided(Arc<Words>);

#[cfg(feature = "std")]
impl Divided {
    /// Reassembles the array, with the changes to its parts.
    ///
    /// # Panics
    /// If a part still exists: it could still change the words, and without them the filter would lose its
    /// keys.
    pub(crate) fn unite(self) -> Words {
        match Arc::into_inner(self.0) {
            Some(words) => words,
            None => unreachable!("a part of the words is still in use"),
        }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        if let Owner::Allocator(base) = self.owner
            && let Some(layout) = Self::layout(self.count)
        {
            // SAFETY: allocated with this layout, for this number of lines.
            unsafe { dealloc(base.as_ptr(), layout) };
        }
    }
}

/// A clone of mapped words reads the same mapping.
impl Clone for Words {
    fn clone(&self) -> Self {
        #[cfg(feature = "file")]
        if let Owner::Mapping(mapping) = &self.owner {
            let owner = Owner::Mapping(mapping.clone());
            return Self { start: self.start, count: self.count, owner };
        }
        self.copied_or_abort()
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.lines() == other.lines()
    }
}

impl Eq for Words {}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_zero_on_line_boundaries_and_keep_what_is_written() {
        for count in [0, 1, 7, 8, 9, 1_000, 100_000] {
            let mut words = Words::zeroed(count).unwrap();
            assert_eq!(words.bytes(), bytes_for(count));
            assert!(words.lines().as_ptr().is_aligned());
            assert!(words.iter().all(|word| word == 0));
            assert_eq!(words.iter().count() as u64, bytes_for(count) / 8);
            for index in 0..count as usize {
                *words.get_mut(index) = index as u64 + 1;
            }
            let copy = words.clone();
            assert_eq!(copy, words);
            words.fill_with_zeros();
            assert!((0..count as usize).all(|index| copy.get(index) == index as u64 + 1));
            assert!(words.iter().all(|word| word == 0));
        }
    }

    #[cfg(feature = "std")]
    #[test]
    fn parts_are_changed_by_threads_and_united() {
        for cuts in [vec![], vec![0], vec![3], vec![1, 1, 7], vec![10], vec![4, 99]] {
            let words = Words::zeroed(80).unwrap();
            let (divided, mut parts) = words.divide(cuts.iter().copied());
            assert_eq!(parts.len(), cuts.len() + 1);
            assert_eq!(parts.iter().map(Words::bytes).sum::<u64>(), 640);
            std::thread::scope(|scope| {
                for (part, number) in parts.iter_mut().zip(1..) {
                    scope.spawn(move || part.words_mut().fill(number));
                }
            });
            let copy = parts[0].clone();
            drop(parts);
            let words = divided.unite();
            let starts: Vec<usize> =
                [0].into_iter().chain(cuts.iter().map(|cut| cut * 8)).collect();
            for (index, word) in words.iter().enumerate() {
                let owner = starts.iter().rposition(|&start| start <= index).unwrap();
                assert_eq!(word, owner as u64 + 1, "word {index}, cut before lines {cuts:?}");
            }
            assert_eq!(copy.words(), &words.words()[..copy.words().len()]);
        }
    }

    #[cfg(feature = "std")]
    #[test]
    #[should_panic(expected = "a part of the words is still in use")]
    fn nothing_is_united_while_there_is_a_part() {
        let (divided, _parts) = Words::zeroed(80).unwrap().divide([3].into_iter());
        divided.unite();
    }

    #[test]
    fn memory_that_cannot_be_had_is_refused() {
        for count in [1 << 60, u64::MAX - 7, u64::MAX] {
            let refusal = BuildError::OutOfMemory { bytes: bytes_for(count) };
            assert_eq!(Words::zeroed(count), Err(refusal));
        }
    }
}
