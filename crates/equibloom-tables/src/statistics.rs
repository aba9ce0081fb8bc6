//! Statistics of a table: sizes of its buckets, bytes, and what lookups read.

use alloc::vec::Vec;
use core::mem;
use core::ops::RangeInclusive;

use super::geometry::Geometry;
use super::raw::RawTable;
use super::storage::Read;
use equibloom_layout::KeyHash;

/// The state of a table, computed by a pass over all of it.
///
/// ```
/// use equibloom_tables::BalancedMap;
///
/// let mut map = BalancedMap::with_capacity(60_000);
/// map.extend((0..60_000_u64).map(|key| (key, key)));
/// let statistics = map.statistics();
/// // Six entries a bucket, spread more evenly than chance would do (a variance of 6).
/// assert!(statistics.variance() < 2.0);
/// assert!(statistics.misses.buckets.mean < 1.2 && statistics.misses.buckets.max <= 3);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TableStatistics {
    /// Entries in the table.
    pub entries: usize,
    /// Entries it is planned for.
    pub capacity: usize,
    /// Entries in the stash.
    pub stashed: usize,
    /// Number of buckets.
    pub buckets: usize,
    /// Capacity of a bucket.
    pub slots: usize,
    /// `sizes[i]` buckets hold `i` entries.
    pub sizes: Vec<u64>,
    /// Bytes of buckets and stash as allocated, and of the table's own fields.
    pub bytes: usize,
    /// Lookups of all entries, each once.
    pub hits: LookupStatistics,
    /// Lookups of absent keys.
    pub misses: LookupStatistics,
}

/// The reads of one kind of lookup.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LookupStatistics {
    /// Buckets per lookup.
    pub buckets: Distribution,
    /// Cache lines of 64 bytes per lookup, without those of the stash.
    pub lines: Distribution,
    /// Share of the lookups that go on to the stash.
    pub stash_share: f64,
}

/// A distribution in four numbers; all 0 if nothing was counted.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Distribution {
    /// Mean.
    pub mean: f64,
    /// Variance.
    pub variance: f64,
    /// 99th percentile.
    pub p99: usize,
    /// The largest.
    pub max: usize,
}

/// Number of absent keys looked up: random, but always the same ones.
const SAMPLED_MISSES: u64 = 1 << 17;

impl TableStatistics {
    /// Share of all slots that hold an entry.
    pub fn occupancy(&self) -> f64 {
        (self.entries - self.stashed) as f64 / (self.buckets * self.slots).max(1) as f64
    }

    /// Variance of the number of entries in a bucket.
    pub fn variance(&self) -> f64 {
        Distribution::of(&self.sizes).variance
    }

    /// All memory per entry; infinite in an empty table.
    pub fn bytes_per_entry(&self) -> f64 {
        self.bytes as f64 / self.entries as f64
    }

    pub(crate) fn take<R: RawTable>(table: &R, hash_of: impl Fn(&R::Entry) -> u64) -> Self {
        let storage = table.storage();
        let mut sizes = Vec::new();
        for bucket in 0..storage.buckets.count() {
            let tags = storage.buckets.tags(bucket);
            tally(&mut sizes, tags.iter().filter(|&&tag| tag != 0).count());
        }
        let geometry = *storage.buckets.geometry();
        let mut hits = Reads { geometry, ..Reads::default() };
        for place in storage.places() {
            if let Some(entry) = storage.get(place) {
                hits.look_up(table, hash_of(entry), |other| core::ptr::eq(other, entry));
            }
        }
        let mut misses = Reads { geometry, ..Reads::default() };
        for index in 0..SAMPLED_MISSES {
            let hash = KeyHash::from_u64(index).candidate(1);
            misses.look_up(table, hash, |_| false);
        }
        Self {
            entries: storage.len(),
            capacity: table.capacity(),
            stashed: storage.stash.len(),
            buckets: storage.buckets.count(),
            slots: geometry.slots,
            sizes,
            bytes: storage.bytes() + size_of::<R>(),
            hits: hits.finish(),
            misses: misses.finish(),
        }
    }
}

/// The reads of lookups, one after the other.
#[derive(Default)]
struct Reads {
    geometry: Geometry,
    /// Buckets that the present lookup has read.
    buckets_now: usize,
    /// Lines that it has touched; a handful.
    lines_now: Vec<usize>,
    /// Histograms of all lookups before it.
    buckets: Vec<u64>,
    lines: Vec<u64>,
    stash_searches: u64,
}

impl Reads {
    fn look_up<R: RawTable>(
        &mut self,
        table: &R,
        hash: u64,
        is_match: impl FnMut(&R::Entry) -> bool,
    ) {
        table.find(hash, is_match, &mut |read| match read {
            Read::Bucket(bucket) => {
                self.buckets_now += 1;
                self.touch(self.geometry.header_lines(bucket));
            }
            Read::Entry(at) => self.touch(self.geometry.entry_lines(at)),
            Read::Stash => self.stash_searches += 1,
        });
        tally(&mut self.buckets, mem::take(&mut self.buckets_now));
        tally(&mut self.lines, self.lines_now.len());
        self.lines_now.clear();
    }

    fn touch(&mut self, lines: RangeInclusive<usize>) {
        for line in lines {
            if !self.lines_now.contains(&line) {
                self.lines_now.push(line);
            }
        }
    }

    fn finish(self) -> LookupStatistics {
        let lookups: u64 = self.buckets.iter().sum();
        LookupStatistics {
            buckets: Distribution::of(&self.buckets),
            lines: Distribution::of(&self.lines),
            stash_share: self.stash_searches as f64 / lookups.max(1) as f64,
        }
    }
}

fn tally(histogram: &mut Vec<u64>, value: usize) {
    if histogram.len() <= value {
        histogram.resize(value + 1, 0);
    }
    histogram[value] += 1;
}

impl Distribution {
    /// From a histogram: `histogram[i]` values are `i`.
    pub fn of(histogram: &[u64]) -> Self {
        let total = histogram.iter().sum::<u64>();
        let average = |of: fn(f64) -> f64| {
            let terms = histogram.iter().zip(0_u32..);
            terms.map(|(&count, value)| count as f64 * of(value.into())).sum::<f64>()
                / total.max(1) as f64
        };
        let mean = average(|value| value);
        let mut seen = 0;
        let p99 = histogram.iter().position(|&count| {
            seen += count;
            seen as f64 >= 0.99 * total as f64
        });
        Self {
            mean,
            variance: average(|value| value * value) - mean * mean,
            p99: p99.unwrap_or(0),
            max: histogram.iter().rposition(|&count| count > 0).unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests;
