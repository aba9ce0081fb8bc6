//! Stores hashes until their number is known, in an unnamed file that disappears with the process, however it
//! ends.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use equibloom::KeyHash;

/// Bytes of a hash.
const HASH_BYTES: usize = 16;
/// Hashes per read.
const HASHES: usize = 256 << 10;
/// Bytes per read or write.
const BUFFER_BYTES: usize = 256 << 10;

pub(super) struct Spool {
    directory: PathBuf,
    file: BufWriter<File>,
    /// Number of hashes.
    pub(super) keys: u64,
}

impl Spool {
    pub(super) fn in_directory(directory: &Path) -> anyhow::Result<Self> {
        let file = tempfile::tempfile_in(directory).map_err(|error| failed(directory, &error))?;
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(Self { directory: directory.to_path_buf(), file, keys: 0 })
    }

    pub(super) fn write(&mut self, hashes: &[KeyHash]) -> anyhow::Result<()> {
        for &hash in hashes {
            let bytes = u128::from(hash).to_le_bytes();
            self.file.write_all(&bytes).map_err(|error| failed(&self.directory, &error))?;
        }
        self.keys += hashes.len() as u64;
        Ok(())
    }

    /// Returns the hashes in the order they were written.
    pub(super) fn replay(
        self,
        mut take: impl FnMut(&[KeyHash]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let Self { directory, file, mut keys } = self;
        let rewound =
            file.into_inner().map_err(io::IntoInnerError::into_error).and_then(|mut file| {
                file.rewind()?;
                Ok(file)
            });
        let file = rewound.map_err(|error| failed(&directory, &error))?;
        let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
        let mut hashes = Vec::with_capacity(HASHES);
        let mut bytes = [0; HASH_BYTES];
        while keys > 0 {
            hashes.clear();
            for _ in 0..keys.min(HASHES as u64) {
                file.read_exact(&mut bytes).map_err(|error| failed(&directory, &error))?;
                hashes.push(KeyHash::from(u128::from_le_bytes(bytes)));
            }
            keys -= hashes.len() as u64;
            take(&hashes)?;
        }
        Ok(())
    }
}

fn failed(directory: &Path, error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!(
        "could not keep the hashes of the keys, {HASH_BYTES} bytes each, in {}: {error}; make room there, \
         write the output elsewhere, or say by --keys how many there are",
        directory.display()
    )
}
