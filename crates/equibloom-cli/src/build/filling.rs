//! Inserts hashes into a filter and limits their number to the plan.

use std::thread::available_parallelism;

use anyhow::bail;
use equibloom::{HashFilter, KeyHash, Statistics};
use serde::Serialize;

use crate::answer::{self, count, rate};
use crate::filter_file::Target;
use crate::progress;

/// How to handle more keys than planned. The command itself refuses; a filter grows or saturates, so that a plan's
/// random overflow is never refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WhenFull {
    /// Keep the rate: keys beyond the plan go to a second part, which grows.
    Grow,
    /// Stop with an error and leave the output unchanged.
    Refuse,
    /// Insert them; the false-positive rate rises.
    Saturate,
}

/// How many threads insert.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Threads {
    /// Threads that insert keys, beside one that reads them: 1 to 256. The filter does not depend on it
    /// [default: number of cores].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

impl Threads {
    fn number(&self) -> usize {
        let cores = || available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(cores, usize::from)
    }
}

pub(crate) struct Filling {
    pub(crate) filter: HashFilter,
    /// Keys received, repeated ones included.
    pub(crate) read: u64,
    /// If it is not said, what the filter does, and otherwise `Refuse`.
    when_full: Option<WhenFull>,
    threads: usize,
}

impl Filling {
    pub(crate) fn new(
        filter: HashFilter,
        when_full: Option<WhenFull>,
        threads: &Threads,
    ) -> anyhow::Result<Self> {
        let grows = grows(&filter);
        if when_full == Some(WhenFull::Grow) && !grows {
            bail!(
                "the filter does not grow: build it with --when-full grow, or add to it by --when-full saturate"
            );
        }
        Ok(Self { filter, read: 0, when_full, threads: threads.number() })
    }

    /// Inserts keys. After an error the filter is unusable.
    pub(crate) fn insert(&mut self, hashes: &[KeyHash]) -> anyhow::Result<()> {
        self.filter.insert_parallel(hashes, self.threads)?;
        self.read += hashes.len() as u64;
        self.check()
    }

    /// Refuses a filter with too many keys.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let (planned, there) = (self.filter.parameters().keys, self.filter.len());
        let refuses = match self.when_full {
            None => !grows(&self.filter),
            Some(when_full) => when_full == WhenFull::Refuse,
        };
        if refuses && there > planned {
            bail!(
                "there are more than the {} that the filter is planned for: build it for more \
                 (by --keys or --headroom, or by leaving --keys out to have them counted), \
                 or let the false-positive rate rise by --when-full saturate",
                count(planned, "key")
            );
        }
        Ok(())
    }

    /// Writes the filter. Warns on standard error if it has more keys than planned.
    pub(crate) fn save(&self, target: &Target, quiet: bool) -> anyhow::Result<(Saved, Statistics)> {
        target.save(&self.filter, quiet)?;
        let statistics = progress::during("computing the rate", quiet, || self.filter.statistics());
        let saved = Saved {
            file: target.name(),
            keys: statistics.elements,
            planned_keys: self.filter.parameters().keys,
            rate_now: statistics.expected_rate,
        };
        warn_over_capacity(&saved.file, &self.filter, &statistics);
        Ok((saved, statistics))
    }
}

/// Whether keys beyond the plan go to a part that grows.
fn grows(filter: &HashFilter) -> bool {
    filter.parameters().design.overflow().when_full.grows()
}

/// Warns on standard error of a filter with more keys than planned, unless it has grown.
pub(crate) fn warn_over_capacity(file: &str, filter: &HashFilter, statistics: &Statistics) {
    if filter.is_over_capacity() && filter.growth_elements().is_none() {
        answer::warn(&format!(
            "{file}: {} in a filter planned for {}: its false-positive rate is now {}",
            count(statistics.elements, "key"),
            count(filter.parameters().keys, "key"),
            rate(statistics.expected_rate)
        ));
    }
}

/// A filter file that was written.
#[derive(Serialize)]
pub(crate) struct Saved {
    pub(crate) file: String,
    /// An estimate of the different keys: one that seems to be there already is not counted. A removable filter
    /// counts all, repeated ones too. After a merge it may be the sum of all filters.
    pub(crate) keys: u64,
    pub(crate) planned_keys: u64,
    /// The rate computed from the filter's bits.
    pub(crate) rate_now: f64,
}
