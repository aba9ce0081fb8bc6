//! `equibloom completions` and `equibloom man`, generated from the arguments.

use std::path::PathBuf;

use anyhow::Context;
use clap::Command;
use clap_complete::Shell;

use crate::answer;

/// Prints completions for a shell.
///
/// Example: equibloom completions bash > ~/.local/share/bash-completion/completions/equibloom
#[derive(clap::Args)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    shell: Shell,
}

/// Writes manual pages, one for every command.
///
/// Example: equibloom man ~/.local/share/man/man1
#[derive(clap::Args)]
pub(crate) struct ManArguments {
    /// Output directory; created if missing.
    directory: PathBuf,
}

pub(crate) fn completions(
    arguments: &CompletionsArguments,
    mut command: Command,
) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "equibloom", &mut script);
    answer::write(&String::from_utf8(script)?)
}

pub(crate) fn pages(arguments: &ManArguments, command: Command) -> anyhow::Result<()> {
    let directory = &arguments.directory;
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(command, directory))
        .with_context(|| format!("{}: could not write manual pages there", directory.display()))
}
