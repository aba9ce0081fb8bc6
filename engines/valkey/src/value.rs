//! What a key holds.
//!
//! A filter has at most two parts. A reservation of many keys is *planned*: memory for exactly them, at the lowest cost
//! per key. Keys beyond it, and all keys of a small or removable filter that scales, are in a *growing* part, one table
//! that grows in small steps. So a lookup asks two parts at most, however many keys there are. The parts share the
//! promised rate, and the hash: a key is hashed once.

use std::io::Write;

use equibloom::{
    BlockKind, Filter, FilterBuilder, GrowingFilter, Insertion, KeyHash, KeyHasher, MergeError,
    Parameters, Stable, WhenFull,
};

use crate::info::FILTERS;
use crate::rdb;

pub(crate) type Planned = Filter<[u8]>;
pub(crate) type Growing = GrowingFilter<[u8]>;

/// Share of the rate of the planned part, where there can be a growing one.
pub(crate) const PLANNED_SHARE: f64 = 0.75;

/// Fewest keys that are planned for: a growing table of fewer is not larger than a few KiB.
const FEWEST_PLANNED: u64 = 1_000;

/// The highest rate that is planned for; higher ones get this.
pub(crate) const HIGHEST_RATE: f64 = 0.5;

/// New keys after which a growing filter's bytes are compared with the limit.
const CHECK_EVERY: u64 = 1_024;

/// What a client asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reservation {
    pub(crate) rate: f64,
    pub(crate) capacity: u64,
    /// 0: the filter does not scale.
    pub(crate) expansion: u32,
    pub(crate) removable: bool,
    pub(crate) seed: u64,
}

impl Reservation {
    pub(crate) const fn scales(&self) -> bool {
        self.expansion > 0
    }

    /// Whether there is a planned part. Where keys can be removed and more can come than were reserved, there is
    /// none: a key of one part that the other seems to hold could not be removed safely.
    const fn is_planned(&self) -> bool {
        !self.scales() || self.capacity >= FEWEST_PLANNED && !self.removable
    }

    /// The filter that is planned for the reserved keys, if there is one.
    pub(crate) fn plan(&self) -> Result<Option<Parameters>, String> {
        if !self.is_planned() {
            return Ok(None);
        }
        if cfg!(feature = "classical") {
            let bits = -(self.capacity as f64) * self.rate.ln() / std::f64::consts::LN_2.powi(2);
            let design = equibloom::Design::classical(bits.ceil() as u64, self.capacity);
            return Ok(Some(Parameters { keys: self.capacity, seed: self.seed, design }));
        }
        let share = if self.scales() { PLANNED_SHARE } else { 1.0 };
        // At rates above 3 % other blocks take less memory (at 20 % 3.4 bits per key, these 8), but to search for the best
        // takes seconds, and the server has to answer.
        let mut builder = Planned::builder()
            .keys(self.capacity)
            .rate(self.rate.min(HIGHEST_RATE) * share)
            .block(BlockKind::Fingerprint)
            .seed(self.seed)
            .when_full(WhenFull::Refuse);
        if self.removable {
            builder = builder.removable();
        }
        builder.parameters().map(Some).map_err(|error| error.to_string())
    }

    /// An empty growing part.
    fn growing(&self) -> Result<Growing, String> {
        self.growing_builder().build_growing().map_err(|error| error.to_string())
    }

    /// Bytes of an empty growing part.
    pub(crate) fn growing_bytes(&self) -> Result<u64, String> {
        self.growing_builder().growing_bytes().map_err(|error| error.to_string())
    }

    fn growing_builder(&self) -> FilterBuilder<[u8]> {
        let rate = self.rate.min(HIGHEST_RATE);
        let (rate, keys) = if self.is_planned() {
            (rate * (1.0 - PLANNED_SHARE), FEWEST_PLANNED)
        } else {
            (rate, self.capacity)
        };
        let builder = Planned::builder().rate(rate).keys(keys).seed(self.seed);
        if self.removable { builder.removable() } else { builder }
    }
}

/// What happened to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Added {
    New,
    Present,
    /// The filter does not scale and is full. It is unchanged.
    Full,
    /// The filter has reached the limit of its memory, or the server has none. It is unchanged.
    NoMemory,
}

/// A filter.
pub(crate) struct Value {
    pub(crate) reservation: Reservation,
    // In boxes: each part has some hundred bytes of its own, and most filters have only one.
    pub(crate) planned: Option<Box<Planned>>,
    pub(crate) growing: Option<Box<Growing>>,
    /// Number of keys at which the bytes are compared with the limit again.
    next_check: u64,
}

impl Value {
    /// An empty filter of a plan, which [`Reservation::plan`] made, here or on the primary.
    pub(crate) fn new(reservation: Reservation, plan: Option<Parameters>) -> Result<Self, String> {
        let planned = plan.map(|plan| Planned::new(&plan).map_err(|error| error.to_string()));
        let planned = planned.transpose()?;
        // Made and dropped if it is not needed yet, so that what it refuses is known now.
        let growing = if reservation.scales() { Some(reservation.growing()?) } else { None };
        let growing = growing.filter(|_| planned.is_none());
        if planned.is_none() && growing.is_none() {
            return Err("a filter that does not scale needs a plan".into());
        }
        Ok(Self::of_parts(reservation, planned, growing))
    }

    pub(crate) fn of_parts(
        reservation: Reservation,
        planned: Option<Planned>,
        growing: Option<Growing>,
    ) -> Self {
        FILTERS.add(1);
        let (planned, growing) = (planned.map(Box::new), growing.map(Box::new));
        Self { reservation, planned, growing, next_check: 0 }
    }

    /// The key's hash in both parts.
    pub(crate) fn hash(&self, item: &[u8]) -> KeyHash {
        Stable::with_seed(self.reservation.seed).hash_key(item)
    }

    /// Number of keys.
    pub(crate) fn elements(&self) -> u64 {
        self.planned.as_deref().map_or(0, Filter::len)
            + self.growing.as_deref().map_or(0, Growing::len)
    }

    /// Bytes, without scanning the filter.
    pub(crate) fn bytes(&self) -> u64 {
        self.planned.as_ref().map_or(0, |filter| filter.as_hash_filter().bytes())
            + self.growing.as_deref().map_or(0, Growing::bytes)
            + size_of::<Self>() as u64
    }

    /// Keys until the filter expands, as a chain of filters would: what clients show.
    pub(crate) fn capacity(&self) -> u64 {
        let Reservation { capacity, expansion, .. } = self.reservation;
        let (mut sum, mut next) = (capacity, capacity);
        while expansion > 0 && sum < self.elements() {
            next = next.saturating_mul(expansion.into());
            sum = sum.saturating_add(next);
        }
        sum
    }

    /// Whether an item may have been added.
    pub(crate) fn contains(&self, hash: KeyHash) -> bool {
        self.planned.as_ref().is_some_and(|filter| filter.as_hash_filter().contains(hash))
            || self.growing.as_ref().is_some_and(|filter| filter.contains_hash(hash))
    }

    /// [`contains`](Self::contains) for many items, with prefetch.
    pub(crate) fn contains_all(&self, hashes: &[KeyHash]) -> Vec<bool> {
        if cfg!(feature = "classical") {
            return hashes.iter().map(|&hash| self.contains(hash)).collect();
        }
        let mut found = Vec::new();
        match (&self.planned, &self.growing) {
            (Some(planned), None) => planned.as_hash_filter().contains_batch(hashes, &mut found),
            (None, Some(growing)) => growing.contains_hashes(hashes, &mut found),
            (None, None) => found.resize(hashes.len(), false),
            (Some(planned), Some(growing)) => {
                planned.as_hash_filter().contains_batch(hashes, &mut found);
                let absent: Vec<usize> = (0..hashes.len()).filter(|&index| !found[index]).collect();
                let others: Vec<KeyHash> = absent.iter().map(|&index| hashes[index]).collect();
                let mut in_growing = Vec::new();
                growing.contains_hashes(&others, &mut in_growing);
                for (index, is_found) in absent.into_iter().zip(in_growing) {
                    found[index] = is_found;
                }
            }
        }
        found
    }

    /// Adds an item. `limit`: bytes beyond which no part grows.
    pub(crate) fn add(&mut self, hash: KeyHash, limit: u64) -> Added {
        let was_present = self.contains(hash);
        if was_present && !self.reservation.removable {
            return Added::Present;
        }
        let is_new = |_: Insertion| if was_present { Added::Present } else { Added::New };
        if let Some(planned) = &mut self.planned
            && planned.len() < planned.parameters().keys
            && let Ok(inserted) = planned.as_hash_filter_mut().insert(hash)
        {
            return is_new(inserted);
        }
        if !self.reservation.scales() {
            return Added::Full;
        }
        if self.is_at_limit(limit) {
            return Added::NoMemory;
        }
        if self.growing.is_none() {
            self.growing = self.reservation.growing().ok().map(Box::new);
        }
        let Some(growing) = &mut self.growing else { return Added::NoMemory };
        growing.insert_hash(hash).map_or(Added::NoMemory, is_new)
    }

    /// [`add`](Self::add) for many items, until one is refused: the same result as one by one, faster, because the
    /// lookups come first, with prefetch.
    pub(crate) fn add_all(&mut self, hashes: &[KeyHash], limit: u64) -> Vec<Added> {
        if let [hash] = hashes {
            return vec![self.add(*hash, limit)];
        }
        let found = self.contains_all(hashes);
        let stores_copies = self.reservation.removable;
        let mut outcomes = Vec::with_capacity(hashes.len());
        for (&hash, found) in hashes.iter().zip(found) {
            let outcome =
                if found && !stores_copies { Added::Present } else { self.add(hash, limit) };
            outcomes.push(outcome);
            if matches!(outcome, Added::Full | Added::NoMemory) {
                break;
            }
        }
        outcomes
    }

    /// Whether the filter's bytes have reached the limit. Compared from time to time, because it takes a while.
    fn is_at_limit(&mut self, limit: u64) -> bool {
        let elements = self.elements();
        if limit == u64::MAX || elements < self.next_check {
            return false;
        }
        let is_reached = self.bytes() >= limit;
        self.next_check = if is_reached { 0 } else { elements + CHECK_EVERY };
        is_reached
    }

    /// Removes one copy of an item. `false`: it is certainly absent, or nothing can be removed.
    pub(crate) fn remove(&mut self, hash: KeyHash) -> bool {
        // A removable filter has one part.
        match (&mut self.planned, &mut self.growing) {
            (Some(planned), _) => planned.as_hash_filter_mut().remove(hash).is_ok(),
            (None, Some(growing)) => growing.remove_hash(hash).is_ok(),
            (None, None) => false,
        }
    }

    /// Adds all items of another filter. Nothing has changed after an error.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), String> {
        if self.reservation.seed != other.reservation.seed {
            let (ours, theirs) = (self.reservation.seed, other.reservation.seed);
            return Err(format!(
                "the seeds differ: {ours} and {theirs}; merge filters of one seed"
            ));
        }
        if self.reservation.removable != other.reservation.removable {
            return Err("one filter was reserved REMOVABLE, the other was not".into());
        }
        if self.reservation.removable && self.planned.is_some() != other.planned.is_some() {
            return Err("one of the REMOVABLE filters scales, the other does not".into());
        }
        let merged = |error: MergeError| error.to_string();
        match (&mut self.planned, &other.planned) {
            (Some(ours), Some(theirs)) => ours.merge(theirs).map_err(merged)?,
            (ours @ None, Some(theirs)) => *ours = Some(theirs.clone()),
            (_, None) => {}
        }
        match (&mut self.growing, &other.growing) {
            (Some(ours), Some(theirs)) => ours.merge(theirs).map_err(merged)?,
            (ours @ None, Some(theirs)) => *ours = Some(theirs.clone()),
            (_, None) => {}
        }
        self.next_check = 0;
        Ok(())
    }

    /// The rate expected from the contents, and the blocks that a lookup of an absent item reads. Scans the filter.
    pub(crate) fn expected(&self) -> (f64, f64) {
        let planned = self.planned.as_deref().map(Filter::statistics);
        let growing = self.growing.as_deref().map(Growing::statistics);
        let parts = planned.into_iter().chain(growing);
        parts.fold((0.0, 0.0), |(rate, blocks), part| {
            let rate = rate + (1.0 - rate) * part.expected_rate;
            (rate, blocks + part.expected_accesses_per_miss)
        })
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        let Self { reservation, planned, growing, .. } = self;
        Self::of_parts(*reservation, planned.as_deref().cloned(), growing.as_deref().cloned())
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        FILTERS.subtract(1);
    }
}

/// A filter whose chunks are being loaded.
#[derive(Clone)]
pub(crate) struct Loading {
    pub(crate) bytes: Vec<u8>,
    /// Bytes that are expected in all.
    pub(crate) total: u64,
}

/// What a key holds.
// One allocation each, and nearly all are filters.
#[allow(clippy::large_enum_variant)]
#[derive(Clone)]
pub(crate) enum Content {
    Filter(Value),
    Loading(Loading),
}

impl Content {
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Filter(value) => value.bytes(),
            Self::Loading(loading) => (loading.bytes.capacity() + size_of::<Self>()) as u64,
        }
    }

    /// About the number of allocations.
    pub(crate) fn allocations(&self) -> usize {
        match self {
            Self::Filter(value) => 1 + (value.bytes() >> 14) as usize,
            Self::Loading(_) => 2,
        }
    }

    /// Writes the bytes that [`rdb::read`] reads.
    pub(crate) fn write(&self, writer: &mut dyn Write) -> std::io::Result<()> {
        rdb::write(self, writer)
    }
}
