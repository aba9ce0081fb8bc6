//! The overflow list behind a lock.

use std::sync::PoisonError;

use crate::overflow::{ListFull, OverflowList};
pub(in crate::raw) use crate::raw::ledger::Pushed;
use crate::storage::sync::Ordering::Relaxed;
use crate::storage::sync::{AtomicBool, RwLock};
use equibloom_layout::WhenFull;

/// An overflow list that threads share. Lookups skip the lock while it is empty.
pub(in crate::raw) struct SharedOverflow {
    list: RwLock<OverflowList>,
    /// Whether anything was ever added. Visible to every thread that knows of an entry.
    is_used: AtomicBool,
}

impl SharedOverflow {
    pub(in crate::raw) fn new(list: OverflowList) -> Self {
        let is_used = AtomicBool::new(!list.is_empty());
        Self { list: RwLock::new(list), is_used }
    }

    pub(in crate::raw) fn into_list(self) -> OverflowList {
        self.list.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::raw) fn capacity(&self) -> u64 {
        self.list.read().unwrap_or_else(PoisonError::into_inner).capacity()
    }

    /// Whether anything was ever added.
    #[inline]
    pub(in crate::raw) fn is_used(&self) -> bool {
        self.is_used.load(Relaxed)
    }

    #[inline]
    pub(in crate::raw) fn contains(&self, entry: u64) -> bool {
        self.is_used() && self.find(entry)
    }

    #[cold]
    fn find(&self, entry: u64) -> bool {
        self.list.read().unwrap_or_else(PoisonError::into_inner).contains(entry)
    }

    /// Adds an entry; if it should be there once only, and is, then not. What has to be known before the entry
    /// can be found, which is when the lock is released, is done by `announce`, if there is room.
    pub(in crate::raw) fn push(
        &self,
        entry: u64,
        only_once: bool,
        when_full: WhenFull,
        announce: impl FnOnce(),
    ) -> Result<Pushed, ListFull> {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        if only_once && list.contains(entry) {
            return Ok(Pushed::AlreadyThere);
        }
        list.push(entry, when_full)?;
        announce();
        self.is_used.store(true, Relaxed);
        Ok(Pushed::New)
    }
}
