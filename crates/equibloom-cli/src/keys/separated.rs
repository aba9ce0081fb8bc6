//! Records that end with a given byte: lines, or the output of `find -print0`.
//!
//! Records are hashed in place: a batch's text is the read buffer, and a partial record at its end starts the
//! next batch. One `read` makes a batch, so that slow input from a pipe is answered as it arrives.

use std::io::{ErrorKind, Read};
use std::ops::Range;

use anyhow::{Context, anyhow, ensure};
use indicatif::HumanBytes;
use memchr::{memchr_iter, memrchr};

use super::Records;
use super::batch::{Batch, TEXT_BYTES};
use super::count::count_keys;
use super::json_field::Field;
use super::source::unreadable_bytes;

pub(super) struct Separated<'a> {
    name: String,
    input: Box<dyn Read>,
    separator: u8,
    /// The field of a record that is the key; `None` for the whole record.
    field: Option<Field<'a>>,
    /// The beginning of a record that is not complete.
    rest: Vec<u8>,
    has_ended: bool,
    /// Records so far.
    number: u64,
    max_record: u64,
}

impl<'a> Separated<'a> {
    pub(super) fn new(
        name: String,
        input: Box<dyn Read>,
        separator: u8,
        field: Option<Field<'a>>,
        max_record: u64,
    ) -> Self {
        let (rest, has_ended, number) = (Vec::new(), false, 0);
        Self { name, input, separator, field, rest, has_ended, number, max_record }
    }

    /// Reads until `text` contains a whole record. Returns the bytes of whole records, and of all that was read.
    fn read(&mut self, text: &mut Vec<u8>) -> anyhow::Result<(usize, usize)> {
        let mut filled = self.rest.len();
        if text.len() < filled + TEXT_BYTES {
            self.grow(text, filled + TEXT_BYTES)?;
        }
        text[..filled].copy_from_slice(&self.rest);
        loop {
            let bytes = match self.input.read(&mut text[filled..]) {
                Ok(0) => {
                    self.has_ended = true;
                    return Ok((filled, filled));
                }
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(unreadable_bytes(&self.name, error)),
            };
            let new = filled..filled + bytes;
            filled += bytes;
            if let Some(last) = memrchr(self.separator, &text[new.clone()]) {
                return Ok((new.start + last + 1, filled));
            }
            // A record longer than the buffer.
            ensure!(filled as u64 <= self.max_record, self.too_long());
            if text.len() - filled < TEXT_BYTES {
                self.grow(text, 2 * text.len())?;
            }
        }
    }

    fn grow(&self, text: &mut Vec<u8>, length: usize) -> anyhow::Result<()> {
        text.try_reserve(length - text.len()).map_err(|error| {
            anyhow!(
                "{}: no memory for the {} of the record that begins at line {}: give the command more, or the file \
                 shorter records ({error})",
                self.name,
                HumanBytes(length as u64),
                self.number + 1
            )
        })?;
        text.resize(length, 0);
        Ok(())
    }

    fn too_long(&self) -> String {
        too_long(&self.name, self.number, self.max_record)
    }

    fn add(&mut self, batch: &mut Batch, text: &[u8], record: Range<usize>) -> anyhow::Result<()> {
        let text = &text[record.clone()];
        let mut key = text.strip_suffix(&[self.separator]).unwrap_or(text);
        ensure!(key.len() as u64 <= self.max_record, self.too_long());
        self.number += 1;
        if self.separator == b'\n' {
            key = key.strip_suffix(b"\r").unwrap_or(key);
        }
        let added = match &self.field {
            None => batch.add_in_place(self.number, record, key),
            Some(_) if key.trim_ascii().is_empty() => Ok(()),
            Some(field) => match field.of(key) {
                Ok(Some(key)) => batch.add_in_place(self.number, record, &key),
                Ok(None) => {
                    batch.missing += 1;
                    Ok(())
                }
                Err(problem) => Err(anyhow!(problem)),
            },
        };
        added.with_context(|| format!("{}, line {}", self.name, self.number))
    }

    fn add_all(&mut self, batch: &mut Batch, text: &[u8]) -> anyhow::Result<()> {
        if self.field.is_none() && batch.only_counts() {
            batch.count += count_keys(text, self.separator, batch.keep_empty);
            return Ok(());
        }
        let mut start = 0;
        for end in memchr_iter(self.separator, text) {
            self.add(batch, text, start..end + 1)?;
            start = end + 1;
        }
        // The last record of a file may be unterminated.
        if start < text.len() {
            self.add(batch, text, start..text.len())?;
        }
        Ok(())
    }
}

/// The error of a record that is longer than `--max-record`.
pub(super) fn too_long(name: &str, before: u64, most: u64) -> String {
    format!(
        "{name}: the record that begins at line {} has more than {most} bytes: check the format of the file, or \
         allow more by --max-record",
        before + 1
    )
}

impl Records for Separated<'_> {
    fn fill(&mut self, batch: &mut Batch) -> anyhow::Result<bool> {
        if self.has_ended {
            return Ok(false);
        }
        let mut text = std::mem::take(&mut batch.text);
        let (whole, all) = self.read(&mut text)?;
        self.rest.clear();
        self.rest.extend_from_slice(&text[whole..all]);
        if self.rest.capacity() > 4 * TEXT_BYTES && self.rest.len() < TEXT_BYTES {
            self.rest.shrink_to(TEXT_BYTES);
        }
        let added = self.add_all(batch, &text[..whole]);
        batch.text = text;
        added.map(|()| true)
    }
}
