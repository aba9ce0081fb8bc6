//! `equibloom info`: parameters and state of a filter file.

mod picture;

use std::fmt;
use std::path::PathBuf;

use equibloom::Statistics;
use equibloom::file::{self, Header};
use indicatif::{DecimalBytes, HumanCount};
use serde::Serialize;

use crate::answer::{self, count, rate};
use crate::build::warn_over_capacity;
use crate::describe::describe;
use crate::filter_file::{self, is_standard};
use crate::progress;

/// Shows a filter file: parameters, keys, current false-positive rate, block loads, and bytes by part. The file is
/// verified first.
///
/// Exit status: 0 if it is whole, 2 after an error.
///
/// Example: equibloom info customers.eqb
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The filter file; `-` for standard input.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let opened = filter_file::open(&arguments.file, true, false)?;
    let filter = &opened.filter;
    let header = if is_standard(&arguments.file) {
        filter_file::header_of(filter)?
    } else {
        file::inspect(&arguments.file)?
    };
    let planned_keys = filter.parameters().keys;
    let parts = filter.part_count();
    let planned = filter.parameters().predict(planned_keys).ok().filter(|_| parts == 1);
    let info = Info {
        file: filter_file::name(&arguments.file),
        filter: describe(&header.parameters.design),
        parts,
        grown_keys: filter.growth_elements(),
        planned_keys,
        rate_planned: planned.as_ref().map(|planned| planned.rate),
        accesses_miss_planned: planned.as_ref().map(|planned| planned.accesses_miss),
        statistics: progress::during("computing the rate", false, || filter.statistics()),
        header,
    };
    opened.origin.check()?;
    warn_over_capacity(&info.file, filter, &info.statistics);
    answer::print(&info, arguments.json)
}

#[derive(Serialize)]
struct Info {
    file: String,
    /// Name and sizes, of the first part.
    filter: String,
    /// Filters of different plans that were merged, and a part that grows.
    parts: usize,
    /// In the part that grows, if there is one.
    grown_keys: Option<u64>,
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
            1 => writeln!(f, "{}: {}\n", self.file, self.filter)?,
            parts => writeln!(f, "{}: {parts} parts, the first {}\n", self.file, self.filter)?,
        }
        let (keys, planned) = (HumanCount(statistics.elements), HumanCount(self.planned_keys));
        let is_exact = parameters.design.is_multiset() || statistics.elements == 0;
        let about = match is_exact {
            true => String::new(),
            false => format!("{} ", answer::about(statistics.expected_rate)),
        };
        writeln!(f, "  keys                  {about}{keys} of {planned} planned")?;
        writeln!(f, "  keys are              {}", header.key_kind)?;
        let planned =
            self.rate_planned.map(|rate| format!(", {} with all planned keys", answer::rate(rate)));
        let rate = rate(statistics.expected_rate);
        writeln!(f, "  false-positive rate   {rate} now{}", planned.unwrap_or_default())?;
        let planned =
            self.accesses_miss_planned.map(|mean| format!(", {mean:.3} with all planned keys"));
        let accesses = statistics.expected_accesses_per_miss;
        writeln!(f, "  accesses per miss     {accesses:.3} now{}", planned.unwrap_or_default())?;
        if self.parts == 1 && header.counters.overflow_capacity > 0 {
            let keys = count(header.counters.overflow_entries, "key");
            let room = HumanCount(header.counters.overflow_capacity);
            writeln!(f, "  overflow list         {keys}, room for {room}")?;
        }
        if let Some(grown) = self.grown_keys {
            writeln!(f, "  grown                 {}", count(grown, "key"))?;
        }
        if statistics.saturated > 0 {
            let keys = count(statistics.saturated, "key");
            writeln!(f, "  past capacity         {keys} that came when the list was full")?;
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
