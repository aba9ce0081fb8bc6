//! Finished figures as files: one page for people, and data for everyone else.

mod csv;
mod page;
mod results;

pub use csv::csv;
pub use page::{Files, Provenance, SCRIPT, machine, page, section, style};
pub use results::results;
