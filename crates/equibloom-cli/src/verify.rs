//! `equibloom verify`: checks the integrity of filter files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use equibloom::file::FileErrorKind;
use indicatif::DecimalBytes;
use serde::Serialize;

use crate::answer::{self, Output, count};
use crate::filter_file;

/// Reads filter files and checks every byte against their checksums.
///
/// Exit status: 0 if all are whole, 1 if one is damaged or no filter, 2 if one could not be read.
///
/// Example: equibloom verify monday.eqb tuesday.eqb
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The filter files; `-` for standard input.
    #[arg(value_name = "FILE", required = true, value_hint = clap::ValueHint::FilePath)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut verified = Verified(Vec::new());
    let mut status = 0;
    for path in &arguments.files {
        let state = State::of(path, arguments.output.quiet);
        if let State::Failed { error, is_damaged } = &state {
            answer::fail(&anyhow::anyhow!("{}: {error}", filter_file::name(path)));
            status = status.max(if *is_damaged { 1 } else { 2 });
        }
        verified.0.push(File { file: filter_file::name(path), state });
    }
    arguments.output.print(&verified)?;
    Ok(ExitCode::from(status))
}

#[derive(Serialize)]
struct Verified(Vec<File>);

#[derive(Serialize)]
struct File {
    file: String,
    #[serde(flatten)]
    state: State,
}

#[derive(Serialize)]
#[serde(untagged)]
enum State {
    Whole {
        /// Version of the format.
        version: u32,
        bytes: u64,
        keys: u64,
    },
    Failed {
        error: String,
        /// Whether it was read, and is damaged or no filter.
        is_damaged: bool,
    },
}

impl State {
    fn of(path: &Path, quiet: bool) -> Self {
        match filter_file::verify(path, quiet) {
            Ok(header) => Self::Whole {
                version: header.version,
                bytes: header.file_length,
                keys: header.counters.elements,
            },
            Err(error) => Self::Failed {
                is_damaged: !matches!(
                    error.kind(),
                    FileErrorKind::Io { .. } | FileErrorKind::Memory(_)
                ),
                error: error.to_string(),
            },
        }
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|File { file, state }| match state {
            State::Whole { bytes, keys, .. } => {
                writeln!(f, "{file}: whole, {}, {}", DecimalBytes(*bytes), count(*keys, "key"))
            }
            // Printed as an error.
            State::Failed { .. } => Ok(()),
        })
    }
}
