//! Encoder and decoder of little-endian fields in a fixed order.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::FileErrorKind;

/// Appends fields to a buffer.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    pub(super) fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn u32s(&mut self, values: &[u32]) {
        values.iter().for_each(|&value| self.u32(value));
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    /// A name in `N` bytes, truncated or padded with zeros.
    pub(super) fn name<const N: usize>(&mut self, name: &str) {
        let padded = name.bytes().chain(core::iter::repeat(0));
        self.bytes.extend(padded.take(N));
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads fields and tracks the position.
#[derive(Debug)]
pub(super) struct Decoder<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Decoder<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// The position of the next field.
    pub(super) const fn position(&self) -> u64 {
        self.position as u64
    }

    fn take<const N: usize>(&mut self, name: &'static str) -> Result<[u8; N], FileErrorKind> {
        let rest = self.bytes.get(self.position..).unwrap_or(&[]);
        let Some((taken, _)) = rest.split_first_chunk() else {
            let accepted = format!("at least {N} bytes for {name}");
            let value = rest.len() as u64;
            let (name, offset) = ("what is left of the header", self.position());
            return Err(FileErrorKind::Field { name, offset, value, accepted });
        };
        self.position += N;
        Ok(*taken)
    }

    pub(super) fn u32(&mut self, name: &'static str) -> Result<u32, FileErrorKind> {
        self.take(name).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, name: &'static str) -> Result<u64, FileErrorKind> {
        self.take(name).map(u64::from_le_bytes)
    }

    /// A 64-bit number if `present`, otherwise a zero field.
    pub(super) fn u64_if(
        &mut self,
        name: &'static str,
        present: bool,
    ) -> Result<Option<u64>, FileErrorKind> {
        let value = self.u64(name)?;
        if present || value == 0 {
            return Ok(present.then_some(value));
        }
        let (offset, accepted) =
            (self.position() - 8, "0: the file says that there is none".into());
        Err(FileErrorKind::Field { name, offset, value, accepted })
    }

    /// The number of a variant, from 1 to `last`.
    pub(super) fn variant(&mut self, name: &'static str, last: u32) -> Result<u32, FileErrorKind> {
        let value = self.u32(name)?;
        if (1..=last).contains(&value) {
            return Ok(value);
        }
        let offset = self.position() - 4;
        let accepted = format!("a whole number from 1 to {last}");
        Err(FileErrorKind::Field { name, offset, value: value.into(), accepted })
    }

    /// A 32-bit number up to `most`.
    pub(super) fn u32_up_to(
        &mut self,
        name: &'static str,
        most: u32,
    ) -> Result<u32, FileErrorKind> {
        let value = self.u32(name)?;
        if value <= most {
            return Ok(value);
        }
        let (offset, accepted) = (self.position() - 4, format!("a whole number up to {most}"));
        Err(FileErrorKind::Field { name, offset, value: value.into(), accepted })
    }

    /// A name of at most `N` bytes, filled with zeros.
    pub(super) fn name<const N: usize>(
        &mut self,
        name: &'static str,
    ) -> Result<String, FileErrorKind> {
        let bytes: [u8; N] = self.take(name)?;
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(N);
        Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    /// Checks that the whole input was read.
    pub(super) fn end(&self) -> Result<(), FileErrorKind> {
        let left = (self.bytes.len() - self.position) as u64;
        if left == 0 {
            return Ok(());
        }
        let (name, offset) = ("what is left of the header", self.position());
        Err(FileErrorKind::Field { name, offset, value: left, accepted: "0 bytes".into() })
    }
}
