//! `equibloom verify`: checks the integrity of filter files.

use std::fmt;
use std::path::PathBuf;

use equibloom::file;
use indicatif::{DecimalBytes, HumanCount};
use serde::Serialize;

use crate::answer::Output;

/// Reads filter files and checks every byte against their checksums.
///
/// Exit status: 0 if all are intact, 2 if one is not.
///
/// Example: equibloom verify customers.eqb
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The filter files.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut whole = Whole(Vec::new());
    for path in &arguments.files {
        let header = file::verify(path)?;
        whole.0.push(File {
            file: path.display().to_string(),
            version: header.version,
            bytes: header.file_length,
            keys: header.counters.elements,
        });
    }
    arguments.output.print(&whole)
}

#[derive(Serialize)]
struct Whole(Vec<File>);

#[derive(Serialize)]
struct File {
    file: String,
    /// Version of the format.
    version: u32,
    bytes: u64,
    keys: u64,
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|file| {
            let (bytes, keys) = (DecimalBytes(file.bytes), HumanCount(file.keys));
            writeln!(f, "{}: whole, {bytes}, {keys} keys", file.file)
        })
    }
}
