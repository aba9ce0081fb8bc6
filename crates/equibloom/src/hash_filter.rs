//! A filter over hashes.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::error::{BuildError, FullError, MergeError, RemoveError, ShrinkError};
use crate::growing::Growth;
use crate::hashing::{ANSWERED_AT_ONCE, KeyHash, KeyKind};
use crate::observer::{AccessStatistics, Accesses, Observer};
use crate::parameters::Parameters;
use crate::raw::{Any, Insertion, Part, Parts};
use crate::statistics::Statistics;

/// Answers per word of a bitmap.
const WORD: usize = u64::BITS as usize;

/// An approximate set of [`KeyHash`]es: no false negatives, few false positives.
///
/// [`Filter`](crate::Filter) adds a key type and a hash function. Use this type directly for existing
/// 128-bit hashes, to query several filters with one hash, or to count block accesses.
///
/// ```
/// use equibloom::{Blocks, HashFilter, KeyHasher, Layout, Parameters, Stable};
///
/// let design = Layout::blocked(Blocks::bloom(512, 8), 100).into();
/// let mut filter = HashFilter::new(&Parameters { keys: 3_000, seed: 0, design })?;
/// let hash = Stable::default().hash_key("alice@example.com");
/// assert!(filter.insert(hash)?.is_new());
/// assert!(filter.contains(hash));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct HashFilter {
    pub(crate) parameters: Parameters,
    pub(crate) raw: Any,
    pub(crate) key_kind: KeyKind,
    /// Whether it [grows](crate::WhenFull::Grow), beside what inserts read.
    grows: bool,
}

impl HashFilter {
    /// An empty filter.
    ///
    /// # Errors
    /// [`BuildError`] if the parameters are invalid or memory is short; nothing has been allocated then.
    pub fn new(parameters: &Parameters) -> Result<Self, BuildError> {
        let raw = Any::new(&parameters.design)?;
        Ok(Self::over(*parameters, raw, KeyKind::Unspecified))
    }

    pub(crate) const fn over(parameters: Parameters, raw: Any, key_kind: KeyKind) -> Self {
        let grows = parameters.design.overflow().when_full.grows();
        Self { parameters, raw, key_kind, grows }
    }

    /// The parameters that the filter was built from. If it has several [parts](Self::part_count), the design is
    /// that of the first one, and the keys are those of all.
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The kind of the filter's keys. Files record it, so that other programs query with the same bytes.
    pub const fn key_kind(&self) -> KeyKind {
        self.key_kind
    }

    /// The same filter with another [`key_kind`](Self::key_kind): `K::KIND` for keys of type `K`.
    #[must_use]
    pub fn with_key_kind(self, key_kind: KeyKind) -> Self {
        Self { key_kind, ..self }
    }

    /// Changes the [`key_kind`](Self::key_kind), where it is known only once the first key comes.
    ///
    /// ```
    /// use equibloom::{Filter, HashFilter, KeyKind};
    ///
    /// let filter: Filter<u64> = Filter::builder().keys(1_000).rate(0.001).build()?;
    /// let mut filter = HashFilter::new(filter.parameters())?;
    /// assert_eq!(filter.key_kind(), KeyKind::Unspecified);
    /// filter.set_key_kind(KeyKind::Integer);
    /// assert_eq!(filter.key_kind(), KeyKind::Integer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn set_key_kind(&mut self, key_kind: KeyKind) {
        self.key_kind = key_kind;
    }

    /// Inserts a key. Does nothing if it is (apparently) present; removable filters store it again.
    ///
    /// # Errors
    /// [`FullError`] if no block admits the key, the overflow list is full and the filter
    /// [refuses](crate::WhenFull::Refuse) such keys, or it must [grow](crate::WhenFull::Grow) and memory is short. The
    /// filter is unchanged.
    #[inline]
    pub fn insert(&mut self, hash: KeyHash) -> Result<Insertion, FullError> {
        if !self.grows {
            return self.raw.insert(hash);
        }
        self.insert_growing(hash).ok_or_else(|| self.full())
    }

    /// The same for a filter that grows, out of line; `None` if memory is short.
    #[inline(never)]
    fn insert_growing(&mut self, hash: KeyHash) -> Option<Insertion> {
        if !self.raw.must_grow_at(self.parameters.keys)
            && let Ok(insertion) = self.raw.insert(hash)
        {
            return Some(insertion);
        }
        self.insert_beyond(hash, &mut ()).ok()
    }

    /// The error of a filter that cannot grow.
    #[cold]
    fn full(&self) -> FullError {
        let capacity = self.parameters.design.overflow().capacity;
        FullError { capacity, stored: self.raw.elements() }
    }

    /// Inserts a key into a filter whose planned parts take no more.
    #[cold]
    fn insert_beyond(
        &mut self,
        hash: KeyHash,
        observer: &mut dyn Observer,
    ) -> Result<Insertion, FullError> {
        if self.raw.contains(hash) {
            return Ok(Insertion::AlreadyPresent);
        }
        self.grow()?;
        self.raw.insert_observed(hash, observer)
    }

    /// Adds the part that grows, unless there is one.
    fn grow(&mut self) -> Result<(), FullError> {
        if !self.raw.has_grown() {
            let rate = self.parameters.design.overflow().when_full.growth_rate();
            let growth = Growth::new(rate).ok_or_else(|| self.full())?;
            self.with_parts(|parts| parts.growth = Some(growth));
        }
        Ok(())
    }

    /// Changes the parts, of which there may be one only.
    fn with_parts<T>(&mut self, change: impl FnOnce(&mut Parts) -> T) -> T {
        let none = Any::Parts(Parts { parts: Vec::new(), growth: None });
        let Parameters { keys, design, .. } = self.parameters;
        let mut parts = match core::mem::replace(&mut self.raw, none) {
            Any::Parts(parts) => parts,
            filter => Parts { parts: alloc::vec![Part { keys, design, filter }], growth: None },
        };
        let changed = change(&mut parts);
        let keys = parts.parts.iter().map(|part| part.keys);
        self.parameters.keys = keys.fold(0, u64::saturating_add);
        self.raw = match parts.parts.pop() {
            Some(part) if parts.parts.is_empty() && parts.growth.is_none() => part.filter,
            last => {
                parts.parts.extend(last);
                Any::Parts(parts)
            }
        };
        changed
    }

    /// Whether the key may have been inserted. Never `false` for an inserted key.
    #[inline]
    pub fn contains(&self, hash: KeyHash) -> bool {
        self.raw.contains(hash)
    }

    /// Fetches the first block of a key into the cache, for a lookup some steps later: where one key is looked up in
    /// many filters, the blocks of the next ones arrive meanwhile.
    ///
    /// ```
    /// # use equibloom::{Filter, HashFilter, KeyHash};
    /// fn count(filters: &[HashFilter], hash: KeyHash) -> usize {
    ///     const AHEAD: usize = 16;
    ///     let holds = |(index, filter): (usize, &HashFilter)| {
    ///         filters.iter().skip(index + AHEAD).take(1).for_each(|later| later.prefetch(hash));
    ///         filter.contains(hash)
    ///     };
    ///     filters.iter().enumerate().filter(|&each| holds(each)).count()
    /// }
    /// # let mut filter = Filter::<u64>::builder().keys(1_000).rate(0.001).build()?;
    /// # filter.insert(&5)?;
    /// # let hash = filter.hash(&5);
    /// # assert_eq!(count(&vec![filter.into_hash_filter(); 40], hash), 40);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn prefetch(&self, hash: KeyHash) {
        self.raw.prefetch_first(hash);
    }

    /// [`insert`](Self::insert) that adds its memory accesses to `accesses`.
    pub fn insert_counted(
        &mut self,
        hash: KeyHash,
        accesses: &mut AccessStatistics,
    ) -> Result<Insertion, FullError> {
        let mut counted = Accesses::default();
        let was_spent = self.raw.is_budget_spent();
        let inserted = match self.grows && self.raw.must_grow_at(self.parameters.keys) {
            true => self.insert_beyond(hash, &mut counted),
            false => self.raw.insert_observed(hash, &mut counted),
        };
        let insertion = match inserted {
            Err(_) if self.grows => self.insert_beyond(hash, &mut counted),
            inserted => inserted,
        }?;
        if was_spent {
            let blocks = core::mem::take(&mut counted.blocks);
            accesses.checks.record(Accesses { blocks, overflow_probes: 0 });
        }
        accesses.inserts.record(counted);
        Ok(insertion)
    }

    /// [`contains`](Self::contains) that adds its memory accesses to `accesses`.
    pub fn contains_counted(&self, hash: KeyHash, accesses: &mut AccessStatistics) -> bool {
        let mut counted = Accesses::default();
        let found = self.raw.contains_observed(hash, &mut counted);
        let lookups = if found { &mut accesses.hits } else { &mut accesses.misses };
        lookups.record(counted);
        found
    }

    /// Inserts many keys and returns how many [elements](crate::Statistics::elements) more the filter holds.
    /// The result is the same as inserting them one by one in this order, but faster: blocks of later keys
    /// are prefetched. (A removable filter counts the copies of a key, but where it holds more than four of
    /// them, its words depend on the way they came.)
    ///
    /// # Errors
    /// [`FullError`] at the first key that is refused; the keys before it are in the filter.
    pub fn insert_batch(&mut self, hashes: &[KeyHash]) -> Result<u64, FullError> {
        self.insert_all(hashes, 1)
    }

    /// Fills the planned parts, then the one that grows.
    fn insert_all(&mut self, hashes: &[KeyHash], threads: usize) -> Result<u64, FullError> {
        if !self.grows {
            return self.raw.insert_batch(hashes, threads);
        }
        let before = self.raw.elements();
        let mut rest = hashes;
        while !rest.is_empty() && !self.raw.has_grown() {
            let room = self.parameters.keys.saturating_sub(self.raw.elements());
            let count = usize::try_from(room).map_or(rest.len(), |room| room.min(rest.len()));
            let (hashes, later) = rest.split_at(count);
            // Keys before a refused one are in the filter: they are found to be present.
            if hashes.is_empty() || self.raw.insert_batch(hashes, threads).is_err() {
                match rest.iter().position(|&hash| !self.raw.contains(hash)) {
                    Some(absent) => rest = &rest[absent..],
                    None => break,
                }
                self.grow()?;
            } else {
                rest = later;
            }
        }
        if self.raw.has_grown() {
            self.raw.insert_batch(rest, threads)?;
        }
        Ok(self.raw.elements() - before)
    }

    /// [`insert_batch`](Self::insert_batch) with up to `threads` threads. The resulting words do not depend
    /// on their number, except in removable filters with more than four copies of a key.
    ///
    /// Designs whose levels share no blocks (blocked, single, multi-level, also with fingerprints) are
    /// divided among threads in place, with some MiB of scratch memory. One thread inserts into the others
    /// (classical, sequential, two-choice, one-plus-alpha, any with an access budget), for fewer than some
    /// thousand keys, and once a fixed overflow list is full.
    ///
    /// ```
    /// use equibloom::{Filter, KeyHash};
    ///
    /// let filter: Filter<u64> = Filter::builder().keys(10_000).rate(0.001).build()?;
    /// let hashes: Vec<KeyHash> = (0..10_000).map(|key| filter.hash(&key)).collect();
    /// let mut by_four = filter.into_hash_filter();
    /// let mut by_one = by_four.clone();
    /// assert_eq!(by_four.insert_parallel(&hashes, 4)?, by_one.insert_batch(&hashes)?);
    /// assert!(by_four == by_one);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    #[cfg(feature = "std")]
    pub fn insert_parallel(
        &mut self,
        hashes: &[KeyHash],
        threads: usize,
    ) -> Result<u64, FullError> {
        self.insert_all(hashes, threads)
    }

    /// Looks up many keys, faster than one by one: blocks of later keys are prefetched. The answers replace
    /// the contents of `found`.
    pub fn contains_batch(&self, hashes: &[KeyHash], found: &mut Vec<bool>) {
        found.clear();
        found.reserve(hashes.len());
        self.append_answers(hashes, found);
    }

    /// [`contains_batch`](Self::contains_batch) with one bit per answer: key `i` has bit `i % 64` of word
    /// `i / 64`. The words replace the contents of `found`.
    pub fn contains_batch_bitmap(&self, hashes: &[KeyHash], found: &mut Vec<u64>) {
        found.clear();
        self.append_bitmap(hashes, found);
    }

    /// Appends an answer for each hash.
    pub(crate) fn append_answers(&self, hashes: &[KeyHash], found: &mut Vec<bool>) {
        let mut bits = [0; ANSWERED_AT_ONCE / WORD];
        for hashes in hashes.chunks(ANSWERED_AT_ONCE) {
            self.raw.contains_batch(hashes, &mut bits);
            let answers =
                bits.iter().flat_map(|&word| (0..64).map(move |bit| word >> bit & 1 == 1));
            found.extend(answers.take(hashes.len()));
        }
    }

    /// Appends a word for each 64 hashes.
    pub(crate) fn append_bitmap(&self, hashes: &[KeyHash], found: &mut Vec<u64>) {
        let start = found.len();
        found.resize(start + hashes.len().div_ceil(WORD), 0);
        self.raw.contains_batch(hashes, &mut found[start..]);
    }

    /// Removes a key that was inserted; see [`Filter::remove`](crate::Filter::remove).
    ///
    /// # Errors
    /// [`RemoveError`] if the filter does not store every insert or certainly does not hold the key.
    #[inline]
    pub fn remove(&mut self, hash: KeyHash) -> Result<(), RemoveError> {
        let design = &self.parameters.design;
        if !design.is_multiset() {
            return Err(RemoveError::NotRemovable(design.name()));
        }
        self.raw.remove(hash)
    }

    /// Adds all keys of another filter with the same seed and kind of keys; see
    /// [`Filter::merge`](crate::Filter::merge).
    ///
    /// # Errors
    /// [`MergeError`] if seeds or kinds of keys differ, if keys can be removed from one of them and their
    /// parameters differ, or the overflow list is full and [refuses](crate::WhenFull::Refuse) keys.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        let (ours, theirs) = (self.parameters, other.parameters);
        if ours.seed != theirs.seed {
            return Err(MergeError::OtherSeed { ours: ours.seed, theirs: theirs.seed });
        }
        let (our_kind, their_kind) = (self.key_kind, other.key_kind);
        let other_keys = MergeError::OtherKeys { ours: our_kind, theirs: their_kind };
        let key_kind = our_kind.merged(their_kind).ok_or(other_keys)?;
        let are_single = self.part_count() == 1 && other.part_count() == 1;
        let fits = !self.grows || self.len().saturating_add(other.len()) <= ours.keys;
        if are_single && ours == theirs && fits {
            self.raw.merge(&other.raw, 1)?;
        } else if ours.design.is_multiset() || theirs.design.is_multiset() {
            let (ours, theirs) = (Box::new(ours), Box::new(theirs));
            return Err(MergeError::OtherRemovable { ours, theirs });
        } else {
            let others = other.parts();
            let others = others
                .iter()
                .map(|&(ref parameters, filter)| (parameters.keys, &parameters.design, filter));
            self.with_parts(|parts| parts.merge(others, other.raw.growth()))?;
        }
        self.key_kind = key_kind;
        Ok(())
    }

    /// The filter with the parts of another one after its own.
    #[cfg(feature = "file")]
    pub(crate) fn followed_by(mut self, next: Self) -> Self {
        let Parameters { keys, design, .. } = next.parameters;
        self.with_parts(|parts| match next.raw {
            Any::Parts(next) => {
                parts.parts.extend(next.parts);
                parts.growth = next.growth;
            }
            filter => parts.parts.push(Part { keys, design, filter }),
        });
        self
    }

    /// The filter with this part that grows, if there is one.
    #[cfg(feature = "std")]
    pub(crate) fn with_growth(mut self, growth: Option<Growth>) -> Self {
        if growth.is_some() {
            self.with_parts(|parts| parts.growth = growth);
        }
        self
    }

    /// Number of parts: 1, or more after a [`merge`](Self::merge) of filters with different plans, and one more in a
    /// filter that has [grown](Self::growth_elements). A lookup asks one part after the other.
    pub const fn part_count(&self) -> usize {
        match &self.raw {
            Any::Parts(Parts { parts, growth }) => parts.len() + growth.is_some() as usize,
            _ => 1,
        }
    }

    /// Number of elements in the part that [grows](crate::WhenFull::Grow); `None` if there is no such part.
    pub fn growth_elements(&self) -> Option<u64> {
        self.raw.growth().map(Growth::elements)
    }

    /// The planned parts and the parameters that they were built from.
    pub(crate) fn parts(&self) -> Vec<(Parameters, &Any)> {
        match &self.raw {
            Any::Parts(Parts { parts, .. }) => parts
                .iter()
                .map(|&Part { keys, design, ref filter }| {
                    (Parameters { keys, design, ..self.parameters }, filter)
                })
                .collect(),
            filter => alloc::vec![(self.parameters, filter)],
        }
    }

    /// A smaller filter with the same keys; see [`Filter::folded`](crate::Filter::folded).
    ///
    /// # Errors
    /// [`ShrinkError`] if the number of blocks (of each subtable) is not a multiple of the factor, or the
    /// blocks store fingerprints.
    pub fn folded(&self, factor: u64) -> Result<Self, ShrinkError> {
        if self.part_count() != 1 {
            return Err(ShrinkError::Parts);
        }
        let parameters = self.parameters.folded(factor)?;
        let mut raw = Any::new(&parameters.design)?;
        raw.merge(&self.raw, factor)?;
        Ok(Self::over(parameters, raw, self.key_kind))
    }

    /// Removes all keys and keeps the memory of the planned parts.
    pub fn clear(&mut self) {
        self.raw.clear();
    }

    /// Number of stored elements, as in [`Statistics::elements`], without scanning the filter.
    pub fn len(&self) -> u64 {
        self.raw.elements()
    }

    /// Whether the filter holds no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the filter, without scanning it.
    pub fn bytes(&self) -> u64 {
        self.raw.bytes() + size_of::<Self>() as u64
    }

    /// Scans the whole filter: loads, bytes, and the expected rate of its current contents.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.raw.statistics();
        // Includes the fields of this struct.
        statistics.memory.header = size_of::<Self>() as u64;
        statistics.beyond_plan = statistics.elements.saturating_sub(self.parameters.keys);
        statistics
    }

    /// Whether the filter holds more keys than it is planned for, or its overflow list was full when a key needed
    /// it: see [`Filter::is_over_capacity`](crate::Filter::is_over_capacity).
    pub fn is_over_capacity(&self) -> bool {
        self.raw.is_over_capacity(self.parameters.keys)
    }

    /// The filter's contents, word by word: the same seed and keys in the same order give the same words;
    /// fingerprint blocks without removal give them for any order.
    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        self.raw.words()
    }
}

/// Shows the parameters, not the contents.
impl fmt::Debug for HashFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashFilter")
            .field("parameters", &self.parameters)
            .field("key_kind", &self.key_kind)
            .finish_non_exhaustive()
    }
}
