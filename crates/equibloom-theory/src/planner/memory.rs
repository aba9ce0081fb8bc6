//! From memory to blocks: the size of every part of a filter, as the core library allocates it.

use equibloom_layout::{HEADER_BYTES, Overflow, WhenFull};

use crate::error::{Error, require};

/// Memory is allocated in cache lines.
pub(crate) const LINE_BYTES: u64 = 64;

/// Maximum bytes of a filter: above it, numbers of bits are no longer exact in floating point.
pub(crate) const MOST_BYTES: u64 = 1 << 50;

/// Maximum number of keys.
pub(crate) const MOST_KEYS: u64 = 1 << 50;

/// The overflow list for at most so many entries, and a few more: a cache line has room for six.
pub(crate) fn overflow_list(most: f64) -> Overflow {
    let capacity = if most <= 0.0 { 0 } else { 6 + most as u64 };
    Overflow { capacity, when_full: WhenFull::Saturate }
}

/// Keys and the memory for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizing {
    pub(crate) keys: u64,
    pub(crate) bytes: u64,
}

impl Sizing {
    pub(crate) fn bits_per_key(&self) -> f64 {
        8.0 * self.bytes as f64 / self.keys as f64
    }

    /// Bytes left for the table beside an overflow list of this size.
    fn table_bytes(&self, list_bytes: u64) -> u64 {
        let left = self.bytes.saturating_sub(HEADER_BYTES).saturating_sub(list_bytes);
        left - left % LINE_BYTES
    }

    /// Bits of a classical filter.
    pub(crate) fn classical_bits(&self) -> Result<u64, Error> {
        let bits = 8 * self.table_bytes(0);
        require(
            bits > 0,
            "memory",
            self.bytes as f64,
            format!("at least {} bytes", HEADER_BYTES + LINE_BYTES),
        )?;
        Ok(bits)
    }

    /// Number of blocks of `stride_bits` bits, padding included, that fit beside an overflow list of this size.
    pub(crate) fn blocks(&self, stride_bits: u64, list_bytes: u64) -> Result<u64, Error> {
        let blocks = 8 * self.table_bytes(list_bytes) / stride_bits;
        let one = stride_bits.div_ceil(8).next_multiple_of(LINE_BYTES);
        require(
            blocks > 0,
            "memory",
            self.bytes as f64,
            format!(
                "at least {} bytes for one block of {stride_bits} bits, header and overflow list",
                HEADER_BYTES.saturating_add(one).saturating_add(list_bytes)
            ),
        )?;
        Ok(blocks)
    }
}

#[cfg(test)]
mod tests;
