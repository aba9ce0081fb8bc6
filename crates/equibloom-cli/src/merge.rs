//! `equibloom merge`: one filter with the keys of several.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::bail;
use equibloom::{HashFilter, MergeError, file};
use indicatif::HumanCount;
use serde::Serialize;

use crate::answer::{Output, number};
use crate::build::{Filling, Saved, WhenFull, directory_for};
use crate::query::open;

/// Merges filters that were built with the same --seed: the result contains the keys of all.
///
/// Filters with the same --keys and requirements become one. Others stay apart in one file, and a query asks one
/// part after the other: their false-positive rates add up. All are checked first. The output may be one of them; it is replaced when the result is complete.
///
/// Example: equibloom merge monday.eqb tuesday.eqb -o week.eqb
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The filter files.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The filter file to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// How to handle more keys in total than each filter is planned for.
    #[arg(long, value_enum, default_value_t = WhenFull::Refuse)]
    when_full: WhenFull,
    #[command(flatten)]
    printing: Output,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    directory_for(&arguments.output)?;
    let Some((first, others)) = arguments.files.split_first() else {
        bail!("there is nothing to merge: give filter files");
    };
    let mut filling = Filling::new(HashFilter::load(first)?, arguments.when_full);
    for path in others {
        // Each file is verified, then mapped: only one filter is in memory.
        file::verify(path)?;
        let other = open(path)?;
        filling.filter.merge(&other).map_err(|error| disagreement(first, path, error))?;
        filling.check()?;
    }
    let (saved, _) = filling.save(&arguments.output)?;
    let (filters, parts) = (arguments.files.len(), filling.filter.part_count());
    arguments.printing.print(&Merged { saved, filters, parts })
}

/// Why two filters are not merged, in terms of the flags of `build`.
fn disagreement(first: &Path, other: &Path, error: MergeError) -> anyhow::Error {
    let (first, other) = (first.display(), other.display());
    let cure = match &error {
        MergeError::OtherKeys { .. } => "build both with the same --type",
        MergeError::OtherSeed { .. } => "build both with the same --seed",
        MergeError::OtherRemovable { .. } => "build both with the same --keys and requirements",
        _ => return anyhow::anyhow!("{first} and {other}: {error}"),
    };
    anyhow::anyhow!("{first} and {other} cannot be merged: {error} ({cure})")
}

#[derive(Serialize)]
struct Merged {
    #[serde(flatten)]
    saved: Saved,
    filters: usize,
    parts: usize,
}

impl fmt::Display for Merged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Saved { file, keys, planned_keys, rate_now } = &self.saved;
        let (keys, planned) = (HumanCount(*keys), HumanCount(*planned_keys));
        writeln!(f, "{file}: {} filters, {keys} keys of {planned} planned", self.filters)?;
        if self.parts > 1 {
            writeln!(f, "  parts                 {}, because the plans differ", self.parts)?;
        }
        writeln!(f, "  false-positive rate   {} now", number(*rate_now))
    }
}
