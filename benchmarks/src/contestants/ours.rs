//! Equibloom's filters, as users hold them: the kind is chosen at run time.

use equibloom::{AnyFilter, BlockKind, FilterBuilder, Parameters, PlacementName};

use super::{Contestant, DEFAULT_PLAN, Entry, Expectation, Failure, Kind, Many, Profile};
use crate::keys::Keys;

/// Keys that are looked up by one call. Their answers stay in the first-level cache.
const BATCH: usize = 16_384;

/// What is to be planned, and under which name it runs.
pub(super) struct Wished {
    pub(super) name: String,
    wishes: FilterBuilder,
    rival: Option<String>,
}

/// The default plan, and others in the same memory that some will prefer.
pub(super) fn plans(keys: u64, bytes: u64) -> Vec<Wished> {
    let wishes = AnyFilter::builder().keys(keys).memory(bytes);
    let bloom = wishes.clone().block(BlockKind::Bloom).block_bits(512);
    [
        (DEFAULT_PLAN, wishes.clone()),
        // For those who look up one by one: it seldom needs a second line, which nobody could ask for in time.
        ("equibloom, 1.1 lines", wishes.clone().accesses_miss(1.1)),
        ("equibloom, removable", wishes.removable()),
        ("equibloom, multi-level Bloom", bloom.clone().placement(PlacementName::MultiLevel)),
        ("equibloom, blocked Bloom", bloom.placement(PlacementName::Blocked)),
    ]
    .into_iter()
    .map(|(name, wishes)| Wished { name: name.to_owned(), wishes, rival: None })
    .collect()
}

/// The default plan for the memory that a peer takes.
pub(super) fn beside(rival: &str, keys: u64, bytes: u64) -> Wished {
    let wishes = AnyFilter::builder().keys(keys).memory(bytes);
    Wished { name: name_beside(rival), wishes, rival: Some(rival.to_owned()) }
}

pub(super) fn name_beside(rival: &str) -> String {
    format!("equibloom, as large as {rival}")
}

impl Wished {
    /// Plans now, builds when asked: planning is not what is timed.
    pub(super) fn entry(&self) -> Result<Entry, Failure> {
        let plan = self.wishes.plan()?;
        let parameters = Parameters::from(&plan);
        let profile = Profile {
            name: self.name.clone(),
            kind: Kind::Ours,
            many: Many::Call,
            // All of them could, but one is enough to see what a second thread gives.
            parallel_inserts: self.name == DEFAULT_PLAN,
            promised_rate: Some(plan.rate()),
            rival: self.rival.clone(),
        };
        let make =
            move |_: Keys<'_>| Ok(Box::new(AnyFilter::new(&parameters)?) as Box<dyn Contestant>);
        Ok(Entry { profile, make: Box::new(make) })
    }
}

impl Contestant for AnyFilter {
    fn bytes(&self) -> u64 {
        self.statistics().memory.total()
    }

    fn insert_each(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        for &key in keys.full {
            self.insert_hash(key)?;
        }
        Ok(())
    }

    fn insert_batch(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        self.insert_hashes(keys.full)?;
        Ok(())
    }

    fn insert_parallel(&mut self, keys: Keys<'_>, threads: usize) -> Result<(), Failure> {
        self.insert_hashes_parallel(keys.full, threads)?;
        Ok(())
    }

    fn count_each(&self, keys: Keys<'_>) -> usize {
        keys.full.iter().filter(|&&key| self.contains_hash(key)).count()
    }

    fn count_batch(&self, keys: Keys<'_>) -> usize {
        let mut found = Vec::new();
        let mut count = 0;
        for keys in keys.full.chunks(BATCH) {
            self.contains_hashes_bitmap(keys, &mut found);
            count += found.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        }
        count
    }

    fn expectation(&self) -> Option<Expectation> {
        let statistics = self.statistics();
        let lines_per_miss = statistics.expected_accesses_per_miss;
        Some(Expectation { rate: statistics.expected_rate, lines_per_miss })
    }
}
