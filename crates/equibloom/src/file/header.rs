//! The header of a filter file (`docs/format.md`, *Header*).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use xxhash_rust::xxh3::xxh3_64;

use super::fields::{Decoder, Encoder};
use equibloom_layout::{BlockKind, MAX_OVERFLOW, Overflow, WhenFull};

use super::{FileErrorKind, VERSION, design};
use crate::hashing::KeyKind;
use crate::parameters::Parameters;
use crate::raw::Counters;

/// The first bytes of every filter file. As in PNG: a byte that no text has, and line ends that a text-mode
/// transfer would change.
pub(super) const MAGIC: [u8; 8] = *b"\x89EQBL\r\n\x1a";
/// The only hash in use.
pub(super) const HASH: &str = "xxh3-128";
/// The sections' names.
pub(super) const BLOCKS: &str = "blocks";
pub(super) const OVERFLOW: &str = "overflow";
/// Sections begin at multiples of this: the smallest page there is.
pub(super) const ALIGNMENT: u64 = 4096;
/// Magic, version, header length, flags, file length, checksum.
pub(super) const PREFIX_BYTES: usize = 40;
/// Longest accepted header; this version writes less than a thousandth of it.
pub(super) const MOST_HEADER_BYTES: u64 = 1 << 20;

const CHECKSUM_OFFSET: usize = 32;
const FLAGS_OFFSET: u64 = 16;
const OVERFLOW_CAPACITY_OFFSET: u64 = 112;
const SECTIONS_OFFSET: u64 = 128;
const SECTION_BYTES: u64 = 48;
const NAME_BYTES: usize = 16;
const KNOWN_FLAGS: u64 = 0;
/// Flag of a section that no reader may skip.
const REQUIRED: u64 = 1;

/// The header of a filter file.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Header {
    /// Version of the format.
    pub version: u32,
    /// Bytes of the file.
    pub file_length: u64,
    /// Bytes of the header.
    pub header_length: u64,
    /// XXH3-64 of the header, with zeros in place of this.
    pub checksum: u64,
    /// Name of the hash function.
    pub hash: String,
    /// The kind of the keys, which defines the hashed bytes.
    pub key_kind: KeyKind,
    /// The parameters that the filter was built from. The seed is that of the hash.
    pub parameters: Parameters,
    /// Keys in the filter, as [`Statistics::elements`](crate::Statistics::elements) counts them.
    pub elements: u64,
    /// Keys inserted while the overflow list was full; 0 for fingerprint blocks, whose list grows.
    pub saturated: u64,
    /// Block accesses spent on placing the keys.
    pub budget_used: u64,
    /// Whether the access budget is spent, so that new keys go to the overflow list.
    pub budget_spent: bool,
    /// Entries in the overflow list.
    pub overflow_entries: u64,
    /// Capacity of the overflow list: as planned, or more if it has grown.
    pub overflow_capacity: u64,
    /// The sections after the header.
    pub sections: Vec<Section>,
}

/// A section of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Section {
    /// `blocks`, `overflow`, or a name added by a later version.
    pub name: String,
    /// Offset in the file: a multiple of 4096.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// XXH3-64 of its bytes.
    pub checksum: u64,
    /// Whether a reader that does not know it must refuse the file.
    pub required: bool,
}

/// The contents of a file's first 40 bytes.
#[derive(Debug)]
pub(super) struct Prefix {
    pub(super) header_length: u64,
}

impl Section {
    const fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }
}

impl Header {
    /// The header of a filter with these sections (name, length, checksum), one after the other.
    pub(super) fn new(
        parameters: Parameters,
        key_kind: KeyKind,
        counters: &Counters,
        sections: &[(&str, u64, u64)],
    ) -> Self {
        let mut header = Self {
            version: VERSION,
            file_length: 0,
            header_length: 0,
            checksum: 0,
            hash: HASH.into(),
            key_kind,
            parameters,
            elements: counters.elements,
            saturated: counters.saturated,
            budget_used: counters.budget_used,
            budget_spent: counters.budget_spent,
            overflow_entries: counters.overflow_entries,
            overflow_capacity: counters.overflow_capacity,
            sections: Vec::new(),
        };
        for &(name, length, checksum) in sections {
            let name = name.into();
            header.sections.push(Section { name, offset: 0, length, checksum, required: true });
        }
        header.header_length = header.encode().len() as u64;
        let mut end = header.header_length;
        for section in &mut header.sections {
            section.offset = end.next_multiple_of(ALIGNMENT);
            end = section.end();
        }
        header.file_length = end;
        header.checksum = checksum(&header.encode());
        header
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut to = Encoder::default();
        to.bytes(&MAGIC);
        to.u32(self.version);
        to.u32(self.header_length as u32);
        to.u64(KNOWN_FLAGS);
        to.u64(self.file_length);
        to.u64(self.checksum);
        to.name::<NAME_BYTES>(&self.hash);
        to.u64(self.parameters.seed);
        to.u64(self.parameters.keys);
        to.u64(self.elements);
        to.u64(self.saturated);
        to.u64(self.budget_used);
        to.u32(u32::from(self.budget_spent));
        to.u32(self.sections.len() as u32);
        to.u64(self.overflow_entries);
        to.u64(self.overflow_capacity);
        to.u64(number_of(self.key_kind));
        for section in &self.sections {
            to.name::<NAME_BYTES>(&section.name);
            to.u64(if section.required { REQUIRED } else { 0 });
            to.u64(section.offset);
            to.u64(section.length);
            to.u64(section.checksum);
        }
        design::encode(&self.parameters.design, &mut to);
        to.into_bytes()
    }

    /// Decodes a whole header with a checked prefix.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, FileErrorKind> {
        let mut from = Decoder::new(bytes);
        from.u64("the magic number")?;
        let version = from.u32("the version")?;
        let header_length = from.u32("the header's length")?.into();
        let flags = from.u64("the flags")?;
        let file_length = from.u64("the file's length")?;
        let stored = from.u64("the header's checksum")?;
        let computed = checksum(bytes);
        if stored != computed {
            return Err(FileErrorKind::HeaderChecksum { stored, computed });
        }
        check_flags(FLAGS_OFFSET, flags, KNOWN_FLAGS)?;
        let hash = from.name::<NAME_BYTES>("the hash's name")?;
        if hash != HASH {
            return Err(FileErrorKind::Hash { found: hash });
        }
        let seed = from.u64("the hash's seed")?;
        let keys = from.u64("planned keys")?;
        let elements = from.u64("elements")?;
        let saturated = from.u64("saturated elements")?;
        let budget_used = from.u64("used accesses")?;
        let budget_spent = from.u32_up_to("whether the accesses are spent", 1)? == 1;
        let most = (bytes.len() as u64 / SECTION_BYTES) as u32;
        let section_count = from.u32_up_to("the number of sections", most)?;
        let overflow_entries = from.u64("overflow entries")?;
        let overflow_capacity = from.u64("overflow capacity")?;
        let key_kind = decode_key_kind(&mut from)?;
        let sections =
            (0..section_count).map(|_| decode_section(&mut from)).collect::<Result<_, _>>()?;
        let offset = from.position();
        let parameters = Parameters { keys, seed, design: design::decode(&mut from)? };
        from.end()?;
        parameters.check().map_err(|source| FileErrorKind::Parameters { offset, source })?;
        let header = Self {
            version,
            file_length,
            header_length,
            checksum: stored,
            hash,
            key_kind,
            parameters,
            elements,
            saturated,
            budget_used,
            budget_spent,
            overflow_entries,
            overflow_capacity,
            sections,
        };
        header.check_overflow()?;
        header.check_sections()?;
        Ok(header)
    }

    pub(super) const fn counters(&self) -> Counters {
        Counters {
            elements: self.elements,
            saturated: self.saturated,
            budget_used: self.budget_used,
            budget_spent: self.budget_spent,
            overflow_entries: self.overflow_entries,
            overflow_capacity: self.overflow_capacity,
        }
    }

    /// Bytes of the overflow list's slots. If it counts copies, their numbers follow.
    pub(super) const fn slot_bytes(&self) -> u64 {
        let capacity = self.overflow_capacity;
        Overflow { capacity, when_full: WhenFull::Refuse }.slots().saturating_mul(8)
    }

    /// Offset and length of a section; zeros if it does not exist.
    pub(super) fn place_of(&self, name: &str) -> (u64, u64) {
        let section = self.sections.iter().find(|section| section.name == name);
        section.map_or((0, 0), |section| (section.offset, section.length))
    }

    /// Checks that the list has the planned capacity, or more if it may grow, and no more entries than
    /// that. That of fingerprint blocks takes a whole batch before it refuses.
    fn check_overflow(&self) -> Result<(), FileErrorKind> {
        let planned = self.parameters.design.overflow();
        let (capacity, offset) = (self.overflow_capacity, OVERFLOW_CAPACITY_OFFSET);
        let grows = planned.when_full == WhenFull::Saturate
            || self.parameters.design.block_kind() == Some(BlockKind::Fingerprint);
        let grown = grows && capacity > planned.capacity;
        if capacity != planned.capacity && !grown || capacity > MAX_OVERFLOW {
            let more = if grows { "at least " } else { "" };
            let accepted = format!("{more}{}, as planned,", planned.capacity);
            let name = "the overflow list's capacity";
            return Err(FileErrorKind::Field { name, offset, value: capacity, accepted });
        }
        if self.overflow_entries > capacity {
            return Err(FileErrorKind::Field {
                name: "the number of overflow entries",
                offset: offset - 8,
                value: self.overflow_entries,
                accepted: format!("at most {capacity}"),
            });
        }
        Ok(())
    }

    /// Checks that the sections follow the header and each other within the file, and have the lengths that
    /// the filter needs.
    fn check_sections(&self) -> Result<(), FileErrorKind> {
        let mut end = self.header_length;
        for (section, index) in self.sections.iter().zip(0..) {
            let wrong = |name, value, accepted| {
                let offset = SECTIONS_OFFSET + index * SECTION_BYTES + NAME_BYTES as u64 + 8;
                Err(FileErrorKind::Field { name, offset, value, accepted })
            };
            if section.offset < end || !section.offset.is_multiple_of(ALIGNMENT) {
                let accepted = format!("a multiple of {ALIGNMENT} from {end} on");
                return wrong("the offset of a section", section.offset, accepted);
            }
            if section.end() > self.file_length {
                let accepted = format!("at most the file's length {}", self.file_length);
                return wrong("the end of a section", section.end(), accepted);
            }
            if self.sections.iter().filter(|other| other.name == section.name).count() > 1 {
                let name = "the number of sections of one name";
                return wrong(name, 2, "1".into());
            }
            let known = [BLOCKS, OVERFLOW].contains(&section.name.as_str());
            if section.required && !known {
                return Err(FileErrorKind::UnknownSection { name: section.name.clone() });
            }
            end = section.end();
        }
        let design = &self.parameters.design;
        let list = design.overflow_bytes(self.overflow_capacity);
        let lengths = [(BLOCKS, design.block_bytes()), (OVERFLOW, list)];
        for (name, expected) in lengths {
            let (_, found) = self.place_of(name);
            if found != expected {
                return Err(FileErrorKind::SectionLength { name, found, expected });
            }
        }
        Ok(())
    }
}

impl Prefix {
    /// Decodes up to 40 bytes from the start of a file.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, FileErrorKind> {
        let start = &bytes[..bytes.len().min(MAGIC.len())];
        if start != MAGIC {
            return Err(FileErrorKind::NotAFilter { found: start.into() });
        }
        if bytes.len() < PREFIX_BYTES {
            let (found, expected) = (bytes.len() as u64, PREFIX_BYTES as u64);
            return Err(FileErrorKind::Length { found, expected });
        }
        let mut from = Decoder::new(bytes);
        from.u64("the magic number")?;
        let version = from.u32("the version")?;
        if version != VERSION {
            return Err(FileErrorKind::Version { found: version });
        }
        let offset = from.position();
        let header_length = from.u32("the header's length")?.into();
        if !(SECTIONS_OFFSET..=MOST_HEADER_BYTES).contains(&header_length) {
            let accepted = format!("a whole number from {SECTIONS_OFFSET} to {MOST_HEADER_BYTES}");
            let name = "the header's length";
            return Err(FileErrorKind::Field { name, offset, value: header_length, accepted });
        }
        Ok(Self { header_length })
    }
}

/// The number of a kind in files.
fn number_of(kind: KeyKind) -> u64 {
    KeyKind::ALL.iter().take_while(|&&other| other != kind).count() as u64
}

fn decode_key_kind(from: &mut Decoder<'_>) -> Result<KeyKind, FileErrorKind> {
    let (name, offset) = ("the kind of the keys", from.position());
    let value = from.u64(name)?;
    let known = KeyKind::ALL.iter().zip(0..).find(|&(_, number)| number == value);
    let accepted = format!("a whole number below {}", KeyKind::ALL.len());
    known.map(|(&kind, _)| kind).ok_or(FileErrorKind::Field { name, offset, value, accepted })
}

fn decode_section(from: &mut Decoder<'_>) -> Result<Section, FileErrorKind> {
    let name = from.name::<NAME_BYTES>("a section's name")?;
    let flags_offset = from.position();
    let flags = from.u64("a section's flags")?;
    check_flags(flags_offset, flags, REQUIRED)?;
    Ok(Section {
        name,
        offset: from.u64("a section's offset")?,
        length: from.u64("a section's length")?,
        checksum: from.u64("a section's checksum")?,
        required: flags & REQUIRED != 0,
    })
}

const fn check_flags(offset: u64, found: u64, known: u64) -> Result<(), FileErrorKind> {
    if found & !known == 0 { Ok(()) } else { Err(FileErrorKind::Flags { offset, found, known }) }
}

/// XXH3-64 of a header, with zeros in place of its checksum.
fn checksum(header: &[u8]) -> u64 {
    let mut header = header.to_vec();
    if let Some(stored) = header.get_mut(CHECKSUM_OFFSET..CHECKSUM_OFFSET + 8) {
        stored.fill(0);
    }
    xxh3_64(&header)
}
