//! Words on cache-line boundaries: allocated, mapped from a file, or borrowed from the caller.
//!
//! Reads use a pointer and a length, wherever the words are. The operating system zeroes allocated words
//! page by page on first use, so that a large unused filter costs nothing. Borrowed words (a mapped file's
//! pages are one case) are never written: the first change copies them into allocated memory.
//!
//! The code is unsafe, behind a safe interface that checks every index. It is needed
//! because `alloc_zeroed` has no safe form for aligned memory (a vector of lines is zeroed by writing to
//! every page, and so is every allocation with more than the allocator's own alignment), and because the
//! words of a filter that borrows them may not have a lifetime in its type.
//!
//! **Invariant.** `start` points to `count` initialised lines on a line boundary, valid as long as `owner`
//! lives. Only this array writes to them, and nothing does while they are borrowed. While threads share them
//! (`shared.rs`), all accesses are atomic.

#![allow(unsafe_code, reason = "lazily zeroed aligned memory and borrowed words, see above")]

use alloc::alloc::{alloc_zeroed, dealloc, handle_alloc_error};
#[cfg(feature = "file")]
use alloc::sync::Arc;
use core::alloc::Layout;
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::slice;

use super::huge_pages::request_huge_pages;
use super::{Line, WORDS_PER_LINE};
use crate::error::BuildError;

const LINE_BYTES: usize = 64;

/// Bytes that a borrowing array keeps alive: a mapped file, or a caller's.
#[cfg(feature = "file")]
pub(crate) type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Maps a whole file for reading.
///
/// # Safety
/// While the mapping lives, the file must neither change nor shrink.
#[cfg(feature = "file")]
pub(crate) unsafe fn map(file: &std::fs::File) -> std::io::Result<Bytes> {
    // SAFETY: the mapping is read as words, and any bits are valid words; the caller promises that the file
    // does not change.
    let mapping = unsafe { memmap2::Mmap::map(file) }?;
    // A lookup needs one page: read-ahead would waste the pages around it.
    #[cfg(unix)]
    mapping.advise(memmap2::Advice::Random)?;
    Ok(Arc::new(mapping))
}

/// Bytes that `words` words occupy: whole lines.
pub(crate) const fn bytes_for(words: u64) -> u64 {
    words.div_ceil(WORDS_PER_LINE as u64).saturating_mul(LINE_BYTES as u64)
}

/// A fixed number of 64-bit words, initially zero or what a file holds. They start on a line boundary, so that a
/// block whose size divides 512 bits never straddles two lines.
pub(crate) struct Words {
    pub(super) start: NonNull<Line>,
    pub(super) count: usize,
    owner: Owner,
}

/// What owns the allocation.
enum Owner {
    /// Nothing: the array is empty.
    Empty,
    /// This array. The allocation begins up to a line before the first word.
    Allocator(NonNull<u8>),
    /// Bytes of which these words are a part, never changed, and shared by all arrays over them.
    #[cfg(feature = "file")]
    Borrowed(Bytes),
}

// SAFETY: the array owns its words like a `Vec<u64>`, or shares them with other readers.
unsafe impl Send for Words {}
// SAFETY: as above; a shared reference gives out shared references only.
unsafe impl Sync for Words {}

impl Words {
    /// At least `count` zero words, or an error if memory is short.
    pub(crate) fn zeroed(count: u64) -> Result<Self, BuildError> {
        let lines = usize::try_from(count.div_ceil(WORDS_PER_LINE as u64)).ok();
        let refused = BuildError::OutOfMemory { bytes: bytes_for(count) };
        lines.and_then(Self::zeroed_lines).ok_or(refused)
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

    /// Words in `bytes`, from byte `offset` on; `None` if they are not whole lines within it, on a line
    /// boundary.
    #[cfg(feature = "file")]
    pub(crate) fn borrowed(bytes: &Bytes, offset: u64, length: u64) -> Option<Self> {
        let offset = usize::try_from(offset).ok()?;
        let length = usize::try_from(length).ok()?;
        // Asked once: the words stay where they are, because nothing else has access to their owner, and it
        // is dropped after them.
        let section = (**bytes).as_ref().get(offset..offset.checked_add(length)?)?;
        let start = NonNull::from(section).cast::<Line>();
        if !length.is_multiple_of(LINE_BYTES) || !start.addr().get().is_multiple_of(LINE_BYTES) {
            return None;
        }
        // Any bits are valid words.
        Some(Self { start, count: length / LINE_BYTES, owner: Owner::Borrowed(bytes.clone()) })
    }

    /// Whether the words are borrowed, from a mapped file or a caller, so that they must not be changed.
    #[inline(always)]
    pub(crate) const fn is_mapped(&self) -> bool {
        #[cfg(feature = "file")]
        return matches!(self.owner, Owner::Borrowed(_));
        #[cfg(not(feature = "file"))]
        false
    }

    /// Copies borrowed words into allocated memory, where they can be changed.
    #[cfg(feature = "file")]
    pub(crate) fn detach(&mut self) -> Result<(), BuildError> {
        if self.is_mapped() {
            *self = self.copied()?;
        }
        Ok(())
    }

    fn copied(&self) -> Result<Self, BuildError> {
        let mut copy = Self::zeroed(self.as_flattened().len() as u64)?;
        copy.copy_from_slice(self);
        Ok(copy)
    }

    /// Copies borrowed words on the first change. Out of line, because inserts call it.
    #[cold]
    #[inline(never)]
    fn replace_by_copy(&mut self) {
        *self = self.copied_or_abort();
    }

    /// A copy. Aborts the program if memory is short, like the collections of the standard library.
    fn copied_or_abort(&self) -> Self {
        let layout = || Self::layout(self.count).unwrap_or(Layout::new::<Line>());
        self.copied().unwrap_or_else(|_| handle_alloc_error(layout()))
    }

    /// A line that can be changed at once: `None` if the words are borrowed. Calls nothing, which saves inserts
    /// from saving registers.
    #[inline(always)]
    pub(crate) fn own_line_mut(&mut self, line: usize) -> Option<&mut Line> {
        if self.is_mapped() { None } else { self.get_mut(line) }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.count as u64 * LINE_BYTES as u64
    }

    /// The words in native byte order.
    #[cfg(feature = "file")]
    pub(crate) fn native_bytes(&self) -> &[u8] {
        let lines = &**self;
        // SAFETY: a line is 64 bytes without padding, any of them can be read as such, and the slice is
        // borrowed from the same array.
        unsafe { slice::from_raw_parts(lines.as_ptr().cast(), size_of_val(lines)) }
    }

    /// Mutable access to the words in native byte order.
    #[cfg(feature = "file")]
    pub(crate) fn native_bytes_mut(&mut self) -> &mut [u8] {
        let lines = &mut **self;
        let bytes = size_of_val(lines);
        // SAFETY: as above, and any bytes make a line.
        unsafe { slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), bytes) }
    }
}

/// Words are lines, the last of them padded.
impl Deref for Words {
    type Target = [Line];

    #[inline(always)]
    fn deref(&self) -> &[Line] {
        // SAFETY: the invariant.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.count) }
    }
}

/// The first change copies borrowed words.
impl DerefMut for Words {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Line] {
        if self.is_mapped() {
            self.replace_by_copy();
        }
        // SAFETY: the invariant; the words are not borrowed, so that only this array uses them, and it is
        // borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.count) }
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

/// A clone of borrowed words reads the same bytes.
impl Clone for Words {
    fn clone(&self) -> Self {
        #[cfg(feature = "file")]
        if let Owner::Borrowed(bytes) = &self.owner {
            let owner = Owner::Borrowed(bytes.clone());
            return Self { start: self.start, count: self.count, owner };
        }
        self.copied_or_abort()
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Words {}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_flattened()).finish()
    }
}

#[cfg(test)]
mod tests;
