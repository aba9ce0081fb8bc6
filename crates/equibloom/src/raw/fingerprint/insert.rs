//! Inserts.
//!
//! Most keys are new and find room in their first block: a short entry point of its own.

use super::batch::{Outcome, contains_batch, insert_level};
use super::overload::{insert_anywhere_overloaded, insert_overloaded};
use super::{Fingerprints, Plan};
use crate::block::fingerprint::{Arrival, Entry, Smallest};
use crate::block::isa::{ANY, Target, kernel_table};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::overflow::ListFull;
use crate::raw::Insertion;
use crate::raw::ledger::{Ledger, Record};
use crate::raw::threads::Part;
use crate::storage::{Line, Storage, Update};
use equibloom_layout::MAX_FINGERPRINT_SUBTABLES;

kernel_table! {
    /// Inserts into a filter with one owner, and batches.
    pub(crate) struct OwnFingerprintInserts[] [] {
        fn insert(filter: &mut Fingerprints, key: KeyHash) -> Result<Insertion, ListFull>;
        #[any]
        fn insert_overloaded(
            filter: &mut Fingerprints, key: KeyHash,
        ) -> Result<Insertion, ListFull>;
        #[any]
        fn insert_anywhere_overloaded(filter: &mut Fingerprints, key: KeyHash) -> Insertion;
        fn arrive(filter: &mut Fingerprints, level: usize, key: KeyHash) -> Arrived;
        fn contains_batch(filter: &Fingerprints, keys: &[KeyHash], found: &mut [u64]) -> ();
        fn insert_level(
            plan: &Plan, level: usize, part: Part<'_>, arriving: &[Outcome], keys: &[KeyHash],
            undoable: bool, used: Outcome,
        ) -> Outcome;
    }
}

impl OwnFingerprintInserts {
    /// The same for an overloaded filter.
    pub(super) fn overloaded(self) -> Self {
        Self { insert: self.insert_overloaded, ..self }
    }
}

/// Inserts a key: mostly its first block has room and no entry like it. Otherwise, a tail call: few registers
/// are saved.
#[inline(always)]
fn insert<T: Target>(t: T, filter: &mut Fingerprints, key: KeyHash) -> Result<Insertion, ListFull> {
    let Fingerprints { plan, words, ledger, .. } = &mut *filter;
    let Visit { block, entry, .. } = Visit::first(t, plan, key);
    if let Some(line) = words.own_line_mut(block as usize)
        && let Some(place) = plan.shape.usual_place(t, line, entry)
    {
        plan.shape.insert(t, line, place, entry);
        ledger.elements = ledger.elements.wrapping_add(1);
        return Ok(Insertion::New);
    }
    filter.insert_further(key)
}

/// Takes a key, or what stands for an entry that was sent on, to its block of a level.
#[inline(always)]
fn arrive<T: Target>(t: T, filter: &mut Fingerprints, level: usize, key: KeyHash) -> Arrived {
    let Fingerprints { plan, words, .. } = filter;
    match Visit::of(t, plan, level, key) {
        Some(visit) => visit.arrive(t, plan, &mut words[visit.block as usize]),
        None => Arrived::Listed { entry: key.candidate(0) },
    }
}

impl Fingerprints {
    #[inline]
    pub(in crate::raw) fn insert(&mut self, key: KeyHash) -> Result<Insertion, FullError> {
        // The kernel's error fits into a register, beside the result.
        self.inserts.insert(self, key).map_err(|ListFull| self.ledger.full())
    }

    /// The whole insert.
    #[inline(never)]
    fn insert_further(&mut self, key: KeyHash) -> Result<Insertion, ListFull> {
        if !self.ledger.overflow.has_room() {
            return self.insert_without_list(key);
        }
        let (mut level, mut key) = (0, key);
        let mut insertion = Insertion::AlreadyPresent;
        let listed = loop {
            match self.inserts.arrive(self, level, key) {
                Arrived::Present => return Ok(insertion),
                Arrived::Added => {
                    self.ledger.elements = self.ledger.elements.wrapping_add(1);
                    return Ok(Insertion::New);
                }
                Arrived::Listed { entry } => break entry,
                Arrived::Left { onward, stays } => {
                    // The first that stays is the key itself.
                    if stays {
                        insertion = Insertion::New;
                    }
                    (level, key) = (level + 1, onward);
                }
            }
        };
        let Self { plan, ledger, .. } = self;
        let mut ledger = ledger;
        // It has room.
        if ledger.list(listed, !plan.multiset, plan.when_full, false)?.is_new() {
            ledger.count(0);
            insertion = Insertion::New;
        }
        Ok(insertion)
    }

    /// An insert that reports its accesses, for statistics.
    pub(in crate::raw) fn insert_observed<O: Observer>(
        &mut self,
        key: KeyHash,
        mut observer: O,
    ) -> Result<Insertion, FullError> {
        let first = Visit::first(ANY, &self.plan, key);
        self.place_at_last(first, &mut observer).map_err(|ListFull| self.ledger.full())
    }

    /// [Stores](place) an entry. Few inserts need it: it uses the portable ISA, and is compiled once.
    #[inline(never)]
    pub(super) fn place(
        &mut self,
        first: Visit,
        mut observer: &mut dyn Observer,
    ) -> Result<Insertion, ListFull> {
        let Self { plan, words, ledger, .. } = self;
        place(ANY, plan, &mut { words }, &mut { ledger }, first, &mut observer)
    }
}

/// What became of an entry at a block.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arrived {
    /// The block has it.
    Added,
    /// The block had it already.
    Present,
    /// The block has sent an entry on: this one, or, if this one `stays`, its smallest.
    Left { onward: KeyHash, stays: bool },
    /// The entry is for the list: it comes from the last level, or repeats others.
    Listed { entry: u64 },
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

    /// The arrival, and the change of the block. What leaves is in no block until it has arrived at the next.
    #[inline(always)]
    pub(super) fn arrive<T: Target>(&self, t: T, plan: &Plan, line: &mut Line) -> Arrived {
        if self.takes_room(t, plan, line) { Arrived::Added } else { self.displaces(t, plan, line) }
    }

    /// Whether the block has room and no similar entry. Then the entry is there now.
    #[inline(always)]
    pub(super) fn takes_room<T: Target>(&self, t: T, plan: &Plan, line: &mut Line) -> bool {
        let place = plan.shape.usual_place(t, line, self.entry);
        if let Some(place) = place {
            plan.shape.insert(t, line, place, self.entry);
        }
        place.is_some()
    }

    /// The arrival otherwise.
    #[inline(always)]
    pub(super) fn displaces<T: Target>(&self, t: T, plan: &Plan, line: &mut Line) -> Arrived {
        let Self { block, entry, .. } = *self;
        match plan.shape.quick_exchange(t, line, entry) {
            Some(leaving) => {
                Arrived::Left { onward: leaving.onward(block), stays: leaving != entry }
            }
            None => self.arrive_in_any_way(plan, line),
        }
    }

    /// What [`arrive`](Self::arrive) does, for multisets, equal bytes and blocks without bytes too. Uses the
    /// portable ISA.
    #[inline(never)]
    fn arrive_in_any_way(self, plan: &Plan, line: &mut Line) -> Arrived {
        let (t, Self { block, entry, .. }) = (ANY, self);
        let (leaving, smallest) = match self.arrival(t, plan, line) {
            Arrival::Present => return Arrived::Present,
            Arrival::Room(place) => {
                plan.shape.insert(t, line, place, entry);
                return Arrived::Added;
            }
            Arrival::Repeats => {
                return Arrived::Listed { entry: entry.onward(block).candidate(0) };
            }
            Arrival::GoesOn => (entry, None),
            Arrival::Displaces(smallest) => (smallest.entry, Some(smallest)),
        };
        self.settle(t, plan, line, smallest);
        Arrived::Left { onward: leaving.onward(block), stays: smallest.is_some() }
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
pub(super) fn place<T: Target, U: Update, L: Record, O: Observer>(
    t: T,
    plan: &Plan,
    to: &mut U,
    ledger: &mut L,
    first: Visit,
    observer: &mut O,
) -> Result<Insertion, ListFull> {
    // The blocks that send an entry on, and which of their own.
    let mut full = [(first, None); MAX_FINGERPRINT_SUBTABLES as usize];
    let mut count = 0;
    let mut visit = first;
    let list = |ledger: &mut L, onward: KeyHash| {
        let pushed = ledger.list(onward.candidate(0), !plan.multiset, plan.when_full, false);
        pushed.map(Insertion::is_new)
    };
    // Whether the filter holds one entry more. An entry that was sent on may meet its equal.
    let added = loop {
        let Visit { level, block, entry } = visit;
        let line = block as usize;
        observer.block_read();
        to.lock(level, line);
        let arrival = visit.arrival(t, plan, &to.load(line));
        // Full blocks may be shortened by now, and send nothing on.
        if !matches!(arrival, Arrival::Room(_)) && ledger.is_overloaded() {
            to.unlock(level, line);
            break Err(ListFull);
        }
        let (leaving, smallest) = match arrival {
            Arrival::GoesOn => (entry, None),
            Arrival::Displaces(smallest) => (smallest.entry, Some(smallest)),
            Arrival::Present | Arrival::Room(_) | Arrival::Repeats => {
                let added = match arrival {
                    Arrival::Room(place) => {
                        to.write(level, line, |line| plan.shape.insert(t, line, place, entry));
                        Ok(true)
                    }
                    Arrival::Repeats => list(ledger, entry.onward(block)),
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
                break list(ledger, onward);
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
    if added {
        ledger.count(0);
    }
    // A block that another entry leaves keeps this one.
    let stays = full[..count.min(full.len())].iter().any(|(_, smallest)| smallest.is_some());
    Ok(if added || stays { Insertion::New } else { Insertion::AlreadyPresent })
}
