//! The overflow list behind a lock.

use std::sync::PoisonError;

use crate::overflow::{ListFull, OverflowList};
use crate::storage::sync::Ordering::Relaxed;
use crate::storage::sync::{AtomicBool, RwLock};
use equibloom_layout::WhenFull;

/// An overflow list that threads share. Lookups skip the lock while it is empty.
pub(crate) struct SharedOverflow {
    list: RwLock<OverflowList>,
    /// Whether anything was ever added. Visible to every thread that knows of an entry.
    is_used: AtomicBool,
}

/// What became of an entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    New,
    AlreadyThere,
}

impl SharedOverflow {
    pub(crate) fn new(list: OverflowList) -> Self {
        let is_used = AtomicBool::new(!list.is_empty());
        Self { list: RwLock::new(list), is_used }
    }

    pub(crate) fn into_list(self) -> OverflowList {
        self.list.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.list.read().unwrap_or_else(PoisonError::into_inner).capacity()
    }

    #[inline]
    pub(crate) fn contains(&self, entry: u64) -> bool {
        self.is_used.load(Relaxed) && self.find(entry)
    }

    #[cold]
    fn find(&self, entry: u64) -> bool {
        self.list.read().unwrap_or_else(PoisonError::into_inner).contains(entry)
    }

    /// Adds an entry; if it should be there once only, and is, then not. What has to be known before the entry
    /// can be found is done by `announce`, if there is room.
    pub(crate) fn push(
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
        list.make_room(1, when_full)?;
        announce();
        list.push(entry, when_full)?;
        self.is_used.store(true, Relaxed);
        Ok(Pushed::New)
    }
}
