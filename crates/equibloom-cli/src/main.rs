//! The `equibloom` command.

mod demo;
mod quantity;

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
    Demo(demo::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Demo(arguments) => demo::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
