//! The header of a filter file (`docs/format.md`, *Header*).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use xxhash_rust::xxh3::xxh3_64;

use equibloom_layout::{Blocks, Layout, MAX_OVERFLOW, Overflow, WhenFull};

use super::fields::{Checked, Fields, NAME_BYTES, check};
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
pub(super) const NEXT: &str = "next";
/// Sections begin at multiples of this: the smallest page there is.
pub(super) const ALIGNMENT: u64 = 4096;
/// Magic, version, header length, flags, file length, checksum.
pub(super) const PREFIX_BYTES: usize = 40;
/// Longest accepted header; this version writes less than a thousandth of it.
pub(super) const MOST_HEADER_BYTES: u64 = 1 << 20;

const CHECKSUM_OFFSET: usize = 32;
const OVERFLOW_CAPACITY_OFFSET: u64 = 112;
const SECTIONS_OFFSET: u64 = 128;
const SECTION_BYTES: u64 = 48;
const MOST_SECTIONS: u32 = (MOST_HEADER_BYTES / SECTION_BYTES) as u32;
/// Flag of a filter with shortened fingerprint blocks.
const OVERLOADED: u64 = 1;
const KNOWN_FLAGS: u64 = OVERLOADED;
const FLAGS_OFFSET: u64 = 16;
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
    /// What the filter counts.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub counters: Counters,
    /// The sections after the header.
    pub sections: Vec<Section>,
}

/// A section of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Section {
    /// `blocks`, `overflow`, `next` (a file of the parts after the first), or a name added by a later version.
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

impl Section {
    /// A section that no reader may skip, and whose place is not known yet.
    pub(super) fn new(name: &str, length: u64, checksum: u64) -> Self {
        Self { name: name.into(), offset: 0, length, checksum, required: true }
    }

    pub(super) const fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }

    fn fields(&mut self, io: &mut Fields<'_>) -> Checked {
        io.name("a section's name", &mut self.name)?;
        let mut flags = if self.required { REQUIRED } else { 0 };
        io.flags("a section's flags", &mut flags, REQUIRED)?;
        self.required = flags & REQUIRED != 0;
        io.u64("a section's offset", &mut self.offset)?;
        io.u64("a section's length", &mut self.length)?;
        io.u64("a section's checksum", &mut self.checksum)
    }
}

impl Header {
    /// The header of a filter with these sections, one after the other.
    pub(super) fn new(
        parameters: Parameters,
        key_kind: KeyKind,
        counters: Counters,
        sections: Vec<Section>,
    ) -> Result<Self, FileErrorKind> {
        let mut header = Self { sections, ..Self::blank(parameters, key_kind, counters) };
        header.header_length = header.encode()?.len() as u64;
        let mut end = header.header_length;
        for section in &mut header.sections {
            section.offset = end.next_multiple_of(ALIGNMENT);
            end = section.end();
        }
        header.file_length = end;
        header.checksum = checksum(&header.encode()?);
        Ok(header)
    }

    /// A header without sections and lengths.
    fn blank(parameters: Parameters, key_kind: KeyKind, counters: Counters) -> Self {
        Self {
            version: VERSION,
            file_length: 0,
            header_length: 0,
            checksum: 0,
            hash: HASH.into(),
            key_kind,
            parameters,
            counters,
            sections: Vec::new(),
        }
    }

    pub(super) fn encode(&self) -> Result<Vec<u8>, FileErrorKind> {
        let mut to = Fields::new(None);
        self.clone().fields(&mut to)?;
        to.end()
    }

    /// Decodes a whole header, whose [length](length) has been checked.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, FileErrorKind> {
        let stored = bytes[CHECKSUM_OFFSET..].first_chunk().copied().map_or(0, u64::from_le_bytes);
        let computed = checksum(bytes);
        if stored != computed {
            let part = "the header".into();
            return Err(FileErrorKind::Checksum { part, stored, computed });
        }
        let parameters = Parameters { keys: 0, seed: 0, design: design::BLANK };
        let mut header = Self::blank(parameters, KeyKind::Unspecified, Counters::default());
        let mut from = Fields::new(Some(bytes));
        header.fields(&mut from)?;
        from.end()?;
        header.check_overflow()?;
        header.check_sections()?;
        Ok(header)
    }

    /// All fields in the order of the file.
    fn fields(&mut self, io: &mut Fields<'_>) -> Checked {
        let (mut magic, mut length) = (MAGIC, self.header_length as u32);
        let mut flags = if self.counters.overloaded { OVERLOADED } else { 0 };
        io.bytes("the magic number", &mut magic)?;
        io.u32("the version", &mut self.version)?;
        io.u32("the header's length", &mut length)?;
        self.header_length = length.into();
        io.flags("the flags", &mut flags, KNOWN_FLAGS)?;
        self.counters.overloaded = flags & OVERLOADED != 0;
        io.u64("the file's length", &mut self.file_length)?;
        io.u64("the header's checksum", &mut self.checksum)?;
        io.name("the hash's name", &mut self.hash)?;
        if self.hash != HASH {
            return Err(FileErrorKind::Unsupported {
                reason: format!(
                    "its keys are hashed by \"{}\", and this library knows \"{HASH}\"",
                    self.hash
                ),
                cure: "query it with a program that has that hash",
            });
        }
        io.u64("the hash's seed", &mut self.parameters.seed)?;
        io.u64("planned keys", &mut self.parameters.keys)?;
        let counters = &mut self.counters;
        io.u64("elements", &mut counters.elements)?;
        io.u64("saturated elements", &mut counters.saturated)?;
        io.u64("used accesses", &mut counters.budget_used)?;
        io.flag("whether the accesses are spent", &mut counters.budget_spent)?;
        let mut sections = self.sections.len() as u32;
        io.u32_up_to("the number of sections", &mut sections, MOST_SECTIONS)?;
        io.u64("overflow entries", &mut counters.overflow_entries)?;
        io.u64("overflow capacity", &mut counters.overflow_capacity)?;
        key_kind_field(&mut self.key_kind, io)?;
        let mut known = core::mem::take(&mut self.sections).into_iter();
        for _ in 0..sections {
            let mut section = known.next().unwrap_or_default();
            section.fields(io)?;
            self.sections.push(section);
        }
        let offset = io.position();
        design::fields(&mut self.parameters.design, io)?;
        self.parameters.check().map_err(|source| FileErrorKind::Parameters { offset, source })
    }

    /// Bytes of the overflow list's slots. If it counts copies, their numbers follow.
    pub(super) const fn slot_bytes(&self) -> u64 {
        let capacity = self.counters.overflow_capacity;
        Overflow { capacity, when_full: WhenFull::Refuse }.slots().saturating_mul(8)
    }

    /// Offset and length of a section; zeros if it does not exist.
    pub(super) fn place_of(&self, name: &str) -> (u64, u64) {
        let section = self.sections.iter().find(|section| section.name == name);
        section.map_or((0, 0), |section| (section.offset, section.length))
    }

    /// Checks that the parts after the first have the same hash and keys.
    pub(super) fn check_next(&self, next: &Parameters, kind: KeyKind) -> Checked {
        let Parameters { seed, design, .. } = self.parameters;
        if (next.seed, kind) == (seed, self.key_kind)
            && !design.is_multiset()
            && !next.design.is_multiset()
        {
            return Ok(());
        }
        Err(FileErrorKind::Unsupported {
            reason: "its parts differ in seed or kind of keys, or are removable".into(),
            cure: "build it again from its keys",
        })
    }

    /// Checks that the list has the planned capacity, or more if it may grow, and no more entries than
    /// that. In an overloaded filter, which must be of fingerprint blocks that saturate, it is full.
    fn check_overflow(&self) -> Checked {
        let planned = self.parameters.design.overflow();
        let Counters { overflow_capacity: capacity, overflow_entries: entries, .. } = self.counters;
        let offset = OVERFLOW_CAPACITY_OFFSET;
        let grows = planned.when_full == WhenFull::Saturate;
        let fits = capacity == planned.capacity || grows && capacity > planned.capacity;
        let more = if grows { "at least " } else { "" };
        let accepted = || format!("{more}{}, as planned,", planned.capacity);
        let is_valid = fits && capacity <= MAX_OVERFLOW;
        check(is_valid, "the overflow list's capacity", offset, capacity, accepted)?;
        let accepted = || format!("at most {capacity}");
        check(
            entries <= capacity,
            "the number of overflow entries",
            offset - 8,
            entries,
            accepted,
        )?;
        let of_set = |layout: &Layout| {
            matches!(layout.blocks, Blocks::Fingerprint { .. }) && !layout.multiset
        };
        let may_be = grows && self.parameters.design.layout().is_some_and(of_set);
        let is_valid = !self.counters.overloaded || may_be && entries == capacity;
        let accepted = || "0, because the overflow list has room or no block is shortened,".into();
        check(is_valid, "the flags", FLAGS_OFFSET, OVERLOADED, accepted)
    }

    /// Checks that the sections follow the header and each other within the file, and have the lengths that
    /// the filter needs.
    fn check_sections(&self) -> Checked {
        let mut end = self.header_length;
        for (section, index) in self.sections.iter().zip(0..) {
            let field = SECTIONS_OFFSET + index * SECTION_BYTES + NAME_BYTES as u64 + 8;
            let Section { offset, ref name, .. } = *section;
            let is_valid = offset >= end && offset.is_multiple_of(ALIGNMENT);
            let accepted = || format!("a multiple of {ALIGNMENT} from {end} on");
            check(is_valid, "the offset of a section", field, offset, accepted)?;
            let is_valid = section.end() <= self.file_length;
            let accepted = || format!("at most the file's length {}", self.file_length);
            check(is_valid, "the end of a section", field, section.end(), accepted)?;
            let equal = self.sections.iter().filter(|other| other.name == *name).count() as u64;
            let accepted = || "1".into();
            check(equal == 1, "the number of sections of one name", field, equal, accepted)?;
            if section.required && ![BLOCKS, OVERFLOW, NEXT].contains(&name.as_str()) {
                let reason = format!("section \"{name}\" is necessary and unknown to this library");
                return Err(FileErrorKind::Unsupported { reason, cure: "update equibloom" });
            }
            end = section.end();
        }
        let design = &self.parameters.design;
        let list = design.overflow_bytes(self.counters.overflow_capacity);
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

/// The length of a header, from up to 40 bytes of the start of a file.
pub(super) fn length(bytes: &[u8]) -> Result<u64, FileErrorKind> {
    let start = &bytes[..bytes.len().min(MAGIC.len())];
    if start != MAGIC {
        return Err(FileErrorKind::NotAFilter { found: start.into() });
    }
    if bytes.len() < PREFIX_BYTES {
        let (found, expected) = (bytes.len() as u64, PREFIX_BYTES as u64);
        return Err(FileErrorKind::Length { found, expected });
    }
    let mut from = Fields::new(Some(bytes));
    let (mut magic, mut version, mut length) = (MAGIC, 0, 0);
    from.bytes("the magic number", &mut magic)?;
    from.u32("the version", &mut version)?;
    if version != VERSION {
        let is_later = version > VERSION;
        return Err(FileErrorKind::Unsupported {
            reason: format!(
                "version {version} of the format, and this library reads version {VERSION}"
            ),
            cure: if is_later { "update equibloom" } else { "build the file again from its keys" },
        });
    }
    let (name, offset) = ("the header's length", from.position());
    from.u32(name, &mut length)?;
    let length = length.into();
    let is_valid = (SECTIONS_OFFSET..=MOST_HEADER_BYTES).contains(&length);
    let accepted = || format!("a whole number from {SECTIONS_OFFSET} to {MOST_HEADER_BYTES}");
    check(is_valid, name, offset, length, accepted)?;
    Ok(length)
}

/// The number of a kind is its index among all.
fn key_kind_field(kind: &mut KeyKind, io: &mut Fields<'_>) -> Checked {
    let (name, offset) = ("the kind of the keys", io.position());
    let mut number = KeyKind::ALL.iter().take_while(|other| *other != kind).count() as u64;
    io.u64(name, &mut number)?;
    let known = KeyKind::ALL.iter().zip(0..).find(|&(_, index)| index == number);
    *kind = known.map_or(*kind, |(kind, _)| *kind);
    let accepted = || format!("a whole number below {}", KeyKind::ALL.len());
    check(known.is_some(), name, offset, number, accepted)
}

/// XXH3-64 of a header, with zeros in place of its checksum.
fn checksum(header: &[u8]) -> u64 {
    let mut header = header.to_vec();
    if let Some(stored) = header.get_mut(CHECKSUM_OFFSET..CHECKSUM_OFFSET + 8) {
        stored.fill(0);
    }
    xxh3_64(&header)
}
