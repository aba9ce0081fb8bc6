//! Input bytes: files and standard input, decompressed; and the keys of the command line.

use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use flate2::read::MultiGzDecoder;
use indicatif::ProgressBar;

use super::Records;
use super::batch::Batch;
use crate::answer;
use crate::filter_file::is_standard;

/// Read size of decoders.
const PACKED_BYTES: usize = 128 << 10;
/// Bytes that are looked at before the others, at most.
const FIRST_BYTES: usize = 64 << 10;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const PARQUET: &[u8] = b"PAR1";
const FILTER: &[u8] = b"\x89EQBL\r\n\x1a";
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];
/// Packings that are not unpacked here: their signatures, names, and programs that unpack them to standard output.
const FOREIGN: [(&[u8], &str, &str); 9] = [
    (b"BZh", "bzip2", "bzip2 -dc"),
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz", "xz -dc"),
    (&[0x04, 0x22, 0x4d, 0x18], "lz4", "lz4 -dc"),
    (&[0xff, 6, 0, 0, b's', b'N', b'a', b'P', b'p', b'Y'], "snappy", "snzip -dc"),
    (b"LZIP", "lzip", "lzip -dc"),
    (&[0x1f, 0x9d], "compress", "uncompress -c"),
    (b"PK\x03\x04", "zip", "unzip -p"),
    (&[b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c], "7-Zip", "7z x -so"),
    (b"Rar!\x1a\x07", "RAR", "unrar p -inul"),
];

/// What a source is expected to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contents {
    Lines,
    /// Text whose rows may end with a carriage return alone.
    Table,
    Bytes,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Source {
    File(PathBuf),
    StandardInput,
}

impl Source {
    /// An existing file, or standard input for `-`.
    pub(super) fn named(path: &Path) -> anyhow::Result<Self> {
        if is_standard(path) {
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

    /// Its decompressed contents, of text without a byte order mark.
    pub(super) fn text(
        &self,
        progress: &ProgressBar,
        contents: Contents,
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
            return self.plain(&beginning, rest, contents);
        };
        let (beginning, unpacked) = self.peeked(unpacked)?;
        self.plain(&beginning, unpacked, contents)
    }

    fn plain(
        &self,
        beginning: &[u8],
        mut text: impl Read + 'static,
        contents: Contents,
    ) -> anyhow::Result<Box<dyn Read>> {
        let name = self.name();
        let is_foreign = |(signature, ..): &&(&[u8], &str, &str)| beginning.starts_with(signature);
        // Brotli has no signature.
        let is_brotli = matches!(self, Self::File(path) if path.extension().is_some_and(|it| it == "br"))
            && !is_plausible(beginning);
        let brotli = is_brotli.then_some(("brotli", "brotli -dc"));
        let foreign =
            FOREIGN.iter().find(is_foreign).map(|(_, packing, unpack)| (*packing, *unpack));
        if let Some((packing, unpack)) = foreign.or(brotli) {
            bail!(
                "{name}: it is packed by {packing}, and only gzip and zstd are unpacked: \
                 pipe it through `{unpack}`"
            );
        }
        if beginning.starts_with(PARQUET) {
            bail!(
                "{name}: it is a Parquet file: say which column has the keys, by --parquet-column"
            );
        }
        if beginning.starts_with(FILTER) {
            bail!("{name}: it is a filter, not a file of keys: give the keys it was built from");
        }
        if contents == Contents::Bytes {
            return Ok(Box::new(text));
        }
        if beginning.starts_with(BYTE_ORDER_MARK) {
            text.read_exact(&mut [0; BYTE_ORDER_MARK.len()]).context(name)?;
        } else if is_utf_16(beginning) {
            answer::warn(&format!(
                "{name}: it looks like UTF-16, and its bytes are taken as they are: convert it by \
                 `iconv -f UTF-16 -t UTF-8`"
            ));
        } else if contents == Contents::Lines && has_only_returns(beginning) {
            answer::warn(&format!(
                "{name}: its lines seem to end with carriage returns alone, so that it is read as one line: \
                 convert it by `tr '\\r' '\\n'`"
            ));
        }
        Ok(Box::new(text))
    }

    /// The bytes of one read, more only while they may become a signature, and a reader of everything. (The other
    /// end of a pipe may wait for an answer.)
    fn peeked<R: Read>(&self, mut reader: R) -> anyhow::Result<(Vec<u8>, impl Read + use<R>)> {
        let known = [GZIP, ZSTD, PARQUET, FILTER, BYTE_ORDER_MARK];
        let signatures = || known.into_iter().chain(FOREIGN.map(|(signature, ..)| signature));
        let goes_on =
            |read: &[u8]| signatures().any(|it| it.len() > read.len() && it.starts_with(read));
        let (mut beginning, mut length) = (vec![0; FIRST_BYTES], 0);
        while goes_on(&beginning[..length]) {
            match reader.read(&mut beginning[length..]) {
                Ok(0) => break,
                Ok(bytes) => length += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable_bytes(&self.name(), error)),
            }
        }
        beginning.truncate(length);
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

/// Whether this may be text: UTF-8 without control characters, the last character possibly cut.
fn is_plausible(beginning: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < b' ' && !b"\t\n\r\0".contains(byte);
    let whole = std::str::from_utf8(beginning).map_or_else(|error| error.valid_up_to(), str::len);
    beginning.len() - whole < 4 && !beginning.iter().any(is_control)
}

/// Whether this looks like UTF-16: its mark, or text of which every other byte is zero.
fn is_utf_16(beginning: &[u8]) -> bool {
    let pairs = beginning.as_chunks().0;
    let is_ascii = |first: usize| {
        pairs.len() > 1
            && pairs.iter().all(|pair: &[u8; 2]| pair[first] != 0 && pair[1 - first] == 0)
    };
    matches!(beginning, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) || is_ascii(0) || is_ascii(1)
}

/// Whether lines end with carriage returns, and none with a line feed.
fn has_only_returns(beginning: &[u8]) -> bool {
    let inner = beginning.split_last().map_or(beginning, |(_, inner)| inner);
    inner.contains(&b'\r') && !beginning.contains(&b'\n')
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
            let added = batch.add_even_if_empty(0, key, |text| text.extend(key));
            added.context("on the command line")?;
        }
        Ok(self.len() < before)
    }
}
