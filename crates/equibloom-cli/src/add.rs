//! `equibloom add` and `equibloom remove`: atomic changes to a filter file.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::bail;
use equibloom::{RemoveError, Stable};
use indicatif::HumanCount;
use serde::Serialize;

use crate::answer::{self, Output, count, rate};
use crate::build::{Filling, Saved, Threads, WhenFull};
use crate::filter_file::{self, Lock, Target, is_standard};
use crate::keys::{self, Batch, Input, KeyFiles, StandardInput};
use crate::progress::{self, Unit};

/// Adds keys to a filter file.
///
/// The file is replaced when all keys are inserted, with its owner and permissions; until then, and after an error, it is
/// unchanged. Commands that add to one file at the same time wait for each other. A read-only file is not replaced.
///
/// Exit status: 0 if the filter was written, 2 after an error.
///
/// Example: equibloom add customers.eqb new.txt -e carol@example.com
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How to handle more keys than the filter is planned for [default: grow if the filter was built so, else
    /// refuse].
    #[arg(long, value_enum)]
    when_full: Option<WhenFull>,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    change: Change,
}

/// Removes keys from a filter file that was built with --removable, each once.
///
/// Remove only keys that were added: removing a false positive removes another key. If a key is certainly
/// absent, nothing is removed, unless --skip-absent is given.
///
/// Exit status: 0 if the filter was written, 2 after an error.
///
/// Example: equibloom remove customers.eqb gone.txt -e dave@example.com
#[derive(clap::Args)]
pub(crate) struct RemoveArguments {
    /// Skip keys that are not in the filter.
    #[arg(long)]
    skip_absent: bool,
    #[command(flatten)]
    change: Change,
}

/// Arguments of both commands.
#[derive(clap::Args)]
struct Change {
    /// The filter file; `-` reads it from standard input and writes it to standard output.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    filter: PathBuf,
    /// A key; can be repeated. Standard input is then not read, unless given as `-`.
    #[arg(short = 'e', long = "key", value_name = "KEY", allow_hyphen_values = true)]
    literal: Vec<OsString>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    key_files: KeyFiles,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { when_full, threads, change } = arguments;
    change.make(*when_full, threads, |filling, batch| filling.insert(&batch.hashes))
}

pub(crate) fn run_remove(arguments: &RemoveArguments) -> anyhow::Result<()> {
    let path = &arguments.change.filter;
    arguments.change.make(Some(WhenFull::Saturate), &Threads::default(), |filling, batch| {
        for (&hash, number) in batch.hashes.iter().zip(filling.read + 1..) {
            match filling.filter.remove(hash) {
                Ok(()) => {}
                Err(RemoveError::NotPresent) if arguments.skip_absent => {}
                Err(error) => bail!(refusal(path, number, error)),
            }
        }
        filling.read += batch.count;
        Ok(())
    })
}

fn refusal(path: &Path, number: u64, error: RemoveError) -> String {
    let path = filter_file::name(path);
    match error {
        RemoveError::NotRemovable(kind) => {
            format!(
                "{path}: keys cannot be removed from this filter ({kind}): build it with --removable"
            )
        }
        RemoveError::NotPresent => format!(
            "{path}: key number {number} is not in the filter, and nothing was removed: \
             remove only keys that were added, or skip others by --skip-absent"
        ),
        other => format!("{path}: {other}"),
    }
}

impl Change {
    /// Loads the filter, changes it and saves it, under a lock.
    fn make(
        &self,
        when_full: Option<WhenFull>,
        threads: &Threads,
        mut change: impl FnMut(&mut Filling, &Batch) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (is_standard, quiet) = (is_standard(&self.filter), self.output.quiet);
        let standard = if is_standard { StandardInput::Filter } else { StandardInput::Keys };
        let mut input: Input = self.key_files.input(&self.literal, standard)?;
        let _lock = if is_standard { None } else { Some(Lock::of(&self.filter)?) };
        let target = Target::new(&self.filter)?;
        let filter = filter_file::load(&self.filter, quiet)?;
        let mut filling = Filling::new(filter, when_full, threads)?;
        input.settle_kind(Some((&self.filter, filling.filter.key_kind())))?;
        let before = filling.filter.len();
        let hasher = Stable::with_seed(filling.filter.parameters().seed);
        let progress = progress::bar("changing", input.bytes(), Unit::Bytes, quiet);
        let missing =
            keys::for_each_slab(&input, hasher, &progress, |batch| change(&mut filling, batch))?;
        let (saved, _) = filling.save(&target, quiet)?;
        let (keys_read, keys_missing, keys_before) = (filling.read, missing, before);
        self.output.report(&Changed { saved, keys_read, keys_missing, keys_before }, &target)
    }
}

#[derive(Serialize)]
struct Changed {
    #[serde(flatten)]
    saved: Saved,
    keys_read: u64,
    /// Records without a key.
    keys_missing: u64,
    keys_before: u64,
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Saved { file, keys, planned_keys, rate_now } = &self.saved;
        let (before, planned) = (HumanCount(self.keys_before), HumanCount(*planned_keys));
        let now = count(*keys, "key");
        writeln!(f, "{file}: {now}, {before} before, {planned} planned")?;
        answer::write_missing(f, self.keys_missing)?;
        writeln!(f, "  false-positive rate   {} now", rate(*rate_now))
    }
}
