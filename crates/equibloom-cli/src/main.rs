//! The `equibloom` command.

mod add;
mod answer;
mod build;
mod columns;
mod cuckoo;
mod demo;
mod describe;
mod filter_file;
#[cfg(feature = "parquet")]
mod index;
mod info;
mod keys;
mod manual;
mod merge;
mod plan;
mod progress;
mod quantity;
mod query;
mod reproduce;
mod requirements;
mod signals;
mod tables;
mod theory;
mod trace;
mod verify;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Membership filters with few memory accesses.
///
/// Exit status: 0 if all went well, 1 if `query` or `index find` selected nothing, `verify` found damage or `reproduce` a claim that does not hold,
/// 2 after an error.
#[derive(Parser)]
#[command(name = "equibloom", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    // Commands on key files.
    Build(Box<build::Arguments>),
    Query(Box<query::Arguments>),
    Add(add::Arguments),
    Remove(add::RemoveArguments),
    Merge(merge::Arguments),
    Info(info::Arguments),
    Verify(verify::Arguments),
    #[cfg(feature = "parquet")]
    Index(index::Arguments),
    // Others.
    Plan(plan::Arguments),
    Demo(demo::Arguments),
    /// Answers questions about the theory: bounds, optimal parameters, rates, fluid limits.
    ///
    /// Exit status: 0, or 2 after an error.
    #[command(subcommand)]
    Theory(theory::Question),
    Reproduce(reproduce::Arguments),
    Tables(tables::Arguments),
    Trace(trace::Arguments),
    Cuckoo(cuckoo::Arguments),
    Completions(manual::CompletionsArguments),
    Man(manual::ManArguments),
    InstallExtras(manual::InstallArguments),
}

fn main() -> ExitCode {
    signals::install();
    match run(Arguments::parse().command) {
        Ok(status) => status,
        Err(error) => {
            answer::fail(&error);
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Build(arguments) => build::run(&arguments)?,
        // As grep: no match is no error, but has its own status.
        Command::Query(arguments) => return query::run(*arguments).map(success_if),
        Command::Add(arguments) => add::run(&arguments)?,
        Command::Remove(arguments) => add::run_remove(&arguments)?,
        Command::Merge(arguments) => merge::run(&arguments)?,
        Command::Info(arguments) => info::run(&arguments)?,
        Command::Verify(arguments) => return verify::run(&arguments),
        #[cfg(feature = "parquet")]
        Command::Index(arguments) => return index::run(arguments),
        Command::Plan(arguments) => plan::run(&arguments)?,
        Command::Demo(arguments) => demo::run(&arguments)?,
        Command::Theory(question) => theory::run(&question)?,
        // A claim that does not hold is not an error of the command.
        Command::Reproduce(arguments) => return reproduce::run(&arguments).map(success_if),
        Command::Tables(arguments) => tables::run(&arguments)?,
        Command::Trace(arguments) => trace::run(&arguments)?,
        Command::Cuckoo(arguments) => cuckoo::run(&arguments)?,
        Command::Completions(arguments) => manual::completions(&arguments, Arguments::command())?,
        Command::Man(arguments) => manual::pages(&arguments, Arguments::command())?,
        Command::InstallExtras(arguments) => manual::install(&arguments, &Arguments::command())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn success_if(it_is: bool) -> ExitCode {
    if it_is { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests;
