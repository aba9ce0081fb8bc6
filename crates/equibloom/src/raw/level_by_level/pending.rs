//! Pending keys of a slab: two bits for each.

use alloc::vec::Vec;

/// Keys per word.
pub(super) const WORD: usize = u64::BITS as usize;

/// Keys of a slab, by index, that no block has admitted yet.
#[derive(Default)]
pub(super) struct PendingKeys {
    going: Vec<u64>,
    /// Pending keys whose hint was already set in every block so far: they may be duplicates.
    reachable: Vec<u64>,
}

impl PendingKeys {
    /// Becomes all of `keys` keys.
    pub(super) fn set_to_all(&mut self, keys: usize) {
        self.fill(keys, u64::MAX);
    }

    /// Becomes none of `keys` keys.
    pub(super) fn set_to_none(&mut self, keys: usize) {
        self.fill(keys, 0);
    }

    /// Fills both, in the memory they have, with a word that repeats.
    fn fill(&mut self, keys: usize, word: u64) {
        for bits in [&mut self.going, &mut self.reachable] {
            bits.clear();
            bits.resize(keys.div_ceil(WORD), word);
            if let Some(last) = bits.last_mut() {
                *last >>= keys.wrapping_neg() % WORD;
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.going.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether a lookup of this key would get this far.
    #[inline(always)]
    pub(super) fn reachable(&self, place: usize) -> bool {
        self.reachable[place / WORD] >> (place % WORD) & 1 == 1
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, place: usize, reachable: bool) {
        self.going[place / WORD] |= 1 << (place % WORD);
        self.reachable[place / WORD] |= u64::from(reachable) << (place % WORD);
    }

    /// Adds the pending keys of another worker.
    pub(super) fn join(&mut self, other: &Self) {
        for (ours, theirs) in
            [(&mut self.going, &other.going), (&mut self.reachable, &other.reachable)]
        {
            for (ours, theirs) in ours.iter_mut().zip(theirs) {
                *ours |= theirs;
            }
        }
    }

    /// Their places, in order.
    #[inline(always)]
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.going.iter().enumerate().flat_map(|(index, &word)| {
            let rest = core::iter::successors(Some(word), |word| Some(word & (word - 1)));
            let rest = rest.take(word.count_ones() as usize);
            rest.map(move |word| index * WORD + word.trailing_zeros() as usize)
        })
    }
}
