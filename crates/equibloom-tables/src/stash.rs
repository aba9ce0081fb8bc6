//! The exact stash: entries that no bucket holds.
//!
//! A vector of entries, chained by their hashes. It is fast at any size as long as the hashes differ; if they
//! are all equal, it is a list.

use alloc::vec::Vec;
use core::iter::{Chain, Map};
use core::slice;

/// Ends a chain.
const NONE: usize = usize::MAX;

#[derive(Clone)]
pub(crate) struct Stash<T> {
    /// First entry of each chain; a power of two of them, or none.
    heads: Vec<usize>,
    nodes: Vec<Node<T>>,
    /// Entries whose hash is unknown, because the user's hash function panicked during a rebuild. They are
    /// searched one by one until the next rebuild.
    unhashed: Vec<T>,
}

#[derive(Clone)]
pub(crate) struct Node<T> {
    hash: u64,
    next: usize,
    entry: T,
}

/// Shared references to all entries.
pub(crate) type Iter<'a, T> =
    Chain<Map<slice::Iter<'a, Node<T>>, fn(&'a Node<T>) -> &'a T>, slice::Iter<'a, T>>;
/// Exclusive references to all entries.
pub(crate) type IterMut<'a, T> = Chain<
    Map<slice::IterMut<'a, Node<T>>, fn(&'a mut Node<T>) -> &'a mut T>,
    slice::IterMut<'a, T>,
>;

/// Position in the stash: first the chained entries, then those without a hash.
pub(crate) type StashIndex = usize;

impl<T> Stash<T> {
    pub(crate) const fn new() -> Self {
        Self { heads: Vec::new(), nodes: Vec::new(), unhashed: Vec::new() }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.nodes.len() + self.unhashed.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether some entries can only be found one by one.
    #[inline]
    pub(crate) fn has_unhashed(&self) -> bool {
        !self.unhashed.is_empty()
    }

    /// Whether the entry at this position has no hash.
    pub(crate) fn is_unhashed(&self, at: StashIndex) -> bool {
        at >= self.nodes.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.heads.capacity() * size_of::<usize>()
            + self.nodes.capacity() * size_of::<Node<T>>()
            + self.unhashed.capacity() * size_of::<T>()
    }

    #[inline]
    fn chain(&self, hash: u64) -> usize {
        hash as usize & (self.heads.len() - 1)
    }

    /// The entry with this hash that `is_match` accepts, and its position.
    #[inline]
    pub(crate) fn find(
        &self,
        hash: u64,
        mut is_match: impl FnMut(&T) -> bool,
    ) -> Option<(StashIndex, &T)> {
        let mut at = if self.heads.is_empty() { NONE } else { self.heads[self.chain(hash)] };
        while at != NONE {
            let node = &self.nodes[at];
            if node.hash == hash && is_match(&node.entry) {
                return Some((at, &node.entry));
            }
            at = node.next;
        }
        let mut unhashed = self.unhashed.iter().zip(self.nodes.len()..);
        unhashed.find(|(entry, _)| is_match(entry)).map(|(entry, at)| (at, entry))
    }

    /// Adds an entry that is not in the stash.
    pub(crate) fn push(&mut self, hash: u64, entry: T) -> StashIndex {
        if self.nodes.len() == self.heads.len() {
            self.lengthen();
        }
        // Entries without a hash stand behind the others; this keeps their positions right.
        let (at, chain) = (self.nodes.len(), self.chain(hash));
        self.nodes.push(Node { hash, next: self.heads[chain], entry });
        self.heads[chain] = at;
        at
    }

    /// Adds an entry whose hash could not be found out.
    pub(crate) fn push_unhashed(&mut self, entry: T) {
        self.unhashed.push(entry);
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
        match self.nodes.get(at) {
            Some(node) => Some(&node.entry),
            None => self.unhashed.get(at - self.nodes.len()),
        }
    }

    pub(crate) fn get_mut(&mut self, at: StashIndex) -> Option<&mut T> {
        let hashed = self.nodes.len();
        match self.nodes.get_mut(at) {
            Some(node) => Some(&mut node.entry),
            None => self.unhashed.get_mut(at - hashed),
        }
    }

    /// Takes an entry out. Only the last entry changes its position.
    pub(crate) fn remove(&mut self, at: StashIndex) -> Option<T> {
        if at >= self.nodes.len() {
            let at = at - self.nodes.len();
            return (at < self.unhashed.len()).then(|| self.unhashed.swap_remove(at));
        }
        let last = self.nodes.len() - 1;
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

    pub(crate) fn iter(&self) -> Iter<'_, T> {
        let entry: fn(&Node<T>) -> &T = |node| &node.entry;
        self.nodes.iter().map(entry).chain(&self.unhashed)
    }

    pub(crate) fn iter_mut(&mut self) -> IterMut<'_, T> {
        let entry: fn(&mut Node<T>) -> &mut T = |node| &mut node.entry;
        self.nodes.iter_mut().map(entry).chain(&mut self.unhashed)
    }

    /// Drops all entries and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.heads.fill(NONE);
        self.nodes.clear();
        self.unhashed.clear();
    }
}

#[cfg(test)]
mod tests;
