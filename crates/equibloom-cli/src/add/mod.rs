//! `equibloom add` and `equibloom remove`: atomic changes to a filter file.

mod lock;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::bail;
use equibloom::{HashFilter, RemoveError, Stable};
use indicatif::HumanCount;
use serde::Serialize;

use crate::answer::{self, Output, number};
use crate::build::{Filling, Saved, WhenFull, directory_for};
use crate::keys::{self, Batch, Input, KeyFiles};
use crate::progress::{self, Unit};
use lock::Lock;

/// Adds keys to a filter file.
///
/// The file is replaced when all keys are inserted; until then, and after an error, it is unchanged. Commands
/// that add to one file at the same time wait for each other.
///
/// Example: equibloom add customers.eqb new.txt -e carol@example.com
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How to handle more keys than the filter is planned for.
    #[arg(long, value_enum, default_value_t = WhenFull::Refuse)]
    when_full: WhenFull,
    #[command(flatten)]
    change: Change,
}

/// Removes keys from a filter file that was built with --removable, each once.
///
/// Remove only keys that were added: removing a false positive removes another key. If a key is certainly
/// absent, nothing is removed, unless --skip-absent is given.
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
    /// The filter file.
    #[arg(value_name = "FILE")]
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
    arguments.change.make(arguments.when_full, |filling, batch| filling.insert(&batch.hashes))
}

pub(crate) fn run_remove(arguments: &RemoveArguments) -> anyhow::Result<()> {
    let path = &arguments.change.filter;
    arguments.change.make(WhenFull::Saturate, |filling, batch| {
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
    let path = path.display();
    match error {
        RemoveError::NotRemovable(kind) => {
            format!("{path}: keys cannot be removed from {kind}: build the filter with --removable")
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
        when_full: WhenFull,
        mut change: impl FnMut(&mut Filling, &Batch) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut input: Input = self.key_files.input(&self.literal)?;
        let _lock = Lock::of(&self.filter)?;
        let mut filling = Filling::new(HashFilter::load(&self.filter)?, when_full);
        input.settle_kind(Some((&self.filter, filling.filter.key_kind())))?;
        directory_for(&self.filter)?;
        let before = filling.filter.elements();
        let hasher = Stable::with_seed(filling.filter.parameters().seed);
        let progress = progress::bar("changing", input.bytes(), Unit::Bytes, self.output.quiet);
        let missing =
            keys::for_each_slab(&input, hasher, &progress, |batch| change(&mut filling, batch))?;
        let (saved, _) = filling.save(&self.filter)?;
        self.output.print(&Changed {
            saved,
            keys_read: filling.read,
            keys_missing: missing,
            keys_before: before,
        })
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
        let [before, now, planned] = [self.keys_before, *keys, *planned_keys].map(HumanCount);
        writeln!(f, "{file}: {now} keys, {before} before, {planned} planned")?;
        answer::write_missing(f, self.keys_missing)?;
        writeln!(f, "  false-positive rate   {} now", number(*rate_now))
    }
}
