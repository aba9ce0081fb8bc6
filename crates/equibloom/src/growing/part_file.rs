//! The part of a filter that grows, in the filter's file: as the file of a growing filter.

use alloc::boxed::Box;
use std::io::{Read, Write};

use super::file::{Contents, write_table};
use super::map;
use super::part::Growth;
use crate::error::BuildError;
use crate::file::FileErrorKind;
use crate::hashing::KeyKind;
use crate::storage::Bytes;

/// A part that was read, and what its file says of the keys.
pub(crate) struct StoredGrowth {
    pub(crate) growth: Growth,
    pub(crate) seed: u64,
    pub(crate) kind: KeyKind,
}

impl StoredGrowth {
    /// Reads a part, and checks all of it. `size` is that of its file, if it is known.
    pub(crate) fn read(reader: impl Read, size: Option<u64>) -> Result<Self, FileErrorKind> {
        Contents::read(reader, size)?.try_into()
    }

    /// The part whose file begins at this offset of the bytes, in place if possible.
    pub(crate) fn over(bytes: &Bytes, start: u64, file: &[u8]) -> Result<Self, FileErrorKind> {
        map::over(bytes, start, file)?.try_into()
    }
}

impl TryFrom<Contents> for StoredGrowth {
    type Error = FileErrorKind;

    fn try_from(contents: Contents) -> Result<Self, FileErrorKind> {
        let Contents { table, rate, seed, kind } = contents;
        if table.removable {
            return Err(FileErrorKind::Unsupported {
                reason: "keys could be removed from the part that grows".into(),
                cure: "build it again from its keys",
            });
        }
        let growth = Growth { table: Box::new(table), rate };
        Ok(Self { growth, seed, kind })
    }
}

impl Growth {
    pub(crate) fn write(
        &self,
        seed: u64,
        kind: KeyKind,
        writer: impl Write,
    ) -> Result<(), FileErrorKind> {
        write_table(&self.table, self.rate, seed, kind, writer)
    }

    pub(crate) fn is_mapped(&self) -> bool {
        self.table.is_mapped()
    }

    /// Copies mapped segments into memory.
    pub(crate) fn detach(&mut self) -> Result<(), BuildError> {
        self.table.detach()
    }
}
