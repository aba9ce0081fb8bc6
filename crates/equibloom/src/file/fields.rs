//! Little-endian fields in a fixed order. They are described once, for reading and for writing.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::discriminant;

use super::FileErrorKind;

/// Bytes of a name, filled with zeros.
pub(super) const NAME_BYTES: usize = 16;

/// A sequence of fields. A reader replaces the values, a writer stores them; both check them.
pub(super) trait Fields {
    /// The position of the next field.
    fn position(&self) -> u64;

    /// Some bytes.
    fn bytes<const N: usize>(&mut self, name: &'static str, value: &mut [u8; N]) -> Checked;

    fn u32(&mut self, name: &'static str, value: &mut u32) -> Checked {
        let mut bytes = value.to_le_bytes();
        self.bytes(name, &mut bytes)?;
        *value = u32::from_le_bytes(bytes);
        Ok(())
    }

    fn u64(&mut self, name: &'static str, value: &mut u64) -> Checked {
        let mut bytes = value.to_le_bytes();
        self.bytes(name, &mut bytes)?;
        *value = u64::from_le_bytes(bytes);
        Ok(())
    }

    /// A 32-bit number up to `most`.
    fn u32_up_to(&mut self, name: &'static str, value: &mut u32, most: u32) -> Checked {
        let offset = self.position();
        self.u32(name, value)?;
        let accepted = || format!("a whole number up to {most}");
        check(*value <= most, name, offset, (*value).into(), accepted)
    }

    /// Yes or no, in 32 bits.
    fn flag(&mut self, name: &'static str, value: &mut bool) -> Checked {
        let mut number = u32::from(*value);
        self.u32_up_to(name, &mut number, 1)?;
        *value = number == 1;
        Ok(())
    }

    /// Flags, all of which are known.
    fn flags(&mut self, name: &'static str, value: &mut u64, known: u64) -> Checked {
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

    /// A flag, and a 64-bit number that is zero without it.
    fn optional(
        &mut self,
        whether: &'static str,
        name: &'static str,
        value: &mut Option<u64>,
    ) -> Checked {
        let (mut is_there, mut number) = (value.is_some(), value.unwrap_or(0));
        self.flag(whether, &mut is_there)?;
        let offset = self.position();
        self.u64(name, &mut number)?;
        *value = is_there.then_some(number);
        let accepted = || "0: the file says that there is none".into();
        check(is_there || number == 0, name, offset, number, accepted)
    }

    /// The number of a variant. If another one is read than that of the value, this becomes the template of that
    /// number, whose fields are read next. The first template has the number 1; their order never changes.
    fn variant<T: Copy>(&mut self, name: &'static str, value: &mut T, templates: &[T]) -> Checked {
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
    fn name(&mut self, name: &'static str, value: &mut String) -> Checked {
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

/// Writes fields.
impl Fields for Vec<u8> {
    fn position(&self) -> u64 {
        self.len() as u64
    }

    fn bytes<const N: usize>(&mut self, _name: &'static str, value: &mut [u8; N]) -> Checked {
        self.extend(*value);
        Ok(())
    }
}

/// Reads fields.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or(&[])
    }

    /// Checks that the whole input was read.
    pub(super) fn end(&self) -> Checked {
        self.check_rest(self.rest().is_empty(), || "0 bytes".into())
    }

    fn check_rest(&self, is_valid: bool, accepted: impl FnOnce() -> String) -> Checked {
        let left = self.rest().len() as u64;
        check(is_valid, "what is left of the header", self.position(), left, accepted)
    }
}

impl Fields for Reader<'_> {
    fn position(&self) -> u64 {
        self.position as u64
    }

    fn bytes<const N: usize>(&mut self, name: &'static str, value: &mut [u8; N]) -> Checked {
        let taken = self.rest().first_chunk();
        self.check_rest(taken.is_some(), || format!("at least {N} bytes for {name}"))?;
        *value = *taken.unwrap_or(value);
        self.position += N;
        Ok(())
    }
}
