//! Hints: what a block remembers of the keys that it turned away.
//!
//! A hint is one of `w` bits, chosen by what the block knows of a key. A key that was
//! turned away sets its bit; a lookup whose bit is unset knows that its key is not further on. Bits
//! are never unset, so a hint may be wrong about a key that left, and is never wrong about one that
//! stayed.

/// Where a block keeps its hints, and how many.
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

    /// The first bit behind them.
    pub(super) const fn end(self) -> u32 {
        self.start + self.count
    }

    /// The number of the hint for a key with this mark, which has sixteen bits: a bias below one in a
    /// thousand.
    #[inline(always)]
    pub(super) const fn number_of(self, mark: u64) -> u32 {
        (mark as u32 * self.count) >> 16
    }

    /// The bit for a key with this mark.
    #[inline(always)]
    pub(super) const fn bit_of(self, mark: u64) -> u32 {
        self.start + self.number_of(mark)
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
            // 5σ, because there are many of them.
            let allowed = 5.0 * 20_000_f64.sqrt() + 20.0;
            assert!(drawn.iter().all(|&n| (f64::from(n) - 20_000.0).abs() < allowed), "{drawn:?}");
        }
    }
}
