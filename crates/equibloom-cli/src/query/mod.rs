//! `equibloom query`: the records whose keys may be in filters. `selection.rs` looks them up and prints them.

mod selection;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::ensure;
use equibloom::{Filter, KeyHash, KeyHasher, Stable};

use crate::filter_file::{self, Opened, Origin, is_standard, name};
use crate::keys::{self, Consumer, KeyFiles, StandardInput, Wanted};
use crate::progress::{self, Unit};
use selection::Selection;

const EXAMPLES: &str = "Examples:
  equibloom query customers.eqb new.txt
  equibloom query customers.eqb -e alice@example.com -e bob@example.com
  equibloom query ids.eqb --type int -e 5
  equibloom query -f monday.eqb -f tuesday.eqb -l -e alice@example.com
  zcat log.gz | equibloom query customers.eqb --json-field user.email --invert";

/// Prints the records whose keys may be in the set: all inserted keys, and others at the filter's
/// false-positive rate.
///
/// Lines are printed unchanged; of CSV and TSV the header and whole rows; of JSON whole lines; of Parquet the
/// keys. Empty lines are skipped, unless --keep-empty is given.
///
/// Several filters are asked at once with -f. Then each selects records on its own, and its name stands before them. With
/// --no-filename a record is printed once: if one of the filters may hold it, or with -v, if none does.
///
/// The options -c, -e, -H, -l, -L, -m, -n, -o, -q and -v are grep's, with filters in the place of its files: -H, -l and -L print
/// names of filters. (-h is help.)
///
/// A damaged file is an error. Files up to 16 MiB are read and checked. Larger ones are checked, which is remembered in
/// ~/.cache/equibloom until they change, and asked in place.
///
/// Exit status: 0 if a record was selected (with -l or -L: a name printed), 1 if none was, 2 after an error.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The filter file; `-` for standard input. With -f it is a KEYFILE.
    #[arg(value_name = "FILE", required_unless_present = "filters")]
    #[arg(value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// A filter file to ask; can be repeated. All must have the same --seed and kind of keys.
    #[arg(short = 'f', long = "filter", value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    filters: Vec<PathBuf>,
    /// A key to look up; can be repeated. Standard input is then not read, unless given as `-`.
    #[arg(short = 'e', long = "key", value_name = "KEY", allow_hyphen_values = true)]
    literal: Vec<OsString>,
    /// Select the records whose keys are certainly not in the set.
    #[arg(short = 'v', long, visible_alias = "invert-match")]
    invert: bool,
    /// Print the number of selected records instead of the records.
    #[arg(short, long)]
    count: bool,
    /// Print the names of the filters that select a record.
    #[arg(short = 'l', long, conflicts_with = "files_without_match")]
    files_with_matches: bool,
    /// Print the names of the filters that select none.
    #[arg(short = 'L', long)]
    files_without_match: bool,
    /// Print the filter's name before each record, also if there is one filter.
    #[arg(short = 'H', long, conflicts_with = "no_filename")]
    with_filename: bool,
    /// Print no names.
    #[arg(long)]
    no_filename: bool,
    /// Print each record's line in its file before it (not for Parquet and -e).
    #[arg(short = 'n', long)]
    line_number: bool,
    /// Stop after so many selected records.
    #[arg(short, long, value_name = "COUNT")]
    max_count: Option<u64>,
    /// Print the keys instead of the records.
    #[arg(short, long)]
    only_matching: bool,
    /// Print nothing and stop at the first selected record; only set the exit status.
    #[arg(short, long)]
    quiet: bool,
    /// Print one JSON object with the counts instead of the records.
    #[arg(long)]
    json: bool,
    /// Check no more of the filter files than their headers.
    #[arg(long)]
    no_verify: bool,
    #[command(flatten)]
    key_files: KeyFiles,
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Printed {
    Records,
    Counts,
    /// Names of filters that select a record, or none.
    Names {
        selecting: bool,
    },
    Json,
    Nothing,
}

impl Arguments {
    fn printed(&self) -> Printed {
        match self {
            Self { quiet: true, .. } => Printed::Nothing,
            Self { json: true, .. } => Printed::Json,
            Self { files_with_matches: true, .. } => Printed::Names { selecting: true },
            Self { files_without_match: true, .. } => Printed::Names { selecting: false },
            Self { count: true, .. } => Printed::Counts,
            _ => Printed::Records,
        }
    }

    /// Opens the filters, which must agree in seed and kind of keys.
    fn open(&self) -> anyhow::Result<Vec<Opened>> {
        let open = |path: &PathBuf| filter_file::open(path, !self.no_verify, self.quiet);
        let filters = self.filters.iter().map(open).collect::<anyhow::Result<Vec<_>>>()?;
        let traits = |opened: &Opened| (opened.filter.parameters().seed, opened.filter.key_kind());
        for (path, opened) in self.filters.iter().zip(&filters) {
            let (first, other) = (traits(&filters[0]), traits(opened));
            let (path, first_path) = (name(path), name(&self.filters[0]));
            ensure!(
                first.0 == other.0,
                "{path} has the seed {}, {first_path} {}: ask them one after the other, or build them with \
                 the same --seed",
                other.0,
                first.0
            );
            ensure!(
                first.1 == other.1,
                "{path} holds {}, {first_path} {}: ask them one after the other",
                other.1,
                first.1
            );
        }
        Ok(filters)
    }
}

pub(crate) fn run(mut arguments: Arguments) -> anyhow::Result<bool> {
    if let Some(file) = arguments.file.take() {
        if arguments.filters.is_empty() {
            arguments.filters.push(file);
        } else {
            arguments.key_files.prepend(file);
        }
    }
    let standard = arguments.filters.iter().filter(|path| is_standard(path)).count();
    ensure!(standard < 2, "`-` is given twice, but standard input can be read once");
    let standard = if standard > 0 { StandardInput::Filter } else { StandardInput::Keys };
    let mut input = arguments.key_files.input(&arguments.literal, standard)?;
    let opened = arguments.open()?;
    let first: &Path = &arguments.filters[0];
    input.settle_kind(Some((first, opened[0].filter.key_kind())))?;
    let hasher = Stable::with_seed(opened[0].filter.parameters().seed);

    let printed = arguments.printed();
    let prints_records = printed == Printed::Records;
    let (filters, origins): (Vec<Filter<KeyHash, Hashed>>, Vec<Origin>) = opened
        .into_iter()
        .map(|opened| (Filter::from_hash_filter(opened.filter, Hashed), opened.origin))
        .unzip();
    let mut selection = Selection::new(&arguments, &filters, input.terminator())?;
    // On a terminal the bar would appear between the records.
    let hidden = arguments.quiet || (prints_records && io::stdout().is_terminal());
    let progress = progress::bar("asking", input.bytes(), Unit::Bytes, hidden);
    let wanted = match (prints_records, arguments.only_matching) {
        (true, true) => Wanted::Keys,
        (true, false) => Wanted::Records,
        _ => Wanted::Hashes,
    };
    let mut missing = 0;
    if !selection.is_done() {
        missing = keys::for_each_batch(&input, wanted, hasher, &progress, &mut selection)?;
    }
    selection.wait()?;
    progress.finish_and_clear();
    origins.iter().try_for_each(Origin::check)?;
    selection.summarize(printed, missing)
}

/// The filter group's hash function: the keys are hashes already.
#[derive(Debug, Clone, PartialEq)]
struct Hashed;

impl KeyHasher<KeyHash> for Hashed {
    fn hash_key(&self, key: &KeyHash) -> KeyHash {
        *key
    }
}
