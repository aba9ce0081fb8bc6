//! A table that grows: strings move from one geometry to the next, a few blocks at each insert.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::ops::{ControlFlow, Range};

use super::kernels::Kernels;
use super::levels::{Found, Levels, Match};
use super::listed::Listed;
use super::moving::Moving;
use super::prefix::Prefix;
use super::schedule::Schedule;
use crate::block::isa::{ANY, DetectedIsa, KernelTable, Nearness, Target};
use crate::error::BuildError;
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::raw::Insertion;

/// Blocks of the new table that an insert fills while strings move. Two, so that few strings come to the old
/// table, which has begun to be full.
const BLOCKS_PER_INSERT: u32 = 2;

/// How many keys ahead of inserts their blocks are prefetched.
const INSERTS_AHEAD: usize = 16;

/// What one insert did besides storing its key.
///
/// ```
/// use equibloom::Filter;
///
/// let mut filter = Filter::<u64>::builder().rate(0.01).build_growing()?;
/// filter.try_extend(0..100_000)?;
/// assert!(filter.longest_insert().blocks < 30); // of some 3,300
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct GrowthWork {
    /// Blocks read and written to move strings.
    pub blocks: u64,
    /// Bytes allocated and zeroed.
    pub bytes: u64,
}

impl GrowthWork {
    /// The most of each.
    pub(super) fn max(self, other: Self) -> Self {
        Self { blocks: self.blocks.max(other.blocks), bytes: self.bytes.max(other.bytes) }
    }
}

/// Strings that stand for keys. A key is present if a string is a beginning of its hash.
#[derive(Clone)]
pub(super) struct Table {
    /// Shared by all tables that have the same.
    pub(super) schedule: Arc<Schedule>,
    /// The table of all lists, or of those that were moved.
    pub(super) current: Levels,
    /// The table of the other lists, while strings move.
    pub(super) previous: Option<Box<Previous>>,
    pub(super) listed: Listed,
    /// Strings in the levels.
    pub(super) strings: u64,
    /// Strings with which the next step begins.
    capacity: u64,
    /// Inserts of new keys, less removals.
    pub(super) elements: u64,
    /// Whether every insert is stored, so that keys can be removed.
    pub(super) removable: bool,
    /// The most that one insert did.
    pub(super) longest: GrowthWork,
    /// The strings of a block that moves.
    pub(super) moving: Moving,
    pub(super) kernels: Kernels,
}

/// Tables are equal if they hold the same strings in the same places.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.schedule == other.schedule
            && self.listed == other.listed
            && (self.elements, self.removable) == (other.elements, other.removable)
            && self.parts().map(|(_, lists)| lists).eq(other.parts().map(|(_, lists)| lists))
            && self.parts().zip(other.parts()).all(|((ours, lists), (theirs, _))| {
                ours.geometry == theirs.geometry
                    && ours.lines(lists.clone()).eq(theirs.lines(lists))
            })
    }
}

/// A table that strings leave, in the order of their lists.
#[derive(Debug, Clone)]
pub(super) struct Previous {
    pub(super) levels: Levels,
    /// The block of the current table that is filled next.
    pub(super) next: u64,
    /// The first hash whose string has not moved.
    pub(super) boundary: u64,
}

impl Table {
    /// An empty table.
    pub(super) fn new(
        schedule: impl Into<Arc<Schedule>>,
        removable: bool,
    ) -> Result<Self, BuildError> {
        let schedule = schedule.into();
        let mut current = Levels::new(schedule.first());
        current.allocate()?;
        Ok(Self::over(schedule, removable, current))
    }

    /// A table of these levels, which are empty.
    pub(super) fn over(
        schedule: impl Into<Arc<Schedule>>,
        removable: bool,
        current: Levels,
    ) -> Self {
        let schedule = schedule.into();
        let capacity = current.geometry.capacity();
        Self {
            kernels: Kernels::new(DetectedIsa::detect(), schedule.is_common),
            schedule,
            current,
            previous: None,
            listed: Listed::default(),
            strings: 0,
            capacity,
            elements: 0,
            removable,
            longest: GrowthWork::default(),
            moving: Moving::default(),
        }
    }

    /// The levels that hold the strings of a hash.
    #[inline(always)]
    pub(super) fn levels_of(&self, key: Prefix) -> &Levels {
        match &self.previous {
            Some(previous) if key.high() >= previous.boundary => &previous.levels,
            _ => &self.current,
        }
    }

    #[inline(always)]
    pub(super) fn levels_of_mut(&mut self, key: Prefix) -> &mut Levels {
        match &mut self.previous {
            Some(previous) if key.high() >= previous.boundary => &mut previous.levels,
            _ => &mut self.current,
        }
    }

    /// Whether a string is a beginning of the key.
    #[inline]
    pub(super) fn contains(&self, key: Prefix) -> bool {
        self.kernels.contains(self, key)
    }

    /// [`contains`](Self::contains) that reports its accesses.
    pub(super) fn contains_observed(&self, key: Prefix, observer: &mut impl Observer) -> bool {
        self.find(ANY, key, 0, observer)
    }

    /// Looks for a beginning of the key in the levels from number `from` on, and in the list.
    #[inline(always)]
    pub(super) fn find<T: Target>(
        &self,
        t: T,
        key: Prefix,
        from: usize,
        observer: &mut impl Observer,
    ) -> bool {
        let levels = self.levels_of(key);
        match levels.find(t, key, from, observer) {
            Found::Yes => true,
            Found::No => false,
            Found::AskList => {
                observer.overflow_probed();
                self.listed.longest(key, levels.lengths()).is_some()
            }
        }
    }

    /// Prefetches the block of a key.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: Prefix, nearness: Nearness) {
        self.levels_of(key).prefetch(key, nearness);
    }

    /// Inserts a key. If memory is short, nothing has been stored.
    #[inline]
    pub(super) fn insert(&mut self, key: Prefix) -> Result<Insertion, BuildError> {
        if self.must_grow() {
            self.grow()?;
        }
        Ok(self.kernels.insert(self, key))
    }

    /// Inserts keys in order, prefetching the blocks of later ones.
    pub(super) fn insert_batch(&mut self, keys: &[KeyHash]) -> Result<(), BuildError> {
        let prefetch = |table: &Self, key: Option<&KeyHash>| {
            key.into_iter().for_each(|&key| table.prefetch(Prefix::of_key(key), Nearness::First));
        };
        let mut later = keys.iter();
        later.by_ref().take(INSERTS_AHEAD).for_each(|key| prefetch(self, Some(key)));
        for &key in keys {
            prefetch(self, later.next());
            self.insert(Prefix::of_key(key))?;
        }
        Ok(())
    }

    /// Calls `answer` with the answers for each 64 keys, and the number of these, while the blocks of the next 64 are
    /// prefetched.
    pub(super) fn contains_batch(&self, keys: &[KeyHash], mut answer: impl FnMut(u64, usize)) {
        let prefetch = |keys: &[KeyHash]| {
            keys.iter().for_each(|&key| self.prefetch(Prefix::of_key(key), Nearness::Second));
        };
        let mut words = keys.chunks(u64::BITS as usize).peekable();
        words.peek().into_iter().for_each(|keys| prefetch(keys));
        while let Some(keys) = words.next() {
            words.peek().into_iter().for_each(|keys| prefetch(keys));
            answer(self.kernels.contains_word(self, keys), keys.len());
        }
    }

    /// Stores a string of at least as many bits as the current table's list numbers.
    #[inline(always)]
    pub(super) fn store<T: Target>(&mut self, t: T, string: Prefix) {
        let removable = self.removable;
        let levels = self.levels_of_mut(string);
        if levels.store(t, string, 0, removable) {
            self.strings += 1;
        } else {
            self.list(string, 1);
        }
    }

    /// Lists copies of a string of at least as many bits as the current table's list numbers.
    fn list(&mut self, string: Prefix, copies: u64) {
        let levels = self.levels_of_mut(string);
        levels.lead_to_list(string);
        let string = string.truncated(levels.lengths().end - 1);
        self.listed.insert(string, copies);
    }

    /// Inserts all strings of another table.
    pub(super) fn merge(&mut self, other: &Self) -> Result<(), BuildError> {
        let merged = other.for_each(|string, copies| {
            let merged = self.merge_string(string, copies);
            merged.map_or_else(ControlFlow::Break, ControlFlow::Continue)
        });
        if let ControlFlow::Break(error) = merged {
            return Err(error);
        }
        self.elements += other.elements;
        Ok(())
    }

    /// Inserts copies of a string of another table.
    pub(super) fn merge_string(&mut self, string: Prefix, copies: u64) -> Result<(), BuildError> {
        if self.must_grow() {
            self.grow()?;
        }
        // A longer string that begins with this one does not stand for all of its keys.
        let stands_for = self.levels_of(string).longest(string).0;
        let is_present = stands_for.is_some_and(|found| found.length <= string.length());
        if self.removable || !is_present {
            let list_bits = self.current.geometry.list_bits;
            string.extended(list_bits, &mut |part| match copies {
                1 => self.store(ANY, part),
                _ => self.list(part, copies),
            });
        }
        Ok(())
    }

    /// The tables that hold strings, and for which lists.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&Levels, Range<u64>)> {
        let all = |levels: &Levels| 1 << levels.geometry.list_bits;
        let (moved, rest) = match self.previous.as_deref() {
            None => (all(&self.current), None),
            Some(Previous { levels, next, .. }) => {
                let doublings = self.current.geometry.list_bits - levels.geometry.list_bits;
                let moved = self.current.lists_of(*next).start;
                (moved, Some((levels, moved >> doublings..all(levels))))
            }
        };
        let moved = (moved > 0).then_some((&self.current, 0..moved));
        moved.into_iter().chain(rest)
    }

    /// Visits all strings and their copies, strewn over the table.
    pub(super) fn for_each<B>(
        &self,
        mut visit: impl FnMut(Prefix, u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for (levels, lists) in self.parts() {
            levels.for_each(&lists, |string| visit(string, 1))?;
        }
        self.listed.iter().try_for_each(|(string, copies)| visit(string, copies))
    }

    /// Removes the longest string that is a beginning of the key; returns whether there was one.
    ///
    /// A string stands for each inserted key. If the one removed stood for another key, then the
    /// string of this key is a beginning of it, and stands for the other key from now on.
    pub(super) fn remove(&mut self, key: Prefix) -> bool {
        let levels = self.levels_of(key);
        let (found, ask) = levels.longest(key);
        let listed = match ask {
            Found::AskList => self.listed.longest(key, levels.lengths()),
            _ => None,
        };
        match (found, listed) {
            (Some(found), Some(listed)) if found.length > listed.length() => {
                self.remove_found(key, found)
            }
            (_, Some(listed)) => self.listed.remove(listed),
            (Some(found), None) => self.remove_found(key, found),
            (None, None) => return false,
        }
        self.elements = self.elements.saturating_sub(1);
        true
    }

    fn remove_found(&mut self, key: Prefix, found: Match) {
        self.levels_of_mut(key).remove(&found);
        self.strings = self.strings.saturating_sub(1);
    }

    /// Whether a step is due or under way.
    #[inline(always)]
    const fn must_grow(&self) -> bool {
        self.strings >= self.capacity || self.previous.is_some()
    }

    /// Begins a step if one is due, and moves a few blocks if one is under way.
    #[cold]
    fn grow(&mut self) -> Result<(), BuildError> {
        if self.previous.is_none() {
            let Some(next) = self.schedule.after(self.current.geometry) else { return Ok(()) };
            let levels = core::mem::replace(&mut self.current, Levels::new(next));
            self.capacity = next.capacity();
            self.previous = Some(Box::new(Previous { levels, next: 0, boundary: 0 }));
        }
        let mut work = GrowthWork::default();
        for _ in 0..BLOCKS_PER_INSERT {
            self.kernels.move_block(self, &mut work)?;
        }
        self.longest = self.longest.max(work);
        Ok(())
    }

    /// Removes all strings; the table is as small as at first.
    pub(super) fn clear(&mut self) {
        let first = Levels::new(self.schedule.first());
        *self = Self::over(self.schedule.clone(), self.removable, first);
        // A table without its lines is slow, but it works: strings go to the list.
        drop(self.current.allocate());
    }
}

#[cfg(test)]
mod tests;
