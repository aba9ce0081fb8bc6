//! Equibloom's filters, over hashes: no hash function is timed.

use equibloom::{BlockKind, Filter, FilterBuilder, HashFilter, Placement};

use super::{Contestant, DEFAULT_PLAN, Entry, Expectation, Failure, Kind, Many, Profile};
use crate::keys::Keys;

/// Keys per batch call; the answers stay in the L1 cache.
const BATCH: usize = 16_384;

/// Requirements of a plan, and the name it runs under.
pub(super) struct Planned {
    pub(super) name: String,
    builder: FilterBuilder<u64>,
    rival: Option<String>,
}

/// The default plan, and alternatives for other workloads in the same memory.
pub(super) fn plans(keys: u64, bytes: u64) -> Vec<Planned> {
    let builder = Filter::builder().keys(keys).memory(bytes);
    let bloom = builder.clone().block(BlockKind::Bloom).block_bits(512);
    [
        (DEFAULT_PLAN, builder.clone()),
        // For single lookups: it seldom reads a second line, which could not be prefetched in time.
        ("equibloom, 1.1 lines", builder.clone().accesses_miss(1.1)),
        ("equibloom, removable", builder.removable()),
        ("equibloom, multi-level Bloom", bloom.clone().placement(Placement::MultiLevel)),
        ("equibloom, blocked Bloom", bloom.placement(Placement::Blocked)),
    ]
    .into_iter()
    .map(|(name, builder)| Planned { name: name.to_owned(), builder, rival: None })
    .collect()
}

/// The default plan for the memory of a peer.
pub(super) fn beside(rival: &str, keys: u64, bytes: u64) -> Planned {
    let builder = Filter::builder().keys(keys).memory(bytes);
    Planned { name: name_beside(rival), builder, rival: Some(rival.to_owned()) }
}

pub(super) fn name_beside(rival: &str) -> String {
    format!("equibloom, as large as {rival}")
}

impl Planned {
    /// Plans now and builds later: planning is not timed.
    pub(super) fn entry(&self) -> Result<Entry, Failure> {
        let promised_rate = Some(self.builder.plan()?.rate());
        let parameters = self.builder.parameters()?;
        let profile = Profile {
            name: self.name.clone(),
            kind: Kind::Ours,
            many: Many::Call,
            // All of them can; one is enough to measure a second thread.
            parallel_inserts: self.name == DEFAULT_PLAN,
            promised_rate,
            rival: self.rival.clone(),
        };
        let make =
            move |_: Keys<'_>| Ok(Box::new(HashFilter::new(&parameters)?) as Box<dyn Contestant>);
        Ok(Entry { profile, make: Box::new(make) })
    }
}

impl Contestant for HashFilter {
    fn bytes(&self) -> u64 {
        self.statistics().memory.total()
    }

    fn insert_each(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        for &key in keys.full {
            self.insert(key)?;
        }
        Ok(())
    }

    fn insert_batch(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        self.insert_batch(keys.full)?;
        Ok(())
    }

    fn insert_parallel(&mut self, keys: Keys<'_>, threads: usize) -> Result<(), Failure> {
        self.insert_parallel(keys.full, threads)?;
        Ok(())
    }

    fn count_each(&self, keys: Keys<'_>) -> usize {
        keys.full.iter().filter(|&&key| self.contains(key)).count()
    }

    fn count_batch(&self, keys: Keys<'_>) -> usize {
        let mut found = Vec::new();
        let mut count = 0;
        for keys in keys.full.chunks(BATCH) {
            self.contains_batch_bitmap(keys, &mut found);
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
