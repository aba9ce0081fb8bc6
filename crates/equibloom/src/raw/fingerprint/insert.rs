//! Inserts.

use super::{Fingerprints, Plan};
use crate::block::fingerprint::{Arrival, Entry, Smallest};
use crate::block::isa::{DetectedIsa, Target, entry_points, kernels};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::overflow::{ListFull, OverflowList};
use crate::raw::Insertion;
use crate::storage::{Line, Storage, Update};
use equibloom_layout::MAX_FINGERPRINT_SUBTABLES;

/// An overflow list that inserts add to: an exclusive reference, or a shared one to a list behind a lock.
pub(super) trait Overflow {
    /// Adds an entry, in a set unless it is there; returns whether it was added.
    fn add(&mut self, entry: u64, plan: &Plan) -> Result<bool, ListFull>;
}

impl Overflow for &mut OverflowList {
    fn add(&mut self, entry: u64, plan: &Plan) -> Result<bool, ListFull> {
        if !plan.multiset && self.contains(entry) {
            return Ok(false);
        }
        self.push(entry, plan.when_full)?;
        Ok(true)
    }
}

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placed {
    /// Whether the key was new.
    pub(super) insertion: Insertion,
    /// Whether the filter holds one entry more. An entry that was sent on may meet its equal.
    pub(super) added: bool,
}

/// The functions of a filter's ISA and shape.
#[derive(Debug, Clone, Copy)]
pub(super) struct InsertKernels {
    insert: unsafe fn(&mut Fingerprints, KeyHash) -> Result<Insertion, FullError>,
    insert_slowly: unsafe fn(&mut Fingerprints, KeyHash) -> Result<Insertion, FullError>,
}

impl InsertKernels {
    pub(super) fn new(isa: DetectedIsa, common: bool) -> Self {
        kernels!(isa, common, { insert: insert, insert_slowly: insert_slowly })
    }
}

impl Fingerprints {
    #[inline]
    pub(in crate::raw) fn insert(&mut self, key: KeyHash) -> Result<Insertion, FullError> {
        // SAFETY: chosen for this CPU.
        unsafe { (self.insert.insert)(self, key) }
    }

    /// An insert that reports its accesses, for statistics. Uses the portable ISA.
    pub(in crate::raw) fn insert_observed<O: Observer>(
        &mut self,
        key: KeyHash,
        mut observer: O,
    ) -> Result<Insertion, FullError> {
        self.insert_on(crate::block::ANY, key, &mut observer)
    }

    #[inline(always)]
    fn insert_on<T: Target, O: Observer>(
        &mut self,
        t: T,
        key: KeyHash,
        observer: &mut O,
    ) -> Result<Insertion, FullError> {
        let Self { plan, words, list, .. } = self;
        let first = Visit::first(t, plan, key);
        let placed = place(t, plan, &mut { words }, &mut { list }, first, observer);
        let placed = placed.map_err(|ListFull| self.full())?;
        self.elements = self.elements.saturating_add(placed.added.into());
        Ok(placed.insertion)
    }
}

entry_points! {
    fn insert[][](filter: &mut Fingerprints, key: KeyHash) -> Result<Insertion, FullError>;
    fn insert_slowly[][](filter: &mut Fingerprints, key: KeyHash) -> Result<Insertion, FullError>;
}

/// Inserts a key: mostly into its first block, which has room and no entry like it.
#[inline(always)]
fn insert<T: Target>(
    t: T,
    filter: &mut Fingerprints,
    key: KeyHash,
) -> Result<Insertion, FullError> {
    let Fingerprints { plan: Plan { levels, shape, .. }, words, .. } = filter;
    let block = levels[0].first_block_of(key.candidate(0));
    let line = words.line_mut(block.0 as usize);
    let entry = shape.entry_of(t, key);
    let Some(place) = shape.usual_place(t, line, entry) else {
        // SAFETY: chosen for this CPU.
        return unsafe { (filter.insert.insert_slowly)(filter, key) };
    };
    shape.insert(t, line, place, entry);
    filter.elements = filter.elements.saturating_add(1);
    Ok(Insertion::New)
}

/// The whole insert.
#[inline(always)]
fn insert_slowly<T: Target>(
    t: T,
    filter: &mut Fingerprints,
    key: KeyHash,
) -> Result<Insertion, FullError> {
    filter.insert_on(t, key, &mut ())
}

/// An entry at a block of a level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visit {
    pub(super) level: usize,
    pub(super) block: u64,
    pub(super) entry: Entry,
}

impl Visit {
    /// A key at its block of a level, if there are so many levels.
    #[inline(always)]
    pub(super) fn of<T: Target>(t: T, plan: &Plan, level: usize, key: KeyHash) -> Option<Self> {
        let block = plan.levels().get(level)?.block_of(key.candidate(0)).0;
        Some(Self { level, block, entry: plan.shape.entry_of(t, key) })
    }

    /// A key at its first block.
    #[inline(always)]
    pub(super) fn first<T: Target>(t: T, plan: &Plan, key: KeyHash) -> Self {
        let block = plan.levels[0].first_block_of(key.candidate(0)).0;
        Self { level: 0, block, entry: plan.shape.entry_of(t, key) }
    }

    /// What happens to it there.
    #[inline(always)]
    pub(super) fn arrival<T: Target>(&self, t: T, plan: &Plan, line: &Line) -> Arrival {
        plan.shape.arrival(t, line, self.entry, plan.multiset)
    }

    /// Changes a full block after it has sent on its smallest entry, or else this one.
    #[inline(always)]
    pub(super) fn settle<T: Target>(
        &self,
        t: T,
        plan: &Plan,
        line: &mut Line,
        smallest: Option<Smallest>,
    ) {
        let mut leaving = self.entry;
        if let Some(smallest) = smallest {
            plan.shape.replace(t, line, smallest, self.entry);
            leaving = smallest.entry;
        }
        plan.shape.raise_watermark(line, leaving.byte());
    }
}

/// Stores an entry in its block or further on. What a block sends on is stored there first; meanwhile the
/// block stays locked. If the list refuses an entry, nothing has changed.
#[inline(always)]
pub(super) fn place<T: Target, U: Update, L: Overflow, O: Observer>(
    t: T,
    plan: &Plan,
    to: &mut U,
    list: &mut L,
    first: Visit,
    observer: &mut O,
) -> Result<Placed, ListFull> {
    // The blocks that send an entry on, and which of their own.
    let mut full = [(first, None); MAX_FINGERPRINT_SUBTABLES as usize];
    let mut count = 0;
    let mut visit = first;
    let added = loop {
        let Visit { level, block, entry } = visit;
        let line = block as usize;
        observer.block_read();
        to.lock(level, line);
        let arrival = visit.arrival(t, plan, &to.words().load(line));
        let (leaving, smallest) = match arrival {
            Arrival::GoesOn => (entry, None),
            Arrival::Displaces(smallest) => (smallest.entry, Some(smallest)),
            Arrival::Present | Arrival::Room(_) | Arrival::Repeats => {
                let added = match arrival {
                    Arrival::Room(place) => {
                        to.write(level, line, |line| plan.shape.insert(t, line, place, entry));
                        Ok(true)
                    }
                    Arrival::Repeats => list.add(entry.onward(block).candidate(0), plan),
                    _ => Ok(false),
                };
                to.unlock(level, line);
                break added;
            }
        };
        full[count % full.len()] = (visit, smallest);
        count += 1;
        let onward = leaving.onward(block);
        match Visit::of(t, plan, level + 1, onward) {
            Some(next) => visit = next,
            None => {
                observer.overflow_probed();
                break list.add(onward.candidate(0), plan);
            }
        }
    };
    for (visit, smallest) in full[..count.min(full.len())].iter().rev() {
        let line = visit.block as usize;
        if added.is_ok() {
            to.write(visit.level, line, |line| visit.settle(t, plan, line, *smallest));
        }
        to.unlock(visit.level, line);
    }
    let added = added?;
    // The first block keeps the entry if another one leaves.
    let stays = count > 0 && full[0].1.is_some();
    let insertion = if added || stays { Insertion::New } else { Insertion::AlreadyPresent };
    Ok(Placed { insertion, added })
}
