//! The exact model: what the machine measures.
//!
//! **The machine.** A block has U data bits. A key is a random set of k *distinct* bits, the same in all
//! its candidate blocks. A block with s set bits holds all of them with probability
//! q(s) = C(s,k)/C(U,k); a key that finds all its bits set is *apparently present*: an insert ends there
//! and changes nothing, a lookup answers yes. Otherwise the placement decides: [`Placement::Threshold`]
//! admits below `threshold` (at it with `probability`), else the walk goes on and at last to the
//! overflow list; [`Placement::LeastLoaded`] puts the key where fewer bits are set. A lookup goes on from a
//! block that would turn the key away, or, where blocks have `hints`, only if somebody of the key's hint class
//! was turned away. [`FingerprintMachine`] has blocks of another kind under the same placements.
//!
//! **The model.** A block forgets everything but its load ℓ and its number s of set bits, and what an
//! arriving key does to it depends on nothing else. So each block is a Markov chain over its arrivals:
//!
//! ```text
//!     arrival at (ℓ, s):  matches                      q(s)             nothing changes
//!                         is admitted                  (1−q(s))·A(ℓ)    (ℓ+1, s+new), hypergeometric
//!                         is turned away               (1−q(s))·(1−A)   one of w hints is set, key walks on
//! ```
//!
//! 1. The chain is run once, arrival by arrival (`bloom_block`): after i arrivals it is known how
//!    likely the next key matches or is turned away, and, of keys that were never inserted, goes on. With w
//!    hints that is E(1−q)(1 − (1−1/w)^R) after R rejects, carried along as a second mass over the states.
//! 2. A block of fingerprints, of which there are M, is a shorter chain (`fingerprint_block`): D different ones
//!    among its arrivals, each new with 1 − D/M. A stranger is found with D/M and goes on with
//!    (1 − D/M)(1 − (1−1/w)^R), R = (D − h)⁺. What is turned away goes where the block and the fingerprint
//!    say, so that equal ones stay together: only different ones count as the next level's arrivals.
//! 3. The number of arrivals of a block is binomial (nearly Poisson). For disjoint subtables a level's
//!    rejects are the next level's arrivals, so one mixture a level (`block_history`) is the whole answer
//!    (`subtables`).
//! 4. When all candidates share one table, the mean arrivals x obey dx/dt = r(1 + P(x) + … + P(x)^{d−1})
//!    with P(x) the mixture of 1: one integral (`shared_table`).
//! 5. A key that was never inserted reads block after block as far as it goes on (`miss`): with G_i for that,
//!    1 + G_1 + G_1·G_2 + … blocks, and is taken for a key with F_1 + G_1·F_2 + G_1·G_2·F_3 + …
//! 6. With the least-loaded rule a block's rate of arrivals depends on all others through the
//!    distribution of s: a differential equation over s (`least_loaded`).
//!
//! Blocks above 1024 data bits (`LARGEST_RESOLVED_BLOCK`) are resolved by load only, with the mean
//! of q(s) at each load. Left out because too small to see: the two candidates of a key coinciding
//! (1/m), a key that passed a block at its threshold, matching there after one more admission
//! (below 0.1 % of the accesses of a hit), and equal fingerprints in multisets that are turned away together
//! (R/M of those that are turned away).

pub(crate) mod arrivals;
mod best;
mod block_history;
mod bloom_block;
mod classical;
mod fingerprint_block;
mod fingerprints;
mod least_loaded;
mod miss;
mod patterns;
mod shared_table;
mod subtables;
mod window;

use crate::error::{Error, require};
use block_history::BlockHistory;
use bloom_block::BloomBlock;

pub use best::{best_hashes, best_hashes_classical, best_second_choice};
pub use classical::ClassicalMachine;
pub use fingerprints::{FINGERPRINT_BLOCK_BITS, FingerprintMachine};
pub(crate) use fingerprints::{MOST_LISTS, MOST_REMAINDER_BITS, MOST_SLOTS};

/// A blocked filter, as built, with its keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// Number of distinct keys inserted.
    pub keys: u64,
    /// Bits of a block that keys may set: block bits less counter and hint bits.
    pub data_bits: u32,
    /// Distinct bits a key sets.
    pub hashes: u32,
    /// Where keys go.
    pub placement: Placement,
}

/// The rule that places a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Placement {
    /// The first candidate below a threshold.
    Threshold {
        /// The candidates.
        levels: Levels,
        /// A block below this load admits every key.
        threshold: u32,
        /// A block at the threshold admits a key with this probability.
        probability: f64,
        /// Hint bits of a block; without any, a lookup goes on where the load turns the key away.
        hints: u32,
        /// Block accesses that placing keys may cost in all; later keys go to the overflow list.
        access_budget: Option<u64>,
    },
    /// The candidate with fewer set bits; there is no counter and no overflow.
    LeastLoaded {
        /// Number of blocks.
        blocks: u64,
        /// Share of the keys that have a second candidate: 0 is the blocked filter, 1 power of two.
        second_choice: f64,
    },
}

/// The candidate blocks of a key under a threshold.
#[derive(Debug, Clone, PartialEq)]
pub enum Levels {
    /// All anywhere in one table.
    Shared {
        /// Number of blocks.
        blocks: u64,
        /// Candidates per key.
        choices: u32,
    },
    /// One in each of several disjoint subtables, with these numbers of blocks.
    Subtables(Vec<u64>),
}

/// What to expect of a filter after all its keys are inserted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prediction {
    /// False-positive rate of a lookup.
    pub rate: f64,
    /// Standard deviation of the true rate from one filter to the next (finite number of blocks).
    pub rate_deviation: f64,
    /// Mean block accesses of an insert, over all keys.
    pub accesses_insert: f64,
    /// Mean block accesses of looking up an inserted key.
    pub accesses_hit: f64,
    /// Mean block accesses of looking up another key.
    pub accesses_miss: f64,
    /// Mean probes of the overflow list per insert.
    pub overflow_probes_insert: f64,
    /// Mean probes of the overflow list per lookup of an inserted key.
    pub overflow_probes_hit: f64,
    /// Mean probes of the overflow list per lookup of another key.
    pub overflow_probes_miss: f64,
    /// Share of the keys in the overflow list.
    pub overflow_fraction: f64,
    /// Standard deviation of that share from one filter to the next. A crowded block turns away several
    /// keys, and a crowded level sends on several, so it is above that of independent keys.
    pub overflow_deviation: f64,
    /// Share of the keys that were not apparently present when inserted.
    pub stored_fraction: f64,
    /// Probability that the access budget is spent in the end.
    pub budget_spent: f64,
    /// Per level, the probability of load i (threshold) or of i set bits (least loaded).
    pub load_distributions: Vec<Vec<f64>>,
}

/// Largest block: two pages of 4 KiB.
const LARGEST_BLOCK: u32 = 1 << 16;

/// Most keys: above it numbers of keys are no longer exact in floating point.
const MOST_KEYS: u64 = 1 << 53;

/// Most bits a key may set: no rate that can be measured needs more.
const MOST_HASHES: u32 = 128;

/// Most hint bits of a block.
pub(crate) const MOST_HINTS: u32 = 64;

/// Most levels or choices.
const MOST_CHOICES: u32 = 64;

impl Machine {
    /// What to expect of this filter.
    pub fn predict(&self) -> Result<Prediction, Error> {
        self.check()?;
        let patterns = patterns::Patterns::new(self.data_bits as usize, self.hashes as usize);
        let keys = self.keys as f64;
        Ok(match &self.placement {
            Placement::LeastLoaded { blocks, second_choice } => {
                least_loaded::predict(&patterns, keys, *blocks as f64, *second_choice)
            }
            Placement::Threshold { levels, threshold, probability, hints, access_budget } => {
                let block = BloomBlock::new(patterns, *threshold as usize, *probability, *hints);
                predict_levels(BlockHistory::new(block), self.keys, levels, *access_budget)
            }
        })
    }

    fn check(&self) -> Result<(), Error> {
        check_keys(self.keys)?;
        require(
            (1..=LARGEST_BLOCK).contains(&self.data_bits),
            "data_bits",
            f64::from(self.data_bits),
            format!("between 1 and {LARGEST_BLOCK}"),
        )?;
        let most_hashes = self.data_bits.min(MOST_HASHES);
        require(
            (1..=most_hashes).contains(&self.hashes),
            "hashes",
            f64::from(self.hashes),
            format!("between 1 and {most_hashes} (data_bits, but at most {MOST_HASHES})"),
        )?;
        match &self.placement {
            Placement::LeastLoaded { blocks, second_choice } => {
                some_blocks(*blocks)?;
                let holds = (0.0..=1.0).contains(second_choice);
                require(holds, "second_choice", *second_choice, "between 0 and 1")
            }
            Placement::Threshold { levels, probability, hints, .. } => {
                let holds = (0.0..=1.0).contains(probability);
                require(holds, "probability", *probability, "between 0 and 1")?;
                let most = format!("at most {MOST_HINTS}");
                require(*hints <= MOST_HINTS, "hints", f64::from(*hints), most)?;
                levels.check()
            }
        }
    }
}

impl Levels {
    fn check(&self) -> Result<(), Error> {
        let choices_in_range = |choices: usize| {
            let holds = (1..=MOST_CHOICES as usize).contains(&choices);
            require(holds, "choices", choices as f64, format!("between 1 and {MOST_CHOICES}"))
        };
        match self {
            Self::Shared { blocks, choices } => {
                some_blocks(*blocks)?;
                choices_in_range(*choices as usize)
            }
            Self::Subtables(sizes) => {
                choices_in_range(sizes.len())?;
                sizes.iter().try_for_each(|&blocks| some_blocks(blocks))
            }
        }
    }
}

fn check_keys(keys: u64) -> Result<(), Error> {
    require(keys <= MOST_KEYS, "keys", keys as f64, format!("at most 2^53, {MOST_KEYS}"))
}

fn some_blocks(blocks: u64) -> Result<(), Error> {
    require(blocks > 0, "blocks", blocks as f64, "at least 1")
}

/// What to expect of blocks of any kind under the threshold rule.
fn predict_levels(
    history: BlockHistory,
    keys: u64,
    levels: &Levels,
    access_budget: Option<u64>,
) -> Prediction {
    let keys = keys as f64;
    let budget = access_budget.map(|budget| budget as f64);
    match levels {
        Levels::Shared { blocks, choices: 1 } => {
            subtables::predict(history, keys, &[*blocks], budget)
        }
        Levels::Shared { blocks, choices } => {
            shared_table::predict(history, keys, *blocks as f64, *choices, budget)
        }
        Levels::Subtables(blocks) => subtables::predict(history, keys, blocks, budget),
    }
}
