//! The limit set by memory: one word of each key's line is read or written, nothing else.
//!
//! The table is as large as the filters and allocated in the same way, by the global allocator and zeroed
//! lazily, so that it lies in the same pages. The loops are those of Equibloom's batches: lines are prefetched
//! a chunk ahead of lookups and a few keys ahead of inserts, and answers go to a bitmap. It reads 128-bit
//! hashes, as Equibloom does. It is no proven bound: sbbf-rs in our prefetching loop, with 64-bit hashes and
//! another distance, has been measured below it (0.65 to 1.06 of its time, on a busy machine; the reason is
//! unknown).

use equibloom::KeyHash;

use super::prefetch::{prefetch, prefetch_to_second_level};
use super::{Contestant, Entry, Failure, Kind, LIMIT, Many, Profile};
use crate::keys::Keys;

const WORDS_PER_LINE: usize = 8;
/// Equibloom's prefetch distance in lookups and in inserts.
const LOOKUPS_AHEAD: usize = 64;
const INSERTS_AHEAD: usize = 32;

pub(super) struct Limit {
    words: Vec<u64>,
    lines: u64,
}

pub(super) fn entry(bytes: u64) -> Entry {
    let profile = Profile {
        name: LIMIT.to_owned(),
        kind: Kind::Limit,
        many: Many::Call,
        parallel_inserts: false,
        promised_rate: None,
        rival: None,
    };
    Entry { profile, make: Box::new(move |_| Ok(Box::new(Limit::new(bytes)?))) }
}

impl Limit {
    pub(super) fn new(bytes: u64) -> Result<Self, Failure> {
        let lines = bytes.div_ceil(64).max(1);
        let words = vec![0; usize::try_from(lines)? * WORDS_PER_LINE];
        Ok(Self { words, lines })
    }

    /// The first word of the key's line.
    #[inline(always)]
    fn word(&self, hash: KeyHash) -> usize {
        let line = ((u128::from(hash) >> 64) * u128::from(self.lines)) >> 64;
        line as usize * WORDS_PER_LINE
    }

    #[inline(always)]
    fn ask_for(&self, keys: &[KeyHash], index: usize) {
        if let Some(&key) = keys.get(index) {
            prefetch(&self.words[self.word(key)]);
        }
    }

    #[inline(always)]
    fn ask_for_lookup(&self, keys: &[KeyHash], index: usize) {
        if let Some(&key) = keys.get(index) {
            prefetch_to_second_level(&self.words[self.word(key)]);
        }
    }
}

impl Contestant for Limit {
    fn bytes(&self) -> u64 {
        size_of_val(&self.words[..]) as u64
    }

    fn insert_each(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        for &key in keys.full {
            let word = self.word(key);
            self.words[word] |= 1;
        }
        Ok(())
    }

    fn insert_batch(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        for index in 0..INSERTS_AHEAD {
            self.ask_for(keys.full, index);
        }
        for (index, &key) in keys.full.iter().enumerate() {
            self.ask_for(keys.full, index + INSERTS_AHEAD);
            let word = self.word(key);
            self.words[word] |= 1;
        }
        Ok(())
    }

    fn count_each(&self, keys: Keys<'_>) -> usize {
        keys.full.iter().filter(|&&key| self.words[self.word(key)] & 1 == 1).count()
    }

    fn count_batch(&self, keys: Keys<'_>) -> usize {
        for index in 0..LOOKUPS_AHEAD {
            self.ask_for_lookup(keys.full, index);
        }
        let mut found = vec![0_u64; keys.len().div_ceil(64)];
        for (part, answers) in found.iter_mut().enumerate() {
            let start = part * 64;
            for (bit, &key) in keys.full[start..].iter().take(64).enumerate() {
                self.ask_for_lookup(keys.full, start + bit + LOOKUPS_AHEAD);
                *answers |= (self.words[self.word(key)] & 1) << bit;
            }
        }
        found.iter().map(|word| word.count_ones() as usize).sum()
    }
}
