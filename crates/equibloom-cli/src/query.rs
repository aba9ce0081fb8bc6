//! `equibloom query`: the records whose keys may be in a filter, like grep.

use std::ffi::OsString;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, StdoutLock, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use equibloom::file::FileError;
use equibloom::{HashFilter, Stable};
use serde_json::json;

use crate::answer;
use crate::keys::{self, Batch, Consumer, KeyFiles, Wanted};
use crate::progress::{self, Unit};

const EXAMPLES: &str = "Examples:
  equibloom query customers.eqb new.txt
  equibloom query customers.eqb -e alice@example.com -e bob@example.com
  equibloom query ids.eqb --type int -e 5
  zcat log.gz | equibloom query customers.eqb --json-field user.email --invert";

/// Prints the records whose keys may be in the set: all inserted keys, and others at the filter's
/// false-positive rate.
///
/// Lines are printed unchanged; of CSV and TSV the header and whole rows; of JSON whole lines; of Parquet the
/// keys. Empty lines are skipped, unless --keep-empty is given.
///
/// Exit status: 0 if a record was selected, 1 if none was, 2 after an error.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The filter file.
    #[arg(value_name = "FILE")]
    filter: PathBuf,
    /// A key to look up; can be repeated. Standard input is then not read, unless given as `-`.
    #[arg(short = 'e', long = "key", value_name = "KEY", allow_hyphen_values = true)]
    literal: Vec<OsString>,
    /// Select the records whose keys are certainly not in the set.
    #[arg(short = 'v', long)]
    invert: bool,
    /// Print the number of selected records instead of the records.
    #[arg(short, long)]
    count: bool,
    /// Print nothing and stop at the first selected record; only set the exit status.
    #[arg(short, long)]
    quiet: bool,
    /// Print one JSON object with the counts instead of the records.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    key_files: KeyFiles,
}

/// Maps a filter file. It must not be modified while it is read; `equibloom` itself only replaces files.
pub(crate) fn open(path: &Path) -> Result<HashFilter, FileError> {
    // SAFETY: no command writes to a filter file in place. If another program does so, a command that has the
    // file mapped gives wrong answers or is killed by the system; it only reads words, and every bit pattern is
    // valid.
    unsafe { HashFilter::open(path) }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let mut input = arguments.key_files.input(&arguments.literal)?;
    let filter = open(&arguments.filter)?;
    input.settle_kind(Some((&arguments.filter, filter.key_kind())))?;
    let hasher = Stable::with_seed(filter.parameters().seed);
    let prints_records = !(arguments.count || arguments.quiet || arguments.json);
    // On a terminal the bar would appear between the records.
    let hidden = arguments.quiet || (prints_records && io::stdout().is_terminal());
    let progress = progress::bar("asking", input.bytes(), Unit::Bytes, hidden);
    let mut selection = Selection {
        filter: &filter,
        invert: arguments.invert,
        stop_at_first: arguments.quiet,
        output: prints_records.then(|| BufWriter::with_capacity(OUTPUT_BYTES, io::stdout().lock())),
        terminator: input.terminator(),
        found: Vec::new(),
        keys: 0,
        selected: 0,
    };
    let wanted = if prints_records { Wanted::Records } else { Wanted::Hashes };
    let missing = keys::for_each_batch(&input, wanted, hasher, &progress, &mut selection)?;
    selection.wait()?;
    progress.finish_and_clear();
    let Selection { keys, selected, .. } = selection;
    if arguments.json && !arguments.quiet {
        let numbers = json!({ "keys": keys, "missing": missing, "selected": selected });
        answer::write(&format!("{numbers:#}\n"))?;
    } else if arguments.count && !arguments.quiet {
        answer::write(&format!("{selected}\n"))?;
    }
    Ok(selected > 0)
}

const OUTPUT_BYTES: usize = 128 << 10;

struct Selection<'a> {
    filter: &'a HashFilter,
    invert: bool,
    stop_at_first: bool,
    /// Where records are printed, if they are.
    output: Option<BufWriter<StdoutLock<'static>>>,
    terminator: u8,
    /// The answers for a batch, one bit each.
    found: Vec<u64>,
    keys: u64,
    selected: u64,
}

impl Selection<'_> {
    fn print(&mut self, batch: &Batch) -> io::Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        output.write_all(&batch.title)?;
        let answers =
            self.found.iter().flat_map(|word| (0..64).map(move |bit| word >> bit & 1 == 1));
        for (record, is_found) in batch.records().zip(answers) {
            if is_found != self.invert {
                output.write_all(record)?;
                if record.last() != Some(&self.terminator) {
                    output.write_all(&[self.terminator])?;
                }
            }
        }
        Ok(())
    }
}

impl Consumer for Selection<'_> {
    fn take(&mut self, batch: &Batch) -> anyhow::Result<ControlFlow<()>> {
        self.keys += batch.count;
        self.filter.contains_batch_bitmap(&batch.hashes, &mut self.found);
        let found: u64 = self.found.iter().map(|word| u64::from(word.count_ones())).sum();
        self.selected += if self.invert { batch.count - found } else { found };
        if self.output.is_some() {
            return go_on(self.print(batch));
        }
        let is_enough = self.stop_at_first && self.selected > 0;
        Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn wait(&mut self) -> anyhow::Result<()> {
        let flushed = self.output.as_mut().map_or(Ok(()), Write::flush);
        go_on(flushed).map(|_| ())
    }
}

/// A closed pipe ends the query without an error.
fn go_on(printed: io::Result<()>) -> anyhow::Result<ControlFlow<()>> {
    match printed {
        Ok(()) => Ok(ControlFlow::Continue(())),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
        Err(error) => Err(anyhow::anyhow!("could not write to standard output: {error}")),
    }
}
