//! The limit and sbbf-rs with keys instead of hashes: hashing is timed too, as in a filter of keys.

use super::limit::Limit;
use super::peers::{Lane, profile, split_block};
use super::{Contestant, Entry, Failure, Kind, LIMIT, Make, Many, SBBF};
use crate::keys::{Hashes, Keys, full_hash, short_hash};

/// Keys hashed at once in batches; their hashes stay in the L1 or L2 cache.
const BATCH: usize = 1_024;

/// A filter of hashes that hashes its keys first.
struct ByKey<C>(C);

/// The limit and sbbf-rs by key, in this many bytes.
pub(crate) fn entries(bytes: u64, name: impl Fn(&str) -> String) -> Result<Vec<Entry>, Failure> {
    let size = usize::try_from(bytes)?;
    let limit: Make = Box::new(move |_| Ok(Box::new(ByKey(Limit::new(bytes)?))));
    let sbbf: Make = Box::new(move |_| Ok(Box::new(ByKey(Lane(split_block(size))))));
    Ok(vec![
        Entry { profile: profile(&name(LIMIT), Kind::Limit, Many::Call), make: limit },
        Entry { profile: profile(&name(SBBF), Kind::Peer, Many::PrefetchingLoop), make: sbbf },
    ])
}

/// The key with its hashes. A loop over one key is inlined to its body.
#[inline(always)]
fn hashed<T>(key: &u64, run: impl FnOnce(Keys<'_>) -> T) -> T {
    use std::slice::from_ref;
    let full = full_hash(key);
    run(Keys { plain: from_ref(key), full: from_ref(&full), short: &[short_hash(full)] })
}

impl<C: Contestant> Contestant for ByKey<C> {
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn insert_each(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        keys.plain.iter().try_for_each(|key| hashed(key, |key| self.0.insert_each(key)))
    }

    fn insert_batch(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        let mut batches = keys.plain.chunks(BATCH);
        batches.try_for_each(|keys| self.0.insert_batch(Hashes::of(keys.iter().copied()).all()))
    }

    fn count_each(&self, keys: Keys<'_>) -> usize {
        keys.plain.iter().map(|key| hashed(key, |key| self.0.count_each(key))).sum()
    }

    fn count_batch(&self, keys: Keys<'_>) -> usize {
        let batches = keys.plain.chunks(BATCH);
        batches.map(|keys| self.0.count_batch(Hashes::of(keys.iter().copied()).all())).sum()
    }
}
