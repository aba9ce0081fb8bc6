//! Requirements of a filter.

use equibloom_layout::{
    BlockKind, Blocks, FINGERPRINT_BLOCK_BITS, MAX_BLOCK_BITS, MAX_CHOICES, MAX_GROWTH_BITS,
    MAX_HINTS, MAX_LISTS, MAX_REMAINDER_BITS, MAX_SLOTS, MIN_REMAINDER_BITS, Placement,
    WATERMARK_BITS, WhenFull,
};

use super::memory::{MOST_BYTES, MOST_KEYS};
use crate::error::{Error, require};

/// Smallest block that is planned: a block takes a word of memory at least.
const LEAST_BLOCK_BITS: u32 = 64;

/// Requirements of a filter; omitted ones are chosen by the planner.
///
/// Sufficient are: keys and memory (or bits per key); keys and rate; memory and rate; memory and bits per key.
///
/// ```
/// use equibloom_theory::planner::{DEFAULT_ACCESSES_MISS, Requirements, plan};
///
/// let plan = plan(&Requirements { keys: Some(1_000_000), rate: Some(0.001), ..Requirements::default() })?;
/// assert!(plan.expected.rate <= 0.001);
/// assert!(plan.expected.accesses_miss <= DEFAULT_ACCESSES_MISS);
/// assert!(plan.bits_per_key() < 14.0);
/// # Ok::<(), equibloom_theory::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Requirements {
    /// Number of keys.
    pub keys: Option<u64>,
    /// Bytes, everything counted.
    pub memory: Option<u64>,
    /// The same per key, in bits.
    pub bits_per_key: Option<f64>,
    /// Highest false-positive rate.
    pub rate: Option<f64>,
    /// Maximum mean accesses of a lookup of an absent key; by default [`DEFAULT_ACCESSES_MISS`], or no limit if
    /// the classical filter is required.
    pub accesses_miss: Option<f64>,
    /// Maximum mean accesses of an insert.
    pub accesses_insert: Option<f64>,
    /// Maximum mean cache lines of a lookup of an absent key. An access to a block within a line touches one.
    pub lines_miss: Option<f64>,
    /// Maximum mean cache lines of an insert.
    pub lines_insert: Option<f64>,
    /// Bits of a block; a cache line, 512, if not given.
    pub block_bits: Option<u32>,
    /// Maximum accesses of any key.
    pub choices: Option<u32>,
    /// Largest share of the keys in the overflow list.
    pub overflow: Option<f64>,
    /// The placement; chosen by the planner if not given.
    pub placement: Option<Placement>,
    /// The kind of blocks; chosen by the planner if not given.
    pub block: Option<BlockKind>,
    /// Hint bits of a Bloom block; chosen by the planner if not given. 0 is the papers' rule, by the load.
    pub hints: Option<u32>,
    /// Whether keys will be removed: every insert is stored then, which requires fingerprint blocks.
    pub multiset: bool,
    /// Whether filters of parts of the keys will be merged into one that is as good as a filter of all keys.
    /// Thresholds and second choices only level the blocks of one filter.
    pub mergeable: bool,
    /// Slots of a fingerprint block; chosen by the planner if not given.
    pub slots: Option<u32>,
    /// Lists of a fingerprint block; chosen by the planner if not given.
    pub lists: Option<u32>,
    /// Bits of a remainder in a fingerprint block; chosen by the planner if not given.
    pub remainder_bits: Option<u32>,
    /// Bits of the hash of a key; by default 128, as the library's own.
    pub hash_bits: Option<u32>,
    /// So large a share of keys more than given must fit, with the same rate and limits.
    pub headroom: Option<f64>,
    /// What happens to keys beyond the plan. [`WhenFull::Refuse`] requires a filter that can be full;
    /// [`WhenFull::Grow`] has its part of the required rate.
    pub when_full: Option<WhenFull>,
    /// How keys will be looked up; chosen for the lowest rate if not given.
    pub prefer: Option<Lookup>,
}

/// How keys are looked up.
///
/// ```
/// use equibloom_theory::planner::{Lookup, Requirements, plan};
///
/// let requirements = Requirements {
///     keys: Some(100_000),
///     rate: Some(0.001),
///     prefer: Some(Lookup::OneByOne),
///     ..Requirements::default()
/// };
/// assert!(plan(&requirements)?.rate() <= 0.001);
/// # Ok::<(), equibloom_theory::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lookup {
    /// Each waits for the one before it, so that instructions count: up to a quarter more false positives in the
    /// same memory are accepted if a miss costs at least a tenth less.
    OneByOne,
    /// Many at once.
    Batches,
}

/// Bits of the library's own hash.
const HASH_BITS: u32 = 128;

/// Default limit on the mean accesses of a miss. More would prevent few false positives, fewer would cost many:
/// ARCHITECTURE.md has the numbers.
pub const DEFAULT_ACCESSES_MISS: f64 = 1.2;

/// Default bits of a block: a cache line.
pub(crate) const CACHE_LINE_BITS: u32 = 512;

/// Limits that every candidate filter must meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limits {
    pub(crate) accesses_miss: f64,
    pub(crate) accesses_insert: f64,
    pub(crate) choices: u32,
    pub(crate) overflow: f64,
    pub(crate) block_bits: u32,
    pub(crate) hints: Option<u32>,
    pub(crate) multiset: bool,
    pub(crate) slots: Option<u32>,
    pub(crate) lists: Option<u32>,
    pub(crate) remainder_bits: Option<u32>,
    /// Whether one placement is required.
    pub(crate) placement_is_fixed: bool,
    pub(crate) one_by_one: bool,
    /// Whether a full filter refuses keys.
    pub(crate) refuses: bool,
}

impl Limits {
    /// Whether nothing but the size, or what happens to keys, was required.
    pub(crate) fn are_default(&self) -> bool {
        let Self { multiset, one_by_one, refuses, .. } = *self;
        *self == Self { multiset, one_by_one, refuses, ..Requirements::default().limits() }
    }
}

impl Requirements {
    pub(crate) fn limits(&self) -> Limits {
        // The classical filter is chosen for its rate, although a miss reads two lines.
        let default_accesses_miss = match self.placement {
            Some(Placement::Classical) => f64::INFINITY,
            _ => DEFAULT_ACCESSES_MISS,
        };
        // An access touches one line at least, in blocks within a line not more.
        let is_larger = self.block_bits.is_some_and(|bits| bits > CACHE_LINE_BITS);
        let least = |accesses: Option<f64>, lines: Option<f64>, default: f64| match lines {
            Some(lines) if !is_larger => accesses.unwrap_or(lines).min(lines),
            _ => accesses.unwrap_or(default).min(lines.unwrap_or(f64::INFINITY)),
        };
        Limits {
            accesses_miss: least(self.accesses_miss, self.lines_miss, default_accesses_miss),
            accesses_insert: least(self.accesses_insert, self.lines_insert, f64::INFINITY),
            choices: self.choices.unwrap_or(u32::MAX),
            overflow: self.overflow.unwrap_or(1.0),
            block_bits: self.block_bits.unwrap_or(CACHE_LINE_BITS),
            hints: self.hints,
            multiset: self.multiset,
            slots: self.slots,
            lists: self.lists,
            remainder_bits: self.remainder_bits,
            placement_is_fixed: self.placement.is_some(),
            one_by_one: self.prefer == Some(Lookup::OneByOne) && self.has_memory(),
            refuses: self.when_full == Some(WhenFull::Refuse),
        }
    }

    /// What happens to keys beyond the plan if nothing is said: where keys and a rate are given and memory is open, a filter
    /// grows. Removable and classical filters cannot, nor can filters of rates below 3e-11.
    ///
    /// ```
    /// use equibloom_layout::WhenFull;
    /// use equibloom_theory::planner::Requirements;
    ///
    /// let by_rate = Requirements { keys: Some(1_000), rate: Some(0.01), ..Requirements::default() };
    /// assert_eq!(by_rate.default_policy(), WhenFull::grow(0.01));
    /// let by_memory = Requirements { memory: Some(2_000), rate: None, ..by_rate };
    /// assert_eq!(by_memory.default_policy(), None);
    /// ```
    pub fn default_policy(&self) -> Option<WhenFull> {
        let is_open = self.keys.is_some() && !self.has_memory();
        let can_grow = !self.multiset && self.placement != Some(Placement::Classical);
        if is_open && can_grow { WhenFull::grow(self.rate?) } else { None }
    }

    /// What the planned filter has to reach of the required rate: less the rate of the part that grows. A filter of a high
    /// rate grows later than planned, because a share of its keys seem to be there when they come.
    pub(crate) fn planned_rate(&self) -> Option<f64> {
        let rate = self.rate?;
        let growth = self.when_full.map_or(0.0, WhenFull::growth_rate);
        let late = if growth > 0.0 { LATE * rate } else { 0.0 };
        Some((rate - growth) * (1.0 - late))
    }

    /// The rate to require so that a planned filter of this rate is enough: with the same part that grows, or, where that
    /// is the default, with the one for the new rate.
    pub(crate) fn rate_to_require(&self, reached: f64) -> f64 {
        let is_default = self.when_full == self.default_policy();
        let mut required = Self { rate: Some(reached), ..self.clone() };
        for _ in 0..GROWTH_ROUNDS {
            if is_default {
                required.when_full = required.default_policy();
            }
            match required.planned_rate() {
                Some(planned) if planned < reached => {
                    required.rate = required.rate.map(|rate| rate * reached / planned);
                }
                _ => break,
            }
        }
        required.rate.unwrap_or(reached)
    }

    /// Whether a full set takes more keys in the same memory.
    pub(crate) fn keeps_memory(&self) -> bool {
        match self.when_full {
            Some(when_full) => when_full == WhenFull::Saturate,
            None => self.has_memory() && !self.multiset,
        }
    }

    /// Whether the memory is given, directly or per key.
    fn has_memory(&self) -> bool {
        self.memory.is_some() || self.bits_per_key.is_some()
    }

    /// Whether placement and blocks are open, so that the simplest filter is allowed.
    pub(crate) fn leave_blocks_open(&self) -> bool {
        let of_slots = [self.slots, self.lists, self.remainder_bits];
        self.placement.is_none()
            && self.block != Some(BlockKind::Fingerprint)
            && self.hints.is_none_or(|hints| hints == 0)
            && !self.multiset
            && self.when_full != Some(WhenFull::Refuse)
            && of_slots == [None; 3]
    }

    /// Probability that an absent key has the same hash as one of the keys: a lower bound on the rate.
    pub(crate) fn rate_floor(&self, keys: u64) -> f64 {
        keys as f64 * 0.5_f64.powi(self.hash_bits.unwrap_or(HASH_BITS) as i32)
    }

    /// Refuses every number outside its range, one by one.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let whole = |argument, value: Option<u64>, least: u64, most: u64| match value {
            Some(value) => require(
                (least..=most).contains(&value),
                argument,
                value as f64,
                format!("between {least} and {most}"),
            ),
            None => Ok(()),
        };
        let real = |argument, value: Option<f64>, holds: fn(f64) -> bool, accepted: &str| {
            value.map_or(Ok(()), |value| require(holds(value), argument, value, accepted))
        };
        if self.multiset && self.when_full == Some(WhenFull::Saturate) {
            return Err(Error::Contradiction {
                conflict:
                    "keys cannot be removed from a filter that saturates: what it shortens to \
                           make room stands for several keys"
                        .to_owned(),
                remedies: vec!["refuse keys when the filter is full".to_owned()],
            });
        }
        if let Some(WhenFull::Grow { rate_bits }) = self.when_full {
            if self.multiset {
                return Err(Error::Contradiction {
                    conflict: "keys cannot be removed from a filter that gets a second part, where another key may \
                               look like the one in the first"
                        .to_owned(),
                    remedies: vec![
                        "refuse keys when the filter is full".to_owned(),
                        "build a filter that grows from the start".to_owned(),
                    ],
                });
            }
            whole("rate_bits", Some(rate_bits.into()), 1, MAX_GROWTH_BITS.into())?;
            if let (Some(rate), Some(planned)) = (self.rate, self.planned_rate())
                && planned < rate / 4.0
            {
                return Err(Error::Contradiction {
                    conflict: format!(
                        "a growing part with a rate of 2^-{rate_bits} leaves too little of a rate of {rate}"
                    ),
                    remedies: vec!["use `WhenFull::grow(rate)`, or refuse or saturate".to_owned()],
                });
            }
        }
        whole("keys", self.keys, 1, MOST_KEYS)?;
        whole("memory", self.memory, 1, MOST_BYTES)?;
        for (argument, value, least, most) in [
            ("block_bits", self.block_bits, LEAST_BLOCK_BITS, MAX_BLOCK_BITS),
            ("choices", self.choices, 1, MAX_CHOICES),
            ("hints", self.hints, 0, MAX_HINTS),
            ("slots", self.slots, 1, MAX_SLOTS),
            ("lists", self.lists, 1, MAX_LISTS),
            ("remainder_bits", self.remainder_bits, MIN_REMAINDER_BITS, MAX_REMAINDER_BITS),
            ("hash_bits", self.hash_bits, 32, 1024),
        ] {
            whole(argument, value.map(u64::from), least.into(), most.into())?;
        }
        if let Some(slots) = self.slots {
            let remainder_bits = self.remainder_bits.unwrap_or(MIN_REMAINDER_BITS);
            let lists = self.lists.unwrap_or(1);
            let used = Blocks::Fingerprint { slots, lists, remainder_bits }.used_bits();
            require(
                used <= FINGERPRINT_BLOCK_BITS.into(),
                "slots",
                f64::from(slots),
                format!(
                    "at most {}: 8 + lists + slots × (1 + remainder bits) would be {used}, above \
                     {FINGERPRINT_BLOCK_BITS}",
                    FINGERPRINT_BLOCK_BITS.saturating_sub(WATERMARK_BITS + lists)
                        / (1 + remainder_bits)
                ),
            )?;
        }
        let few_bits = |bits: f64| (0.01..=1e6).contains(&bits);
        real("bits_per_key", self.bits_per_key, few_bits, "between 0.01 and 1e6")?;
        let possible = |rate: f64| (LOWEST_RATE..1.0).contains(&rate);
        real("rate", self.rate, possible, "at least 1e-15 and below 1")?;
        let at_least_one = |accesses: f64| (1.0..=64.0).contains(&accesses);
        real("accesses_miss", self.accesses_miss, at_least_one, "between 1 and 64")?;
        real("accesses_insert", self.accesses_insert, at_least_one, "between 1 and 64")?;
        real("lines_miss", self.lines_miss, at_least_one, "between 1 and 64")?;
        real("lines_insert", self.lines_insert, at_least_one, "between 1 and 64")?;
        let more = |headroom: f64| (0.0..=100.0).contains(&headroom);
        real("headroom", self.headroom, more, "between 0 and 100 times the keys")?;
        let share = |overflow: f64| (0.0..1.0).contains(&overflow);
        real("overflow", self.overflow, share, "at least 0 and below 1")
    }
}

/// How much a filter's rate rises until it grows, as a share of that rate: measured at rates of 0.1 and 0.3.
const LATE: f64 = 0.7;

/// Rounds until a required rate leaves enough beside that of the part that grows.
const GROWTH_ROUNDS: usize = 30;

/// Lower rates than this need more hash functions than a filter has.
pub(crate) const LOWEST_RATE: f64 = 1e-15;
