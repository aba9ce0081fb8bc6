//! Random numbers that depend on no crate or test framework.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number from `least` to `most`.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.word() % (most - least + 1)
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.between(0, all.len() as u64 - 1) as usize]
    }

    /// Divides a table of at least four blocks into two to four subtables, each smaller than the one before if
    /// there are enough blocks.
    pub fn subtables(&mut self, blocks: u64) -> Vec<u64> {
        let mut sizes = vec![blocks];
        for level in 0..self.between(1, 3) as usize {
            let later = (sizes[level] / self.between(2, 8)).max(1);
            if later == sizes[level] {
                break;
            }
            sizes[level] -= later;
            sizes.push(later);
        }
        sizes
    }
}
