//! The keys of one column of a file, and the filter that is made of them.

use equibloom::{Filter, FilterBuilder, HashFilter, KeyHash, Stable};

use crate::error::IndexError;
use crate::key::{Key, Range};
use crate::table::{Contents, StoredFilter, Unit};

/// Hashes that are kept before repeated ones are removed for the first time.
const HASHES: usize = 1 << 20;
/// A filter with a higher rate is not worth its memory, nor is one planned.
const HIGHEST_RATE: f64 = 0.5;

/// The keys of one column of a file or row group.
///
/// They are kept as hashes of 16 bytes, repeated ones at most twice, so that the filter gets the size for the true number of
/// different keys.
#[derive(Debug)]
pub struct KeySet {
    hasher: Stable,
    hashes: Vec<u128>,
    /// Repeated hashes are removed at this number.
    limit: usize,
    range: Option<Range>,
    /// Why the keys are not known.
    unknown: Option<String>,
}

/// A unit whose filter is not in an index yet.
#[derive(Debug, Clone)]
pub struct Built {
    pub(crate) contents: Contents,
    /// The filter's bytes; empty without a filter.
    pub(crate) filter: Vec<u8>,
}

impl KeySet {
    /// No keys, to be hashed with this seed.
    pub fn new(seed: u64) -> Self {
        let hasher = Stable::with_seed(seed);
        Self { hasher, hashes: Vec::new(), limit: HASHES, range: None, unknown: None }
    }

    /// Adds a key. If it is an integer beyond 64 bits, or of another kind than those before it, the whole set counts as unknown.
    pub fn insert(&mut self, key: Key<'_>) {
        if self.unknown.is_some() {
            return;
        }
        let Some(hash) = key.hash(self.hasher) else {
            return self.set_unknown(format!("{key:?} has more than 64 bits"));
        };
        if !self.range.get_or_insert_with(|| Range::of(key)).extend(key) {
            return self.set_unknown("keys are integers and bytes");
        }
        self.hashes.push(hash.into());
        if self.hashes.len() == self.limit {
            self.remove_repeated();
            self.limit = HASHES.max(2 * self.hashes.len());
        }
    }

    /// Says that there are keys that are not known, and why: the file is then read for every key.
    pub fn set_unknown(&mut self, reason: impl Into<String>) {
        self.unknown.get_or_insert_with(|| reason.into());
        self.hashes = Vec::new();
    }

    fn remove_repeated(&mut self) {
        self.hashes.sort_unstable();
        self.hashes.dedup();
    }

    /// The unit, with a filter of at most this false-positive rate. There is no filter if the range alone reaches the rate: of integers
    /// without gaps, or if the rate is 1.
    ///
    /// # Errors
    /// [`IndexError`] if memory is short.
    pub fn finish(mut self, rate: f64) -> Result<Built, IndexError> {
        if let Some(reason) = self.unknown {
            return Ok(Built::unknown(reason));
        }
        self.remove_repeated();
        let count = self.hashes.len() as u64;
        let Some(range) = self.range.take() else { return Ok(Built::empty()) };
        if range.gaps(count) <= rate {
            let contents = Contents::Keys { count, range, filter: None };
            return Ok(Built { contents, filter: Vec::new() });
        }
        let rate = rate.min(HIGHEST_RATE);
        let builder: FilterBuilder<[u8]> = Filter::builder().keys(count).rate(rate);
        let parameters = builder.seed(self.hasher.seed()).parameters()?;
        let mut filter = HashFilter::new(&parameters)?.with_key_kind(range.kind());
        // Sorted hashes lead to the blocks in their order.
        let hashes: Vec<KeyHash> = self.hashes.into_iter().map(KeyHash::from).collect();
        filter.insert_batch(&hashes)?;
        let filter = filter.to_bytes()?;
        let stored = StoredFilter { offset: 0, length: filter.len() as u64, rate };
        let contents = Contents::Keys { count, range, filter: Some(stored) };
        Ok(Built { contents, filter })
    }
}

impl Built {
    /// A unit whose keys are not known.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self { contents: Contents::Unknown { reason: reason.into() }, filter: Vec::new() }
    }

    /// A unit without keys.
    pub fn empty() -> Self {
        Self { contents: Contents::Empty, filter: Vec::new() }
    }

    /// What is known of the keys.
    pub const fn contents(&self) -> &Contents {
        &self.contents
    }

    pub(crate) fn unit(&self, column: u32, row_group: Option<u32>) -> Unit {
        Unit { column, row_group, contents: self.contents.clone() }
    }
}
