//! Hints: a record of the keys that a block has rejected.
//!
//! A hint is one of `w` bits, selected by the part of a key that the block knows. A rejected key sets its
//! bit; a lookup whose bit is unset ends, because the key is in no later block. Bits are never cleared: a
//! hint may be outdated after a removal, but never misses a stored key.

/// Position and number of a block's hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hints {
    start: u32,
    count: u32,
}

impl Hints {
    /// `count` bits of a block from bit `start` on.
    pub(super) const fn new(start: u32, count: u32) -> Self {
        Self { start, count }
    }

    pub(super) const fn count(self) -> u32 {
        self.count
    }

    /// The first bit after them.
    pub(super) const fn end(self) -> u32 {
        self.start + self.count
    }

    /// The number of the hint selected by sixteen uniform bits: the bias is below one in a thousand.
    #[inline(always)]
    pub(super) const fn number_of(self, selector: u64) -> u32 {
        (selector as u32 * self.count) >> 16
    }

    /// The bit of the hint selected by sixteen uniform bits.
    #[inline(always)]
    pub(super) const fn bit_of(self, selector: u64) -> u32 {
        self.start + self.number_of(selector)
    }
}

#[cfg(test)]
mod tests {
    use super::Hints;
    use crate::hashing::KeyHash;

    #[test]
    fn hints_are_equally_likely_and_stay_within_their_bits() {
        for count in [1, 3, 16, 48, 64] {
            let hints = Hints::new(5, count);
            let mut drawn = vec![0_u32; count as usize];
            let keys = 20_000 * count;
            for key in 0..keys {
                let bit = hints.bit_of(KeyHash::from_u64(key.into()).hint_at(key.into()));
                drawn[(bit - 5) as usize] += 1;
            }
            // 5σ, because there are many cases.
            let allowed = 5.0 * 20_000_f64.sqrt() + 20.0;
            assert!(drawn.iter().all(|&n| (f64::from(n) - 20_000.0).abs() < allowed), "{drawn:?}");
        }
    }
}
