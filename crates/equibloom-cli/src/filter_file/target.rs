//! Writes filters: to standard output, or in place of an older file.

use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use equibloom::HashFilter;
use equibloom::file::{self, FileErrorKind};

use super::is_standard;
use crate::progress::{self, Unit};

/// Where a filter goes.
pub(crate) enum Target {
    StandardOutput,
    /// A device or a pipe, which is written to and not replaced.
    Device(PathBuf),
    /// A regular file, which is replaced, or a new one. Symbolic links are followed.
    File(PathBuf),
}

impl Target {
    /// Checks that a filter can be written there, before hours of work are spent.
    pub(crate) fn new(path: &Path) -> anyhow::Result<Self> {
        if is_standard(path) {
            ensure!(
                !io::stdout().is_terminal(),
                "a filter is no text for a terminal: write it to a file by -o FILE, or to a pipe"
            );
            return Ok(Self::StandardOutput);
        }
        let name = path.display();
        let old = match fs::metadata(path) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                return Err(error).with_context(|| format!("{name}: could not examine it"));
            }
        };
        let Some(old) = old else {
            directory_of(path)?;
            return Ok(Self::File(path.to_owned()));
        };
        ensure!(!old.is_dir(), "{name}: it is a directory: give the name of a file in it");
        if !old.is_file() {
            return Ok(Self::Device(path.to_owned()));
        }
        let is_writable = fs::OpenOptions::new().write(true).open(path).map(|_| ());
        if old.permissions().readonly() || is_writable.is_err() {
            bail!(
                "{name}: it is read-only: make it writable (chmod u+w), or write to another file"
            );
        }
        let file = fs::canonicalize(path).with_context(|| format!("{name}: could not find it"))?;
        directory_of(&file)?;
        Ok(Self::File(if path.is_symlink() { file } else { path.to_owned() }))
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::StandardOutput => "standard output".to_owned(),
            Self::Device(path) | Self::File(path) => path.display().to_string(),
        }
    }

    /// A directory with room for temporary files.
    pub(crate) fn directory(&self) -> PathBuf {
        match self {
            Self::File(path) => parent(path).to_owned(),
            _ => std::env::temp_dir(),
        }
    }

    /// Writes the filter.
    pub(crate) fn save(&self, filter: &HashFilter, quiet: bool) -> anyhow::Result<()> {
        let progress = progress::bar("writing", None, Unit::Bytes, quiet);
        let write = |output: &mut dyn Write| filter.write_to(progress.wrap_write(output));
        let written = match self {
            Self::StandardOutput => write(&mut io::stdout().lock()),
            Self::Device(path) => match fs::OpenOptions::new().write(true).open(path) {
                Ok(mut device) => write(&mut device),
                Err(source) => Err(FileErrorKind::Io { action: "open", source }.into()),
            },
            Self::File(path) => file::replace(path, |file| write(file)),
        };
        progress.finish_and_clear();
        written.map_err(|error| anyhow!("{}: {}", self.name(), error.kind()))
    }
}

/// The directory of a file that is to be written, if that is possible.
fn directory_of(file: &Path) -> anyhow::Result<()> {
    let (name, directory) = (file.display(), parent(file));
    if !directory.is_dir() {
        bail!("{name}: there is no directory {}: make it first", directory.display());
    }
    tempfile::tempfile_in(directory).with_context(|| {
        format!("{name}: could not write to {}: check its permissions", directory.display())
    })?;
    Ok(())
}

fn parent(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
