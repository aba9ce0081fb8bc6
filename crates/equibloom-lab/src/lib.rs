//! Every figure of the papers, redrawn from real runs.
//!
//! For each figure there are up to four things, laid over each other: the papers' model, the exact model, a
//! simulation written from the scheme's definition, and the library's own filter or hash table.
//!
//! | module | question |
//! |---|---|
//! | [`simulator`] | Where do elements go, by the schemes' definitions? |
//! | [`occupancy`], [`observables`] | What follows for rates and accesses? |
//! | [`subject`] | What do models, simulator and library say of one filter? |
//! | [`experiments`] | What is each figure, and what does its paper claim? |
//! | [`figure`] | What is a finished figure? |
//! | [`plot`], [`report`] | How does it look, as SVG and as a page? |
//! | [`run`] | How do all figures get into a directory, and go on after an interruption? |

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

pub use context::{Context, Length};
pub use error::Error;
