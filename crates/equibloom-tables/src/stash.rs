//! The exact stash: entries that no bucket holds.
//!
//! A vector of entries, chained by their hashes. It is fast at any size as long as the hashes differ; if they
//! are all equal, it is a list.

use alloc::vec::Vec;
use core::slice;

/// Ends a chain: no entry has this position.
const NONE: usize = usize::MAX;

#[derive(Clone)]
pub(crate) struct Stash<T> {
    /// First entry of each chain; a power of two of them, or none.
    heads: Vec<usize>,
    nodes: Vec<Node<T>>,
    /// Whether some hashes are unknown, because the user's hash function panicked during a rebuild. Entries are
    /// then compared one by one until the next rebuild.
    pub(crate) has_unhashed: bool,
}

#[derive(Clone)]
pub(crate) struct Node<T> {
    hash: u64,
    next: usize,
    pub(crate) entry: T,
}

/// Position in the stash.
pub(crate) type StashIndex = usize;

impl<T> Stash<T> {
    pub(crate) const fn new() -> Self {
        Self { heads: Vec::new(), nodes: Vec::new(), has_unhashed: false }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.heads.capacity() * size_of::<usize>() + self.nodes.capacity() * size_of::<Node<T>>()
    }

    /// The chain of a hash; beyond all chains if there are none.
    #[inline]
    fn chain(&self, hash: u64) -> usize {
        hash as usize & self.heads.len().wrapping_sub(1)
    }

    /// The entry with this hash that `is_match` accepts, and its position. Not inlined: it would take registers
    /// from all the lookups that find the stash empty.
    #[inline(never)]
    pub(crate) fn find(
        &self,
        hash: u64,
        mut is_match: impl FnMut(&T) -> bool,
    ) -> Option<(StashIndex, &T)> {
        if self.has_unhashed {
            let mut entries = self.iter().enumerate();
            return entries.find(|(_, entry)| is_match(entry));
        }
        let mut at = self.heads.get(self.chain(hash)).copied().unwrap_or(NONE);
        while let Some(node) = self.nodes.get(at) {
            if node.hash == hash && is_match(&node.entry) {
                return Some((at, &node.entry));
            }
            at = node.next;
        }
        None
    }

    /// Adds an entry that is not in the stash.
    pub(crate) fn push(&mut self, hash: u64, entry: T) -> StashIndex {
        if self.nodes.len() == self.heads.len() {
            self.lengthen();
        }
        let (at, chain) = (self.nodes.len(), self.chain(hash));
        self.nodes.push(Node { hash, next: self.heads[chain], entry });
        self.heads[chain] = at;
        at
    }

    /// Twice as many chains.
    fn lengthen(&mut self) {
        let chains = (2 * self.heads.len()).max(4);
        self.heads.clear();
        self.heads.resize(chains, NONE);
        for at in 0..self.nodes.len() {
            let chain = self.chain(self.nodes[at].hash);
            self.nodes[at].next = self.heads[chain];
            self.heads[chain] = at;
        }
    }

    pub(crate) fn get(&self, at: StashIndex) -> Option<&T> {
        self.nodes.get(at).map(|node| &node.entry)
    }

    pub(crate) fn get_mut(&mut self, at: StashIndex) -> Option<&mut T> {
        self.nodes.get_mut(at).map(|node| &mut node.entry)
    }

    /// Takes an entry out. Only the last entry changes its position.
    pub(crate) fn remove(&mut self, at: StashIndex) -> Option<T> {
        let last = self.nodes.len().checked_sub(1).filter(|&last| at <= last)?;
        *self.link_to(at) = self.nodes[at].next;
        if at != last {
            *self.link_to(last) = at;
        }
        Some(self.nodes.swap_remove(at).entry)
    }

    /// The link that leads to an entry.
    fn link_to(&mut self, at: StashIndex) -> &mut usize {
        let chain = self.chain(self.nodes[at].hash);
        if self.heads[chain] == at {
            return &mut self.heads[chain];
        }
        let mut before = self.heads[chain];
        while self.nodes[before].next != at {
            before = self.nodes[before].next;
        }
        &mut self.nodes[before].next
    }

    /// Takes some entry out, if there is one.
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.len().checked_sub(1).and_then(|last| self.remove(last))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.nodes.iter().map(|node| &node.entry)
    }

    pub(crate) fn nodes_mut(&mut self) -> slice::IterMut<'_, Node<T>> {
        self.nodes.iter_mut()
    }

    /// Drops all entries and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.heads.fill(NONE);
        self.nodes.clear();
        self.has_unhashed = false;
    }
}

#[cfg(test)]
mod tests;
