//! The header of a filter file (`docs/format.md`, *Header*).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use xxhash_rust::xxh3::xxh3_64;

use equibloom_layout::{Blocks, Layout, MAX_OVERFLOW, Overflow, WhenFull};

use super::fields::{Checked, Fields, check};
use super::{FileErrorKind, VERSION, design};
use crate::growing::StoredGrowth;
use crate::hashing::KeyKind;
use crate::parameters::Parameters;
use crate::raw::Counters;

/// The first bytes of every filter file. As in PNG: a byte that no text has, and line ends that a text-mode
/// transfer would change.
pub(super) const MAGIC: [u8; 8] = *b"\x89EQBL\r\n\x1a";
/// The sections' names.
pub(super) const BLOCKS: &str = "blocks";
pub(super) const OVERFLOW: &str = "overflow";
pub(super) const NEXT: &str = "next";
/// Sections of so many bytes begin at a multiple of a cache line, so that they can be used in place; smaller
/// ones are copied.
pub(super) const IN_PLACE_BYTES: u64 = 4096;
const LINE_BYTES: u64 = 64;
/// Magic, version, header length, checksum.
pub(super) const PREFIX_BYTES: usize = 20;

const VERSION_OFFSET: usize = 8;
const LENGTH_OFFSET: usize = 10;
const CHECKSUM_OFFSET: usize = 12;
const MOST_SECTIONS: u64 = 64;

/// The header of a filter file.
///
/// ```
/// use equibloom::{Filter, KeyKind, file};
///
/// let bytes = Filter::<u64>::builder().keys(1_000).rate(0.01).build()?.to_bytes()?;
/// let header = file::verify_from(&bytes[..])?;
/// assert_eq!((header.version, header.hash.as_str()), (file::VERSION, "xxh3-128"));
/// assert_eq!((header.key_kind, header.parameters.keys), (KeyKind::Integer, 1_000));
/// assert_eq!(header.file_length, bytes.len() as u64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use equibloom::{Filter, file};
///
/// let filter = Filter::<u64>::builder().keys(1_000).rate(0.01).build()?;
/// let header = file::verify_from(&filter.to_bytes()?[..])?;
/// let blocks = &header.sections[0];
/// assert_eq!((blocks.name.as_str(), blocks.offset), ("blocks", header.header_length));
/// assert_eq!(blocks.length, filter.parameters().design.block_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Section {
    /// `blocks`, `overflow`, `next` (a file of the parts after the first, or of the part that grows), or a name added by
    /// a later version.
    pub name: String,
    /// Offset in the file: the end of the section or header before it, and if the section has 4096 bytes or
    /// more, the next multiple of 64.
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
        io.flags("a section's flags", [&mut self.required])?;
        io.u64("a section's length", &mut self.length)?;
        io.checksum("a section's checksum", &mut self.checksum)
    }
}

impl Header {
    /// The header of a filter with these sections, and its bytes.
    pub(super) fn new(
        hash: &str,
        parameters: Parameters,
        key_kind: KeyKind,
        counters: Counters,
        sections: Vec<Section>,
    ) -> Result<(Self, Vec<u8>), FileErrorKind> {
        let mut header =
            Self { hash: hash.into(), sections, ..Self::blank(parameters, key_kind, counters) };
        let mut to = Fields::new(None, PREFIX_BYTES as u64);
        header.fields(&mut to)?;
        let fields = to.end()?;
        header.header_length = (PREFIX_BYTES + fields.len()) as u64;
        // Names are short and sections few.
        let length = header.header_length as u16;
        let prefix = (VERSION as u16).to_le_bytes().into_iter().chain(length.to_le_bytes());
        let mut bytes: Vec<u8> =
            MAGIC.into_iter().chain(prefix).chain([0; 8]).chain(fields).collect();
        header.checksum = checksum(&bytes);
        bytes[CHECKSUM_OFFSET..PREFIX_BYTES].copy_from_slice(&header.checksum.to_le_bytes());
        Ok((header.placed()?, bytes))
    }

    /// A header without sections and lengths.
    fn blank(parameters: Parameters, key_kind: KeyKind, counters: Counters) -> Self {
        Self {
            version: VERSION,
            file_length: 0,
            header_length: 0,
            checksum: 0,
            hash: String::new(),
            key_kind,
            parameters,
            counters,
            sections: Vec::new(),
        }
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
        (header.header_length, header.checksum) = (bytes.len() as u64, stored);
        let mut from = Fields::new(bytes.get(PREFIX_BYTES..), PREFIX_BYTES as u64);
        header.fields(&mut from)?;
        from.end()?;
        header.check_lengths()?;
        header.placed()
    }

    /// All fields behind the prefix, in the order of the file.
    fn fields(&mut self, io: &mut Fields<'_>) -> Checked {
        let counters = &mut self.counters;
        let flags_offset = io.position();
        io.flags("the flags", [&mut counters.overloaded, &mut counters.budget_spent])?;
        io.name("the hash's name", &mut self.hash)?;
        io.u64("the hash's seed", &mut self.parameters.seed)?;
        key_kind_field(&mut self.key_kind, io)?;
        io.u64("planned keys", &mut self.parameters.keys)?;
        let offset = io.position();
        design::fields(&mut self.parameters.design, io)?;
        let parameters = self.parameters.check();
        parameters.map_err(|source| FileErrorKind::Parameters { offset, source })?;
        io.u64("elements", &mut counters.elements)?;
        io.u64("saturated elements", &mut counters.saturated)?;
        io.u64("used accesses", &mut counters.budget_used)?;
        self.overflow_fields(flags_offset, io)?;
        self.section_fields(io)
    }

    /// The list has the planned capacity, or more if it may grow, and no more entries than that. In an overloaded
    /// filter, which must be of fingerprint blocks that saturate, it is full.
    fn overflow_fields(&mut self, flags_offset: u64, io: &mut Fields<'_>) -> Checked {
        let planned = self.parameters.design.overflow();
        let Counters { overflow_capacity: capacity, overflow_entries: entries, overloaded, .. } =
            &mut self.counters;
        let (name, offset) = ("the overflow list's capacity", io.position());
        io.u64(name, capacity)?;
        let grows = planned.when_full == WhenFull::Saturate;
        let fits = *capacity == planned.capacity || grows && *capacity > planned.capacity;
        let more = if grows { "at least " } else { "" };
        let accepted = || format!("{more}{}, as planned,", planned.capacity);
        check(fits && *capacity <= MAX_OVERFLOW, name, offset, *capacity, accepted)?;
        let (name, offset) = ("the number of overflow entries", io.position());
        io.u64(name, entries)?;
        let accepted = || format!("at most {capacity}");
        check(*entries <= *capacity, name, offset, *entries, accepted)?;
        let of_set = |layout: &Layout| {
            matches!(layout.blocks, Blocks::Fingerprint { .. }) && !layout.multiset
        };
        let may_be = grows && self.parameters.design.layout().is_some_and(of_set);
        let is_valid = !*overloaded || may_be && entries == capacity;
        let accepted = || "0, because the overflow list has room or no block is shortened,".into();
        check(is_valid, "bit 0 of the flags", flags_offset, 1, accepted)
    }

    /// The sections: names occur once, and one that must not be skipped is known.
    fn section_fields(&mut self, io: &mut Fields<'_>) -> Checked {
        let mut known = core::mem::take(&mut self.sections);
        let mut count = known.len() as u64;
        io.up_to("the number of sections", &mut count, MOST_SECTIONS)?;
        known.resize_with(count as usize, Section::default);
        for mut section in known {
            let offset = io.position();
            section.fields(io)?;
            let name = &section.name;
            let equal = self.sections.iter().filter(|other| other.name == *name).count() as u64;
            let accepted = || "1".into();
            check(equal == 0, "the number of sections of one name", offset, 1 + equal, accepted)?;
            if section.required && ![BLOCKS, OVERFLOW, NEXT].contains(&name.as_str()) {
                let reason = format!("section \"{name}\" is necessary and unknown to this library");
                return Err(FileErrorKind::Unsupported { reason, cure: "update equibloom" });
            }
            self.sections.push(section);
        }
        Ok(())
    }

    /// The header with the places of its sections, one after the other, and the end of the file.
    fn placed(mut self) -> Result<Self, FileErrorKind> {
        let mut end = self.header_length;
        for section in &mut self.sections {
            let is_in_place = section.length >= IN_PLACE_BYTES;
            section.offset = if is_in_place { end.next_multiple_of(LINE_BYTES) } else { end };
            let next = section.offset.checked_add(section.length);
            // A line less than all, so that the next multiple exists.
            let next = next.filter(|&next| next <= u64::MAX - LINE_BYTES);
            let (found, expected) = (section.length, u64::MAX - LINE_BYTES - section.offset);
            end = next.ok_or(FileErrorKind::Length { found, expected })?;
        }
        self.file_length = end;
        Ok(self)
    }

    /// Bytes of the overflow list's slots. If it counts copies, their numbers follow.
    pub(super) const fn slot_bytes(&self) -> u64 {
        let capacity = self.counters.overflow_capacity;
        Overflow { capacity, when_full: WhenFull::Refuse }.slots().saturating_mul(8)
    }

    pub(super) fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name && section.length > 0)
    }

    /// Refuses a filter whose keys are hashed in another way.
    pub(super) fn check_hash(&self, expected: &str) -> Checked {
        if self.hash == expected {
            return Ok(());
        }
        let reason =
            format!("its keys are hashed by \"{}\", and \"{expected}\" was asked for", self.hash);
        let cure = "load it as a `Filter` with the hasher of that name";
        Err(FileErrorKind::Unsupported { reason, cure })
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

    /// Checks that the part that grows has the same hash and keys.
    pub(super) fn check_growth(&self, next: &StoredGrowth) -> Checked {
        let parameters = Parameters { seed: next.seed, ..self.parameters };
        self.check_next(&parameters, next.kind)
    }

    /// Checks that the sections have the lengths that the filter needs.
    fn check_lengths(&self) -> Checked {
        let design = &self.parameters.design;
        let list = design.overflow_bytes(self.counters.overflow_capacity);
        for (name, expected) in [(BLOCKS, design.block_bytes()), (OVERFLOW, list)] {
            let found = self.section(name).map_or(0, |section| section.length);
            if found != expected {
                return Err(FileErrorKind::SectionLength { name, found, expected });
            }
        }
        Ok(())
    }
}

/// The length of a header, from up to [`PREFIX_BYTES`] of the start of a file.
pub(super) fn length(bytes: &[u8]) -> Result<u64, FileErrorKind> {
    let start = &bytes[..bytes.len().min(MAGIC.len())];
    if start != MAGIC {
        return Err(FileErrorKind::NotAFilter { found: start.into() });
    }
    if bytes.len() < PREFIX_BYTES {
        let (found, expected) = (bytes.len() as u64, PREFIX_BYTES as u64);
        return Err(FileErrorKind::Length { found, expected });
    }
    let number = |at: usize| bytes[at..].first_chunk().copied().map_or(0, u16::from_le_bytes);
    let version = u32::from(number(VERSION_OFFSET));
    if version != VERSION {
        let is_later = version > VERSION;
        return Err(FileErrorKind::Unsupported {
            reason: format!(
                "version {version} of the format, and this library reads version {VERSION}"
            ),
            cure: if is_later { "update equibloom" } else { "build the file again from its keys" },
        });
    }
    let length = u64::from(number(LENGTH_OFFSET));
    let accepted = || format!("at least {PREFIX_BYTES}");
    let is_valid = length >= PREFIX_BYTES as u64;
    check(is_valid, "the header's length", LENGTH_OFFSET as u64, length, accepted)?;
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
    if let Some(stored) = header.get_mut(CHECKSUM_OFFSET..PREFIX_BYTES) {
        stored.fill(0);
    }
    xxh3_64(&header)
}
