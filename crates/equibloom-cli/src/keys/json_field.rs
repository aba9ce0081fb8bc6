//! Extracts one field of a JSON object without building the object.

use std::borrow::Cow;
use std::fmt;

use anyhow::ensure;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
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
        let mut json = serde_json::Deserializer::from_slice(record);
        let found = Path(self.path).deserialize(&mut json).and_then(|found| {
            json.end()?;
            Ok(found)
        });
        let raw = match found {
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

/// Follows a path into an object, to the text of a value.
struct Path<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for Path<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            serde::Deserialize::deserialize(json).map(Some)
        } else {
            json.deserialize_any(self)
        }
    }
}

/// A value that is not an object has no fields.
macro_rules! nothing {
    ($($visit:ident: $type:ty),+) => {
        $(fn $visit<E>(self, _: $type) -> Result<Self::Value, E> {
            Ok(None)
        })+
    };
}

impl<'de> Visitor<'de> for Path<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    nothing!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(is_it) = object.next_key_seed(Name(&self.0[0]))? {
            if is_it {
                found = object.next_value_seed(Path(&self.0[1..]))?;
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Compares a name without copying it.
struct Name<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

#[cfg(test)]
mod tests;
