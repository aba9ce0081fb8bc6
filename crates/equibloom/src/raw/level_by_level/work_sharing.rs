//! How a thread that has done its part of a level gets some of another's.
//!
//! Threads are not equally fast: something else runs on their processor, or it is a slow one. Who is done asks
//! the others in turn. A thread that is asked cuts its blocks in two when it has finished a chunk of keys, goes
//! on with the first half, and gives the second away together with the place of the first key that has not
//! come there yet. So every block still sees its keys in their order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::level_pass::Part;

/// Blocks that change hands, and the place of the first key that is still to come to them.
pub(super) struct Share<B> {
    pub(super) part: Part<B>,
    pub(super) start: usize,
}

/// Where a thread can be asked.
pub(super) struct WorkSharing<B> {
    /// Whether a request has no answer yet: for a quick look, and changed with the state only.
    is_asked: AtomicBool,
    state: Mutex<State<B>>,
    answered: Condvar,
}

struct State<B> {
    /// Whether the thread has something to give; if not, it has not begun or is done.
    is_working: bool,
    /// Whether another has asked and not yet fetched the answer.
    is_taken_up: bool,
    answer: Option<Option<Share<B>>>,
}

impl<B> WorkSharing<B> {
    pub(super) const fn new() -> Self {
        let state = State { is_working: false, is_taken_up: false, answer: None };
        Self {
            is_asked: AtomicBool::new(false),
            state: Mutex::new(state),
            answered: Condvar::new(),
        }
    }

    // Nobody panics while it is locked.
    fn lock(&self) -> MutexGuard<'_, State<B>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread works, until what is returned is dropped.
    pub(super) fn begin(&self) -> Working<'_, B> {
        self.lock().is_working = true;
        Working(self)
    }

    /// Asks the thread for a share and waits for the answer, unless another does so already.
    pub(super) fn ask(&self) -> Option<Share<B>> {
        let mut state = self.lock();
        if !state.is_working || state.is_taken_up {
            return None;
        }
        state.is_taken_up = true;
        self.is_asked.store(true, Ordering::Relaxed);
        // A thread that ends answers first, and an answer stays until it is fetched here.
        let mut state = self
            .answered
            .wait_while(state, |state| state.answer.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        state.is_taken_up = false;
        state.answer.take().flatten()
    }

    /// Whether the thread is asked for a share.
    #[inline(always)]
    pub(super) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    /// What the thread says to who has asked.
    pub(super) fn answer(&self, share: Option<Share<B>>) {
        self.answer_locked(&mut self.lock(), share);
    }

    fn answer_locked(&self, state: &mut State<B>, share: Option<Share<B>>) {
        state.answer = Some(share);
        self.is_asked.store(false, Ordering::Relaxed);
        self.answered.notify_one();
    }
}

/// A thread at its seat.
pub(super) struct Working<'a, B>(&'a WorkSharing<B>);

impl<B> Drop for Working<'_, B> {
    /// Answers a request that is still open, also if the thread panics. Without an answer the other thread would
    /// not notice this end if the thread begins again before it wakes up.
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_working = false;
        if self.0.is_asked() {
            self.0.answer_locked(&mut state, None);
        }
    }
}
