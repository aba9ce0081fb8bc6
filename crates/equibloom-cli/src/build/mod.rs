//! `equibloom build`: a filter file from files of keys.
//!
//! | file | question |
//! |---|---|
//! | `spool.rs` | where do hashes wait if their number is unknown and the input can be read only once? |
//! | `filling.rs` | how are hashes inserted, and what if there are too many? Shared with `add` and `merge` |

mod filling;
mod spool;

use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{bail, ensure};
use equibloom::{HashFilter, KeyKind, Parameters, Stable};
use equibloom_theory::planner::{Plan, Requirements};
use indicatif::{DecimalBytes, HumanCount};
use serde::Serialize;

use crate::answer::{self, Output, rate};
use crate::describe::describe;
use crate::filter_file::Target;
use crate::keys::{self, Input, KeyFiles, StandardInput};
use crate::progress::{self, Unit};
use crate::quantity;
use crate::requirements::RequirementFlags;
pub(crate) use filling::{Filling, Saved, Threads, WhenFull, warn_over_capacity};
use spool::Spool;

/// The rate if neither rate nor size is given.
const RATE: f64 = 0.001;
/// How many more keys than counted the filter is planned for: this share, and at least so many.
const HEADROOM: f64 = 0.1;
const LEAST_HEADROOM: f64 = 4.5; // The planner rounds down.

const EXAMPLES: &str = "Examples:
  equibloom build words.txt -o words.eqb
  equibloom build customers.csv.gz --csv-column email --fpr 1e-6 -o customers.eqb
  equibloom build orders.parquet --parquet-column customer_id -o customers.eqb
  find / -print0 | equibloom build -0 --bits-per-key 12 -o names.eqb";

/// Builds a filter file from keys: lines, columns or fields of files, or of standard input.
///
/// The filter is planned for --keys keys. Without --keys they are counted, and 10 % more are planned for, so that some can be
/// added later (--headroom for another share): files are read twice; for a pipe the hashes, 16 bytes per key, are stored in an
/// unnamed temporary file in the output's directory. If neither a rate nor a size is given, the rate is 0.1 %.
/// Repeated keys are harmless but counted: with many of them --keys saves memory.
///
/// The output replaces an older file of that name when it is complete, and keeps its owner and permissions. A read-only file
/// is not replaced.
///
/// Exit status: 0 if the filter was written, 2 after an error.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The filter file to write; `-` for standard output.
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: PathBuf,
    /// Number of distinct keys to plan for, such as 250000, 100M or 1e9 [default: counted].
    #[arg(long, value_name = "COUNT", value_parser = quantity::count, allow_negative_numbers = true)]
    keys: Option<u64>,
    /// How to handle more keys than planned [default: grow if the rate is given or left to the default, else refuse].
    #[arg(long, value_enum)]
    when_full: Option<WhenFull>,
    /// Seed of the hash function: filters with equal seeds can be merged; a secret seed protects against chosen
    /// keys.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    printing: Output,
    #[command(flatten)]
    key_files: KeyFiles,
    #[command(flatten)]
    requirements: RequirementFlags,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut input = arguments.key_files.input(&[], StandardInput::Keys)?;
    let kind = input.settle_kind(None)?;
    let target = Target::new(&arguments.output)?;
    ensure!(
        !input.has(&arguments.output),
        "{} is a file of keys and the output: give the filter another name",
        arguments.output.display()
    );
    let job = Job { arguments, input: &input, kind, hasher: Stable::with_seed(arguments.seed) };
    let built = match arguments.keys {
        Some(keys) => job.filled(keys)?,
        None if input.bytes().is_some() => job.filled(job.counted()?)?,
        None => job.spooled(&target)?,
    };
    let summary = Summary::save(&target, &built, start, arguments.printing.quiet)?;
    arguments.printing.report(&summary, &target)
}

struct Job<'a> {
    arguments: &'a Arguments,
    input: &'a Input,
    kind: KeyKind,
    hasher: Stable,
}

struct Built {
    plan: Plan,
    filling: Filling,
    /// Records without a key.
    missing: u64,
}

impl Job<'_> {
    fn counted(&self) -> anyhow::Result<u64> {
        let progress = self.progress("counting");
        let keys = self.input.count(&progress)?;
        progress.finish_and_clear();
        Ok(keys)
    }

    /// An empty filter for this many keys, at least one.
    fn planned(&self, keys: u64) -> anyhow::Result<Built> {
        let keys = keys.max(1);
        let mut requirements = self.arguments.requirements.requirements(Some(keys));
        if requirements.memory.is_none() && requirements.bits_per_key.is_none() {
            requirements.rate = requirements.rate.or(Some(RATE));
        }
        if self.arguments.keys.is_none() {
            let headroom = HEADROOM.max(LEAST_HEADROOM / keys as f64);
            requirements.headroom = requirements.headroom.or(Some(headroom));
        }
        requirements.when_full = self.policy(&requirements)?;
        let quiet = self.arguments.printing.quiet;
        let plan = progress::during("planning", quiet, || {
            self.arguments.requirements.plan(&requirements)
        })?;
        let (seed, design) = (self.hasher.seed(), plan.design);
        let parameters = Parameters { keys: plan.keys, seed, design };
        let filter = HashFilter::new(&parameters)?.with_key_kind(self.kind);
        let filling = Filling::new(filter, self.arguments.when_full, &self.arguments.threads)?;
        Ok(Built { plan, filling, missing: 0 })
    }

    /// What the filter itself does with keys beyond the plan; the default if the command does not say.
    fn policy(&self, requirements: &Requirements) -> anyhow::Result<Option<equibloom::WhenFull>> {
        let saturates = (!requirements.multiset).then_some(equibloom::WhenFull::Saturate);
        match (self.arguments.when_full, requirements.rate) {
            (None, _) => Ok(None),
            (Some(WhenFull::Refuse | WhenFull::Saturate), _) => Ok(saturates),
            (Some(WhenFull::Grow), None) => {
                bail!(
                    "--when-full grow keeps a rate, and none is given: add --fpr, or choose saturate"
                )
            }
            (Some(WhenFull::Grow), Some(rate)) => match equibloom::WhenFull::grow(rate) {
                None => bail!(
                    "--when-full grow cannot keep a rate of {rate:e}: give --fpr at least 3e-11, or choose saturate"
                ),
                grows => Ok(grows),
            },
        }
    }

    /// A filter for this many keys, filled from the input.
    fn filled(&self, keys: u64) -> anyhow::Result<Built> {
        if self.arguments.keys == Some(0) {
            bail!("--keys is 0: give at least 1, or leave it out to have the keys counted");
        }
        let mut built = self.planned(keys)?;
        let progress = self.progress("building");
        built.missing = keys::for_each_slab(self.input, self.hasher, &progress, |batch| {
            built.filling.insert(&batch.hashes)
        })?;
        Ok(built)
    }

    /// A filter for keys that can be read only once.
    fn spooled(&self, target: &Target) -> anyhow::Result<Built> {
        let mut spool = Spool::in_directory(&target.directory())?;
        let progress = self.progress("reading");
        let missing = keys::for_each_slab(self.input, self.hasher, &progress, |batch| {
            spool.write(&batch.hashes)
        })?;
        let keys = spool.keys;
        let mut built = Built { missing, ..self.planned(keys)? };
        let progress =
            progress::bar("building", Some(keys), Unit::Keys, self.arguments.printing.quiet);
        spool.replay(|hashes| {
            progress.inc(hashes.len() as u64);
            built.filling.insert(hashes)
        })?;
        progress.finish_and_clear();
        Ok(built)
    }

    fn progress(&self, doing: &'static str) -> indicatif::ProgressBar {
        progress::bar(doing, self.input.bytes(), Unit::Bytes, self.arguments.printing.quiet)
    }
}

#[derive(Serialize)]
struct Summary {
    #[serde(flatten)]
    saved: Saved,
    /// Name and sizes.
    filter: String,
    placement: &'static str,
    /// Whether repeated keys are stored each time.
    removable: bool,
    /// Keys read, repeated ones included.
    keys_read: u64,
    /// Records without a key.
    keys_missing: u64,
    key_kind: KeyKind,
    bytes: u64,
    bits_per_key: f64,
    /// The plan's rate for the planned number of keys.
    rate_planned: f64,
    accesses_miss: f64,
    seconds: f64,
}

impl Summary {
    /// Writes the filter.
    fn save(target: &Target, built: &Built, start: Instant, quiet: bool) -> anyhow::Result<Self> {
        let Built { plan, missing, filling } = built;
        let (saved, statistics) = filling.save(target, quiet)?;
        Ok(Self {
            saved,
            filter: describe(&plan.design),
            removable: plan.design.is_multiset(),
            placement: plan.design.placement().as_str(),
            keys_read: filling.read,
            keys_missing: *missing,
            key_kind: filling.filter.key_kind(),
            bytes: plan.bytes(),
            bits_per_key: plan.bits_per_key(),
            rate_planned: plan.rate(),
            accesses_miss: statistics.expected_accesses_per_miss,
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Saved { file, keys, planned_keys, rate_now } = &self.saved;
        let [keys, read, planned] = [*keys, self.keys_read, *planned_keys].map(HumanCount);
        writeln!(f, "{file}: {}", self.filter)?;
        let stored = if self.removable {
            format!("{keys} stored, repeated ones each time")
        } else {
            format!("{} {keys} of them different", answer::about(*rate_now))
        };
        writeln!(f, "  keys                  {read} read, {stored}; planned for {planned}")?;
        writeln!(f, "  keys are              {}", self.key_kind)?;
        answer::write_missing(f, self.keys_missing)?;
        let (bytes, bits) = (DecimalBytes(self.bytes), self.bits_per_key);
        writeln!(f, "  memory                {bytes}, {bits:.2} bits per planned key")?;
        let (now, planned) = (rate(*rate_now), rate(self.rate_planned));
        writeln!(f, "  false-positive rate   {now} now, {planned} planned")?;
        writeln!(f, "  accesses per miss     {:.3}", self.accesses_miss)?;
        let speed = self.keys_read as f64 / self.seconds / 1e6;
        writeln!(f, "  time                  {:.2} s, {speed:.2} million keys/s", self.seconds)
    }
}
