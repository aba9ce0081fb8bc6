//! The theory of balanced Bloom filters: the lower bound, the parameters that reach it, and the exact
//! properties of a filter built with them.
//!
//! ```
//! use equibloom_theory::{lower_bound::lower_bound, optimum};
//!
//! // Eight keys per block, 1.2 block accesses per insert, at most three per key.
//! let best = optimum::multi_level(8.0, 1.2, 3, None)?;
//! assert!((best.overflow - 0.0049845).abs() < 1e-7);
//! assert_eq!(lower_bound(8.0, 1.2, best.overflow)?.k0, Some(best.threshold));
//! # Ok::<(), equibloom_theory::Error>(())
//! ```
//!
//! | module | question |
//! |---|---|
//! | [`lower_bound`] | Which distribution of loads can no scheme beat, for any convex cost? |
//! | [`optimum`] | Which thresholds, coins and subtables reach it, and with how much overflow? |
//! | [`fluid`] | How do the loads evolve while a table fills? |
//! | `paper` (feature `papers`) | Which false-positive rates do the papers print? |
//! | [`exact`] | Which rates, accesses and overflow does a real filter have? |
//! | [`planner`] | Which filter is best for these keys, this memory, this rate? |
//! | `cuckoo` (feature `papers`) | When does cuckoo hashing succeed, and what does an insertion cost? |
//!
//! `paper` and `exact` are separate models: the first reproduces published values, the second predicts filters
//! (it is tested against real bits in `tests/exact_model.rs`). All numbers are checked against an independent
//! computation in high precision (`tests/against_mpmath.rs`).
//!
//! Every function accepts any input: impossible values give an [`Error`] that names the argument, its value and
//! the accepted range.

#![forbid(unsafe_code)]

#[cfg(feature = "papers")]
pub mod cuckoo;
mod error;
pub mod exact;
pub mod fluid;
pub mod lower_bound;
mod minimum;
pub mod optimum;
#[cfg(feature = "papers")]
pub mod paper;
pub mod planner;
mod poisson;
mod quadrature;
mod root;

pub use error::Error;
