//! A batch of records with the hashes of their keys.

use std::ops::Range;

use equibloom::{KeyHash, KeyHasher, KeyKind, Stable};

use super::{Input, kind};

/// A batch is full at this many bytes of text: far below the cache size, far above the cost of passing it on.
pub(super) const TEXT_BYTES: usize = 256 << 10;
/// A batch is also full at this many keys.
const KEYS: u64 = 16 << 10;
/// Keys of a slab, 16 bytes each: enough that each part of a large filter receives several of them at once.
const SLAB_KEYS: u64 = 512 << 10;
/// A buffer that one huge record grew beyond this size is freed.
const MOST_KEPT: usize = 4 * TEXT_BYTES;

/// What the consumer needs from the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Their number.
    Count,
    /// Their hashes, as soon as they are read.
    Hashes,
    /// Their hashes in very large batches: for commands that print nothing before the end.
    Slabs,
    /// Their hashes and records.
    Records,
    /// Their hashes, and the keys as records.
    Keys,
}

/// Records, the hashes of their keys, and the text that contains them.
#[derive(Debug)]
pub(crate) struct Batch {
    wanted: Wanted,
    hasher: Stable,
    /// Whether keys are integers.
    are_integers: bool,
    pub(super) keep_empty: bool,
    /// Number of keys.
    pub(crate) count: u64,
    /// Number of records skipped because their key is null or missing.
    pub(crate) missing: u64,
    /// The keys' hashes, in input order.
    pub(crate) hashes: Vec<KeyHash>,
    /// Positions of the records in the text, if needed.
    records: Vec<Range<usize>>,
    /// Their numbers in their file, from 1; 0 if they have none.
    numbers: Vec<u64>,
    /// Line readers read directly into this; bytes behind the last record are unused.
    pub(super) text: Vec<u8>,
    /// The keys, if they are wanted as records.
    keys: Vec<u8>,
    /// The header of a table, printed before the records.
    pub(crate) title: Vec<u8>,
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
            numbers: Vec::new(),
            text: Vec::new(),
            keys: Vec::new(),
            title: Vec::new(),
        }
    }

    /// The records in the same order with their numbers, and with their terminators, if present.
    pub(crate) fn records(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let text = if self.wanted == Wanted::Keys { &self.keys } else { &self.text };
        let records = self.records.iter().map(|record| &text[record.clone()]);
        self.numbers.iter().copied().zip(records)
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.missing = 0;
        self.hashes.clear();
        self.records.clear();
        self.numbers.clear();
        self.keys.clear();
        self.title.clear();
        if self.text.len() > MOST_KEPT {
            self.text = Vec::new();
        }
        self.keys.shrink_to(MOST_KEPT);
    }

    pub(super) fn is_full(&self) -> bool {
        self.count >= self.most_keys()
            || self.records.last().is_some_and(|last| last.end >= TEXT_BYTES)
    }

    /// Whether a reader with more input should go on, even if it has to wait.
    pub(super) fn wants_more(&self) -> bool {
        self.wanted == Wanted::Slabs && !self.is_full()
    }

    fn most_keys(&self) -> u64 {
        if self.wanted == Wanted::Slabs { SLAB_KEYS } else { KEYS }
    }

    /// Whether only the number of keys is needed.
    pub(super) fn only_counts(&self) -> bool {
        self.wanted == Wanted::Count
    }

    /// Adds a record whose text is in the buffer, or will be when the reader is done.
    #[inline]
    pub(super) fn add_in_place(
        &mut self,
        number: u64,
        record: Range<usize>,
        key: &[u8],
    ) -> anyhow::Result<()> {
        if self.has_use_for(key) {
            self.take(key)?;
            match self.wanted {
                Wanted::Records => self.push(number, record),
                Wanted::Keys => self.push_key(number, key),
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds a key, and appends its record if records are needed.
    pub(super) fn add(
        &mut self,
        number: u64,
        key: &[u8],
        write_record: impl FnOnce(&mut Vec<u8>),
    ) -> anyhow::Result<()> {
        if self.has_use_for(key) {
            self.add_even_if_empty(number, key, write_record)
        } else {
            Ok(())
        }
    }

    /// Adds an integer, or its digits if keys are text; the digits are also its record.
    #[cfg(feature = "parquet")]
    pub(super) fn add_integer(&mut self, value: i128) -> anyhow::Result<()> {
        if !self.are_integers {
            let digits = value.to_string();
            return self.add(0, digits.as_bytes(), |text| text.extend(digits.as_bytes()));
        }
        if self.wanted != Wanted::Count {
            self.hashes.push(self.hasher.hash_key(&(value as u64)));
        }
        self.count += 1;
        if matches!(self.wanted, Wanted::Records | Wanted::Keys) {
            let digits = value.to_string();
            self.write_record(0, digits.as_bytes(), |text| text.extend(digits.as_bytes()));
        }
        Ok(())
    }

    /// [`add`](Self::add) for keys given one by one.
    pub(super) fn add_even_if_empty(
        &mut self,
        number: u64,
        key: &[u8],
        write_record: impl FnOnce(&mut Vec<u8>),
    ) -> anyhow::Result<()> {
        self.take(key)?;
        self.write_record(number, key, write_record);
        Ok(())
    }

    fn write_record(&mut self, number: u64, key: &[u8], write_record: impl FnOnce(&mut Vec<u8>)) {
        match self.wanted {
            Wanted::Records => {
                let start = self.records.last().map_or(0, |last| last.end);
                self.text.truncate(start);
                write_record(&mut self.text);
                self.push(number, start..self.text.len());
            }
            Wanted::Keys => self.push_key(number, key),
            _ => {}
        }
    }

    fn push(&mut self, number: u64, record: Range<usize>) {
        self.records.push(record);
        self.numbers.push(number);
    }

    fn push_key(&mut self, number: u64, key: &[u8]) {
        let start = self.keys.len();
        self.keys.extend_from_slice(key);
        self.push(number, start..self.keys.len());
    }

    /// Sets the header, if records are needed.
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
