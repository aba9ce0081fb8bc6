//! Input bytes: files and standard input, decompressed; and the keys of the command line.

use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use flate2::read::MultiGzDecoder;
use indicatif::ProgressBar;

use super::Records;
use super::batch::Batch;

/// Read size of decoders.
const PACKED_BYTES: usize = 128 << 10;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const PARQUET: &[u8] = b"PAR1";
const FILTER: &[u8] = b"\x89EQBL\r\n\x1a";
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];
/// File signatures.
const BEGINNINGS: [&[u8]; 5] = [GZIP, ZSTD, PARQUET, FILTER, BYTE_ORDER_MARK];

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Source {
    File(PathBuf),
    StandardInput,
}

impl Source {
    /// An existing file, or standard input for `-`.
    pub(super) fn named(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::StandardInput);
        }
        let metadata = fs::metadata(path).with_context(|| unreadable(path))?;
        ensure!(!metadata.is_dir(), "{}: it is a directory: give files with keys", path.display());
        Ok(Self::File(path.to_path_buf()))
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::StandardInput => "standard input".to_owned(),
        }
    }

    /// Its length, if it is known: then it can also be read a second time.
    pub(super) fn bytes(&self) -> Option<u64> {
        let Self::File(path) = self else { return None };
        fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|file| file.len())
    }

    pub(super) fn is(&self, other: &Path) -> bool {
        let Self::File(path) = self else { return false };
        match (fs::canonicalize(path), fs::canonicalize(other)) {
            (Ok(path), Ok(other)) => path == other,
            _ => false,
        }
    }

    /// Its decompressed contents, without a byte order mark if `is_text`.
    pub(super) fn text(
        &self,
        progress: &ProgressBar,
        is_text: bool,
    ) -> anyhow::Result<Box<dyn Read>> {
        let raw: Box<dyn Read> = match self {
            Self::File(path) => Box::new(File::open(path).with_context(|| unreadable(path))?),
            Self::StandardInput => Box::new(io::stdin()),
        };
        let (beginning, rest) = self.peeked(progress.wrap_read(raw))?;
        let unpacked: Box<dyn Read> = if beginning.starts_with(GZIP) {
            Box::new(MultiGzDecoder::new(BufReader::with_capacity(PACKED_BYTES, rest)))
        } else if beginning.starts_with(ZSTD) {
            let rest = BufReader::with_capacity(PACKED_BYTES, rest);
            Box::new(zstd::Decoder::with_buffer(rest).with_context(|| self.name())?)
        } else {
            return self.plain(&beginning, rest, is_text);
        };
        let (beginning, unpacked) = self.peeked(unpacked)?;
        self.plain(&beginning, unpacked, is_text)
    }

    fn plain(
        &self,
        beginning: &[u8],
        mut text: impl Read + 'static,
        is_text: bool,
    ) -> anyhow::Result<Box<dyn Read>> {
        let name = self.name();
        if beginning.starts_with(PARQUET) {
            bail!(
                "{name}: it is a Parquet file: say which column has the keys, by --parquet-column"
            );
        }
        if beginning.starts_with(FILTER) {
            bail!("{name}: it is a filter, not a file of keys: give the keys it was built from");
        }
        if is_text && beginning.starts_with(BYTE_ORDER_MARK) {
            text.read_exact(&mut [0; BYTE_ORDER_MARK.len()]).context(name)?;
        }
        Ok(Box::new(text))
    }

    /// The first bytes, enough to recognise a signature, and a reader of everything. (No more: the other end of
    /// a pipe may wait for an answer.)
    fn peeked<R: Read>(&self, mut reader: R) -> anyhow::Result<(Vec<u8>, impl Read + use<R>)> {
        let mut beginning = Vec::new();
        let goes_on =
            |read: &[u8]| BEGINNINGS.iter().any(|it| it.len() > read.len() && it.starts_with(read));
        while goes_on(&beginning) {
            let mut byte = [0];
            match reader.read(&mut byte) {
                Ok(0) => break,
                Ok(_) => beginning.extend(byte),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable_bytes(&self.name(), error)),
            }
        }
        Ok((beginning.clone(), Cursor::new(beginning).chain(reader)))
    }

    /// A file with random access.
    #[cfg(feature = "parquet")]
    pub(super) fn seekable(&self) -> anyhow::Result<File> {
        match self {
            Self::File(path) if self.bytes().is_some() => {
                File::open(path).with_context(|| unreadable(path))
            }
            other => bail!(
                "{}: Parquet cannot be read from a pipe, its table of contents is at the end: \
                 give the name of a file",
                other.name()
            ),
        }
    }
}

fn unreadable(path: &Path) -> String {
    format!("{}: could not read it; check its name and permissions", path.display())
}

/// Describes a read error.
pub(super) fn unreadable_bytes(name: &str, error: io::Error) -> anyhow::Error {
    let cure = match error.kind() {
        ErrorKind::UnexpectedEof => "it ends too early: get it again",
        ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::Other => {
            "it is damaged: get it again"
        }
        _ => "check the file and its disk",
    };
    anyhow::anyhow!("{name}: could not read on: {error}; {cure}")
}

/// Keys of the command line. An empty one counts.
impl Records for std::slice::Iter<'_, Vec<u8>> {
    fn fill(&mut self, batch: &mut Batch) -> anyhow::Result<bool> {
        let before = self.len();
        while !batch.is_full()
            && let Some(key) = self.next()
        {
            batch.add_even_if_empty(key, |text| text.extend(key)).context("on the command line")?;
        }
        Ok(self.len() < before)
    }
}
