//! What happens when the list of a set that saturates is full.
//!
//! From the moment it refuses an entry, the filter is *overloaded*: no block sends anything on. A full block is
//! [shortened](crate::block::fingerprint) instead, which takes no memory and loses no key. What was sent on
//! before stays where it is, and the watermarks still lead there.
//!
//! The blocks of an overloaded filter depend on the order of its keys.

use super::insert::Visit;
use super::lookup::walk;
use super::{Fingerprints, Plan};
use crate::block::fingerprint::{Arrival, is_shortened, old_watermark, watermark};
use crate::block::isa::{ANY, KernelTable, Nearness, Target};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::observer::Observer;
use crate::overflow::ListFull;
use crate::raw::Insertion;
use crate::raw::ledger::{Ledger, OwnLedger, Record};
use crate::storage::{Storage, Update};
use equibloom_layout::WhenFull;

/// How many inserts ahead a block is prefetched.
const AHEAD: usize = 16;

/// Stores an entry in its block of an overloaded filter, unless it is there or was sent on.
#[inline(always)]
pub(super) fn place_overloaded<T: Target, U: Update, L: Record, O: Observer>(
    t: T,
    plan: &Plan,
    to: &mut U,
    ledger: &mut L,
    visit: Visit,
    observer: &mut O,
) -> Insertion {
    let Visit { level, block, entry } = visit;
    let (line, shape) = (block as usize, &plan.shape);
    observer.block_read();
    to.lock(level, line);
    // The arrival, and the largest byte that was sent on.
    let (arrival, last) = {
        let found = to.load(line);
        if is_shortened(&found) {
            (Arrival::GoesOn, old_watermark(&found))
        } else if plan.shape.is_full(t, &found) && !plan.shape.holds(t, &found, entry) {
            // Whichever would be sent on.
            (Arrival::GoesOn, watermark(&found))
        } else {
            (visit.arrival(t, plan, &found), watermark(&found))
        }
    };
    let mut added = false;
    match arrival {
        Arrival::Present | Arrival::Repeats => {}
        Arrival::Room(place) => {
            added = true;
            to.write(level, line, |line| shape.insert(t, line, place, entry));
        }
        Arrival::GoesOn | Arrival::Displaces(_) => {
            let was_sent_on = entry.byte() <= last && {
                let onward = entry.onward(block);
                walk::<T, _, _, O, true>(t, plan, &**to, &**ledger, level + 1, onward, observer)
            };
            if !was_sent_on {
                to.write(level, line, |line| added = shape.add_shortened(t, line, entry));
            }
            if added {
                ledger.count_saturated();
            }
        }
    }
    to.unlock(level, line);
    if added {
        ledger.count(0);
        return Insertion::New;
    }
    Insertion::AlreadyPresent
}

/// Inserts a key into an overloaded filter: mostly its block is shortened by now, and has not sent it on. Otherwise, a
/// tail call.
#[inline(always)]
pub(super) fn insert_overloaded<T: Target>(
    t: T,
    filter: &mut Fingerprints,
    key: KeyHash,
) -> Result<Insertion, ListFull> {
    let Fingerprints { plan, words, ledger, .. } = &mut *filter;
    let Visit { block, entry, .. } = Visit::first(t, plan, key);
    if let Some(line) = words.own_line_mut(block as usize)
        && is_shortened(line)
        && entry.byte() > old_watermark(line)
    {
        if !plan.shape.add_to_shortened(t, line, entry) {
            return Ok(Insertion::AlreadyPresent);
        }
        let mut ledger = ledger;
        ledger.count_saturated();
        ledger.count(0);
        return Ok(Insertion::New);
    }
    filter.insert_overloaded_further(key)
}

/// The whole insert.
#[inline(always)]
pub(super) fn insert_anywhere_overloaded<T: Target>(
    t: T,
    filter: &mut Fingerprints,
    key: KeyHash,
) -> Insertion {
    let Fingerprints { plan, words, ledger, .. } = filter;
    let first = Visit::first(t, plan, key);
    place_overloaded(t, plan, &mut { words }, &mut { ledger }, first, &mut ())
}

impl Fingerprints {
    /// An insert while the list has no room.
    #[inline(never)]
    pub(super) fn insert_without_list(&mut self, key: KeyHash) -> Result<Insertion, ListFull> {
        if !self.ledger.is_overloaded() {
            // No block changes before the list has taken what is for it.
            match self.place(Visit::first(ANY, &self.plan, key), &mut ()) {
                Err(ListFull) if self.plan.shortens => self.overload(),
                inserted => return inserted,
            }
        }
        self.inserts.insert_overloaded(self, key)
    }

    /// The whole insert into an overloaded filter.
    #[inline(never)]
    fn insert_overloaded_further(&mut self, key: KeyHash) -> Result<Insertion, ListFull> {
        Ok(self.inserts.insert_anywhere_overloaded(self, key))
    }

    /// The same with an observer. Uses the portable ISA.
    pub(super) fn place_at_last(
        &mut self,
        visit: Visit,
        mut observer: &mut dyn Observer,
    ) -> Result<Insertion, ListFull> {
        if !self.ledger.is_overloaded() {
            match self.place(visit, observer) {
                Err(ListFull) if self.plan.shortens => self.overload(),
                placed => return placed,
            }
        }
        let Self { plan, words, ledger, .. } = self;
        Ok(place_overloaded(ANY, plan, &mut { words }, &mut { ledger }, visit, &mut observer))
    }

    /// From now on full blocks are shortened. The list has no room.
    #[cold]
    fn overload(&mut self) {
        self.ledger.overloaded = true;
        self.choose_kernels();
    }

    /// Chooses the entry points, which depend on whether blocks may be shortened.
    pub(in crate::raw) fn choose_kernels(&mut self) {
        self.choose_lookups();
        self.inserts = KernelTable::new(self.isa, self.plan.shape.is_common());
        if self.ledger.is_overloaded() {
            self.inserts = self.inserts.overloaded();
        }
    }

    /// Inserts keys in order.
    pub(super) fn insert_one_by_one(&mut self, keys: &[KeyHash]) -> Result<(), ListFull> {
        for (index, &key) in keys.iter().enumerate() {
            if let Some(ahead) = keys.get(index + AHEAD) {
                let block = self.plan.levels[0].first_block_of(ahead.candidate(0));
                self.words.prefetch(block.0 as usize, Nearness::First);
            }
            self.inserts.insert(self, key)?;
        }
        Ok(())
    }

    /// Looks up keys in an overloaded filter: bit `i % 64` of word `i / 64` of `found` becomes the answer for
    /// key `i`.
    pub(super) fn contains_each(&self, keys: &[KeyHash], found: &mut [u64]) {
        let word = u64::BITS as usize;
        for (keys, found) in keys.chunks(word).zip(found) {
            for &key in keys {
                let block = self.plan.levels[0].first_block_of(key.candidate(0));
                self.words.prefetch(block.0 as usize, Nearness::Second);
            }
            let answers = keys.iter().enumerate();
            *found =
                answers.fold(0, |found, (bit, &key)| found | u64::from(self.contains(key)) << bit);
        }
    }

    /// Adds all entries of a filter of the same layout, which saturates.
    pub(super) fn merge_saturating(&mut self, other: &Self) -> Result<(), FullError> {
        self.merge_lists(other)?;
        for (level, blocks) in other.plan.levels().iter().enumerate() {
            for block in blocks.offset..blocks.offset + blocks.size {
                let Self { plan, words, ledger, .. } = self;
                let (ours, theirs) = (&mut words[block as usize], &other.words[block as usize]);
                if is_shortened(theirs) || is_shortened(ours) {
                    let added = plan.shape.merge_shortened(ours, theirs);
                    ledger.elements = ledger.elements.saturating_add(added);
                    continue;
                }
                for entry in other.plan.shape.entries(theirs) {
                    self.place_at_last(Visit { level, block, entry }, &mut ())
                        .map_err(|ListFull| self.ledger.full())?;
                }
                let ours = &mut self.words[block as usize];
                self.plan.shape.raise_any_watermark(ours, watermark(theirs));
            }
        }
        let saturated = &mut self.ledger.saturated;
        *saturated = saturated.saturating_add(other.ledger.saturated).min(self.ledger.elements);
        Ok(())
    }

    /// Adds the entries of another list. An entry of the list can stand nowhere else: if they have no room, the
    /// list grows by as many as there are, and the filter is overloaded.
    fn merge_lists(&mut self, other: &Self) -> Result<(), FullError> {
        let full = self.ledger.full();
        let OwnLedger { overflow, overloaded, .. } = &mut self.ledger;
        let listed = || other.ledger.overflow.entries().map(|(entry, _)| entry);
        let missing = listed().filter(|&entry| !overflow.contains(entry)).count() as u64;
        let needed = overflow.len() + missing;
        if *overloaded || other.ledger.overloaded || needed > overflow.capacity() {
            overflow.resize(needed).map_err(|_| full)?;
            self.overload();
        }
        let OwnLedger { overflow, elements, .. } = &mut self.ledger;
        for entry in listed() {
            if !overflow.contains(entry) {
                overflow.push(entry, 1, WhenFull::Refuse).map_err(|ListFull| full)?;
                *elements = elements.saturating_add(1);
            }
        }
        Ok(())
    }
}
