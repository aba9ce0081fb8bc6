//! Output of the commands: text or JSON, and errors in terms of the flags.

use std::fmt::{self, Display};
use std::io::{ErrorKind, Write};

use equibloom::LayoutError;
use indicatif::HumanCount;
use serde::Serialize;

/// How much a command prints about its work, and in which form.
#[derive(clap::Args)]
pub(crate) struct Output {
    /// Print errors only.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Output {
    pub(crate) fn print<A: Serialize + Display>(&self, answer: &A) -> anyhow::Result<()> {
        if self.quiet { Ok(()) } else { print(answer, self.json) }
    }
}

/// Prints the answer as text or JSON.
pub(crate) fn print<A: Serialize + Display>(answer: &A, json: bool) -> anyhow::Result<()> {
    write(&if json { serde_json::to_string_pretty(answer)? + "\n" } else { answer.to_string() })
}

/// Writes to standard output. A closed pipe (`| head`) is not an error; `println!` would panic.
pub(crate) fn write(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Prints the number of records without a key, if any.
pub(crate) fn write_missing(f: &mut fmt::Formatter<'_>, missing: u64) -> fmt::Result {
    match missing {
        0 => Ok(()),
        missing => writeln!(f, "  skipped               {} null or missing", HumanCount(missing)),
    }
}

/// Replaces the library's argument names by the command's flags.
pub(crate) fn in_flags(error: equibloom_theory::Error) -> anyhow::Error {
    match error {
        equibloom_theory::Error::OutOfRange { argument, value, accepted } => {
            let flag = match argument {
                "rate" => "fpr",
                "second_choice" => "alpha",
                other => other,
            };
            let flag = flag.replace([' ', '_'], "-");
            anyhow::anyhow!("--{flag} is {value}, but it must be {accepted}")
        }
        equibloom_theory::Error::Layout(LayoutError::OutOfRange { name, value, accepted }) => {
            let flag = match name {
                "hashes per key" => "hashes",
                "hints of a block" => "hints",
                other => other,
            };
            anyhow::anyhow!("--{} is {value}: give {accepted}", flag.replace(' ', "-"))
        }
        other => anyhow::Error::new(other),
    }
}

/// About four digits, and powers of ten for very small or large numbers.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (1e-3..1e6).contains(&size) => {
            let digits = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
            format!("{value:.digits$}")
        }
        _ => format!("{value:.3e}"),
    }
}

#[cfg(test)]
mod tests;
