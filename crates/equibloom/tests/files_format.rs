//! A reader written from `docs/format.md`, without the library's code: it answers like the library.

#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod designs;
#[path = "files_format/growing.rs"]
mod growing;
mod samples;

use std::collections::HashSet;

use designs::{cases, fingerprints, keys, list, parameters};
use equibloom::{Filter, Parameters, file};
use growing::Grown;
use proptest::prelude::*;
use samples::{key, samples};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128_with_seed};

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (bytes, rest) = self.0.split_at(count);
        self.0 = rest;
        bytes
    }

    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.bytes(1)[0];
            number |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                return number;
            }
        }
    }

    fn small(&mut self) -> u32 {
        self.number().try_into().unwrap()
    }

    fn name(&mut self) -> &'a str {
        let length = self.number() as usize;
        std::str::from_utf8(self.bytes(length)).unwrap()
    }
}

/// The levels as ranges of blocks: first and size.
type Levels = Vec<(u64, u64)>;

fn subtables(fields: &mut Fields<'_>) -> Levels {
    let mut first = 0;
    (0..fields.small())
        .map(|_| {
            let size = fields.number();
            first += size;
            (first - size, size)
        })
        .collect()
}

enum Blocks {
    Classical { bits: u64, hashes: u64 },
    Bloom { bits: u32, hashes: u32, counter: u32 },
    Fingerprint { slots: u32, lists: u32, remainder_bits: u32 },
    None,
}

struct Reader {
    blocks: Blocks,
    levels: Levels,
    multiset: bool,
    /// Share of the keys that have more than the first level.
    share: u64,
    /// Load and coin, where blocks reject keys.
    threshold: Option<(u32, u64)>,
    hints: u32,
    seed: u64,
    spent: bool,
    shortened: bool,
    capacity: u64,
    words: Vec<u64>,
    overflow: Vec<u64>,
    /// The parts after this one.
    next: Option<Box<Self>>,
    /// The part that grows.
    grown: Option<Grown>,
}

fn mix(mut w: u64) -> u64 {
    w = (w ^ (w >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    w = (w ^ (w >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    w ^ (w >> 31)
}

fn product(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    ((product >> 64) as u64, product as u64)
}

fn scale(w: u64, n: u64) -> u64 {
    product(w, n).0
}

const G: u64 = 0x9e37_79b9_7f4a_7c15;

const CERTAIN: u64 = 1 << 63;

fn yes(w: u64, share: u64) -> bool {
    w >> 1 < share
}

fn draw(half: u64, i: u64) -> u64 {
    if i == 0 { half } else { mix(half.wrapping_add(G.wrapping_mul(i))) }
}

impl Reader {
    fn new(file: &[u8]) -> Self {
        assert_eq!(file[..8], [0x89, 0x45, 0x51, 0x42, 0x4c, 0x0d, 0x0a, 0x1a]);
        assert_eq!(file[8..10], [4, 0]);
        let header = &file[..u16::from_le_bytes([file[10], file[11]]) as usize];
        let mut unsigned = header.to_vec();
        unsigned[12..20].fill(0);
        assert_eq!(header[12..20], xxh3_64(&unsigned).to_le_bytes());
        let mut fields = Fields(&header[20..]);
        let flags = fields.number();
        assert!(flags <= 3);
        assert_eq!(fields.name(), "xxh3-128");
        let (seed, key_kind, _keys) = (fields.number(), fields.number(), fields.number());
        assert!(key_kind == 1 || key_kind == 2, "they hold text or integers");
        let mut reader = Self {
            blocks: Blocks::Classical { bits: 0, hashes: 0 },
            levels: Vec::new(),
            multiset: false,
            share: CERTAIN,
            threshold: None,
            hints: 0,
            seed,
            spent: flags & 2 != 0,
            shortened: flags & 1 != 0,
            capacity: 0,
            words: Vec::new(),
            overflow: Vec::new(),
            next: None,
            grown: None,
        };
        reader.read_design(&mut fields);
        let (_elements, _saturated, _accesses) =
            (fields.number(), fields.number(), fields.number());
        reader.capacity = fields.number();
        let _entries = fields.number();
        let mut end = header.len();
        for _ in 0..fields.number() {
            let (name, _flags, length) = (fields.name(), fields.number(), fields.number() as usize);
            let start = if length >= 4096 { end.next_multiple_of(64) } else { end };
            assert!(file[end..start].iter().all(|&byte| byte == 0));
            end = start + length;
            let section = &file[start..end];
            assert_eq!(fields.bytes(8), xxh3_64(section).to_le_bytes());
            let words_of = |bytes: &[u8]| {
                let words = bytes.chunks_exact(8);
                words.map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
            };
            match name {
                "blocks" => reader.words = words_of(section),
                "overflow" => reader.overflow = words_of(section),
                "next" if section.starts_with(&growing::MAGIC) => {
                    assert_eq!(section[48] & 1, 0, "keys cannot be removed");
                    reader.grown = Some(Grown::new(section, seed, key_kind));
                }
                "next" => reader.next = Some(Box::new(Self::new(section))),
                _ => {}
            }
        }
        assert!(fields.0.is_empty() && end == file.len());
        reader
    }

    fn read_design(&mut self, fields: &mut Fields<'_>) {
        match fields.small() {
            1 => {
                self.blocks = Blocks::Classical { bits: fields.number(), hashes: fields.number() };
            }
            2 => self.read_layout(fields),
            _ => {
                self.blocks = Blocks::None;
                self.read_list(fields);
            }
        }
    }

    fn read_layout(&mut self, fields: &mut Fields<'_>) {
        let fingerprints = fields.small() == 2;
        let sizes = [fields.small(), fields.small(), fields.small()];
        if fields.small() == 1 {
            let (blocks, choices) = (fields.number(), fields.small());
            self.levels = vec![(0, blocks); choices as usize];
            self.share = fields.number();
        } else {
            self.levels = subtables(fields);
        }
        let rule = fields.small();
        assert_eq!(rule == 3, fingerprints);
        if rule == 2 {
            self.threshold = Some((fields.small(), fields.number()));
        }
        self.blocks = match sizes {
            [slots, lists, remainder_bits] if fingerprints => {
                Blocks::Fingerprint { slots, lists, remainder_bits }
            }
            [bits, hashes, hints] => {
                self.hints = hints;
                let counter = self.threshold.map_or(0, |(load, _)| (load + 1).ilog2() + 1);
                Blocks::Bloom { bits, hashes, counter }
            }
        };
        if fields.number() == 1 {
            let _budget = fields.number();
        }
        self.read_list(fields);
    }

    fn read_list(&mut self, fields: &mut Fields<'_>) {
        let (_planned, _when_full) = (fields.number(), fields.small());
        self.multiset = fields.small() == 1;
    }

    /// A bit of a block.
    fn bit(&self, block: u64, bit: u32) -> bool {
        let words_per_block = match self.blocks {
            Blocks::Bloom { bits, .. } => u64::from(bits.div_ceil(64)),
            _ => 8,
        };
        let word = block * words_per_block + u64::from(bit / 64);
        self.words[word as usize] >> (bit % 64) & 1 == 1
    }

    /// A number of `width` bits of a block.
    fn number(&self, block: u64, start: u32, width: u32) -> u64 {
        (0..width).fold(0, |sum, bit| sum | u64::from(self.bit(block, start + bit)) << bit)
    }

    fn contains(&self, key: &[u8]) -> bool {
        let hash = xxh3_128_with_seed(key, self.seed);
        let (b, p) = ((hash >> 64) as u64, hash as u64);
        let in_this_part = match self.blocks {
            Blocks::Classical { bits, hashes } => (0..hashes).all(|i| {
                let position = scale(draw(p, i), bits);
                self.words[(position / 64) as usize] >> (position % 64) & 1 == 1
            }),
            Blocks::Bloom { bits, hashes, counter } => {
                self.bloom_contains(b, p, bits, hashes, counter)
            }
            Blocks::Fingerprint { slots, lists, remainder_bits } => {
                self.fingerprints_contain(b, p, slots, lists, remainder_bits)
            }
            Blocks::None => self.is_listed(p),
        };
        in_this_part
            || self.next.as_ref().is_some_and(|next| next.contains(key))
            || self.grown.as_ref().is_some_and(|grown| grown.contains(hash))
    }

    fn bloom_contains(&self, b: u64, p: u64, bits: u32, hashes: u32, counter: u32) -> bool {
        let second = mix(p ^ 0x8cb9_2ba7_2f3d_8dd7);
        let levels = if yes(second, self.share) { &self.levels[..] } else { &self.levels[..1] };
        let start = counter + self.hints;
        for (i, &(first, size)) in levels.iter().enumerate() {
            let i = i as u64;
            let block = first + scale(draw(b, i), size);
            let mut positions = positions(p, bits - start, hashes).into_iter();
            if positions.all(|position| self.bit(block, start + position)) {
                return true;
            }
            let Some((below, coin)) = self.threshold else { continue };
            let goes_on = if self.hints > 0 {
                let hint = (draw(b, i + 1) & 0xffff) as u32;
                self.bit(block, counter + ((hint * self.hints) >> 16))
            } else {
                let load = self.number(block, 0, counter) as u32;
                let w = mix((p ^ 0xd1b5_4a32_d192_ed03).wrapping_add(G.wrapping_mul(i)));
                load > below || load == below && !yes(w, coin)
            };
            if !goes_on {
                return self.spent && self.is_listed(p);
            }
        }
        self.threshold.is_some() && self.is_listed(p)
    }

    fn fingerprints_contain(&self, b: u64, p: u64, slots: u32, lists: u32, r: u32) -> bool {
        let (mut b, mut p) = (b, p);
        let bytes = r >= 8;
        for &(first, size) in &self.levels {
            let block = first + scale(b, size);
            let byte = b & ((1 << r.min(8)) - 1);
            let high = if r > 8 { p & ((1 << (r - 8)) - 1) } else { 0 };
            let list = scale(p, lists.into());
            let onward = || {
                let f = list << 56 | high << 8 | byte;
                let b = mix(f.wrapping_add(G.wrapping_mul(block + 1)));
                (b, mix(b ^ 0xd6e8_feb8_6659_fd93))
            };
            let step = self.number(block, 8 * 62, 8) as u32;
            if self.shortened && self.number(block, 8 * 63, 8) == 255 && step != 255 {
                let whole = if bytes { high << 8 | byte } else { byte };
                if self.short_block_holds(block, step, lists, r, list, whole) {
                    return true;
                }
                if byte > self.number(block, 8 * 61, 8) {
                    return false;
                }
                (b, p) = onward();
                continue;
            }
            let (mut at, mut slot, mut holds) = (0, 0, false);
            for bit in 0..lists + slots {
                if !self.bit(block, bit) {
                    at += 1;
                    continue;
                }
                let width = if bytes { r - 8 } else { r };
                let field = self.number(block, lists + slots + width * slot, width);
                let stored = if bytes {
                    (self.number(block, 8 * (63 - slots + slot), 8), field)
                } else {
                    (field, 0)
                };
                holds |= at == list && stored == (byte, high);
                slot += 1;
            }
            if holds {
                return true;
            }
            if byte > self.number(block, 8 * 63, 8) || !self.multiset && slot < slots {
                return false;
            }
            (b, p) = onward();
        }
        self.is_listed(b)
    }

    fn short_block_holds(
        &self,
        block: u64,
        step: u32,
        lists: u32,
        r: u32,
        list: u64,
        whole: u64,
    ) -> bool {
        if step == 254 {
            return true;
        }
        let width = |list: u64| r - step / 4 - u32::from(list < u64::from(lists * (step % 4) / 4));
        // The lists of the entries, in their order.
        let (mut lists_of_entries, mut at, mut bit) = (Vec::new(), 0, 0);
        while at < u64::from(lists) {
            if self.bit(block, bit) {
                lists_of_entries.push(at);
            } else {
                at += 1;
            }
            bit += 1;
        }
        lists_of_entries.into_iter().any(|at| {
            let stored = self.number(block, bit, width(at));
            bit += width(at);
            at == list && stored == whole >> (r - width(at))
        })
    }

    fn is_listed(&self, entry: u64) -> bool {
        if self.capacity == 0 {
            return false;
        }
        let entry = entry.max(1);
        let slots = self.capacity + self.capacity / 4 + 1;
        let per_slot = if self.multiset { 2 } else { 1 };
        assert_eq!(self.overflow.len() as u64, (per_slot * slots).next_multiple_of(8));
        let mut slot = scale(entry, slots);
        while self.overflow[slot as usize] != 0 {
            if self.overflow[slot as usize] == entry {
                return true;
            }
            slot = (slot + 1) % slots;
        }
        false
    }
}

/// The words of blocks within a line.
fn lanes(p: u64, j: u64) -> u64 {
    if j == 0 {
        return p;
    }
    let w = p.wrapping_add(0xa076_1d64_78bd_642f_u64.wrapping_mul(j));
    let (high, low) = product(w, w ^ 0xe703_7ed1_a0b4_28db);
    high ^ low
}

fn positions(p: u64, n: u32, k: u32) -> HashSet<u32> {
    let mut positions = HashSet::new();
    if n <= 512 {
        let position = |j: u32, lane: u32| {
            let fraction = lanes(p, j.into()) >> (16 * lane) & 0xffff;
            ((fraction * u64::from(n)) >> 16) as u32
        };
        positions.extend((0..k).map(|i| position(i / 4, i % 4)));
        let mut j = k.div_ceil(4);
        while positions.len() < k as usize {
            positions.insert(position(j, 0));
            j += 1;
        }
        return positions;
    }
    let words = k.div_ceil(3);
    for j in 0..words {
        let mut f = draw(p, j.into());
        for _ in 0..3.min(k - 3 * j) {
            let (position, rest) = product(f, n.into());
            positions.insert(position as u32);
            f = rest;
        }
    }
    let mut j = words;
    while positions.len() < k as usize {
        positions.insert(scale(draw(p, j.into()), n.into()) as u32);
        j += 1;
    }
    positions
}

#[test]
fn a_reader_written_from_the_format_answers_like_the_library() {
    let mut mistaken = 0;
    for sample in samples() {
        let path = sample.path(file::VERSION);
        let reader = Reader::new(&std::fs::read(&path).unwrap());
        let filter = Filter::<str>::load(&path).unwrap();
        for number in 0..20_000 {
            let found = reader.contains(key(number).as_bytes());
            assert_eq!(found, filter.contains(&key(number)), "{}: {number}", sample.name);
            assert!(found || number >= sample.keys);
            mistaken += u32::from(found && number >= sample.keys);
        }
    }
    // The false positives agree, too.
    assert!(mistaken > 200, "{mistaken}");
}

proptest! {
    #![proptest_config(cases(400))]

    /// The same for any filter, by keys that are integers.
    #[test]
    fn it_answers_for_every_design(
        parameters in prop_oneof![
            4 => parameters(),
            1 => fingerprints(true).prop_map(|layout| {
                Parameters { keys: 9, seed: 8, design: layout.into() }
            }),
            1 => list(true).prop_map(|design| Parameters { keys: 9, seed: 8, design }),
        ],
        keys in keys(),
    ) {
        let mut filter: Filter<u16> = Filter::new(&parameters).unwrap();
        for key in &keys {
            let _ = filter.insert(key);
        }
        let mut bytes = Vec::new();
        filter.write_to(&mut bytes).unwrap();
        let reader = Reader::new(&bytes);
        for key in keys.into_iter().chain(0..500) {
            let found = reader.contains(&u64::from(key).to_le_bytes());
            prop_assert_eq!(found, filter.contains(&key), "{}", key);
        }
    }
}

/// The same for filters that have grown, also while strings move to the next table.
#[cfg(feature = "planner")]
#[test]
fn it_answers_for_filters_that_have_grown() {
    let mut moving = 0;
    for (keys, rate) in [(400_u64, 0.01), (3_000, 0.001), (3_000, 0.1)] {
        let mut filter: Filter<u64> = Filter::builder().keys(keys).rate(rate).build().unwrap();
        for more in 0..12_u64 {
            let first = keys * more * 3 / 4;
            filter.try_extend(first..first + keys * 3 / 4).unwrap();
            let reader = Reader::new(&filter.to_bytes().unwrap());
            assert_eq!(reader.grown.is_some(), more > 0);
            moving += usize::from(reader.grown.as_ref().is_some_and(Grown::is_moving));
            let mut mistaken = 0;
            for key in (0..first + keys).chain(1 << 40..(1 << 40) + 5_000) {
                let found = reader.contains(&key.to_le_bytes());
                assert_eq!(found, filter.contains(&key), "{keys}, {more}: {key}");
                mistaken += u32::from(found && key >= 1 << 40);
            }
            assert!(rate < 0.01 || mistaken > 10, "{mistaken}");
        }
    }
    assert!(moving > 3, "{moving}");
}
