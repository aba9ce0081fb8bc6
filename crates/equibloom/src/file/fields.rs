//! Numbers, names and checksums in a fixed order. They are described once, for reading and for writing.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::discriminant;

use super::FileErrorKind;

/// Most bytes of a name.
pub(super) const NAME_BYTES: usize = 32;

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
    /// Fields from this position on that are read from an input, or written.
    pub(super) const fn new(input: Option<&'a [u8]>, position: u64) -> Self {
        Self { input, output: Vec::new(), position }
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
    fn bytes<const N: usize>(&mut self, name: &'static str, value: &mut [u8; N]) -> Checked {
        match self.input.map(<[u8]>::split_first_chunk) {
            None => self.output.extend(*value),
            Some(Some((taken, rest))) => (*value, self.input) = (*taken, Some(rest)),
            Some(None) => self.check_left(N, || format!("more bytes for {name}"))?,
        }
        self.position += N as u64;
        Ok(())
    }

    /// A number: seven bits per byte, the lowest first; the highest bit of a byte says that more bytes follow.
    /// Only the shortest form is accepted, so that a header has one encoding.
    pub(super) fn u64(&mut self, name: &'static str, value: &mut u64) -> Checked {
        let (offset, mut left, mut number) = (self.position, *value, 0);
        for shift in (0..u64::BITS).step_by(7) {
            let goes_on = u8::from(left > 0x7f) << 7;
            let mut byte = [left as u8 & 0x7f | goes_on];
            left >>= 7;
            self.bytes(name, &mut byte)?;
            let digit = u64::from(byte[0] & 0x7f);
            number |= digit << shift;
            let fits = digit << shift >> shift == digit;
            if byte[0] >> 7 == 0 && fits && (digit > 0 || shift == 0) {
                *value = number;
                return Ok(());
            }
            if byte[0] >> 7 == 0 || !fits {
                break;
            }
        }
        let accepted = || "a number of 64 bits in its shortest form".into();
        check(false, name, offset, number, accepted)
    }

    /// A number up to `most`.
    pub(super) fn up_to(&mut self, name: &'static str, value: &mut u64, most: u64) -> Checked {
        let offset = self.position;
        self.u64(name, value)?;
        check(*value <= most, name, offset, *value, || format!("a whole number up to {most}"))
    }

    /// A number of 32 bits.
    pub(super) fn u32(&mut self, name: &'static str, value: &mut u32) -> Checked {
        let mut number = u64::from(*value);
        self.up_to(name, &mut number, u32::MAX.into())?;
        *value = number as u32;
        Ok(())
    }

    /// Yes or no.
    pub(super) fn flag(&mut self, name: &'static str, value: &mut bool) -> Checked {
        let mut number = u64::from(*value);
        self.up_to(name, &mut number, 1)?;
        *value = number == 1;
        Ok(())
    }

    /// Flags, all of which are known.
    pub(super) fn flags<const N: usize>(
        &mut self,
        name: &'static str,
        values: [&mut bool; N],
    ) -> Checked {
        let offset = self.position;
        let set = values.iter().zip(0..).map(|(value, bit)| u64::from(**value) << bit);
        let mut flags = set.sum();
        self.u64(name, &mut flags)?;
        for (value, bit) in values.into_iter().zip(0..) {
            *value = flags >> bit & 1 == 1;
        }
        let known = (1 << N) - 1;
        if flags & !known == 0 {
            return Ok(());
        }
        let reason = format!(
            "{name} at byte {offset} are {flags:#x}, of which this library knows {known:#x}"
        );
        Err(FileErrorKind::Unsupported { reason, cure: "update equibloom" })
    }

    /// An XXH3-64: eight bytes, the lowest first.
    pub(super) fn checksum(&mut self, name: &'static str, value: &mut u64) -> Checked {
        let mut bytes = value.to_le_bytes();
        self.bytes(name, &mut bytes)?;
        *value = u64::from_le_bytes(bytes);
        Ok(())
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
        let own = 1 + others.count() as u64;
        let (mut number, offset) = (own, self.position);
        self.u64(name, &mut number)?;
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let template = index.and_then(|index| templates.get(index));
        let accepted = || format!("a whole number from 1 to {}", templates.len());
        check(template.is_some(), name, offset, number, accepted)?;
        *value = template.copied().filter(|_| number != own).unwrap_or(*value);
        Ok(())
    }

    /// A name: the number of its bytes, and these, in UTF-8.
    pub(super) fn name(&mut self, name: &'static str, value: &mut String) -> Checked {
        let mut length = value.len() as u64;
        self.up_to(name, &mut length, NAME_BYTES as u64)?;
        let offset = self.position;
        let mut bytes = core::mem::take(value).into_bytes();
        bytes.resize(length as usize, 0);
        for byte in &mut bytes {
            self.bytes(name, core::array::from_mut(byte))?;
        }
        let valid = bytes.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
        *value = String::from_utf8_lossy(&bytes).into_owned();
        let other = bytes.get(valid).copied();
        let (at, byte) = (offset + valid as u64, other.unwrap_or(0).into());
        check(other.is_none(), name, at, byte, || "UTF-8".into())
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
