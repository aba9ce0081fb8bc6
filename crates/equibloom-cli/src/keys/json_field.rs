//! Extracts one field of a JSON object without building the object.

use std::borrow::Cow;
use std::fmt;

use anyhow::ensure;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The path of a field: `user.email` has two names, `user\.email` one.
pub(super) fn path(text: &str) -> anyhow::Result<Vec<String>> {
    let (mut names, mut name) = (Vec::new(), String::new());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '.' => names.push(std::mem::take(&mut name)),
            '\\' => name.extend(characters.next()),
            other => name.push(other),
        }
    }
    names.push(name);
    ensure!(
        names.iter().all(|name| !name.is_empty()),
        "--json-field is `{text}`, which has an empty name in it: \
         give names with dots between them, such as user.email"
    );
    Ok(names)
}

/// Which field of a record is its key.
pub(super) struct Field<'a> {
    pub(super) path: &'a [String],
    pub(super) skip_missing: bool,
}

impl Field<'_> {
    /// The field of one object: a string's characters, or a number, `true` or `false` as written. `None` if it
    /// is missing and missing fields are skipped.
    pub(super) fn of<'r>(&self, record: &'r [u8]) -> Result<Option<Cow<'r, [u8]>>, String> {
        let name = self.path.join(".");
        let raw = match find(self.path, record) {
            Ok(found) => found.map_or("null", RawValue::get),
            Err(error) => return Err(format!("{error}; give one JSON object on every line")),
        };
        match raw.as_bytes() {
            b"null" if self.skip_missing => Ok(None),
            b"null" => Err(format!(
                "the field `{name}` is missing or null: check its name, or skip such records \
                 by --skip-missing"
            )),
            [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => Ok(Some(Cow::Borrowed(inner))),
            [b'"', ..] => match serde_json::from_str::<String>(raw) {
                Ok(string) => Ok(Some(Cow::Owned(string.into_bytes()))),
                Err(error) => Err(format!("the field `{name}` is no text: {error}")),
            },
            [b'{' | b'[', ..] => Err(format!(
                "the field `{name}` has parts: give one of them that is a string or number, \
                 such as {name}.id"
            )),
            number => Ok(Some(Cow::Borrowed(number))),
        }
    }
}

/// Follows a path into an object, to the text of a value. What is not an object has no fields.
fn find<'r>(path: &[String], record: &'r [u8]) -> serde_json::Result<Option<&'r RawValue>> {
    let (mut found, mut text) = (None, record);
    for name in path {
        let mut json = serde_json::Deserializer::from_slice(text);
        found = if text.trim_ascii_start().starts_with(b"{") {
            json.deserialize_map(Member(name))?
        } else {
            IgnoredAny::deserialize(&mut json)?;
            None
        };
        json.end()?;
        let Some(value) = found else { break };
        text = value.get().as_bytes();
    }
    Ok(found)
}

/// The value of this name in an object; the last one, if there are several.
struct Member<'a>(&'a str);

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(Name(name)) = object.next_key()? {
            if name == self.0 {
                found = Some(object.next_value()?);
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Borrowed, unless it is written with escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests;
