//! A reader of growing filters, written from `docs/format.md`.

use xxhash_rust::xxh3::xxh3_64;

pub(crate) const MAGIC: [u8; 8] = [0x89, 0x45, 0x51, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

pub(crate) struct Grown {
    tables: Vec<Table>,
    /// The first hash whose string is in the second table.
    boundary: u128,
    /// Strings: their bits and their length.
    listed: Vec<(u128, u32)>,
}

struct Table {
    /// log2 of the lists, and lists per block.
    bits: u32,
    per_block: u64,
    width: u32,
    /// For each level the number of its first block in the file, and its lines.
    levels: Vec<(u64, Vec<[u64; 8]>)>,
}

impl Table {
    fn new(step: u64, header: &[u64], widths: &[u8]) -> Self {
        let bits = 6 + (step / 4) as u32;
        let blocks = (1_u64 << bits).div_ceil(header[8 + (step % 4) as usize]);
        let per_block = (1_u64 << bits).div_ceil(blocks).next_multiple_of(2);
        Self { bits, per_block, width: widths[step as usize].into(), levels: Vec::new() }
    }

    fn fewer_bits(&self, level: usize) -> u32 {
        [0, 4, 6][level].min(self.bits)
    }

    fn take(&mut self, lists: std::ops::Range<u64>, lines: &mut impl Iterator<Item = [u64; 8]>) {
        for level in 0..3 {
            let fewer = self.fewer_bits(level);
            let first = (lists.start >> fewer) / self.per_block;
            let last = ((lists.end - 1) >> fewer) / self.per_block;
            let lines = lines.take((last - first + 1) as usize).collect();
            self.levels.push((first, lines));
        }
    }

    /// Whether the table holds the key; `None` if the listed strings have to be asked.
    fn contains(&self, key: u128) -> Option<bool> {
        for (level, (first, lines)) in self.levels.iter().enumerate() {
            let fewer = self.fewer_bits(level);
            let (bits, width) = (self.bits - fewer, self.width + fewer);
            let list = (key >> (128 - bits)) as u64;
            let line = lines[(list / self.per_block - first) as usize];
            let list = list % self.per_block;
            let number = |start: u64, width: u32| {
                let bit = |bit: u64| line[(bit / 64) as usize] >> (bit % 64) & 1;
                (0..u64::from(width)).fold(0, |sum, at| sum | bit(start + at) << at)
            };
            let slots = ((504 - self.per_block) / u64::from(1 + width)).min(64);
            let code = self.per_block + slots;
            let (mut at, mut slot) = (0, 0);
            for bit in 0..code {
                if number(bit, 1) == 0 {
                    at += 1;
                    continue;
                }
                let field = number(code + slot * u64::from(width), width);
                let end = field.trailing_zeros() + 1;
                let rest = (key << bits) >> (128 - width);
                if at == list && field != 0 && u128::from(field) >> end == rest >> end {
                    return Some(true);
                }
                slot += 1;
            }
            let hint = (list * (1_u64 << 19).div_ceil(self.per_block)) >> 16;
            if number(504 + hint, 1) == 0 {
                return Some(false);
            }
        }
        None
    }
}

impl Grown {
    pub(crate) fn new(file: &[u8], seed: u64, key_kind: u64) -> Self {
        let (all, end) = file.split_at(file.len() - 8);
        assert_eq!(end, xxh3_64(all).to_le_bytes());
        let words: Vec<u64> =
            file.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words[0].to_le_bytes(), MAGIC);
        assert_eq!(words[1..5], [2, file.len() as u64, seed, key_kind]);
        let widths = &file[96..296];
        let [step, previous, next, _strings, listed, lines] = words[37..43].try_into().unwrap();
        let listed = listed as usize;
        let end = 43 + 3 * listed;
        assert_eq!(words[end], xxh3_64(&file[..8 * end]));
        let strings = words[43..end].chunks_exact(3).map(|string| {
            let bits = u128::from(string[0]) << 64 | u128::from(string[1]);
            (bits, 127 - bits.trailing_zeros())
        });
        let first = (8 * (end + 1)).next_multiple_of(64) / 8;
        let mut stored =
            words[first..words.len() - 1].chunks_exact(8).map(|line| line.try_into().unwrap());
        assert_eq!(stored.len() as u64, lines);

        let mut current = Table::new(step, &words, widths);
        let mut tables = Vec::new();
        let mut moved = 1 << current.bits;
        if previous > 0 {
            moved = next * current.per_block;
        }
        if moved > 0 {
            current.take(0..moved, &mut stored);
        }
        let boundary = u128::from(moved) << (127 - current.bits) << 1;
        let bits = current.bits;
        tables.push(current);
        if previous > 0 {
            let mut table = Table::new(previous - 1, &words, widths);
            table.take(moved >> (bits - table.bits)..1 << table.bits, &mut stored);
            tables.push(table);
        }
        assert_eq!(stored.next(), None);
        Self { tables, boundary, listed: strings.collect() }
    }

    /// Whether strings move from one table to another.
    #[cfg(feature = "planner")]
    pub(crate) fn is_moving(&self) -> bool {
        self.tables.len() > 1
    }

    pub(crate) fn contains(&self, key: u128) -> bool {
        let is_moved = self.tables.len() == 1 || key < self.boundary;
        let table = &self.tables[usize::from(!is_moved)];
        table.contains(key).unwrap_or_else(|| {
            let is_beginning =
                |&(bits, length): &(u128, u32)| length == 0 || (bits ^ key) >> (128 - length) == 0;
            self.listed.iter().any(is_beginning)
        })
    }
}
