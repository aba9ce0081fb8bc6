//! Many records at once, hashed.

use std::ops::Range;

use equibloom::{KeyHash, KeyHasher, KeyKind, Stable};

use super::{Input, kind};

/// A batch is full at this many bytes of text: far below the caches, far above what handing it over costs.
pub(super) const TEXT_BYTES: usize = 256 << 10;
/// Or at this many keys.
const KEYS: u64 = 16 << 10;
/// Keys of a slab, 16 bytes each: so many that each part of a large filter is visited for several of them at once.
const SLAB_KEYS: u64 = 512 << 10;
/// A buffer that one enormous record has blown up beyond this is given back.
const MOST_KEPT: usize = 4 * TEXT_BYTES;

/// What a reader of keys is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// How many there are.
    Count,
    /// Their hashes, as soon as they are there.
    Hashes,
    /// Their hashes, very many at once: for commands that print nothing before the end.
    Slabs,
    /// Their hashes, and the records that they are in.
    Records,
}

/// Which keys are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountOf {
    All,
    NotEmpty,
}

/// Records, the hashes of their keys, and the text they lie in.
#[derive(Debug)]
pub(crate) struct Batch {
    wanted: Wanted,
    hasher: Stable,
    /// Keys are integers, not text.
    are_integers: bool,
    keep_empty: bool,
    count: u64,
    missing: u64,
    hashes: Vec<KeyHash>,
    /// Where the records are in the text, if they are wanted.
    records: Vec<Range<usize>>,
    /// Readers of lines read into this as it is; what is behind the last record means nothing.
    pub(super) text: Vec<u8>,
    /// What comes before all records: the names of a table's columns.
    title: Vec<u8>,
}

impl Batch {
    pub(super) fn new(wanted: Wanted, hasher: Stable, input: &Input) -> Self {
        Self {
            wanted,
            hasher,
            are_integers: input.kind == KeyKind::Integer,
            keep_empty: input.keep_empty,
            count: 0,
            missing: 0,
            hashes: Vec::new(),
            records: Vec::new(),
            text: Vec::new(),
            title: Vec::new(),
        }
    }

    /// Number of keys.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Number of records that were passed over since their key is null or missing.
    pub(crate) fn missing(&self) -> u64 {
        self.missing
    }

    /// The keys' hashes in their order.
    pub(crate) fn hashes(&self) -> &[KeyHash] {
        &self.hashes
    }

    /// The records in the same order, with what ends them, if that was there.
    pub(crate) fn records(&self) -> impl Iterator<Item = &[u8]> {
        self.records.iter().map(|record| &self.text[record.clone()])
    }

    /// To be printed before the records.
    pub(crate) fn title(&self) -> &[u8] {
        &self.title
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.missing = 0;
        self.hashes.clear();
        self.records.clear();
        self.title.clear();
        if self.text.len() > MOST_KEPT {
            self.text = Vec::new();
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.count >= self.most_keys()
            || self.records.last().is_some_and(|last| last.end >= TEXT_BYTES)
    }

    /// Whether a reader that has more should go on, even if that means to wait.
    pub(super) fn wants_more(&self) -> bool {
        self.wanted == Wanted::Slabs && !self.is_full()
    }

    fn most_keys(&self) -> u64 {
        if self.wanted == Wanted::Slabs { SLAB_KEYS } else { KEYS }
    }

    /// Whether only the number of keys is wanted, and whether empty ones count.
    pub(super) fn only_counts(&self) -> Option<CountOf> {
        let of = if self.keep_empty { CountOf::All } else { CountOf::NotEmpty };
        (self.wanted == Wanted::Count).then_some(of)
    }

    /// Adds keys that are counted already.
    pub(super) fn add_count(&mut self, keys: u64) {
        self.count += keys;
    }

    /// Adds records without keys.
    pub(super) fn add_missing(&mut self, records: u64) {
        self.missing += records;
    }

    /// Adds a record that lies in the text, or will when the reader is done.
    #[inline]
    pub(super) fn add_in_place(&mut self, record: Range<usize>, key: &[u8]) -> anyhow::Result<()> {
        if self.has_use_for(key) {
            self.take(key)?;
            if self.wanted == Wanted::Records {
                self.records.push(record);
            }
        }
        Ok(())
    }

    /// Adds a key; its record is written behind the others, if it is wanted.
    pub(super) fn add(
        &mut self,
        key: &[u8],
        write_record: impl FnOnce(&mut Vec<u8>),
    ) -> anyhow::Result<()> {
        if self.has_use_for(key) { self.add_even_if_empty(key, write_record) } else { Ok(()) }
    }

    /// Adds an integer, or its digits if keys are text; they are also its record.
    pub(super) fn add_integer(&mut self, value: i128) -> anyhow::Result<()> {
        if !self.are_integers {
            let digits = value.to_string();
            return self.add(digits.as_bytes(), |text| text.extend(digits.as_bytes()));
        }
        if self.wanted != Wanted::Count {
            self.hashes.push(self.hasher.hash_key(&(value as u64)));
        }
        self.count += 1;
        self.write_record(|text| text.extend(value.to_string().as_bytes()));
        Ok(())
    }

    /// [`add`](Self::add) for keys given one by one.
    pub(super) fn add_even_if_empty(
        &mut self,
        key: &[u8],
        write_record: impl FnOnce(&mut Vec<u8>),
    ) -> anyhow::Result<()> {
        self.take(key)?;
        self.write_record(write_record);
        Ok(())
    }

    fn write_record(&mut self, write_record: impl FnOnce(&mut Vec<u8>)) {
        if self.wanted == Wanted::Records {
            let start = self.records.last().map_or(0, |last| last.end);
            self.text.truncate(start);
            write_record(&mut self.text);
            self.records.push(start..self.text.len());
        }
    }

    /// Sets what is to be printed before the records, if those are.
    pub(super) fn set_title(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.wanted == Wanted::Records {
            write(&mut self.title);
        }
    }

    fn has_use_for(&self, key: &[u8]) -> bool {
        self.keep_empty || !key.is_empty()
    }

    /// Counts and hashes a key.
    #[inline]
    fn take(&mut self, key: &[u8]) -> anyhow::Result<()> {
        if self.wanted != Wanted::Count {
            self.hashes.push(if self.are_integers {
                self.hasher.hash_key(&kind::parse(key)?)
            } else {
                self.hasher.hash_key(key)
            });
        }
        self.count += 1;
        Ok(())
    }
}
