//! `equibloom info`: parameters and state of a filter file.

mod picture;

use std::fmt;
use std::path::PathBuf;

use equibloom::file::{self, Header};
use equibloom::{Blocks, Design, Statistics};
use indicatif::{DecimalBytes, HumanCount};
use serde::Serialize;

use crate::answer::{self, number};
use crate::build::warn_over_capacity;
use crate::query::open;

/// Shows a filter file: parameters, keys, current false-positive rate, block loads, and bytes by part.
///
/// Example: equibloom info customers.eqb
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The filter file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let header = file::inspect(&arguments.file)?;
    let filter = open(&arguments.file)?;
    let planned_keys = filter.parameters().keys;
    let parts = filter.part_count();
    let planned = filter.parameters().predict(planned_keys).ok().filter(|_| parts == 1);
    let info = Info {
        file: arguments.file.display().to_string(),
        parts,
        planned_keys,
        rate_planned: planned.as_ref().map(|planned| planned.rate),
        accesses_miss_planned: planned.as_ref().map(|planned| planned.accesses_miss),
        statistics: filter.statistics(),
        header,
    };
    warn_over_capacity(&info.file, &filter, &info.statistics);
    answer::print(&info, arguments.json)
}

#[derive(Serialize)]
struct Info {
    file: String,
    /// Filters of different plans that were merged.
    parts: usize,
    /// Of all parts.
    planned_keys: u64,
    /// Of the first part.
    header: Header,
    /// With the planned number of keys, where the model covers the filter.
    rate_planned: Option<f64>,
    accesses_miss_planned: Option<f64>,
    /// Computed from the filter's contents.
    statistics: Statistics,
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { header, statistics, .. } = self;
        let parameters = &header.parameters;
        match self.parts {
            1 => writeln!(f, "{}: {}\n", self.file, describe(&parameters.design))?,
            parts => {
                let first = describe(&parameters.design);
                writeln!(f, "{}: {parts} parts, the first {first}\n", self.file)?;
            }
        }
        let (keys, planned) = (HumanCount(statistics.elements), HumanCount(self.planned_keys));
        writeln!(f, "  keys                  {keys} of {planned} planned")?;
        writeln!(f, "  keys are              {}", header.key_kind)?;
        let planned =
            self.rate_planned.map(|rate| format!(", {} with all planned keys", number(rate)));
        let rate = number(statistics.expected_rate);
        writeln!(f, "  false-positive rate   {rate} now{}", planned.unwrap_or_default())?;
        let planned =
            self.accesses_miss_planned.map(|mean| format!(", {mean:.3} with all planned keys"));
        let accesses = statistics.expected_accesses_per_miss;
        writeln!(f, "  accesses per miss     {accesses:.3} now{}", planned.unwrap_or_default())?;
        if self.parts == 1 && header.counters.overflow_capacity > 0 {
            let entries = HumanCount(header.counters.overflow_entries);
            let room = HumanCount(header.counters.overflow_capacity);
            writeln!(f, "  overflow list         {entries} entries, room for {room}")?;
        }
        if statistics.saturated > 0 {
            let keys = HumanCount(statistics.saturated);
            writeln!(f, "  past capacity         {keys} keys, which came when the list was full")?;
        }
        writeln!(f, "  hash                  {}, seed {}", header.hash, parameters.seed)?;
        writeln!(f, "  format                version {}\n", header.version)?;

        writeln!(f, "  header                {:>12} bytes", header.header_length)?;
        for section in &header.sections {
            writeln!(f, "  {:21} {:>12} bytes", section.name, section.length)?;
        }
        let sections: u64 = header.sections.iter().map(|section| section.length).sum();
        let padding = header.file_length.saturating_sub(sections + header.header_length);
        writeln!(f, "  padding               {padding:>12} bytes")?;
        let total = DecimalBytes(header.file_length);
        write!(f, "  the whole file        {:>12} bytes, {total}", header.file_length)?;
        if statistics.elements > 0 {
            write!(f, ", {:.2} bits per key", statistics.bits_per_key())?;
        }
        writeln!(f)?;
        picture::write(f, statistics)
    }
}

/// A short description of the filter.
fn describe(design: &Design) -> String {
    let name = design.name();
    let layout = match design {
        Design::Classical { bits, hashes } => {
            return format!("{name}, {} bits, {hashes} for every key", HumanCount(*bits));
        }
        Design::List { overflow, multiset } => {
            let removable = if *multiset { ", keys can be removed" } else { "" };
            return format!(
                "{name}, {} hashes of 64 bits{removable}",
                HumanCount(overflow.capacity)
            );
        }
        Design::Blocked(layout) => layout,
    };
    let count = HumanCount(layout.candidates.blocks());
    match layout.blocks {
        Blocks::Bloom { bits, hashes, .. } => {
            format!("{name}, {count} blocks of {bits} bits, {hashes} for every key")
        }
        Blocks::Fingerprint { slots, remainder_bits, .. } => {
            let removable = if layout.multiset { ", keys can be removed" } else { "" };
            format!("{name}, {count} blocks with {slots} slots of {remainder_bits} bits{removable}")
        }
    }
}
