//! What a command answers.

use std::borrow::Cow;

/// A reply, in the server's terms.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    Ok,
    Null,
    Bool(bool),
    Integer(i64),
    Double(f64),
    Bytes(Vec<u8>),
    /// An error inside of an array.
    Error(Cow<'static, str>),
    Array(Vec<Reply>),
    Bools(Vec<bool>),
    Map(Vec<(&'static str, Reply)>),
    /// A map of one field; in RESP2 the value alone, in an array.
    Field(&'static str, Box<Reply>),
}

/// Why a command failed: nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Error {
    /// A wrong number of arguments.
    Arity,
    /// The whole reply, with the code that it begins with.
    Text(Cow<'static, str>),
}

impl Error {
    pub(crate) const WRONG_TYPE: Self =
        Self::new("WRONGTYPE Operation against a key holding the wrong kind of value");
    pub(crate) const NOT_FOUND: Self = Self::new("ERR not found");
    pub(crate) const EXISTS: Self = Self::new("ERR item exists");

    pub(crate) const fn new(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// An error with the usual code.
    pub(crate) fn because(reason: impl std::fmt::Display) -> Self {
        Self::Text(Cow::Owned(format!("ERR {reason}")))
    }
}

/// A number as the server counts.
pub(crate) fn integer(number: u64) -> Reply {
    Reply::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A text.
pub(crate) fn text(text: impl Into<String>) -> Reply {
    Reply::Bytes(text.into().into_bytes())
}
