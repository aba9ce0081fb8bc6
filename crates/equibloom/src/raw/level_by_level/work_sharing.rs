//! Work sharing: an idle worker takes over blocks of a busy one.
//!
//! Threads are not equally fast: a CPU may be slow or shared with other work. An idle worker sends requests
//! to the others in turn. A worker with a request finishes its chunk of keys, keeps the first half of its
//! blocks, and hands over the second with the index of the first key that has not reached it. So every
//! block still receives its keys in order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Blocks to hand over, and the index of the first key that has not reached them.
pub(super) struct Share<P> {
    pub(super) part: P,
    pub(super) start: usize,
}

/// A worker's mailbox for requests.
pub(super) struct WorkSharing<P> {
    /// Whether a request is unanswered: a copy of the state for a quick check.
    is_asked: AtomicBool,
    state: Mutex<State<P>>,
    answered: Condvar,
}

struct State<P> {
    /// Whether the worker is running.
    is_working: bool,
    /// Whether another worker waits for an answer.
    is_taken_up: bool,
    answer: Option<Option<Share<P>>>,
}

impl<P> WorkSharing<P> {
    pub(super) const fn new() -> Self {
        let state = State { is_working: false, is_taken_up: false, answer: None };
        Self {
            is_asked: AtomicBool::new(false),
            state: Mutex::new(state),
            answered: Condvar::new(),
        }
    }

    // No thread panics while holding the lock.
    fn lock(&self) -> MutexGuard<'_, State<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the worker as running until the result is dropped.
    pub(super) fn begin(&self) -> Working<'_, P> {
        self.lock().is_working = true;
        Working(self)
    }

    /// Requests a share and waits for the answer, unless another request is pending.
    pub(super) fn ask(&self) -> Option<Share<P>> {
        let mut state = self.lock();
        if !state.is_working || state.is_taken_up {
            return None;
        }
        state.is_taken_up = true;
        self.is_asked.store(true, Ordering::Relaxed);
        // A worker that ends answers first, and the answer stays until it is fetched here.
        let mut state = self
            .answered
            .wait_while(state, |state| state.answer.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        state.is_taken_up = false;
        state.answer.take().flatten()
    }

    /// Whether a request is pending.
    #[inline(always)]
    pub(super) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    /// Answers the pending request.
    pub(super) fn answer(&self, share: Option<Share<P>>) {
        self.answer_locked(&mut self.lock(), share);
    }

    fn answer_locked(&self, state: &mut State<P>, share: Option<Share<P>>) {
        state.answer = Some(share);
        self.is_asked.store(false, Ordering::Relaxed);
        self.answered.notify_one();
    }
}

/// A running worker.
pub(super) struct Working<'a, P>(&'a WorkSharing<P>);

impl<P> Drop for Working<'_, P> {
    /// Answers a pending request, also on a panic. Without an answer the other worker could miss this end
    /// if the worker begins again before it wakes up.
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_working = false;
        if self.0.is_asked() {
            self.0.answer_locked(&mut state, None);
        }
    }
}
