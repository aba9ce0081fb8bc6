//! Finished figures as files: an HTML page, CSV and JSON.

mod csv;
mod page;
mod results;

pub use csv::csv;
pub use page::{Files, Provenance, SCRIPT, machine, page, section, style};
pub use results::results;
