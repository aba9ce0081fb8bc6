//! What takes part, each behind the same few operations.
//!
//! Equal care for all: the best documented interface, hashes instead of keys where they are taken, and
//! for those without a call for many keys a loop that asks for memory in advance, where their
//! memory can be reached ([`peers`] says for whom it cannot).

mod limit;
mod ours;
mod peers;
mod prefetch;

use std::error::Error;

use serde::Serialize;

use crate::keys::Keys;

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// A filter in the race. Loops are inside, so that a dynamic call is paid once for many keys.
pub(crate) trait Contestant: Send + Sync {
    /// All bytes that it occupies.
    fn bytes(&self) -> u64;

    /// Inserts keys one by one.
    fn insert_each(&mut self, keys: Keys<'_>) -> Result<(), Failure>;

    /// Inserts keys in the fastest way there is for many.
    fn insert_batch(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        self.insert_each(keys)
    }

    /// Inserts keys by so many threads.
    fn insert_parallel(&mut self, keys: Keys<'_>, _threads: usize) -> Result<(), Failure> {
        self.insert_batch(keys)
    }

    /// Looks keys up one by one; how many were found.
    fn count_each(&self, keys: Keys<'_>) -> usize;

    /// Looks keys up in the fastest way there is for many; how many were found.
    fn count_batch(&self, keys: Keys<'_>) -> usize {
        self.count_each(keys)
    }

    /// What the filter, as it is now, says of itself.
    fn expectation(&self) -> Option<Expectation> {
        None
    }
}

/// What a filter expects of lookups of absent keys.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Expectation {
    pub(crate) rate: f64,
    /// Cache lines that are read.
    pub(crate) lines_per_miss: f64,
}

/// Who takes part, before any memory is taken.
pub(crate) struct Entry {
    pub(crate) profile: Profile,
    pub(crate) make: Make,
}

/// An empty filter; of those that are built once, the full one.
pub(crate) type Make = Box<dyn Fn(Keys<'_>) -> Result<Box<dyn Contestant>, Failure>>;

/// What is known of a contestant without running it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Profile {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) many: Many,
    /// Whether several threads can insert at once.
    pub(crate) parallel_inserts: bool,
    /// The rate that was promised before it was built.
    pub(crate) promised_rate: Option<f64>,
    /// The peer whose memory this one was planned for.
    pub(crate) rival: Option<String>,
}

/// What a contestant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// No filter: what the memory allows.
    Limit,
    /// Equibloom.
    Ours,
    /// Somebody else's, and takes inserts.
    Peer,
    /// Somebody else's, and is built once from all keys.
    Static,
}

/// How many keys are asked for at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Many {
    /// By a call of its own.
    Call,
    /// By this program's loop, which asks for memory in advance.
    PrefetchingLoop,
    /// Not at all: no such call, and nobody outside can tell where it will read.
    OneByOne,
}

/// Name of the plan that users get who say nothing but their keys and memory.
pub(crate) const DEFAULT_PLAN: &str = "equibloom";
pub(crate) const LIMIT: &str = "limit";
pub(crate) const SBBF: &str = "sbbf-rs";
pub(crate) const FASTBLOOM: &str = "fastbloom";
pub(crate) const QFILTER: &str = "qfilter";

/// Everybody whose name holds one of the wanted words (or everybody), for so many keys in so many bytes.
pub(crate) fn line_up(keys: u64, bytes: u64, only: &[String]) -> Result<Vec<Entry>, Failure> {
    let wanted = |name: &str| only.is_empty() || only.iter().any(|word| name.contains(&word[..]));
    let mut entries = vec![limit::entry(bytes)];
    entries.extend(peers::entries(keys, bytes)?);
    entries.retain(|entry| wanted(&entry.profile.name));
    let rivals = rivals(&entries, bytes)?;
    entries.extend(ours::entries(keys, bytes, wanted)?);
    for (name, bytes) in rivals {
        if wanted(&ours::name_beside(&name)) {
            entries.push(ours::beside(&name, keys, bytes)?);
        }
    }
    Ok(entries)
}

/// Peers that take inserts and cannot be made as large as they are told, and how large they are.
fn rivals(entries: &[Entry], asked: u64) -> Result<Vec<(String, u64)>, Failure> {
    let mut rivals = Vec::new();
    for entry in entries.iter().filter(|entry| entry.profile.kind == Kind::Peer) {
        let bytes = (entry.make)(Keys { full: &[], short: &[] })?.bytes();
        if (bytes as f64 / asked as f64 - 1.0).abs() > ROUNDING {
            rivals.push((entry.profile.name.clone(), bytes));
        }
    }
    Ok(rivals)
}

/// Up to this share, a difference in memory is rounding.
const ROUNDING: f64 = 0.01;
