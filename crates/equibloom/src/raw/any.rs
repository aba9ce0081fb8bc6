//! A filter over hashes of any design.

use alloc::vec::Vec;

use equibloom_layout::placement::{FirstWithRoom, LeastLoaded, Observer};
use equibloom_layout::{Blocks, Design, KeyHash, Rule};

use super::held::Held;
use super::ledger::{Counters, Ledger, OwnLedger};
use super::level_by_level::BatchSizes;
use super::list::{self, List};
use super::parts::Parts;
use super::{Balanced, Classical, Fingerprints, Insertion};
use crate::block::BloomShape;
use crate::error::{BuildError, FullError, MergeError, RemoveError};
use crate::growing::Growth;
use crate::statistics::{Memory, Statistics, Survey};
use crate::storage::{WORDS_PER_LINE, Words};

/// The filter of a design, over plain words or shared ones. Dispatch costs one predictable branch per
/// operation or batch.
// The largest variant is a few hundred bytes, once per filter: a box would cost an access per key.
#[allow(clippy::large_enum_variant)]
// A tag of its own: read off other fields, it would take more instructions.
#[repr(u8)]
pub(crate) enum Any<S: Held = Words> {
    Fingerprint(Fingerprints<S>),
    FirstWithRoom(Balanced<FirstWithRoom, S>),
    LeastLoaded(Balanced<LeastLoaded, S>),
    Classical(Classical<S>),
    List(List<S>),
    Parts(Parts<S>),
}

/// Applies an expression to the filter in any variant, another one to parts.
macro_rules! delegate {
    ($any:expr, $filter:ident => $operation:expr, $parts:ident => $by_parts:expr) => {
        match $any {
            Any::Parts($parts) => $by_parts,
            Any::Classical($filter) => $operation,
            Any::FirstWithRoom($filter) => $operation,
            Any::LeastLoaded($filter) => $operation,
            Any::Fingerprint($filter) => $operation,
            Any::List($filter) => $operation,
        }
    };
}

impl<S: Held> Any<S> {
    /// The words of the blocks, and what the filter counts and lists: of one filter, or of each part.
    pub(crate) fn contents(&self) -> Vec<(&S, &S::Ledger)> {
        delegate!(
            self,
            filter => alloc::vec![(&filter.words, &filter.ledger)],
            parts => parts.filters().flat_map(Self::contents).collect()
        )
    }

    /// Number of stored elements, without a scan.
    pub(crate) fn elements(&self) -> u64 {
        delegate!(
            self,
            filter => filter.ledger.elements(),
            parts => parts.elements()
        )
    }

    /// Whether there are more elements than these, or the list was full when one needed it.
    pub(crate) fn is_over_capacity(&self, keys: u64) -> bool {
        self.elements() > keys || self.contents().iter().any(|(_, ledger)| ledger.was_full())
    }

    #[inline]
    pub(crate) fn contains(&self, key: KeyHash) -> bool {
        match self {
            Self::Fingerprint(filter) => filter.contains(key),
            Self::FirstWithRoom(filter) => filter.lookups.contains(filter, key),
            Self::LeastLoaded(filter) => filter.lookups.contains(filter, key),
            _ => self.contains_in_other(key),
        }
    }

    /// The same for other kinds. Out of line: more than three kinds would be told apart by a jump table.
    #[inline(never)]
    fn contains_in_other(&self, key: KeyHash) -> bool {
        match self {
            Self::Fingerprint(filter) => filter.contains(key),
            Self::FirstWithRoom(filter) => filter.lookups.contains(filter, key),
            Self::LeastLoaded(filter) => filter.lookups.contains(filter, key),
            Self::Classical(filter) => filter.contains_observed(key, ()),
            Self::List(filter) => filter.contains_observed(key, ()),
            Self::Parts(parts) => parts.contains(key),
        }
    }

    /// Prefetches the key's first block.
    #[inline(always)]
    pub(crate) fn prefetch_first(&self, key: KeyHash) {
        match self {
            // A key's bits lie anywhere, and a list is short.
            Self::Classical(_) | Self::List(_) => {}
            Self::Parts(parts) => parts.prefetch_first(key),
            Self::FirstWithRoom(filter) => filter.prefetch_first(key),
            Self::LeastLoaded(filter) => filter.prefetch_first(key),
            Self::Fingerprint(filter) => filter.prefetch_first(key),
        }
    }
}

impl Any {
    /// An empty filter. Nothing is allocated for an invalid design.
    pub(crate) fn new(design: &Design) -> Result<Self, BuildError> {
        design.check()?;
        let capacity = design.overflow().capacity;
        let words = Words::zeroed(design.block_bytes() / 8)?;
        let list = Words::zeroed(design.overflow_words(capacity))?;
        let counters = Counters { overflow_capacity: capacity, ..Counters::default() };
        // The words were allocated for this design.
        let refused = BuildError::OutOfMemory { bytes: design.bytes() };
        Self::over(design, words, list, counters).ok_or(refused)
    }

    /// The filter of a checked design with the words of its blocks and its list; `None` if they do not fit.
    pub(crate) fn over(
        design: &Design,
        words: Words,
        list: Words,
        counters: Counters,
    ) -> Option<Self> {
        Self::with_ledger(design, words, OwnLedger::over(design, list, counters)?)
    }

    /// The filter of a checked design with the words of its blocks and its ledger; `None` if they do not fit.
    pub(crate) fn with_ledger(design: &Design, words: Words, ledger: OwnLedger) -> Option<Self> {
        if words.bytes() != design.block_bytes() {
            return None;
        }
        let layout = match design {
            &Design::Classical { bits, hashes } => {
                return Some(Self::Classical(Classical::new(bits, hashes, words, ledger)));
            }
            &Design::List { overflow, multiset } => {
                let plan = list::Plan { overflow, multiset };
                return Some(Self::List(List { plan, words, ledger }));
            }
            Design::Blocked(layout) => layout,
        };
        let Blocks::Bloom { bits, hashes, hints } = layout.blocks else {
            return Fingerprints::over(layout, words, ledger).map(Self::Fingerprint);
        };
        let shape = BloomShape::new(bits, hashes, layout.rule.counter_bits(), hints);
        Some(match layout.rule {
            Rule::LeastLoaded => {
                Self::LeastLoaded(Balanced::over(layout, shape, LeastLoaded, words, ledger))
            }
            Rule::FirstWithRoom { below, coin } => {
                let rule = FirstWithRoom::new(below, coin);
                Self::FirstWithRoom(Balanced::over(layout, shape, rule, words, ledger))
            }
            // `Design::check` rejects it.
            Rule::KeepLargest => return None,
        })
    }

    #[inline]
    pub(crate) fn insert(&mut self, key: KeyHash) -> Result<Insertion, FullError> {
        match self {
            Self::Fingerprint(filter) => filter.insert(key),
            _ => Self::insert_into_bits(key, self),
        }
    }

    /// The same for filters of bits, out of line: they return their results in another way, by tail calls. The key
    /// comes first, in the registers in which fingerprints expect it.
    #[inline(never)]
    fn insert_into_bits(key: KeyHash, any: &mut Self) -> Result<Insertion, FullError> {
        match any {
            Self::FirstWithRoom(filter) => filter.inserts.insert(filter, key),
            Self::LeastLoaded(filter) => filter.inserts.insert(filter, key),
            _ => any.insert_into_other(key),
        }
    }

    #[inline(never)]
    fn insert_into_other(&mut self, key: KeyHash) -> Result<Insertion, FullError> {
        self.insert_observed(key, ())
    }

    pub(crate) fn insert_observed<O: Observer>(
        &mut self,
        key: KeyHash,
        mut observer: O,
    ) -> Result<Insertion, FullError> {
        delegate!(
            self,
            filter => filter.insert_observed(key, observer),
            parts => parts.insert_observed(key, &mut observer)
        )
    }

    pub(crate) fn contains_observed<O: Observer>(&self, key: KeyHash, mut observer: O) -> bool {
        delegate!(
            self,
            filter => filter.contains_observed(key, observer),
            parts => parts.contains_observed(key, &mut observer)
        )
    }

    /// Inserts keys as if one by one in this order, with up to `threads` threads; returns how many were
    /// new.
    pub(crate) fn insert_batch(
        &mut self,
        keys: &[KeyHash],
        threads: usize,
    ) -> Result<u64, FullError> {
        match self {
            // One by one: a key's bits lie anywhere, so that threads cannot divide the array.
            Self::Parts(parts) => parts.insert_batch(keys),
            Self::Classical(_) | Self::List(_) => {
                let mut insert = |key| Ok(u64::from(self.insert(key)?.is_new()));
                keys.iter().try_fold(0, |new, &key| Ok(new + insert(key)?))
            }
            Self::FirstWithRoom(filter) => filter.insert_batch(keys, threads, BatchSizes::COMMON),
            Self::LeastLoaded(filter) => filter.insert_batch(keys, threads, BatchSizes::COMMON),
            Self::Fingerprint(filter) => filter.insert_batch(keys, threads),
        }
    }

    /// Looks up keys. Bit `i % 64` of word `i / 64` of `found` becomes the answer for key `i`; keys without
    /// a bit in `found` are skipped.
    pub(crate) fn contains_batch(&self, keys: &[KeyHash], found: &mut [u64]) {
        delegate!(
            self,
            filter => filter.contains_batch(keys, found),
            parts => parts.contains_batch(keys, found)
        );
    }

    /// Removes a key from a filter that stores every insert.
    pub(crate) fn remove(&mut self, key: KeyHash) -> Result<(), RemoveError> {
        match self {
            Self::Fingerprint(filter) => filter.remove(key),
            Self::List(filter) => filter.remove(key),
            Self::Parts(_) => Err(RemoveError::NotRemovable("several parts")),
            _ => Err(RemoveError::NotRemovable("Bloom blocks")),
        }
    }

    /// Adds all keys of a filter of the same design whose tables are `factor` times as large.
    ///
    /// # Errors
    /// The overflow list is full and refuses keys, or the filters are of different kinds. The filter is
    /// unchanged.
    pub(crate) fn merge(&mut self, other: &Self, factor: u64) -> Result<(), MergeError> {
        match (self, other) {
            (Self::Classical(ours), Self::Classical(theirs)) => ours.merge(theirs, factor),
            (Self::FirstWithRoom(ours), Self::FirstWithRoom(theirs)) => {
                ours.merge(theirs, factor)?
            }
            (Self::LeastLoaded(ours), Self::LeastLoaded(theirs)) => ours.merge(theirs, factor)?,
            (Self::Fingerprint(ours), Self::Fingerprint(theirs)) => ours.merge(theirs)?,
            (Self::List(ours), Self::List(theirs)) => ours.merge(theirs)?,
            _ => return Err(MergeError::OtherKind),
        }
        Ok(())
    }

    /// Scans the whole filter. The bytes of its own fields and the plan are the caller's to know.
    pub(crate) fn statistics(&self) -> Statistics {
        let (words, ledger, survey) = delegate!(
            self,
            filter => (&filter.words, &filter.ledger, filter.survey()),
            parts => return parts.statistics()
        );
        let OwnLedger { overflow, budget, elements, saturated, .. } = ledger;
        let Survey { levels, rate, accesses } = survey;
        Statistics {
            elements: *elements,
            overflowed: if let Self::List(_) = self { 0 } else { overflow.copies() },
            beyond_plan: 0,
            saturated: match self {
                Self::List(filter) => filter.listed_beyond_plan(),
                _ => *saturated,
            },
            budget_spent: budget.spent,
            levels,
            memory: Memory { blocks: words.bytes(), overflow: overflow.slots.bytes(), header: 0 },
            expected_rate: rate,
            expected_accesses_per_miss: accesses,
        }
    }

    /// Bytes of blocks and overflow lists, without a scan.
    pub(crate) fn bytes(&self) -> u64 {
        self.contents()
            .iter()
            .map(|(words, ledger)| words.bytes() + ledger.overflow.slots.bytes())
            .sum()
    }

    /// Whether the access budget is spent, without a scan.
    pub(crate) fn is_budget_spent(&self) -> bool {
        self.contents().iter().any(|(_, ledger)| ledger.budget.spent)
    }

    /// The filter's contents, word by word: equal for equal histories.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        let parts = self.contents().into_iter();
        let planned = parts.flat_map(|(words, ledger)| {
            words.as_flattened().iter().chain(ledger.overflow.slots.as_flattened()).copied()
        });
        planned.chain(self.growth().into_iter().flat_map(Growth::words))
    }

    /// The part that grows.
    pub(crate) const fn growth(&self) -> Option<&Growth> {
        match self {
            Self::Parts(parts) => parts.growth.as_ref(),
            _ => None,
        }
    }

    /// Takes the part that grows, and leaves the planned ones.
    pub(crate) fn take_growth(&mut self) -> Option<Growth> {
        let Self::Parts(parts) = self else { return None };
        let growth = parts.growth.take();
        if parts.parts.len() == 1
            && let Some(part) = parts.parts.pop()
        {
            *self = part.filter;
        }
        growth
    }

    /// Whether new keys go to a part that grows.
    pub(crate) fn has_grown(&self) -> bool {
        matches!(self, Self::Parts(parts) if parts.has_grown())
    }

    /// Whether there are so many elements in planned parts, and no part that grows.
    #[inline]
    pub(crate) fn must_grow_at(&self, elements: u64) -> bool {
        match self {
            Self::Fingerprint(filter) => filter.ledger.elements >= elements,
            _ => self.other_must_grow_at(elements),
        }
    }

    #[inline(never)]
    fn other_must_grow_at(&self, elements: u64) -> bool {
        self.elements() >= elements && !self.has_grown()
    }

    fn contents_mut(&mut self) -> Vec<(&mut Words, &mut OwnLedger)> {
        delegate!(
            self,
            filter => alloc::vec![(&mut filter.words, &mut filter.ledger)],
            parts => parts.parts.iter_mut().flat_map(|part| part.filter.contents_mut()).collect()
        )
    }

    /// Removes all keys and keeps the memory of the planned parts.
    pub(crate) fn clear(&mut self) {
        self.take_growth();
        for (words, ledger) in self.contents_mut() {
            words.fill([0; WORDS_PER_LINE]);
            ledger.clear();
        }
        self.choose_kernels();
    }

    /// Chooses the entry points anew, for a filter that is no longer overloaded.
    fn choose_kernels(&mut self) {
        match self {
            Self::Fingerprint(filter) => filter.choose_kernels(),
            Self::Parts(Parts { parts, .. }) => {
                parts.iter_mut().for_each(|part| part.filter.choose_kernels());
            }
            _ => {}
        }
    }

    /// Copies borrowed parts into memory.
    #[cfg(feature = "file")]
    pub(crate) fn detach(&mut self) -> Result<(), BuildError> {
        self.contents_mut().into_iter().try_for_each(|(words, ledger)| {
            words.detach()?;
            ledger.overflow.detach()
        })?;
        match self {
            Self::Parts(Parts { growth: Some(growth), .. }) => growth.detach(),
            _ => Ok(()),
        }
    }
}

impl Clone for Any {
    fn clone(&self) -> Self {
        match self {
            Self::Classical(filter) => Self::Classical(filter.clone()),
            Self::FirstWithRoom(filter) => Self::FirstWithRoom(filter.clone()),
            Self::LeastLoaded(filter) => Self::LeastLoaded(filter.clone()),
            Self::Fingerprint(filter) => Self::Fingerprint(filter.clone()),
            Self::List(filter) => Self::List(filter.clone()),
            Self::Parts(parts) => Self::Parts(parts.clone()),
        }
    }
}

/// Filters of one design with the same contents are equal.
impl PartialEq for Any {
    fn eq(&self, other: &Self) -> bool {
        self.contents() == other.contents() && self.growth() == other.growth()
    }
}
