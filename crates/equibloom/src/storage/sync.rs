//! What threads meet at: the standard library's, or the model checker's under `--cfg loom`.

#[cfg(not(all(test, loom)))]
pub(crate) use core::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
#[cfg(all(test, loom))]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
#[cfg(all(test, loom))]
pub(crate) use loom::{sync::RwLock, thread::yield_now};
#[cfg(not(all(test, loom)))]
pub(crate) use std::{sync::RwLock, thread::yield_now};

/// Turns of waiting before the processor is left to others: a block is locked for as long as some words are
/// written, unless its thread was put to sleep meanwhile.
const TURNS: u32 = 64;

/// One turn of waiting for another thread.
pub(crate) fn let_others_run(turn: &mut u32) {
    *turn = turn.wrapping_add(1);
    if cfg!(all(test, loom)) || turn.is_multiple_of(TURNS) {
        yield_now();
    } else {
        core::hint::spin_loop();
    }
}
