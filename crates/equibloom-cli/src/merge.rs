//! `equibloom merge`: one filter with the keys of several.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use equibloom::MergeError;
use indicatif::HumanCount;
use serde::Serialize;

use crate::answer::{Output, count, rate};
use crate::build::{Filling, Saved, Threads, WhenFull};
use crate::filter_file::{self, Target, is_standard, name};
use crate::progress;

/// Merges filters that were built with the same --seed: the result contains the keys of all.
///
/// Filters with the same --keys and requirements become one. Others stay apart in one file, and a query asks one
/// part after the other: their false-positive rates add up. All are checked first. The output may be one of them; it is
/// replaced when the result is complete, unless it is read-only.
///
/// Exit status: 0 if the filter was written, 2 after an error.
///
/// Example: equibloom merge monday.eqb tuesday.eqb -o week.eqb
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The filter files; `-` for standard input.
    #[arg(value_name = "FILE", required = true, value_hint = clap::ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// The filter file to write; `-` for standard output.
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: PathBuf,
    /// How to handle more keys in total than each filter is planned for [default: grow if the filter was built so, else
    /// refuse].
    #[arg(long, value_enum)]
    when_full: Option<WhenFull>,
    #[command(flatten)]
    printing: Output,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let (target, quiet) = (Target::new(&arguments.output)?, arguments.printing.quiet);
    let standard = arguments.files.iter().filter(|path| is_standard(path)).count();
    ensure!(standard < 2, "`-` is given twice, but standard input can be read once");
    let Some((first, others)) = arguments.files.split_first() else {
        bail!("there is nothing to merge: give filter files");
    };
    let first_filter = filter_file::load(first, quiet)?;
    let mut filling = Filling::new(first_filter, arguments.when_full, &Threads::default())?;
    for path in others {
        // Large files are verified and mapped: few filters are in memory at once.
        let other = filter_file::open(path, true, quiet)?;
        let merged = progress::during("merging", quiet, || filling.filter.merge(&other.filter));
        merged.map_err(|error| disagreement(first, path, error))?;
        other.origin.check()?;
        filling.check()?;
    }
    let (saved, _) = filling.save(&target, quiet)?;
    let (filters, parts) = (arguments.files.len(), filling.filter.part_count());
    arguments.printing.report(&Merged { saved, filters, parts }, &target)
}

/// Why two filters are not merged, in terms of the flags of `build`.
fn disagreement(first: &Path, other: &Path, error: MergeError) -> anyhow::Error {
    let (first, other) = (name(first), name(other));
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
        let (keys, planned) = (count(*keys, "key"), HumanCount(*planned_keys));
        let filters = count(self.filters as u64, "filter");
        writeln!(f, "{file}: {filters}, {keys} of {planned} planned")?;
        if self.parts > 1 {
            writeln!(f, "  parts                 {}, whose rates add up", self.parts)?;
        }
        writeln!(f, "  false-positive rate   {} now", rate(*rate_now))
    }
}
