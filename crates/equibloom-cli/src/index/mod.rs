//! `equibloom index`: which of thousands of Parquet files may hold a key?

mod build;
mod file;
mod find;
mod info;
mod verify;

use std::process::ExitCode;

const EXAMPLES: &str = "Examples:
  equibloom index build lake/ --column id -o lake.eqx
  equibloom index update lake.eqx
  equibloom index find lake.eqx -e 4711
  equibloom index find lake.eqx --type text -l keys.txt";

/// Answers which files of a directory of Parquet files may hold a key: an index with a filter for each file.
///
/// No row is lost: files that are new or have changed, columns that cannot be keys, and files whose filter is damaged are among
/// the answers to every key. If the command ends with status 2, read all files.
///
/// Exit status: 0 if all went well, 1 if `find` found nothing or `verify` damage, 2 after an error.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Build(build::Arguments),
    Update(build::UpdateArguments),
    Find(Box<find::Arguments>),
    Info(info::Arguments),
    Verify(verify::Arguments),
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.command {
        Command::Build(arguments) => build::run(&arguments)?,
        Command::Update(arguments) => build::run_update(&arguments)?,
        // As grep: no match is no error, but has its own status.
        Command::Find(arguments) => return find::run(*arguments).map(super::success_if),
        Command::Info(arguments) => info::run(&arguments)?,
        Command::Verify(arguments) => return verify::run(&arguments),
    }
    Ok(ExitCode::SUCCESS)
}
