//! Small counters, several in a byte: how many entries of each class passed a bucket by.
//!
//! A counter at its highest value means "many" and stays there until the table is rebuilt: the number is no
//! longer known. Lookups may then read a bucket more than they need; their answers stay correct. The more
//! counters there are, the fewer lookups go on without need; that is worth more than wide counters.

/// Bits of a counter.
const BITS: usize = 4;
/// Counters in a byte.
pub(crate) const PER_BYTE: usize = 8 / BITS;
/// The highest value: this many or more.
const MANY: u8 = (1 << BITS) - 1;

/// The place of one counter in a row of bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counter {
    pub(crate) byte: usize,
    shift: usize,
}

impl Counter {
    #[inline]
    pub(crate) const fn number(index: usize) -> Self {
        Self { byte: index / PER_BYTE, shift: index % PER_BYTE * BITS }
    }

    /// Whether it is 0, given its byte.
    #[inline]
    pub(crate) const fn is_zero(self, byte: u8) -> bool {
        byte & (MANY << self.shift) == 0
    }

    /// Its byte after counting one more.
    #[inline]
    pub(crate) const fn incremented(self, byte: u8) -> u8 {
        if self.is_many(byte) { byte } else { byte + (1 << self.shift) }
    }

    /// Its byte after counting one less.
    #[inline]
    pub(crate) const fn decremented(self, byte: u8) -> u8 {
        if self.is_many(byte) || self.is_zero(byte) { byte } else { byte - (1 << self.shift) }
    }

    #[inline]
    const fn is_many(self, byte: u8) -> bool {
        byte >> self.shift & MANY == MANY
    }
}

#[cfg(test)]
mod tests;
