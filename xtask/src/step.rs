//! Runs commands in order, with their names and times, until one fails.

use std::process::{Command, ExitCode};
use std::time::Instant;

/// A command and its displayed name.
pub(crate) struct Step {
    pub(crate) name: String,
    command: Command,
}

/// A step that runs cargo.
pub(crate) fn cargo(name: &str, arguments: &str) -> Step {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments.split_whitespace());
    Step { name: name.to_owned(), command }
}

/// A step that runs a shell command.
pub(crate) fn shell(name: &str, line: &str) -> Step {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    Step { name: name.to_owned(), command }
}

impl Step {
    /// The same with an environment variable set.
    pub(crate) fn with(mut self, variable: &str, value: &str) -> Self {
        self.command.env(variable, value);
        self
    }
}

pub(crate) fn run_all(steps: impl IntoIterator<Item = Step>) -> ExitCode {
    let start = Instant::now();
    for mut step in steps {
        println!("\n=== {} ({:.0} s)", step.name, start.elapsed().as_secs_f64());
        match step.command.status() {
            Ok(status) if status.success() => {}
            Ok(status) => {
                eprintln!("=== {} failed: {status}\n    {:?}", step.name, step.command);
                return ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("=== {} could not start: {error}\n    {:?}", step.name, step.command);
                return ExitCode::FAILURE;
            }
        }
    }
    println!("\n=== everything passed in {:.0} s", start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}
