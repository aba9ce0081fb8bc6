//! Inserts hashes into a filter and limits their number to the plan.

use std::path::Path;

use anyhow::bail;
use equibloom::{HashFilter, KeyHash};
use indicatif::HumanCount;

use crate::answer::number;

/// How to handle more keys than planned. The command checks this, since most filters would accept more; the
/// filters themselves saturate, so that a plan's random overflow is never refused.
///
/// There is no `grow`: a growing filter is several filters, and a file holds one. Without --keys the keys are
/// counted; to add many more later, rebuild.
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
}

/// Warns on standard error that a filter has more keys than planned.
pub(crate) fn warn_of_overload(file: &Path, keys: u64, planned: u64, rate: f64) {
    if keys > planned {
        eprintln!(
            "warning: {}: {} keys in a filter planned for {}: its false-positive rate is now {}",
            file.display(),
            HumanCount(keys),
            HumanCount(planned),
            number(rate)
        );
    }
}
