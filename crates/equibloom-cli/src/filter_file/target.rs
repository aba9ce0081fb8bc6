//! Writes filters: to standard output, or in place of an older file.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use equibloom::HashFilter;
use tempfile::NamedTempFile;

use super::is_standard;
use crate::progress::{self, Unit};

/// Characters of the file's name in the name of the temporary file: with the rest it stays below the common limit of 255 bytes.
const MOST_NAME_CHARACTERS: usize = 50;

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
            Self::StandardOutput => write(&mut io::stdout().lock()).map_err(anyhow::Error::from),
            Self::Device(path) => fs::OpenOptions::new()
                .write(true)
                .open(path)
                .map_err(anyhow::Error::from)
                .and_then(|mut device| Ok(write(&mut device)?)),
            Self::File(path) => replace(path, |file| Ok(write(file)?)),
        };
        progress.finish_and_clear();
        written.map_err(|error| anyhow!("{}: {}", self.name(), crate::answer::message(&error)))
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

/// Writes a temporary file in the same directory, with owner and permissions of the old file if there is one, syncs it, and
/// renames it. A reader, or a restart after a crash, finds the old file or the new one, whole.
fn replace(path: &Path, write: impl FnOnce(&mut File) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let directory = parent(path);
    let mut new = temporary(path).context("could not create a file beside it")?;
    if let Ok(old) = fs::metadata(path) {
        keep_owner(new.as_file(), &old).context(
            "could not keep its owner and group: have its owner change it, or write to another file",
        )?;
        let kept = new.as_file().set_permissions(old.permissions());
        kept.context("could not keep its permissions")?;
    }
    write(new.as_file_mut())?;
    new.as_file().sync_all().context("could not force it to the disk")?;
    new.persist(path).map_err(|error| error.error).context("could not replace it")?;
    // Some file systems cannot sync directories, and some directories are writable but not readable.
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    Ok(())
}

/// A file that is removed unless it is renamed.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().take(MOST_NAME_CHARACTERS).collect();
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".equibloom-tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file, less the user's mask.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(parent(path))
}

#[cfg(unix)]
fn keep_owner(new: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let ours = new.metadata()?;
    if (ours.uid(), ours.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(new, Some(old.uid()), Some(old.gid()))
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}
