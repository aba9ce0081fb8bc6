//! `equibloom completions`, `equibloom man` and `equibloom install-extras`, generated from the arguments.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Command;
use clap_complete::Shell;

use crate::answer;

/// Prints completions for a shell.
///
/// Exit status: 0, or 2 after an error.
///
/// Example: equibloom completions bash > ~/.local/share/bash-completion/completions/equibloom
#[derive(clap::Args)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    shell: Shell,
}

/// Writes manual pages, one for every command.
///
/// Exit status: 0, or 2 after an error.
///
/// Example: equibloom man ~/.local/share/man/man1
#[derive(clap::Args)]
pub(crate) struct ManArguments {
    /// Output directory; created if missing.
    directory: PathBuf,
}

/// Installs the manual pages, and completions for bash, zsh and fish.
///
/// They go to DIR/share: man/man1, bash-completion/completions, zsh/site-functions and fish/vendor_completions.d. In ~/.local,
/// man, bash and fish find them there; for zsh, add ~/.local/share/zsh/site-functions to fpath. Older files are replaced.
///
/// Exit status: 0, or 2 after an error.
///
/// Example: equibloom install-extras ~/.local
#[derive(clap::Args)]
pub(crate) struct InstallArguments {
    /// The directory, such as /usr/local [default: ~/.local].
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    directory: Option<PathBuf>,
}

pub(crate) fn install(arguments: &InstallArguments, command: &Command) -> anyhow::Result<()> {
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".local"));
    let directory = arguments.directory.clone().or_else(home);
    let share =
        directory.context("there is no HOME: give a directory, such as /usr/local")?.join("share");
    let pages = share.join("man/man1");
    write_pages(&pages, command.clone())?;
    let mut text = format!("{}/equibloom*.1\n", pages.display());
    for (shell, path) in [
        (Shell::Bash, "bash-completion/completions/equibloom"),
        (Shell::Zsh, "zsh/site-functions/_equibloom"),
        (Shell::Fish, "fish/vendor_completions.d/equibloom.fish"),
    ] {
        let path = share.join(path);
        let directory = path.parent().unwrap_or(&share);
        fs::create_dir_all(directory)
            .and_then(|()| fs::write(&path, script(shell, command.clone())))
            .with_context(|| format!("{}: could not write it", path.display()))?;
        text += &format!("{}\n", path.display());
    }
    answer::write(&text)
}

pub(crate) fn completions(
    arguments: &CompletionsArguments,
    command: Command,
) -> anyhow::Result<()> {
    answer::write(&String::from_utf8(script(arguments.shell, command))?)
}

fn script(shell: Shell, mut command: Command) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "equibloom", &mut script);
    script
}

pub(crate) fn pages(arguments: &ManArguments, command: Command) -> anyhow::Result<()> {
    write_pages(&arguments.directory, command)
}

fn write_pages(directory: &Path, command: Command) -> anyhow::Result<()> {
    fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(command, directory))
        .with_context(|| format!("{}: could not write manual pages there", directory.display()))
}
