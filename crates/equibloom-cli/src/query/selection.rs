//! Looks batches of records up, and prints those that are selected.

use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};
use std::ops::ControlFlow;

use equibloom::{Filter, FilterGroup, KeyHash};
use serde_json::json;

use super::{Arguments, Hashed, Printed};
use crate::answer;
use crate::filter_file::name;
use crate::keys::{Batch, Consumer};

const OUTPUT_BYTES: usize = 128 << 10;

pub(super) struct Selection<'a> {
    group: FilterGroup<'a, KeyHash, Hashed>,
    names: Vec<String>,
    /// Whether each filter selects records on its own, under its name.
    by_filter: bool,
    invert: bool,
    numbers: bool,
    only_keys: bool,
    /// Records to select before the end.
    left: Option<u64>,
    /// Where records are printed, if they are.
    output: Option<BufWriter<StdoutLock<'static>>>,
    terminator: u8,
    /// For a batch, filter after filter: which records it selects, one bit each.
    found: Vec<u64>,
    /// For a batch: which records are selected.
    selected: Vec<u64>,
    keys: u64,
    total: u64,
    by_filter_total: Vec<u64>,
}

impl<'a> Selection<'a> {
    /// A selection by filters of one hash function.
    pub(super) fn new(
        arguments: &Arguments,
        filters: &'a [Filter<KeyHash, Hashed>],
        terminator: u8,
    ) -> anyhow::Result<Self> {
        let output = || BufWriter::with_capacity(OUTPUT_BYTES, io::stdout().lock());
        let most = arguments.max_count;
        let has_names = arguments.with_filename || (filters.len() > 1 && !arguments.no_filename);
        Ok(Self {
            group: FilterGroup::new(filters)?,
            names: arguments.filters.iter().map(|path| name(path)).collect(),
            by_filter: has_names,
            invert: arguments.invert,
            numbers: arguments.line_number,
            only_keys: arguments.only_matching,
            left: if arguments.quiet { Some(most.unwrap_or(1).min(1)) } else { most },
            output: (arguments.printed() == Printed::Records).then(output),
            terminator,
            found: Vec::new(),
            selected: Vec::new(),
            keys: 0,
            total: 0,
            by_filter_total: vec![0; filters.len()],
        })
    }

    /// Whether as many records were selected as were wanted.
    pub(super) fn is_done(&self) -> bool {
        self.left == Some(0)
    }

    /// Looks up a batch.
    fn ask(&mut self, batch: &Batch) {
        self.group.contains_batch_bitmap(&batch.hashes, &mut self.found);
        let words = batch.hashes.len().div_ceil(64);
        self.selected.clear();
        if words == 0 {
            return;
        }
        if self.invert {
            self.found.iter_mut().for_each(|word| *word = !*word);
            self.found.chunks_mut(words).for_each(|bits| keep_first(bits, batch.hashes.len()));
        }
        self.selected.extend_from_slice(&self.found[..words]);
        // With -v and without names a record is selected if none of the filters holds it.
        let are_all_needed = self.invert && !self.by_filter;
        for bits in self.found.chunks(words) {
            for (selected, &bits) in self.selected.iter_mut().zip(bits) {
                *selected = if are_all_needed { *selected & bits } else { *selected | bits };
            }
        }
        if let Some(left) = self.left {
            if let Some(end) = position(&self.selected, left) {
                keep_first(&mut self.selected, end);
                self.found.chunks_mut(words).for_each(|bits| keep_first(bits, end));
            }
            self.left = Some(left - left.min(ones(&self.selected)));
        }
    }

    fn print(&mut self, batch: &Batch) -> io::Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        if !(self.by_filter || self.numbers || self.only_keys) {
            output.write_all(&batch.title)?;
        }
        let words = self.selected.len();
        for (index, (number, record)) in batch.records().enumerate() {
            let is_in = |bits: &[u64]| bits[index / 64] >> (index % 64) & 1 == 1;
            if !is_in(&self.selected) {
                continue;
            }
            let mut line = |name: Option<&str>| {
                if let Some(name) = name {
                    write!(output, "{name}:")?;
                }
                if self.numbers && number > 0 {
                    write!(output, "{number}:")?;
                }
                output.write_all(record)?;
                if record.last() == Some(&self.terminator) {
                    return Ok(());
                }
                output.write_all(&[self.terminator])
            };
            if self.by_filter {
                for (name, bits) in self.names.iter().zip(self.found.chunks(words)) {
                    if is_in(bits) {
                        line(Some(name))?;
                    }
                }
            } else {
                line(None)?;
            }
        }
        Ok(())
    }

    /// Prints counts or names. Returns whether a record was selected, or a name printed.
    pub(super) fn summarize(&self, printed: Printed, missing: u64) -> anyhow::Result<bool> {
        let by_filter = || self.names.iter().zip(&self.by_filter_total);
        match printed {
            Printed::Records | Printed::Nothing => {}
            Printed::Counts if self.by_filter => {
                let lines: String =
                    by_filter().map(|(name, count)| format!("{name}:{count}\n")).collect();
                answer::write(&lines)?;
            }
            Printed::Counts => answer::write(&format!("{}\n", self.total))?,
            Printed::Names { selecting } => {
                let chosen = by_filter().filter(|(_, count)| (**count > 0) == selecting);
                let lines: String = chosen.map(|(name, _)| format!("{name}\n")).collect();
                answer::write(&lines)?;
                return Ok(!lines.is_empty());
            }
            Printed::Json => {
                let filters: Vec<_> = by_filter()
                    .map(|(file, selected)| json!({ "file": file, "selected": selected }))
                    .collect();
                let (keys, selected) = (self.keys, self.total);
                let numbers = json!({
                    "keys": keys, "missing": missing, "selected": selected, "filters": filters
                });
                answer::write(&format!("{numbers:#}\n"))?;
            }
        }
        Ok(self.total > 0)
    }
}

impl Consumer for Selection<'_> {
    fn take(&mut self, batch: &Batch) -> anyhow::Result<ControlFlow<()>> {
        self.keys += batch.count;
        self.ask(batch);
        self.total += ones(&self.selected);
        let words = self.selected.len().max(1);
        for (total, bits) in self.by_filter_total.iter_mut().zip(self.found.chunks(words)) {
            *total += ones(bits);
        }
        let printed = self.print(batch);
        let goes_on = go_on(printed)?;
        Ok(if self.is_done() { ControlFlow::Break(()) } else { goes_on })
    }

    fn wait(&mut self) -> anyhow::Result<()> {
        let flushed = self.output.as_mut().map_or(Ok(()), Write::flush);
        go_on(flushed).map(|_| ())
    }
}

fn ones(bits: &[u64]) -> u64 {
    bits.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Clears all bits but the first `count`.
fn keep_first(bits: &mut [u64], count: usize) {
    for (index, word) in bits.iter_mut().enumerate() {
        *word &= match count.saturating_sub(64 * index) {
            kept @ 0..64 => (1 << kept) - 1,
            _ => u64::MAX,
        };
    }
}

/// How many bits have to be kept for the first `count` ones; `None` if there are no more than that.
fn position(bits: &[u64], mut count: u64) -> Option<usize> {
    for (index, &word) in bits.iter().enumerate() {
        let ones = u64::from(word.count_ones());
        if ones > count {
            let all = (0..64).filter(|bit| word >> bit & 1 == 1);
            return all.skip(count as usize).map(|bit| 64 * index + bit).next();
        }
        count -= ones;
    }
    None
}

/// A closed pipe ends the query without an error.
fn go_on(printed: io::Result<()>) -> anyhow::Result<ControlFlow<()>> {
    match printed {
        Ok(()) => Ok(ControlFlow::Continue(())),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
        Err(error) => Err(anyhow::anyhow!("could not write to standard output: {error}")),
    }
}
