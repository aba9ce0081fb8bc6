//! Little-endian fields in a fixed order. They are described once, for reading and for writing.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::discriminant;

use super::FileErrorKind;

/// Bytes of a name, filled with zeros.
pub(super) const NAME_BYTES: usize = 16;

/// A sequence of fields. Reading replaces the values, writing stores them; both check them.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    /// The bytes that are read; `None` while fields are written.
    input: Option<&'a [u8]>,
    output: Vec<u8>,
    /// The position of the next field.
    position: u64,
}

impl<'a> Fields<'a> {
    /// Fields that are read from an input, or written.
    pub(super) const fn new(input: Option<&'a [u8]>) -> Self {
        Self { input, output: Vec::new(), position: 0 }
    }

    /// What was written. Checks that the whole input was read.
    pub(super) fn end(self) -> Result<Vec<u8>, FileErrorKind> {
        self.check_left(0, || "0 bytes".into())?;
        Ok(self.output)
    }

    /// Checks how many bytes are left to read.
    fn check_left(&self, expected: usize, accepted: impl FnOnce() -> String) -> Checked {
        let left = self.input.map_or(0, <[u8]>::len);
        let name = "what is left of the header";
        check(left == expected, name, self.position, left as u64, accepted)
    }

    pub(super) const fn position(&self) -> u64 {
        self.position
    }

    /// Some bytes.
    pub(super) fn bytes<const N: usize>(
        &mut self,
        name: &'static str,
        value: &mut [u8; N],
    ) -> Checked {
        match self.input.map(<[u8]>::split_first_chunk) {
            None => self.output.extend(*value),
            Some(Some((taken, rest))) => (*value, self.input) = (*taken, Some(rest)),
            Some(None) => self.check_left(N, || format!("at least {N} bytes for {name}"))?,
        }
        self.position += N as u64;
        Ok(())
    }

    pub(super) fn u32(&mut self, name: &'static str, value: &mut u32) -> Checked {
        let mut bytes = value.to_le_bytes();
        self.bytes(name, &mut bytes)?;
        *value = u32::from_le_bytes(bytes);
        Ok(())
    }

    pub(super) fn u64(&mut self, name: &'static str, value: &mut u64) -> Checked {
        let mut bytes = value.to_le_bytes();
        self.bytes(name, &mut bytes)?;
        *value = u64::from_le_bytes(bytes);
        Ok(())
    }

    /// A 32-bit number up to `most`.
    pub(super) fn u32_up_to(&mut self, name: &'static str, value: &mut u32, most: u32) -> Checked {
        let offset = self.position();
        self.u32(name, value)?;
        let accepted = || format!("a whole number up to {most}");
        check(*value <= most, name, offset, (*value).into(), accepted)
    }

    /// Yes or no, in 32 bits.
    pub(super) fn flag(&mut self, name: &'static str, value: &mut bool) -> Checked {
        let mut number = u32::from(*value);
        self.u32_up_to(name, &mut number, 1)?;
        *value = number == 1;
        Ok(())
    }

    /// Flags, all of which are known.
    pub(super) fn flags(&mut self, name: &'static str, value: &mut u64, known: u64) -> Checked {
        let offset = self.position();
        self.u64(name, value)?;
        if *value & !known == 0 {
            return Ok(());
        }
        let reason = format!(
            "the flags at byte {offset} are {value:#x}, of which this library knows {known:#x}"
        );
        Err(FileErrorKind::Unsupported { reason, cure: "update equibloom" })
    }

    /// The number of a variant. If another one is read than that of the value, this becomes the template of that
    /// number, whose fields are read next. The first template has the number 1; their order never changes.
    pub(super) fn variant<T: Copy>(
        &mut self,
        name: &'static str,
        value: &mut T,
        templates: &[T],
    ) -> Checked {
        let known = discriminant(value);
        let others = templates.iter().take_while(|template| discriminant(*template) != known);
        let own = 1 + others.count() as u32;
        let (mut number, offset) = (own, self.position());
        self.u32(name, &mut number)?;
        let template = (number as usize).checked_sub(1).and_then(|index| templates.get(index));
        let accepted = || format!("a whole number from 1 to {}", templates.len());
        check(template.is_some(), name, offset, number.into(), accepted)?;
        *value = template.copied().filter(|_| number != own).unwrap_or(*value);
        Ok(())
    }

    /// A name of at most [`NAME_BYTES`] bytes.
    pub(super) fn name(&mut self, name: &'static str, value: &mut String) -> Checked {
        let mut bytes = [0; NAME_BYTES];
        bytes.iter_mut().zip(value.bytes()).for_each(|(byte, own)| *byte = own);
        self.bytes(name, &mut bytes)?;
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(NAME_BYTES);
        *value = String::from_utf8_lossy(&bytes[..end]).into_owned();
        Ok(())
    }
}

pub(super) type Checked = Result<(), FileErrorKind>;

/// Refuses the value of a field unless it is valid.
pub(super) fn check(
    is_valid: bool,
    name: &'static str,
    offset: u64,
    value: u64,
    accepted: impl FnOnce() -> String,
) -> Checked {
    if is_valid {
        return Ok(());
    }
    Err(FileErrorKind::Field { name, offset, value, accepted: accepted() })
}
