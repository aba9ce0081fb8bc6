//! The exact model: the measurable properties of a filter, as the library builds it.
//!
//! **The filter.** A Bloom block has U data bits. A key is a random set of k *distinct* bits, the same in all
//! its candidate blocks. A block with s set bits holds all of them with probability
//! q(s) = C(s,k)/C(U,k); a key that finds all its bits set is *apparently present*: an insert ends there
//! and changes nothing, a lookup answers yes. Otherwise the rule decides: [`Rule::FirstWithRoom`] admits
//! below a threshold (at it with a coin), else the insert goes on to the next candidate and at last to the
//! overflow list; [`Rule::LeastLoaded`] puts the key where the fewest bits are set. A lookup goes on from a
//! block that would reject the key, or, where blocks have hints, only if the block rejected a key with the
//! same hint. A full fingerprint block keeps its largest entries and sends the others on
//! ([`Rule::KeepLargest`]); a lookup goes on where its byte is at most the largest that was sent on.
//!
//! **The model.** A block forgets everything but its load ℓ and its number s of set bits, and what an
//! arriving key does to it depends on nothing else. So each block is a Markov chain over its arrivals:
//!
//! ```text
//!     arrival at (ℓ, s):  matches                      q(s)             nothing changes
//!                         is admitted                  (1−q(s))·A(ℓ)    (ℓ+1, s+new), hypergeometric
//!                         is rejected                  (1−q(s))·(1−A)   one of w hints is set, the key goes on
//! ```
//!
//! 1. The chain is run once, arrival by arrival (`bloom_block`): after i arrivals it is known how
//!    likely the next key matches or is rejected, and how likely an absent key goes on. With w
//!    hints that is E(1−q)(1 − (1−1/w)^R) after R rejects, carried along as a second mass over the states.
//! 2. A fingerprint block depends on the number E of different entries among its arrivals only, of M possible ones,
//!    and E is binomial (`fingerprint_block`). An absent key is found with E/M and goes on with about S/(E + 1), where
//!    S = (E − slots)⁺ entries were sent on. Where they go depends on block and fingerprint only, so that
//!    equal ones stay together: only different ones count as the next level's arrivals.
//! 3. The number of arrivals of a block is binomial (nearly Poisson). For disjoint subtables a level's
//!    rejects are the next level's arrivals, so one mixture a level (`mixture`) is the whole answer
//!    (`subtables`).
//! 4. When all candidates share one table, the mean arrivals x obey dx/dt = r(1 + P(x) + … + P(x)^{d−1})
//!    with P(x) the mixture of 1: one integral (`shared_table`).
//! 5. A lookup of an absent key reads block after block as far as it goes on (`miss`): with G_i for that,
//!    1 + G_1 + G_1·G_2 + … blocks, and it is a false positive with F_1 + G_1·F_2 + G_1·G_2·F_3 + …
//! 6. With the least-loaded rule a block's rate of arrivals depends on all others through the
//!    distribution of s: a differential equation over s (`least_loaded`).
//!
//! Blocks above 1024 data bits (`LARGEST_RESOLVED_BLOCK`) are resolved by load only, with the mean of q(s) at
//! each load. Neglected: the two candidates of a key coinciding (1/m); a key that passed a block at its
//! threshold matching there after one more admission (below 0.1 % of the accesses of a hit); and equal
//! entries of multisets that are sent on together (S/M of them).

pub(crate) mod arrivals;
mod best;
mod block_history;
mod bloom_block;
mod classical;
mod fingerprint_block;
mod flow;
mod least_loaded;
mod miss;
mod mixture;
mod patterns;
mod shared_table;
mod subtables;
mod window;

use equibloom_layout::{Blocks, Candidates, Design, Layout, Rule};

use crate::error::{Error, require};
use block_history::BlockHistory;
use bloom_block::BloomBlock;
use fingerprint_block::FingerprintBlock;
use flow::{FAR, SentOn};
use mixture::Mixture;
use patterns::Patterns;

pub(crate) use arrivals::Arrivals;
pub(crate) use best::best_hashes_from;
pub use best::{best_hashes, best_second_choice};

/// The expected properties of a filter after all its keys are inserted.
///
/// ```
/// use equibloom_layout::{Blocks, Layout};
/// use equibloom_theory::exact::predict;
///
/// let design = Layout::blocked(Blocks::bloom(512, 8), 1_000).into();
/// let expected = predict(&design, 40_000)?;
/// assert!((0.002..0.005).contains(&expected.rate));
/// assert_eq!(expected.accesses_miss, 1.0);
/// # Ok::<(), equibloom_theory::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Prediction {
    /// False-positive rate of a lookup.
    pub rate: f64,
    /// Standard deviation of the true rate from one filter to the next (finite number of blocks).
    pub rate_deviation: f64,
    /// Mean block accesses of placing a key, over all keys.
    pub accesses_insert: f64,
    /// Mean block accesses, over all keys, of checking that keys which come after the access budget is spent are
    /// not present yet. They place nothing and cost no budget.
    pub accesses_check: f64,
    /// Mean block accesses of looking up an inserted key.
    pub accesses_hit: f64,
    /// Mean block accesses of looking up an absent key.
    pub accesses_miss: f64,
    /// Mean probes of the overflow list per insert.
    pub overflow_probes_insert: f64,
    /// Mean probes of the overflow list per lookup of an inserted key.
    pub overflow_probes_hit: f64,
    /// Mean probes of the overflow list per lookup of an absent key.
    pub overflow_probes_miss: f64,
    /// Share of the keys in the overflow list.
    pub overflow_fraction: f64,
    /// Standard deviation of that share from one filter to the next. A crowded block rejects several
    /// keys, and a crowded level sends on several, so it is above that of independent keys.
    pub overflow_deviation: f64,
    /// Share of the keys that more than 1 − 1e-9 of all filters do not exceed there.
    pub overflow_most: f64,
    /// Share of the keys that were not apparently present when inserted.
    pub stored_fraction: f64,
    /// Probability that the access budget is spent in the end.
    pub budget_spent: f64,
    /// Per level, the share of lookups that reach it, match nothing that arrived there, and go on; empty for the
    /// least-loaded rule.
    pub goes_on: Vec<f64>,
    /// Per level, the probability of load i (threshold) or of i set bits (least loaded).
    pub load_distributions: Vec<Vec<f64>>,
}

/// Maximum number of keys: above it, counts are no longer exact in floating point.
const MOST_KEYS: u64 = 1 << 53;

/// The expected properties of a filter with `keys` distinct keys.
///
/// ```
/// use equibloom_layout::{Blocks, Layout};
/// use equibloom_theory::exact::predict;
///
/// let blocked = Layout::blocked(Blocks::bloom(512, 8), 10_000);
/// let expected = predict(&blocked.into(), 320_000)?;
/// assert!((8e-4..1e-3).contains(&expected.rate));
///
/// let blocks = Blocks::Fingerprint { slots: 48, lists: 72, remainder_bits: 8 };
/// let subtables = Layout::fingerprints(blocks, &[19_500, 1_760, 170, 20])?;
/// let expected = predict(&subtables.into(), 1_000_000)?;
/// assert!(expected.rate < 3.1e-3 && expected.accesses_miss < 1.1);
/// # Ok::<(), equibloom_theory::Error>(())
/// ```
///
/// # Errors
/// [`Error::Layout`] if the filter [cannot be built](Design::check), [`Error::OutOfRange`] for more than 2^53
/// keys.
pub fn predict(design: &Design, keys: u64) -> Result<Prediction, Error> {
    design.check()?;
    require(keys <= MOST_KEYS, "keys", keys as f64, format!("at most 2^53, {MOST_KEYS}"))?;
    let keys = keys as f64;
    Ok(match design {
        Design::Classical { bits, hashes } => classical::predict(keys, *bits, *hashes),
        Design::Blocked(layout) => predict_blocks(layout, keys),
        Design::List { .. } => predict_list(keys),
    })
}

/// An operation in a list is one access; different keys may have the same 64 bits.
fn predict_list(keys: f64) -> Prediction {
    Prediction {
        rate: keys * 0.5_f64.powi(64),
        accesses_insert: 1.0,
        accesses_hit: 1.0,
        accesses_miss: 1.0,
        stored_fraction: 1.0,
        ..Prediction::default()
    }
}

/// The expected properties of a layout that has been checked.
fn predict_blocks(layout: &Layout, keys: f64) -> Prediction {
    let Layout { candidates, budget, .. } = layout;
    let Some(mut model) = BlockModel::of(layout) else {
        return least_loaded::predict(&patterns(layout), keys, candidates);
    };
    let budget = budget.map(|budget| budget as f64);
    match (&mut model, candidates) {
        (BlockModel::Bloom(history), Candidates::Anywhere { blocks, choices: 2.., .. }) => {
            shared_table::predict(history, keys, *blocks as f64, candidates.choices(), budget)
        }
        (_, Candidates::Anywhere { blocks, .. }) => {
            subtables::predict(&mut model, keys, &[*blocks], budget)
        }
        (_, Candidates::Subtables { sizes }) => subtables::predict(&mut model, keys, sizes, budget),
    }
}

/// The rate, accesses per miss and insert, and the overflow of a layout with subtables: that by which a search compares.
/// `None` if blocks are to receive more than `most` keys on average. The most that may overflow takes more time, and is
/// left out unless it is asked for.
pub(crate) fn outline(
    layout: &Layout,
    keys: f64,
    most: f64,
    with_tail: bool,
) -> Option<Prediction> {
    let Candidates::Subtables { sizes } = &layout.candidates else { return None };
    let distance = if with_tail { FAR } else { 0.0 };
    subtables::outline(&mut BlockModel::of(layout)?, keys, sizes, most, distance)
}

/// Mean number of different entries that a fingerprint block of a set sends on when `load` arrive on average.
pub(crate) fn sent_on(blocks: Blocks, load: f64) -> f64 {
    let Blocks::Fingerprint { slots, lists, remainder_bits } = blocks else { return 0.0 };
    let block = FingerprintBlock::new(slots, lists, remainder_bits, false);
    block.sent_on(&Arrivals::poisson(load)).mean
}

fn patterns(layout: &Layout) -> Patterns {
    Patterns::new(layout.data_bits() as usize, layout.blocks.hashes() as usize)
}

/// Blocks of one kind, in tables of any size.
enum BlockModel {
    Bloom(Box<BlockHistory>),
    Fingerprint(FingerprintBlock),
}

impl BlockModel {
    /// `None` for the least-loaded rule, where blocks depend on each other.
    fn of(layout: &Layout) -> Option<Self> {
        match (layout.blocks, layout.rule) {
            (Blocks::Fingerprint { slots, lists, remainder_bits }, _) => Some(Self::Fingerprint(
                FingerprintBlock::new(slots, lists, remainder_bits, layout.multiset),
            )),
            (Blocks::Bloom { hints, .. }, Rule::FirstWithRoom { below, coin }) => {
                let block = BloomBlock::new(patterns(layout), below as usize, coin.get(), hints);
                Some(Self::Bloom(Box::new(BlockHistory::new(block))))
            }
            // Bloom blocks cannot keep the largest: the check has refused that.
            (Blocks::Bloom { .. }, Rule::LeastLoaded | Rule::KeepLargest) => None,
        }
    }

    /// The average over all blocks of a table.
    fn mix(&mut self, arrivals: &Arrivals) -> Mixture {
        match self {
            Self::Bloom(history) => history.mix(&arrivals.number().weights()),
            Self::Fingerprint(block) => block.mix(arrivals),
        }
    }

    /// The different entries that a block sends on.
    fn sent_on(&mut self, arrivals: &Arrivals) -> SentOn {
        match self {
            Self::Bloom(_) => {
                let table = self.mix(arrivals);
                let spread = table.spread_of(0.0, 0.0, 1.0);
                SentOn::new(table.sent_on, spread.variance, self.free(&table))
            }
            Self::Fingerprint(block) => block.sent_on(arrivals),
        }
    }

    /// Mean number of free slots of a block; without end for Bloom blocks, whose thresholds are seldom all reached.
    fn free(&self, table: &Mixture) -> f64 {
        match self {
            Self::Bloom(_) => f64::INFINITY,
            Self::Fingerprint(block) => block.free(table.stored),
        }
    }

    /// The distribution of the loads.
    fn loads(&mut self, arrivals: &Arrivals) -> Vec<f64> {
        match self {
            Self::Bloom(history) => history.loads(&arrivals.number().weights()),
            Self::Fingerprint(block) => block.loads(arrivals),
        }
    }

    /// Hint bits of a block.
    const fn hints(&self) -> u32 {
        match self {
            Self::Bloom(history) => history.hints(),
            Self::Fingerprint(_) => 0,
        }
    }
}
