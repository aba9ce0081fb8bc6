//! The `equibloom` command.

mod answer;
mod columns;
mod cuckoo;
mod demo;
mod plan;
mod quantity;
mod reproduce;
mod tables;
mod theory;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Membership filters that need few memory accesses.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Cuckoo(cuckoo::Arguments),
    Demo(demo::Arguments),
    Plan(plan::Arguments),
    Reproduce(reproduce::Arguments),
    Tables(tables::Arguments),
    Theory(theory::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Cuckoo(arguments) => cuckoo::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Reproduce(arguments) => match reproduce::run(&arguments) {
            // A claim that does not hold is no error of the command.
            Ok(false) => return ExitCode::FAILURE,
            outcome => outcome.map(|_| ()),
        },
        Command::Tables(arguments) => tables::run(&arguments),
        Command::Theory(arguments) => theory::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
