//! Output of the commands: text or JSON, and errors in terms of the flags.

use std::fmt::{self, Display};
use std::io::{self, ErrorKind, Write};
use std::sync::Mutex;

use equibloom::LayoutError;
use indicatif::HumanCount;
use serde::Serialize;

use crate::filter_file::Target;

/// How much a command prints about its work, and in which form.
#[derive(clap::Args)]
pub(crate) struct Output {
    /// Print errors and warnings only.
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

    /// Prints what was written, to standard error if the filter itself is on standard output.
    pub(crate) fn report<A: Serialize + Display>(
        &self,
        answer: &A,
        written: &Target,
    ) -> anyhow::Result<()> {
        match written {
            Target::StandardOutput if !self.quiet => {
                write_to_standard_error(&text(answer, self.json)?);
                Ok(())
            }
            _ => self.print(answer),
        }
    }
}

/// Prints the answer as text or JSON.
pub(crate) fn print<A: Serialize + Display>(answer: &A, json: bool) -> anyhow::Result<()> {
    write(&text(answer, json)?)
}

fn text<A: Serialize + Display>(answer: &A, json: bool) -> anyhow::Result<String> {
    Ok(if json { serde_json::to_string_pretty(answer)? + "\n" } else { answer.to_string() })
}

/// Writes to standard output. A closed pipe (`| head`) is not an error; `println!` would panic.
pub(crate) fn write(text: &str) -> anyhow::Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow::anyhow!("could not write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// Writes to standard error. Nothing can be said about a failure; `eprintln!` would panic.
fn write_to_standard_error(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Prints an error.
pub(crate) fn fail(error: &anyhow::Error) {
    write_to_standard_error(&format!("error: {}\n", message(error)));
}

/// Prints a warning, unless it was printed before: key files are read twice.
pub(crate) fn warn(text: &str) {
    static PRINTED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let Ok(mut printed) = PRINTED.lock() else { return };
    if !printed.iter().any(|earlier| earlier == text) {
        write_to_standard_error(&format!("warning: {text}\n"));
        printed.push(text.to_owned());
    }
}

/// An error and its causes, each once: many errors print their cause themselves.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message += &format!(": {cause}");
        }
    }
    message
}

/// A number of things: `1 key`, `2,000 keys`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", HumanCount(number), if number == 1 { "" } else { "s" })
}

/// A false-positive rate. Below 1e-20 the hash decides more than the filter.
pub(crate) fn rate(rate: f64) -> String {
    if rate > 0.0 && rate < 1e-20 { "below 1e-20".to_owned() } else { number(rate) }
}

/// What a number of keys is in a filter of this false-positive rate: keys that it seemed to hold before were not counted.
pub(crate) fn about(rate: f64) -> &'static str {
    if rate < 0.1 { "an estimated" } else { "at least" }
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
        equibloom_theory::Error::OutOfRange { argument, .. } => {
            let flag = match argument {
                "rate" => "fpr",
                "second_choice" => "alpha",
                other => other,
            };
            let flag = flag.replace([' ', '_'], "-");
            anyhow::anyhow!("--{}", error.to_string().replacen(argument, &flag, 1))
        }
        equibloom_theory::Error::SizeNotFixed { given } => anyhow::anyhow!(
            "{given} cannot be planned for: give --keys with --memory, --bits-per-key or --fpr; or --memory with \
             --fpr or --bits-per-key (but not --keys, --memory and --bits-per-key at once)"
        ),
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
