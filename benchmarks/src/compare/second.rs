//! The interface of the second edition: `Filter<K>` over `HashFilter`.
//!
//! Only what every revision has had since: the builder, single and batched operations, the memory.

use std::rc::Rc;

use super::library::{Filter, HashFilter, KeyHash};

use crate::compare::{by_key, check_view, count_in_batches, entry, view};
use crate::contestants::{Contestant, Entry, Failure};
use crate::keys::Keys;

struct ByHash(HashFilter);
struct ByKey(Filter<u64>);

/// The plan for this memory and this limit of block accesses per miss, by hash and by key.
pub(in crate::compare) fn entries(
    name: &str,
    keys: u64,
    bytes: u64,
    accesses: Option<f64>,
) -> Result<[Entry; 2], Failure> {
    check_view::<KeyHash>()?;
    let mut builder = Filter::<u64>::builder().keys(keys).memory(bytes);
    if let Some(accesses) = accesses {
        builder = builder.accesses_miss(accesses);
    }
    let parameters = Rc::new(builder.parameters()?);
    let for_hashes = Rc::clone(&parameters);
    Ok([
        entry(
            name.to_owned(),
            accesses.is_none(),
            Box::new(move |_| Ok(Box::new(ByHash(HashFilter::new(&for_hashes)?)))),
        ),
        entry(
            by_key(name),
            false,
            Box::new(move |_| Ok(Box::new(ByKey(Filter::new(&parameters)?)))),
        ),
    ])
}

impl Contestant for ByHash {
    fn bytes(&self) -> u64 {
        self.0.statistics().memory.total()
    }

    fn insert_each(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        for &hash in view(keys.full) {
            self.0.insert(hash)?;
        }
        Ok(())
    }

    fn insert_batch(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        self.0.insert_batch(view(keys.full))?;
        Ok(())
    }

    fn insert_parallel(&mut self, keys: Keys<'_>, threads: usize) -> Result<(), Failure> {
        self.0.insert_parallel(view(keys.full), threads)?;
        Ok(())
    }

    fn count_each(&self, keys: Keys<'_>) -> usize {
        view(keys.full).iter().filter(|&&hash| self.0.contains(hash)).count()
    }

    fn count_batch(&self, keys: Keys<'_>) -> usize {
        count_in_batches(view(keys.full), |hashes, found| {
            self.0.contains_batch_bitmap(hashes, found);
        })
    }
}

impl Contestant for ByKey {
    fn bytes(&self) -> u64 {
        self.0.statistics().memory.total()
    }

    fn insert_each(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        for key in keys.plain {
            self.0.insert(key)?;
        }
        Ok(())
    }

    fn insert_batch(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        self.0.insert_batch(keys.plain)?;
        Ok(())
    }

    fn count_each(&self, keys: Keys<'_>) -> usize {
        keys.plain.iter().filter(|&key| self.0.contains(key)).count()
    }

    fn count_batch(&self, keys: Keys<'_>) -> usize {
        count_in_batches(keys.plain, |keys, found| self.0.contains_batch_bitmap(keys, found))
    }
}
