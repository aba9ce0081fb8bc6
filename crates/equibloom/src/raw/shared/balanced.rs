//! Every blocked filter, shared: the same walks as in [`Balanced`], over blocks that others change.

use super::overflow::{Pushed, SharedOverflow};
use super::tally::{SharedBudget, Tally};
use super::{AHEAD, SharedBlocks, SharedRaw};
use crate::block::isa::{Isa, Nearness, Operation, Portable, prefetch};
use crate::block::{BlockArray, BlockIndex, BlockView};
use crate::error::FullError;
use crate::hashing::KeyHash;
use crate::overflow::OverflowList;
use crate::placement::{Choice, Choose, least_loaded};
use crate::raw::{Balanced, Insertion};
use crate::storage::sync::AtomicU64;
use crate::storage::sync::Ordering::Relaxed;
use crate::storage::{SharedWords, Words};
use equibloom_layout::WhenFull;

/// [`Balanced`] for many threads.
pub(crate) struct SharedBalanced<R, B: BlockArray> {
    /// The filter without its words.
    plan: Balanced<R, B>,
    words: SharedWords,
    overflow: SharedOverflow,
    budget: SharedBudget,
    tally: Tally,
    saturated: AtomicU64,
}

/// Shared blocks as a rule sees them.
struct View<'a, B, I> {
    blocks: &'a B,
    words: &'a SharedWords,
    isa: I,
}

impl<B: SharedBlocks, I: Isa> BlockView for View<'_, B, I> {
    #[inline(always)]
    fn load(&self, block: BlockIndex) -> u32 {
        self.blocks.shared_load(self.words, block)
    }

    #[inline(always)]
    fn test(&self, block: BlockIndex, key: KeyHash) -> bool {
        self.blocks.shared_test(self.isa, self.words, block, key)
    }

    #[inline(always)]
    fn hint_is_set(&self, probe: crate::placement::Probe) -> Option<bool> {
        self.blocks.shared_hint_is_set(self.words, probe)
    }
}

/// A block of known load, as a rule sees it.
struct Loaded(u32);

impl BlockView for Loaded {
    fn load(&self, _block: BlockIndex) -> u32 {
        self.0
    }

    fn test(&self, _block: BlockIndex, _key: KeyHash) -> bool {
        false
    }
}

/// The result of an attempt to insert.
enum Attempt {
    Done(Insertion),
    /// Another key has taken the slot.
    Again,
}

impl<R: Choose, B: SharedBlocks> SharedBalanced<R, B> {
    pub(super) fn new(mut filter: Balanced<R, B>) -> Self {
        let words = core::mem::replace(filter.blocks.storage_mut(), Words::none());
        let overflow = core::mem::replace(&mut filter.overflow, OverflowList::none());
        Self {
            words: SharedWords::new(words),
            overflow: SharedOverflow::new(overflow),
            budget: SharedBudget::new(filter.budget),
            tally: Tally::new(),
            saturated: AtomicU64::new(filter.saturated),
            plan: filter,
        }
    }

    pub(super) fn into_filter(self) -> Balanced<R, B> {
        let elements = self.elements();
        let mut filter = self.plan;
        *filter.blocks.storage_mut() = self.words.into_words();
        filter.overflow = self.overflow.into_list();
        filter.budget = self.budget.into_budget(self.tally.reads());
        filter.elements = elements;
        filter.saturated = self.saturated.load(Relaxed);
        filter
    }

    fn view<I: Isa>(&self, isa: I) -> View<'_, B, I> {
        View { blocks: &self.plan.blocks, words: &self.words, isa }
    }

    /// Whether the key is in the overflow list.
    fn is_in_overflow(&self, key: KeyHash) -> bool {
        self.overflow.contains(self.plan.candidates.overflow_entry(key))
    }

    fn full(&self) -> FullError {
        FullError { capacity: self.overflow.capacity(), stored: self.elements() }
    }

    /// Puts a key into its candidate numbered `number`, if that still admits it.
    #[inline(always)]
    fn add_if_admitted<I: Isa>(
        &self,
        isa: I,
        block: BlockIndex,
        number: usize,
        key: KeyHash,
    ) -> bool {
        let rule = &self.plan.rule;
        let admits =
            |load| !R::REJECTS || !rule.insert_continues(&Loaded(load), key, number, block);
        self.plan.blocks.add_if(isa, &self.words, block, key, admits)
    }

    /// Stores a key that no block admits, or that the budget does not afford, in the overflow list.
    #[cold]
    fn overflow(
        &self,
        key: KeyHash,
        admitting: Option<(BlockIndex, usize)>,
        may_be_there: bool,
    ) -> Result<Attempt, FullError> {
        let entry = self.plan.candidates.overflow_entry(key);
        let only_once = may_be_there && !self.plan.rule.stores_repeats();
        // A block with room for the key ends a lookup, unless the lookup knows that the budget is spent. A refund
        // may make it affordable again by now: it is spent all the same.
        let announce = || {
            if admitting.is_some() {
                self.budget.set_spent();
            }
        };
        match self.overflow.push(entry, only_once, WhenFull::Refuse, announce) {
            Ok(Pushed::AlreadyThere) => return Ok(Attempt::Done(Insertion::AlreadyPresent)),
            Ok(Pushed::New) => return Ok(Attempt::Done(Insertion::New)),
            Err(_) if self.plan.when_full == WhenFull::Refuse => return Err(self.full()),
            Err(_) => {}
        }
        match admitting {
            Some((block, number)) => {
                if !self.add_if_admitted(Portable, block, number, key) {
                    return Ok(Attempt::Again);
                }
            }
            None if B::HAS_SLOTS => {
                self.overflow
                    .push(entry, false, self.plan.when_full, || ())
                    .map_err(|_| self.full())?;
            }
            // All candidates rejected the key and always will: a lookup reads them all and finds it in any.
            None => {
                let block = least_loaded(&self.view(Portable), &self.plan.candidates, key);
                self.plan.blocks.add_if(Portable, &self.words, block, key, |_| true);
            }
        }
        self.saturated.fetch_add(1, Relaxed);
        Ok(Attempt::Done(Insertion::New))
    }

    /// One walk of an insert. It changes nothing if it has to be made again.
    #[inline(always)]
    fn try_insert<I: Isa>(&self, isa: I, key: KeyHash) -> Result<Attempt, FullError> {
        let Balanced { rule, candidates, blocks, .. } = &self.plan;
        let (admitting, reads, turned_away, reachable) =
            match rule.choose(&self.view(isa), candidates, key, &mut ()) {
                Choice::Present => return Ok(Attempt::Done(Insertion::AlreadyPresent)),
                Choice::Admitted { block, reads } => {
                    (Some((block, reads as usize - 1)), reads, reads - 1, false)
                }
                Choice::Rejected { reads, reachable } => (None, reads, reads, reachable),
            };
        match admitting {
            Some((block, number)) if self.budget.try_spend(reads) => {
                if !self.add_if_admitted(isa, block, number, key) {
                    self.budget.refund(reads);
                    return Ok(Attempt::Again);
                }
            }
            _ => {
                let may_be_there = reachable || self.budget.is_spent();
                match self.overflow(key, admitting, may_be_there)? {
                    Attempt::Done(Insertion::New) => self.budget.spend(reads),
                    other => return Ok(other),
                }
            }
        }
        // A lookup that knows of this insert must come as far as it came.
        for probe in candidates.walk(key).take(turned_away as usize) {
            blocks.shared_set_hint(&self.words, probe);
        }
        self.tally.count(self.budget.tallied(reads));
        Ok(Attempt::Done(Insertion::New))
    }

    /// Every failed attempt has seen a block fill up, so that retries end.
    #[inline(always)]
    fn insert_on<I: Isa>(&self, isa: I, key: KeyHash) -> Result<Insertion, FullError> {
        let key = self.plan.blocks.reduce(key);
        loop {
            if let Attempt::Done(insertion) = self.try_insert(isa, key)? {
                return Ok(insertion);
            }
        }
    }

    #[inline(always)]
    fn contains_on<I: Isa>(&self, isa: I, key: KeyHash) -> bool {
        let Balanced { rule, candidates, blocks, .. } = &self.plan;
        let key = blocks.reduce(key);
        let view = self.view(isa);
        for (number, probe) in candidates.walk(key).enumerate() {
            if view.test(probe.block, key) {
                return true;
            }
            if !rule.lookup_continues(&view, key, number, probe) {
                // Once the budget is spent, keys overflow although their blocks have room.
                return R::REJECTS && self.budget.is_spent() && self.is_in_overflow(key);
            }
        }
        R::REJECTS && self.is_in_overflow(key)
    }

    /// Prefetches the first block of the key `AHEAD` keys later.
    #[inline(always)]
    fn ask_ahead(&self, keys: &[KeyHash], index: usize) {
        if let Some(&key) = keys.get(index) {
            let block = self.plan.candidates.first_block(key).0 as usize;
            let word = self.words.word(block * self.plan.blocks.words_per_block());
            prefetch(core::ptr::from_ref(word).cast(), Nearness::First);
        }
    }
}

/// One insert.
struct Insert<'a, F> {
    filter: &'a F,
    key: KeyHash,
}

impl<R: Choose, B: SharedBlocks> Operation for Insert<'_, SharedBalanced<R, B>> {
    type Output = Result<Insertion, FullError>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        self.filter.insert_on(isa, self.key)
    }
}

/// One lookup.
struct Contains<'a, F> {
    filter: &'a F,
    key: KeyHash,
}

impl<R: Choose, B: SharedBlocks> Operation for Contains<'_, SharedBalanced<R, B>> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        self.filter.contains_on(isa, self.key)
    }
}

impl<R: Choose, B: SharedBlocks> SharedRaw for SharedBalanced<R, B> {
    #[inline]
    fn insert(&self, key: KeyHash) -> Result<Insertion, FullError> {
        self.plan.engine.run_on_any(Insert { filter: self, key })
    }

    #[inline]
    fn contains(&self, key: KeyHash) -> bool {
        self.plan.engine.run_on_any(Contains { filter: self, key })
    }

    fn insert_batch(&self, keys: &[KeyHash]) -> Result<u64, FullError> {
        (0..AHEAD).for_each(|index| self.ask_ahead(keys, index));
        let mut new = 0;
        for (index, &key) in keys.iter().enumerate() {
            self.ask_ahead(keys, index + AHEAD);
            new += u64::from(self.insert(key)?.is_new());
        }
        Ok(new)
    }

    fn contains_batch(&self, keys: &[KeyHash], answer: &mut dyn FnMut(bool)) {
        (0..AHEAD).for_each(|index| self.ask_ahead(keys, index));
        for (index, &key) in keys.iter().enumerate() {
            self.ask_ahead(keys, index + AHEAD);
            answer(self.contains(key));
        }
    }

    fn elements(&self) -> u64 {
        self.plan.elements.saturating_add(self.tally.elements())
    }
}
