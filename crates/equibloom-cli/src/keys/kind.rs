//! `--type`: whether keys are text or integers (`docs/keys.md`).
//!
//! A filter file records the kind of its keys, and a Parquet column has a type. Lines, cells, fields and
//! command-line keys have none: they are text, unless the filter holds integers.

use std::path::Path;

use anyhow::{anyhow, bail};
use equibloom::KeyKind;

use super::Input;

/// The user's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum KeyType {
    /// The kind that the filter holds. For a new filter: the type of the Parquet column, else text.
    Auto,
    /// Bytes as they are.
    Text,
    /// Decimal integers from -2^63 to 2^64 - 1, by value: 5, +5 and 005 are one key.
    Int,
    /// Bytes as they are: the same keys as text.
    Bytes,
}

impl Input {
    /// Decides how keys are read; for an existing filter the kinds must agree.
    pub(crate) fn settle_kind(
        &mut self,
        filter: Option<(&Path, KeyKind)>,
    ) -> anyhow::Result<KeyKind> {
        let said = match self.key_type {
            KeyType::Auto => self.kind_of_columns()?,
            KeyType::Text | KeyType::Bytes => Some(KeyKind::Bytes),
            KeyType::Int => Some(KeyKind::Integer),
        };
        self.kind = match (filter, said) {
            (None | Some((_, KeyKind::Unspecified)), said) => said.unwrap_or(KeyKind::Bytes),
            (Some((_, held @ (KeyKind::Bytes | KeyKind::Integer))), None) => held,
            (Some((_, held)), Some(said)) if held == said => held,
            (Some((path, held)), said) => bail!(self.disagreement(path, held, said)),
        };
        Ok(self.kind)
    }

    fn disagreement(&self, path: &Path, held: KeyKind, said: Option<KeyKind>) -> String {
        let path = path.display();
        let name = match held {
            KeyKind::Integer => "int",
            KeyKind::Bytes => "text",
            _ => return format!("{path}: it holds {held}, which only the library can ask for"),
        };
        match said {
            Some(said) if self.key_type == KeyType::Auto => format!(
                "{path}: it holds {held}, and the column holds {said}: give a column of the same kind, \
                 or convert this one by --type {name}"
            ),
            _ => format!(
                "{path}: it holds {held}, and --type asks for something else: leave --type out, \
                 or give --type {name}"
            ),
        }
    }

    /// The kind of the column in all Parquet files; `None` without Parquet files.
    fn kind_of_columns(&self) -> anyhow::Result<Option<KeyKind>> {
        #[cfg(feature = "parquet")]
        if let super::Format::Parquet(column) = &self.format {
            let mut found: Option<(String, KeyKind)> = None;
            for source in &self.sources {
                let (name, file) = (source.name(), source.seekable()?);
                let kind = super::parquet::kind_of(&name, file, column)?;
                match &found {
                    Some((first, other)) if *other != kind => bail!(
                        "the column `{column}` holds {other} in {first} and {kind} in {name}: \
                         give files that agree, or convert all of them by --type int or --type text"
                    ),
                    _ => found = Some((name, kind)),
                }
            }
            return Ok(found.map(|(_, kind)| kind));
        }
        Ok(None)
    }
}

/// The 64 bits that represent a decimal integer.
pub(crate) fn parse(text: &[u8]) -> anyhow::Result<u64> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let value = match digits {
        [b'0'..=b'9', ..] => str::from_utf8(digits).ok().and_then(|it| it.parse::<u64>().ok()),
        _ => None,
    };
    match value {
        Some(value) if !is_negative => Ok(value),
        Some(value) if value <= 1 << 63 => Ok(value.wrapping_neg()),
        _ => {
            let shown: String = String::from_utf8_lossy(text).chars().take(40).collect();
            Err(anyhow!(
                "keys are read as integers, and `{shown}` is not one from {} to {}: correct it, \
                 or build a filter of text by --type text",
                i64::MIN,
                u64::MAX
            ))
        }
    }
}

#[cfg(test)]
mod tests;
