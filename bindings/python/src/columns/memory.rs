//! Memory of another library, read value by value.

use std::slice;

/// The values of a column, at equal distances in memory.
#[derive(Clone, Copy)]
pub(crate) struct Cells {
    start: *const u8,
    /// From one value to the next, in bytes; negative in a reversed array.
    stride: isize,
    rows: usize,
}

// SAFETY: the memory is only read, and its owner is kept with the column. A program that writes to an array while another of
// its threads looks it up gets answers for either value, as from NumPy itself.
unsafe impl Send for Cells {}
// SAFETY: as above.
unsafe impl Sync for Cells {}

impl Cells {
    /// # Safety
    /// At `start + row * stride` there are, for each of the `rows`, as many bytes as will be asked for, as long as this value
    /// or a copy of it is used.
    pub(crate) unsafe fn new(start: *const u8, stride: isize, rows: usize) -> Self {
        Self { start, stride, rows }
    }

    /// The values from this one on.
    pub(crate) fn skip(self, rows: usize) -> Self {
        assert!(rows <= self.rows, "as many as there are");
        // Not `add`: there may be no values, and no memory.
        let start = self.start.wrapping_offset(rows as isize * self.stride);
        Self { start, rows: self.rows - rows, ..self }
    }

    #[inline]
    fn at(&self, row: usize) -> *const u8 {
        assert!(row < self.rows, "rows come from a range that was checked");
        // SAFETY: the caller's promise in `new`: there is a value at every row.
        unsafe { self.start.offset(row as isize * self.stride) }
    }

    /// A number, in the machine's order of bytes.
    #[inline]
    pub(crate) fn read<T: Number>(&self, row: usize) -> T {
        // SAFETY: there is a value of this size, of which all bits are valid; it need not be aligned.
        unsafe { self.at(row).cast::<T>().read_unaligned() }
    }

    #[inline]
    pub(crate) fn bytes(&self, row: usize, size: usize) -> &[u8] {
        // SAFETY: there are so many bytes, by the promise in `new`.
        unsafe { slice::from_raw_parts(self.at(row), size) }
    }
}

/// Numbers of which all bits are valid.
pub(crate) trait Number: Copy {}
impl Number for i8 {}
impl Number for i16 {}
impl Number for i32 {}
impl Number for i64 {}
impl Number for u8 {}
impl Number for u16 {}
impl Number for u32 {}
impl Number for u64 {}

/// Bytes that offsets lead into. How many there are, Arrow does not tell.
#[derive(Clone, Copy)]
pub(crate) struct Data(*const u8);

// SAFETY: as for `Cells`.
unsafe impl Send for Data {}
// SAFETY: as for `Cells`.
unsafe impl Sync for Data {}

impl Data {
    /// # Safety
    /// All ranges that will be asked for are readable as long as this value or a copy of it is used.
    pub(crate) unsafe fn new(start: *const u8) -> Self {
        Self(start)
    }

    #[inline]
    pub(crate) fn bytes(&self, start: usize, length: usize) -> &[u8] {
        if length == 0 || self.0.is_null() {
            return &[];
        }
        // SAFETY: the caller's promise in `new`.
        unsafe { slice::from_raw_parts(self.0.add(start), length) }
    }
}

/// One bit per row, the lowest first.
#[derive(Clone, Copy)]
pub(crate) struct Bits {
    data: Data,
    /// The bit of the first row.
    first: usize,
}

impl Bits {
    /// # Safety
    /// As for `Data::new`, for the bytes of all bits that will be asked for.
    pub(crate) unsafe fn new(start: *const u8, first: usize) -> Self {
        // SAFETY: the caller's promise.
        Self { data: unsafe { Data::new(start) }, first }
    }

    #[inline]
    pub(crate) fn get(&self, row: usize) -> bool {
        let bit = self.first + row;
        self.data.bytes(bit / 8, 1)[0] >> (bit % 8) & 1 == 1
    }
}

/// Booleans of an array that answers are written to.
#[derive(Clone, Copy)]
pub(crate) struct Booleans {
    start: *mut u8,
    stride: isize,
    rows: usize,
}

// SAFETY: each thread writes to rows of its own.
unsafe impl Send for Booleans {}
// SAFETY: as above.
unsafe impl Sync for Booleans {}

impl Booleans {
    /// # Safety
    /// At `start + row * stride` there is, for each of the `rows`, a byte that may be written as long as this value is used.
    pub(crate) unsafe fn new(start: *mut u8, stride: isize, rows: usize) -> Self {
        Self { start, stride, rows }
    }

    /// Writes the lowest bits of a word to the rows from this one on, as many as there are.
    pub(crate) fn put(&self, row: usize, word: u64) {
        let count = self.rows.saturating_sub(row).min(64);
        if self.stride == 1 && count == 64 {
            for (index, byte) in word.to_le_bytes().into_iter().enumerate() {
                // Each bit to a byte of its own: the byte eight times, one bit of each left, and that made a one.
                let each =
                    u64::from(byte).wrapping_mul(0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
                let truths = (each + 0x7f7f_7f7f_7f7f_7f7f) >> 7 & 0x0101_0101_0101_0101;
                // SAFETY: rows `row + 8 * index` and the seven behind it are below `rows`, and adjoin.
                unsafe {
                    let target = self.start.add(row + 8 * index).cast::<[u8; 8]>();
                    target.write_unaligned(truths.to_le_bytes());
                }
            }
            return;
        }
        for index in 0..count {
            // SAFETY: the row is below `rows`.
            unsafe {
                let target = self.start.offset((row + index) as isize * self.stride);
                target.write((word >> index & 1) as u8);
            }
        }
    }
}
