//! Equibloom's filters, as users hold them: the kind is chosen at run time.

use equibloom::{AnyFilter, BlockKind, FilterBuilder, Parameters, PlacementName};

use super::{Contestant, DEFAULT_PLAN, Entry, Expectation, Failure, Kind, Many, Profile};
use crate::keys::Keys;

/// Keys that are looked up by one call. Their answers stay in the first-level cache.
const BATCH: usize = 16_384;

/// The default plan, and others in the same memory that some will prefer.
pub(super) fn entries(
    keys: u64,
    bytes: u64,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Entry>, Failure> {
    let wishes = AnyFilter::builder().keys(keys).memory(bytes);
    let bloom = wishes.clone().block(BlockKind::Bloom).block_bits(512);
    let all = [
        (DEFAULT_PLAN, wishes.clone()),
        ("equibloom, removable", wishes.removable()),
        ("equibloom, multi-level Bloom", bloom.clone().placement(PlacementName::MultiLevel)),
        ("equibloom, blocked Bloom", bloom.placement(PlacementName::Blocked)),
    ];
    let named = all.into_iter().filter(|(name, _)| wanted(name));
    named.map(|(name, wishes)| entry(name, &wishes, None)).collect()
}

/// The default plan for the memory that a peer takes.
pub(super) fn beside(rival: &str, keys: u64, bytes: u64) -> Result<Entry, Failure> {
    let wishes = AnyFilter::builder().keys(keys).memory(bytes);
    entry(&name_beside(rival), &wishes, Some(rival.to_owned()))
}

pub(super) fn name_beside(rival: &str) -> String {
    format!("equibloom, as large as {rival}")
}

/// Plans now, builds when asked: planning is not what is timed.
fn entry(name: &str, wishes: &FilterBuilder, rival: Option<String>) -> Result<Entry, Failure> {
    let plan = wishes.plan()?;
    let parameters = Parameters::from(&plan);
    let profile = Profile {
        name: name.to_owned(),
        kind: Kind::Ours,
        many: Many::Call,
        parallel_inserts: true,
        promised_rate: Some(plan.rate()),
        rival,
    };
    Ok(Entry { profile, make: Box::new(move |_| Ok(Box::new(AnyFilter::new(&parameters)?))) })
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
