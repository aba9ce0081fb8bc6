//! A reader written from `docs/format.md`, and nothing else of this library: it answers like the library.

#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod samples;

use std::collections::HashSet;

use equibloom::{AnyFilter, file};
use samples::{key, samples};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128_with_seed};

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u32(&mut self) -> u32 {
        let (field, rest) = self.0.split_at(4);
        self.0 = rest;
        u32::from_le_bytes(field.try_into().unwrap())
    }

    fn u64(&mut self) -> u64 {
        u64::from(self.u32()) | u64::from(self.u32()) << 32
    }

    fn f64(&mut self) -> f64 {
        f64::from_bits(self.u64())
    }
}

/// The levels as ranges of blocks: first and size.
type Levels = Vec<(u64, u64)>;

fn subtables(fields: &mut Fields<'_>) -> Levels {
    let mut first = 0;
    (0..fields.u32())
        .map(|_| {
            let size = fields.u64();
            first += size;
            (first - size, size)
        })
        .collect()
}

enum Blocks {
    Classical { bits: u64, hashes: u64 },
    Bloom { bits: u32, hashes: u32, counter: u32 },
    Fingerprint { slots: u32, lists: u32, remainder_bits: u32 },
}

struct Reader {
    blocks: Blocks,
    levels: Levels,
    alpha: f64,
    /// Load and probability, where blocks turn keys away.
    threshold: Option<(u32, f64)>,
    hints: u32,
    seed: u64,
    spent: bool,
    capacity: u64,
    words: Vec<u64>,
    overflow: Vec<u64>,
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

fn yes(w: u64, p: f64) -> bool {
    w >> 1 < (p * 2_f64.powi(63)) as u64
}

fn draw(half: u64, i: u64) -> u64 {
    if i == 0 { half } else { mix(half.wrapping_add(G.wrapping_mul(i))) }
}

impl Reader {
    fn new(file: &[u8]) -> Self {
        let header = &file[..u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize];
        assert_eq!(file[..8], [0x89, 0x45, 0x51, 0x42, 0x4c, 0x0d, 0x0a, 0x1a]);
        let mut fields = Fields(&header[8..]);
        assert_eq!(fields.u32(), 2);
        assert_eq!(fields.u32() as usize, header.len());
        assert_eq!(fields.u64(), 0);
        assert_eq!(fields.u64(), file.len() as u64);
        let mut unsigned = header.to_vec();
        unsigned[32..40].fill(0);
        assert_eq!(fields.u64(), xxh3_64(&unsigned));
        assert_eq!(&header[40..56], b"xxh3-128\0\0\0\0\0\0\0\0");
        let mut fields = Fields(&header[56..]);
        let seed = fields.u64();
        for _ in 0..5 {
            fields.u64();
        }
        let (spent, sections) = (fields.u32() == 1, fields.u32());
        let (_entries, capacity, key_kind) = (fields.u64(), fields.u64(), fields.u64());
        assert_eq!(key_kind, 1, "the samples hold text");
        let (mut words, mut overflow) = (Vec::new(), Vec::new());
        for _ in 0..sections {
            let name = fields.0[..16].to_vec();
            fields.0 = &fields.0[16..];
            let (_flags, offset, length) =
                (fields.u64(), fields.u64() as usize, fields.u64() as usize);
            let section = &file[offset..offset + length];
            assert!(offset.is_multiple_of(4096) && fields.u64() == xxh3_64(section));
            let numbers =
                section.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
            let numbers = numbers.collect();
            match name.strip_suffix(&[0; 8]).unwrap() {
                b"blocks\0\0" => words = numbers,
                b"overflow" => overflow = numbers,
                _ => {}
            }
        }
        let mut reader = Self {
            blocks: Blocks::Classical { bits: 0, hashes: 0 },
            levels: Vec::new(),
            alpha: 1.0,
            threshold: None,
            hints: 0,
            seed,
            spent,
            capacity,
            words,
            overflow,
        };
        reader.read_scheme(&mut fields);
        assert!(fields.0.is_empty());
        reader
    }

    fn read_scheme(&mut self, fields: &mut Fields<'_>) {
        let kind = fields.u32();
        match kind {
            1 => {
                self.blocks = Blocks::Classical { bits: fields.u64(), hashes: fields.u32().into() };
            }
            2..=7 => {
                let count = fields.u64();
                let (bits, hashes) = (fields.u32(), fields.u32());
                let mut counter = 0;
                if (3..=5).contains(&kind) {
                    let (load, probability) = (fields.u32(), fields.f64());
                    counter = 32 - (load + 1).leading_zeros();
                    self.threshold = Some((load, probability));
                    self.hints = fields.u32();
                    let (_planned, _when_full) = (fields.u64(), fields.u32());
                }
                self.blocks = Blocks::Bloom { bits, hashes, counter };
                let all = (0, count);
                self.levels = match kind {
                    2 | 3 => vec![all],
                    4 => {
                        let (choices, _accesses) = (fields.u32(), fields.f64());
                        vec![all; choices as usize]
                    }
                    5 => subtables(fields),
                    _ => vec![all; 2],
                };
                if kind == 7 {
                    self.alpha = fields.f64();
                }
            }
            8 => {
                let count = fields.u64();
                let (slots, lists) = (fields.u32(), fields.u32());
                let remainder_bits = fields.u32();
                self.hints = fields.u32();
                self.blocks = Blocks::Fingerprint { slots, lists, remainder_bits };
                self.threshold = Some((slots, 0.0));
                let (_planned, _when_full, _multiset) = (fields.u64(), fields.u32(), fields.u32());
                self.levels = match fields.u32() {
                    1 => vec![(0, count)],
                    2 => {
                        let (choices, _accesses) = (fields.u32(), fields.f64());
                        vec![(0, count); choices as usize]
                    }
                    3 => subtables(fields),
                    other => panic!("route {other}"),
                };
            }
            other => panic!("scheme {other}"),
        }
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

    fn contains(&self, key: &[u8]) -> bool {
        let hash = xxh3_128_with_seed(key, self.seed);
        let (b, p) = ((hash >> 64) as u64, hash as u64);
        if let Blocks::Classical { bits, hashes } = self.blocks {
            return (0..hashes).all(|i| {
                let position = scale(draw(p, i), bits);
                self.words[(position / 64) as usize] >> (position % 64) & 1 == 1
            });
        }
        let second = mix(p ^ 0x8cb9_2ba7_2f3d_8dd7);
        let confined = self.alpha < 1.0 && !yes(second, self.alpha);
        let levels = if confined { &self.levels[..1] } else { &self.levels[..] };
        let (mut w, mut may_be_further) = (b, true);
        for (i, &(first, size)) in levels.iter().enumerate() {
            let i = i as u64;
            let block = first + scale(w, size);
            let (holds, mark, onward, load) = match self.blocks {
                Blocks::Fingerprint { slots, lists, remainder_bits } => {
                    let list = scale(p, lists.into());
                    let remainder = p & ((1 << remainder_bits) - 1);
                    let f = list << 48 | remainder;
                    let at_block = f.wrapping_add(G.wrapping_mul(block + 1));
                    let mark = at_block.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 48;
                    let onward = mix(at_block);
                    let code: Vec<bool> = (self.hints..self.hints + lists + slots)
                        .map(|bit| self.bit(block, bit))
                        .collect();
                    let high_bits = self.hints + lists + slots;
                    let (mut at, mut slot, mut holds) = (0, 0, false);
                    for &is_remainder in &code {
                        if !is_remainder {
                            at += 1;
                            continue;
                        }
                        let bytes = if remainder_bits >= 8 { 8 } else { 0 };
                        let stored = (0..remainder_bits).fold(0, |sum, bit| {
                            let at = if bit < bytes {
                                512 - 8 * (slots - slot) + bit
                            } else {
                                high_bits + (remainder_bits - bytes) * slot + bit - bytes
                            };
                            sum | u64::from(self.bit(block, at)) << bit
                        });
                        holds |= at == list && stored == remainder;
                        slot += 1;
                    }
                    (holds, mark, onward, slot)
                }
                Blocks::Bloom { bits, hashes, counter } => {
                    let holds = positions(p, bits - counter - self.hints, hashes)
                        .into_iter()
                        .all(|position| self.bit(block, counter + self.hints + position));
                    let load = (0..counter)
                        .fold(0, |sum, bit| sum | u32::from(self.bit(block, bit)) << bit);
                    let onward = draw(b, i + 1);
                    (holds, onward & 0xffff, onward, load)
                }
                Blocks::Classical { .. } => unreachable!(),
            };
            if holds && may_be_further {
                return true;
            }
            if let Some((threshold, probability)) = self.threshold {
                let start = match self.blocks {
                    Blocks::Bloom { counter, .. } => counter,
                    _ => 0,
                };
                let turned_away = if self.hints > 0 {
                    let hint = (mark as u32 * self.hints) >> 16;
                    self.bit(block, start + hint)
                } else {
                    let coin = mix((p ^ 0xd1b5_4a32_d192_ed03).wrapping_add(G.wrapping_mul(i)));
                    load > threshold || load == threshold && !yes(coin, probability)
                };
                may_be_further &= turned_away;
            }
            w = onward;
        }
        if self.threshold.is_none() || !may_be_further && !self.spent || self.capacity == 0 {
            return false;
        }
        let fingerprints = matches!(self.blocks, Blocks::Fingerprint { .. });
        let entry = if fingerprints { w } else { p }.max(1);
        let slots = self.capacity + self.capacity / 4 + 1;
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
        let filter = AnyFilter::load(&path).unwrap();
        for number in 0..20_000 {
            let found = reader.contains(key(number).as_bytes());
            assert_eq!(found, filter.contains(&key(number)), "{}: {number}", sample.name);
            assert!(found || number >= sample.keys);
            mistaken += u32::from(found && number >= sample.keys);
        }
    }
    // They make the same mistakes, too.
    assert!(mistaken > 200, "{mistaken}");
}
