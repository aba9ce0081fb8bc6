//! What needs a server or a framework of its own: run by `cargo xtask test --engines`, after everything else.

use crate::step::Step;

mod lake;
mod spark;
pub(crate) mod valkey;

/// The checks of all engines.
pub(crate) fn engines() -> Vec<Step> {
    [valkey::checks(), lake::checks(), spark::checks()].into_iter().flatten().collect()
}
