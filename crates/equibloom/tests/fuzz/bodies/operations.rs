//! All operations on a filter, against an exact multiset.

use equibloom::{BlockKind, Filter, Insertion, MergeError, Parameters, RemoveError};

use std::sync::atomic::{AtomicU64, Ordering};

use super::input::Input;

/// Lookups of keys that were checked.
pub static CHECKS: AtomicU64 = AtomicU64::new(0);

/// A filter, and how often it holds each of the 256 keys.
struct Checked {
    filter: Filter<u8>,
    counts: [u64; 256],
}

pub fn operations(bytes: &[u8]) {
    let mut input = Input(bytes);
    let parameters = input.parameters();
    let mut checked = Checked::new(&parameters);
    while !input.is_empty() {
        match input.between(0, 15) {
            0..=5 => checked.insert(input.byte()),
            6..=9 => checked.remove(input.byte()),
            10 => checked.insert_batch(&input.keys()),
            11 => checked.insert_shared(&input.keys(), 1 + usize::from(input.once_in(4))),
            12 => checked.merge(&input.keys()),
            13 => checked.save_and_load(),
            14 => checked.fold(),
            // Seldom: an empty filter has nothing to lose.
            _ if input.once_in(4) => checked.clear(),
            _ => {}
        }
    }
    checked.check();
}

impl Checked {
    fn new(parameters: &Parameters) -> Self {
        Self { filter: Filter::new(parameters).unwrap(), counts: [0; 256] }
    }

    fn is_multiset(&self) -> bool {
        let design = &self.filter.parameters().design;
        design.is_multiset()
    }

    fn has_fingerprints(&self) -> bool {
        self.filter.parameters().design.block_kind() == Some(BlockKind::Fingerprint)
    }

    /// A key that the filter has taken: a set holds it once.
    fn count(&mut self, key: u8) {
        let multiset = self.is_multiset();
        let count = &mut self.counts[usize::from(key)];
        *count = if multiset { *count + 1 } else { 1 };
    }

    /// No key is lost, and a multiset knows how many it holds.
    fn check(&self) {
        let parameters = self.filter.parameters();
        let keys: Vec<u8> = (0..=u8::MAX).collect();
        let mut found = Vec::new();
        self.filter.contains_batch(&keys, &mut found);
        for ((key, found), &count) in keys.iter().zip(found).zip(&self.counts) {
            assert!(count == 0 || found, "{key} was lost: {parameters:?}");
            assert_eq!(self.filter.contains(key), found, "{key}: {parameters:?}");
        }
        if self.is_multiset() {
            assert_eq!(self.filter.len(), self.counts.iter().sum(), "{parameters:?}");
        }
        let present = self.counts.iter().filter(|&&count| count > 0).count();
        CHECKS.fetch_add(2 * present as u64, Ordering::Relaxed);
    }

    fn insert(&mut self, key: u8) {
        let (present, elements) = (self.filter.contains(&key), self.filter.len());
        let new = match self.filter.insert(&key) {
            Ok(insertion) => {
                self.count(key);
                assert!(self.filter.contains(&key), "{key}: {:?}", self.filter.parameters());
                // An insert ends at the block that takes the key. A lookup may go on there, by a hint or a
                // watermark, and meet the likeness of the key. And a fingerprint that goes on may meet its
                // equal where no lookup for it came before.
                let design = &self.filter.parameters().design;
                let may_go_on = self.has_fingerprints() || self.is_multiset() || design.hints() > 0;
                match insertion {
                    Insertion::New => assert!(!present || may_go_on),
                    Insertion::AlreadyPresent => {
                        assert!(!self.is_multiset() && (present || self.has_fingerprints()));
                    }
                }
                u64::from(insertion.is_new())
            }
            Err(full) => {
                assert_eq!(full.stored, elements);
                assert_eq!(self.filter.contains(&key), present);
                0
            }
        };
        let now = self.filter.len();
        // A set may unite two entries that meet in one block.
        assert!(now == elements + new || !self.is_multiset() && now < elements + new);
    }

    fn remove(&mut self, key: u8) {
        let count = self.counts[usize::from(key)];
        if !self.is_multiset() {
            let refused = self.filter.remove(&key);
            assert!(matches!(refused, Err(RemoveError::NotRemovable(_))), "{refused:?}");
        } else if count > 0 {
            assert_eq!(self.filter.remove(&key), Ok(()), "{:?}", self.filter.parameters());
            self.counts[usize::from(key)] -= 1;
            assert!(count == 1 || self.filter.contains(&key), "{:?}", self.filter.parameters());
        } else if !self.filter.contains(&key) {
            // A key that only seems present must not be removed: it is another one.
            assert_eq!(self.filter.remove(&key), Err(RemoveError::NotPresent));
        }
    }

    fn insert_batch(&mut self, keys: &[u8]) {
        if self.has_fingerprints() {
            return self.insert_fingerprints(keys);
        }
        let mut one_by_one = self.filter.clone();
        let mut taken = Ok(0);
        for key in keys {
            match one_by_one.insert(key) {
                Ok(insertion) => {
                    self.count(*key);
                    taken = taken.map(|new| new + u64::from(insertion.is_new()));
                }
                Err(full) => {
                    taken = Err(full);
                    break;
                }
            }
        }
        assert_eq!(self.filter.insert_batch(keys), taken);
        assert!(self.filter == one_by_one, "{:?}", self.filter.parameters());
        self.check();
    }

    /// A refused batch into fingerprint blocks has stored some of its keys, and the list is full: it is undone here.
    fn insert_fingerprints(&mut self, keys: &[u8]) {
        let before = self.filter.clone();
        let outcome = self.filter.insert_batch(keys);
        let gained = self.filter.len() - before.len();
        assert!(outcome.is_err() || outcome == Ok(gained), "{outcome:?}");
        if outcome.is_err() {
            let statistics = self.filter.statistics();
            assert!(statistics.memory == before.statistics().memory);
            self.filter = before;
            return;
        }
        let mut one_by_one = before;
        let all_taken = keys.iter().all(|key| one_by_one.insert(key).is_ok());
        if !self.is_multiset() {
            // The words of shortened blocks depend on the order.
            let is_equal = self.filter == one_by_one || one_by_one.statistics().saturated > 0;
            assert!(all_taken && is_equal, "{:?}", self.filter.parameters());
        }
        keys.iter().for_each(|&key| self.count(key));
        self.check();
    }

    fn insert_shared(&mut self, keys: &[u8], threads: usize) {
        let shared = self.filter.clone().into_shared().unwrap();
        let insert = |keys: &[u8]| -> Vec<u8> {
            let taken = |key: &&u8| {
                let is_ok = shared.insert(key).is_ok();
                assert!(!is_ok || shared.contains(key), "{key}: {:?}", self.filter.parameters());
                is_ok
            };
            keys.iter().filter(taken).copied().collect()
        };
        let parts = keys.chunks(keys.len().div_ceil(threads).max(1));
        let taken: Vec<u8> = std::thread::scope(|scope| {
            let workers: Vec<_> = parts.map(|part| scope.spawn(move || insert(part))).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        self.filter = shared.into_filter();
        taken.into_iter().for_each(|key| self.count(key));
        self.check();
    }

    fn merge(&mut self, keys: &[u8]) {
        let mut other = Self::new(self.filter.parameters());
        for &key in keys {
            other.insert(key);
        }
        let before = self.filter.clone();
        match self.filter.merge(&other.filter) {
            Ok(()) => {
                let multiset = self.is_multiset();
                for (ours, theirs) in self.counts.iter_mut().zip(other.counts) {
                    *ours = if multiset { *ours + theirs } else { (*ours).max(theirs) };
                }
            }
            Err(MergeError::Full(_)) => assert!(self.filter == before),
            Err(error) => panic!("{error}"),
        }
        self.check();
    }

    fn save_and_load(&mut self) {
        let mut bytes = Vec::new();
        self.filter.write_to(&mut bytes).unwrap();
        let loaded = Filter::read_from(&bytes[..]).unwrap();
        assert!(loaded == self.filter, "{:?}", self.filter.parameters());
        self.filter = loaded;
        self.check();
    }

    fn fold(&mut self) {
        // Refused where the sizes are odd or the blocks hold fingerprints.
        if let Ok(folded) = self.filter.folded(2) {
            self.filter = folded;
            self.check();
        }
    }

    fn clear(&mut self) {
        self.filter.clear();
        self.counts = [0; 256];
        assert_eq!(self.filter.len(), 0);
        assert!((0..=u8::MAX).all(|key| !self.filter.contains(&key)));
    }
}
