//! Hashers that are as bad as can be, or just deterministic.

use std::hash::{BuildHasher, Hasher};

use equibloom_layout::KeyHash;

/// Hashes to one of `values` values; 0 stands for all 2⁶⁴.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Few {
    pub(crate) values: u64,
    pub(crate) seed: u64,
}

pub(crate) struct State {
    few: Few,
    word: u64,
}

impl BuildHasher for Few {
    type Hasher = State;

    fn build_hasher(&self) -> State {
        State { few: *self, word: self.seed }
    }
}

impl Hasher for State {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.word = KeyHash::from_u64(self.word.rotate_left(7) ^ word).candidate(1);
    }

    fn finish(&self) -> u64 {
        self.word.checked_rem(self.few.values).unwrap_or(self.word)
    }
}
