//! Finished figures as files: one page for people, and data for everyone else.

mod csv;
mod page;
mod results;

pub use csv::csv;
pub use page::{Provenance, page};
pub use results::results;
