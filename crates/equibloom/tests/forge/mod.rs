//! Forged files, made from `docs/format.md` alone, and all operations on a filter.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use equibloom::{HashFilter, KeyHash, KeyHasher, Stable};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes before the first number of a header.
pub const PREFIX: usize = 20;
pub const HEADER_LENGTH: usize = 10;
pub const CHECKSUM: usize = 12;

/// Indices of a file's [numbers](Forged::numbers).
pub const FLAGS: usize = 0;
pub const SEED: usize = 1;
pub const KEY_KIND: usize = 2;
pub const DESIGN: usize = 4;
/// Counted from the end.
pub const CAPACITY: usize = 2;
pub const ENTRIES: usize = 1;

/// A file in parts, which can be changed one by one.
#[derive(Clone)]
pub struct Forged {
    pub version: u16,
    pub hash: Vec<u8>,
    /// Flags, seed, kind of keys, planned keys, the design's numbers, five counters.
    pub numbers: Vec<u64>,
    /// The number of sections that the header claims.
    pub count: u64,
    pub sections: Vec<Section>,
}

#[derive(Clone)]
pub struct Section {
    pub name: Vec<u8>,
    pub flags: u64,
    /// The length that the header claims.
    pub length: u64,
    pub contents: Vec<u8>,
    /// Where its checksum is.
    checksum: usize,
    offset: usize,
}

impl Section {
    pub fn new(name: &str, flags: u64, contents: &[u8]) -> Self {
        let (name, length) = (name.into(), contents.len() as u64);
        Self { name, flags, length, contents: contents.into(), checksum: 0, offset: 0 }
    }
}

/// The rest of a header.
struct Rest<'a> {
    header: &'a [u8],
    position: usize,
}

impl Rest<'_> {
    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let end = self.position.checked_add(count)?;
        let bytes = self.header.get(self.position..end)?;
        self.position = end;
        Some(bytes)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn name(&mut self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length).map(<[u8]>::to_vec)
    }

    /// Appends so many numbers; returns the last one.
    fn numbers(&mut self, count: u64, to: &mut Vec<u64>) -> Option<u64> {
        for _ in 0..count {
            to.push(self.number()?);
        }
        to.last().copied()
    }

    fn design(&mut self, to: &mut Vec<u64>) -> Option<()> {
        match self.numbers(1, to)? {
            1 => self.numbers(2, to)?,
            2 => {
                // Blocks and the kind of candidates.
                if self.numbers(5, to)? == 1 {
                    self.numbers(3, to)?;
                } else {
                    let subtables = self.numbers(1, to)?;
                    self.numbers(subtables, to)?;
                }
                if self.numbers(1, to)? == 2 {
                    self.numbers(2, to)?;
                }
                let has_budget = self.numbers(1, to)?;
                self.numbers(has_budget.min(1) + 3, to)?
            }
            _ => self.numbers(3, to)?,
        };
        Some(())
    }
}

/// The shortest form of a number.
pub fn leb128(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

impl Forged {
    /// The parts of a file, as far as it has the form of one.
    pub fn parse(file: &[u8]) -> Option<Self> {
        let u16_at = |at: usize| Some(u16::from_le_bytes(file.get(at..at + 2)?.try_into().ok()?));
        let (version, length) = (u16_at(8)?, u16_at(HEADER_LENGTH)?);
        let mut rest = Rest { header: file.get(..length.into())?, position: PREFIX };
        let mut numbers = Vec::new();
        rest.numbers(1, &mut numbers)?;
        let hash = rest.name()?;
        rest.numbers(3, &mut numbers)?;
        rest.design(&mut numbers)?;
        rest.numbers(5, &mut numbers)?;
        let (count, mut end) = (rest.number()?, usize::from(length));
        let mut sections = Vec::new();
        for _ in 0..count {
            let (name, flags, length) = (rest.name()?, rest.number()?, rest.number()?);
            let checksum = rest.position;
            rest.take(8)?;
            let offset = place(end, length);
            end = offset.checked_add(usize::try_from(length).ok()?)?;
            let contents = file.get(offset..end.min(file.len())).unwrap_or(&[]).to_vec();
            sections.push(Section { name, flags, length, contents, checksum, offset });
        }
        (rest.position == usize::from(length)).then_some(Self {
            version,
            hash,
            numbers,
            count,
            sections,
        })
    }

    /// The header without its prefix, and the position of each number and of each section in it.
    fn header(&self) -> (Vec<u8>, Vec<usize>, Vec<usize>) {
        let (mut header, mut positions, mut sections) = (Vec::new(), Vec::new(), Vec::new());
        for (&number, index) in self.numbers.iter().zip(0..) {
            positions.push(PREFIX + header.len());
            header.extend(leb128(number));
            if index == FLAGS {
                header.extend(leb128(self.hash.len() as u64));
                header.extend(&self.hash);
            }
        }
        positions.push(PREFIX + header.len());
        header.extend(leb128(self.count));
        for section in &self.sections {
            sections.push(PREFIX + header.len());
            header.extend(leb128(section.name.len() as u64));
            header.extend(&section.name);
            header.extend([section.flags, section.length].into_iter().flat_map(leb128));
            header.extend(xxh3_64(&section.contents).to_le_bytes());
        }
        (header, positions, sections)
    }

    /// The position in the file of a number, or, after the last, of the number of sections.
    pub fn position(&self, number: usize) -> usize {
        self.header().1[number]
    }

    /// The position in the header of a section.
    pub fn position_of_section(&self, index: usize) -> usize {
        self.header().2[index]
    }

    /// The file, with correct checksums.
    pub fn file(&self) -> Vec<u8> {
        let mut file = whole(self.version, &self.header().0);
        for section in &self.sections {
            file.resize(place(file.len(), section.length), 0);
            file.extend(&section.contents);
        }
        file
    }
}

/// A header with its prefix.
pub fn whole(version: u16, header: &[u8]) -> Vec<u8> {
    let mut file = b"\x89EQBL\r\n\x1a".to_vec();
    file.extend(version.to_le_bytes());
    file.extend(((PREFIX + header.len()) as u16).to_le_bytes());
    file.extend([0; 8]);
    file.extend(header);
    seal_header(&mut file);
    file
}

/// Where a section begins that follows this position.
fn place(end: usize, length: u64) -> usize {
    if length >= 4096 { end.next_multiple_of(64) } else { end }
}

/// A file of the blocked filter with 512-bit blocks that claims to have so many, and the header's length.
pub fn with_block_count(file: &[u8], count: u64) -> (Vec<u8>, u64) {
    let mut forged = Forged::parse(file).unwrap();
    forged.sections[0].length = 64 * count;
    // Behind the kinds of design, blocks and candidates, and the three numbers of the blocks.
    forged.numbers[DESIGN + 6] = count;
    let file = forged.file();
    let length = file.len() - forged.sections[0].contents.len();
    (file, length as u64)
}

/// Writes some bytes, if the file is long enough.
pub fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + field.len()) {
        place.copy_from_slice(field);
    }
}

/// The range of a section, if the file is long enough for it.
pub fn section(bytes: &[u8], index: usize) -> Option<std::ops::Range<usize>> {
    let Section { offset, length, .. } = *Forged::parse(bytes)?.sections.get(index)?;
    let end = offset.checked_add(usize::try_from(length).ok()?)?;
    (end <= bytes.len()).then_some(offset..end)
}

/// Corrects all checksums, as far as the file has sections and a header.
pub fn seal(bytes: &mut [u8]) {
    for section in Forged::parse(bytes).into_iter().flat_map(|forged| forged.sections) {
        put(bytes, section.checksum, &xxh3_64(&section.contents).to_le_bytes());
    }
    seal_header(bytes);
}

fn seal_header(bytes: &mut [u8]) {
    put(bytes, CHECKSUM, &[0; 8]);
    let Some(&[low, high]) = bytes.get(HEADER_LENGTH..HEADER_LENGTH + 2) else { return };
    if let Some(header) = bytes.get(..u16::from_le_bytes([low, high]).into()) {
        let checksum = xxh3_64(header);
        put(bytes, CHECKSUM, &checksum.to_le_bytes());
    }
}

/// Runs all operations on a filter with arbitrary contents: answers may be wrong, but every call returns.
pub fn exercise(filter: &HashFilter) {
    let mut filter = filter.clone();
    let hashes: Vec<KeyHash> = (0..50_u64).map(|key| Stable::default().hash_key(&key)).collect();
    let _ = format!("{filter:?}");
    let _ = hashes.iter().filter(|&&hash| filter.contains(hash)).count();
    let _ = filter.statistics();
    let other = filter.clone();
    for &hash in &hashes[..20] {
        let _ = filter.insert(hash);
    }
    for &hash in &hashes[10..30] {
        let _ = filter.remove(hash);
    }
    let _ = filter.merge(&other);
    let _ = filter.folded(2);
    let _ = filter.statistics();
    let _ = filter.to_bytes();
    filter.clear();
    let _ = filter.insert(hashes[1]);
}
