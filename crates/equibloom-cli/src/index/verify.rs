//! `equibloom index verify`: checks the integrity of an index, and whether it knows its lake.

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use equibloom_index::lake;
use indicatif::DecimalBytes;
use serde::Serialize;

use crate::answer::{self, Output, count};

/// Reads an index and checks every byte against its checksums, and the files against those that it was built from.
///
/// Files that are new, changed or gone are told; they do no harm, and `index update` reads them.
///
/// Exit status: 0 if the index is whole, 1 if filters are damaged, 2 if it could not be read or its table is damaged.
///
/// Example: equibloom index verify lake.eqx
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The index file.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let index = super::file::open(&arguments.file, true, arguments.output.quiet)?;
    for (file, reason) in index.damaged() {
        let path = &index.files()[*file].path;
        answer::fail(&anyhow::anyhow!(
            "{}: the filter of {path}: {reason}",
            arguments.file.display()
        ));
    }
    let freshness = lake::check(&index)?;
    let known = freshness.known.iter().filter(|known| **known).count() as u64;
    let verified = Verified {
        file: arguments.file.display().to_string(),
        bytes: index.bytes(),
        files: index.files().len() as u64,
        damaged: index.damaged().len() as u64,
        known,
        unknown: freshness.unknown.len() as u64,
    };
    arguments.output.print(&verified)?;
    Ok(super::super::success_if(verified.damaged == 0))
}

#[derive(Serialize)]
struct Verified {
    file: String,
    bytes: u64,
    files: u64,
    /// Filters that are damaged.
    damaged: u64,
    /// Files that are there and unchanged.
    known: u64,
    /// Files of the lake that are new or have changed.
    unknown: u64,
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, bytes, files, damaged, known, unknown } = self;
        let state = match damaged {
            0 => "whole".to_owned(),
            damaged => format!("damaged in {}: build it again", count(*damaged, "filter")),
        };
        writeln!(f, "{file}: {state}, {}, {}", DecimalBytes(*bytes), count(*files, "file"))?;
        if (*known, *unknown) != (*files, 0) {
            let gone = count(files - known, "file");
            writeln!(
                f,
                "  {gone} changed or gone, {} new or changed: run `equibloom index update {file}`",
                count(*unknown, "file")
            )?;
        }
        Ok(())
    }
}
