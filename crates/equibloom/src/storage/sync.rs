//! What threads meet at: the standard library's, or the model checker's under `--cfg loom`.

#[cfg(all(test, loom))]
pub(crate) use self::modelled::{AtomicBool, AtomicU64, Ordering, RwLock, fence, let_others_run};
#[cfg(not(all(test, loom)))]
pub(crate) use self::real::{AtomicBool, AtomicU64, Ordering, RwLock, fence, let_others_run};

#[cfg(not(all(test, loom)))]
mod real {
    pub(crate) use core::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
    pub(crate) use std::sync::RwLock;

    /// Turns of waiting before the processor is left to others: a block is locked for as long as some
    /// words are written, unless its thread was put to sleep meanwhile.
    const TURNS: u32 = 64;

    /// One turn of waiting for another thread.
    pub(crate) fn let_others_run(turn: &mut u32) {
        *turn = turn.wrapping_add(1);
        if turn.is_multiple_of(TURNS) {
            std::thread::yield_now();
        } else {
            core::hint::spin_loop();
        }
    }
}

#[cfg(all(test, loom))]
mod modelled {
    pub(crate) use loom::sync::RwLock;
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

    pub(crate) fn let_others_run(_turn: &mut u32) {
        loom::thread::yield_now();
    }
}
