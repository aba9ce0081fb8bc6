//! A lock for many readers or one writer, which a thread that holds the interpreter's own lock can do without.
//!
//! Taking and leaving a lock costs two atomic operations, a third of a lookup. Threads that are attached to an interpreter with a
//! lock of its own exclude each other already. So only detached writers can be in the way of an attached reader, and these announce
//! themselves before they detach. On a free-threaded interpreter every reader takes the lock.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use pyo3::Python;

pub(crate) struct Lock<T> {
    lock: RwLock<()>,
    /// Calls that may change the value while they are detached.
    writers: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: as for `RwLock`: readers share the value, a writer has it alone.
unsafe impl<T: Send + Sync> Sync for Lock<T> {}

/// Shared access.
pub(crate) struct Reading<'a, T> {
    value: &'a T,
    _guard: RwLockReadGuard<'a, ()>,
}

/// Exclusive access.
pub(crate) struct Writing<'a, T> {
    value: &'a mut T,
    _guard: RwLockWriteGuard<'a, ()>,
}

/// As long as it lives, its thread may be detached and write.
pub(crate) struct Announced<'a>(&'a AtomicUsize);

impl Drop for Announced<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

impl<T> Deref for Reading<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> Deref for Writing<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> DerefMut for Writing<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value
    }
}

// A filter is whole after every call of the library, so that a poisoned lock means nothing.
impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { lock: RwLock::new(()), writers: AtomicUsize::new(0), value: UnsafeCell::new(value) }
    }

    fn reading<'a>(&'a self, guard: RwLockReadGuard<'a, ()>) -> Reading<'a, T> {
        // SAFETY: the guard excludes writers.
        Reading { value: unsafe { &*self.value.get() }, _guard: guard }
    }

    fn writing<'a>(&'a self, guard: RwLockWriteGuard<'a, ()>) -> Writing<'a, T> {
        // SAFETY: the guard excludes readers and writers with one. A reader without is attached to an interpreter with a lock:
        // this thread is attached, too, or has announced itself.
        Writing { value: unsafe { &mut *self.value.get() }, _guard: guard }
    }

    /// For a detached thread, which may wait.
    pub(crate) fn read(&self) -> Reading<'_, T> {
        self.reading(self.lock.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn try_read(&self) -> Option<Reading<'_, T>> {
        match self.lock.try_read() {
            Ok(guard) => Some(self.reading(guard)),
            Err(TryLockError::Poisoned(guard)) => Some(self.reading(guard.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Announces that this thread will write while it is detached.
    pub(crate) fn announce(&self, _py: Python<'_>) -> Announced<'_> {
        self.writers.fetch_add(1, Ordering::Relaxed);
        Announced(&self.writers)
    }

    /// For a detached thread, which may wait.
    pub(crate) fn write<'a>(&'a self, announced: &Announced<'_>) -> Writing<'a, T> {
        assert!(std::ptr::eq(announced.0, &self.writers), "announced to this lock");
        self.writing(self.lock.write().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn try_write(&self, _py: Python<'_>) -> Option<Writing<'_, T>> {
        match self.lock.try_write() {
            Ok(guard) => Some(self.writing(guard)),
            Err(TryLockError::Poisoned(guard)) => Some(self.writing(guard.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The value without a lock, if no other thread can change it as long as this thread stays attached.
    ///
    /// # Safety
    /// The thread stays attached as long as the reference lives: no Python code is run, and nothing is waited for.
    #[inline(always)]
    pub(crate) unsafe fn attached(&self, _py: Python<'_>) -> Option<&T> {
        if cfg!(Py_GIL_DISABLED) || self.writers.load(Ordering::Acquire) != 0 {
            return None;
        }
        // SAFETY: every writer is attached, and waits for this thread, or announces itself while it is attached.
        Some(unsafe { &*self.value.get() })
    }
}
