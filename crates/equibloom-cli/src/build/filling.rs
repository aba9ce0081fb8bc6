//! Inserts hashes into a filter and limits their number to the plan.

use std::path::Path;

use anyhow::bail;
use equibloom::{HashFilter, KeyHash, Statistics};
use indicatif::HumanCount;
use serde::Serialize;

use crate::answer::number;

/// How to handle more keys than planned. The command checks this, since most filters would accept more; the
/// filters themselves saturate, so that a plan's random overflow is never refused.
///
/// There is no `grow`: without --keys the keys are counted, and a filter planned for them takes half of the memory of
/// one that grows. To add many more later, rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WhenFull {
    /// Stop with an error and leave the output unchanged.
    Refuse,
    /// Insert them; the false-positive rate rises.
    Saturate,
}

/// Threads that insert. The reading thread waits for them: reading and hashing take less time.
const THREADS: usize = 2;

pub(crate) struct Filling {
    pub(crate) filter: HashFilter,
    /// Keys received, repeated ones included.
    pub(crate) read: u64,
    when_full: WhenFull,
}

impl Filling {
    pub(crate) fn new(filter: HashFilter, when_full: WhenFull) -> Self {
        Self { filter, read: 0, when_full }
    }

    /// Inserts keys. After an error the filter is unusable.
    pub(crate) fn insert(&mut self, hashes: &[KeyHash]) -> anyhow::Result<()> {
        self.filter.insert_parallel(hashes, THREADS)?;
        self.read += hashes.len() as u64;
        self.check()
    }

    /// Refuses a filter with too many keys.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let (planned, there) = (self.filter.parameters().keys, self.filter.elements());
        if self.when_full == WhenFull::Refuse && there > planned {
            bail!(
                "there are more than the {} keys that the filter is planned for: build it for more \
                 (by --keys, or by leaving that out to have them counted), \
                 or let the false-positive rate rise by --when-full saturate",
                HumanCount(planned)
            );
        }
        Ok(())
    }

    /// Writes the filter. Warns on standard error if it has more keys than planned.
    pub(crate) fn save(&self, path: &Path) -> anyhow::Result<(Saved, Statistics)> {
        self.filter.save(path)?;
        let statistics = self.filter.statistics();
        let saved = Saved {
            file: path.display().to_string(),
            keys: statistics.elements,
            planned_keys: self.filter.parameters().keys,
            rate_now: statistics.expected_rate,
        };
        warn_over_capacity(&saved.file, &self.filter, &statistics);
        Ok((saved, statistics))
    }
}

/// Warns on standard error of a filter with more keys than planned.
pub(crate) fn warn_over_capacity(file: &str, filter: &HashFilter, statistics: &Statistics) {
    if filter.is_over_capacity() {
        eprintln!(
            "warning: {file}: {} keys in a filter planned for {}: its false-positive rate is now {}",
            HumanCount(statistics.elements),
            HumanCount(filter.parameters().keys),
            number(statistics.expected_rate)
        );
    }
}

/// A filter file that was written.
#[derive(Serialize)]
pub(crate) struct Saved {
    pub(crate) file: String,
    /// Distinct keys, as far as the filter can tell; after a merge the sum of all filters.
    pub(crate) keys: u64,
    pub(crate) planned_keys: u64,
    /// The rate computed from the filter's bits.
    pub(crate) rate_now: f64,
}
