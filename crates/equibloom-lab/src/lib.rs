//! Every figure of the papers, redrawn from real runs.
//!
//! Each figure lays up to four things over each other: the papers' model, the exact model, a simulation written
//! from the scheme's definition, and the library's own filter or hash table.
//!
//! | module | question |
//! |---|---|
//! | [`simulator`] | Where are elements placed, by the schemes' definitions? |
//! | [`occupancy`], [`observables`] | Which rates and accesses follow? |
//! | [`subject`] | What do models, simulator and library give for one filter? |
//! | [`experiments`] | What does each figure show, and what does its paper claim? |
//! | [`figure`] | What is a finished figure? |
//! | [`plot`], [`report`] | How is it drawn, as SVG and as a page? |
//! | [`run`] | How are all figures written to a directory, and resumed after an interruption? |

#![forbid(unsafe_code)]

mod context;
mod error;
pub mod estimate;
mod evidence;
pub mod experiments;
pub mod figure;
pub mod number;
pub mod observables;
pub mod occupancy;
pub mod plot;
pub mod report;
pub mod run;
pub mod simulator;
pub mod subject;
pub mod trace;

pub use context::{Context, Length};
pub use error::Error;
