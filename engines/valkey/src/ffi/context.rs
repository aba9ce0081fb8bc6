//! What a command sees of the server.

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::slice;

use super::api::{api, raw};
use super::c_string;
use super::key::{self, ReadKey, WriteKey};
use crate::reply::{Error, Reply};

/// The server, while it runs a command.
pub(crate) struct Context {
    pub(super) raw: *mut raw::Ctx,
}

/// Something about the context.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Flag {
    /// The command comes from a primary, or from an AOF that is loaded: it has been accepted already.
    Accepted = 1 << 12 | 1 << 13,
    /// `maxmemory` is set, and its policy deletes keys.
    Evicts = 1 << 9,
    /// The client speaks RESP3.
    Resp3 = 1 << 22,
}

/// An event of the class that clients of other Bloom modules listen to: `g`, generic.
const NOTIFY_GENERIC: c_int = 1 << 2;

impl Context {
    /// Whether one of the flag's bits is set.
    pub(crate) fn has(&self, flag: Flag) -> bool {
        // SAFETY: the context is valid while the server runs the command.
        unsafe { (api().GetContextFlags)(self.raw) & flag as c_int != 0 }
    }

    /// Opens a key for reading.
    pub(crate) fn read<'a>(&'a self, name: Name<'a>) -> Result<ReadKey<'a>, Error> {
        key::read(self, name)
    }

    /// Opens a key for writing. Each key is open at most once at a time.
    pub(crate) fn write<'a>(&'a self, name: Name<'a>) -> Result<WriteKey<'a>, Error> {
        key::write(self, name)
    }

    /// Tells watching clients and listeners that a key has changed.
    pub(crate) fn changed(&self, name: Name<'_>, event: &CStr) {
        // SAFETY: context, string and event are valid.
        unsafe {
            (api().SignalModifiedKey)(self.raw, name.raw);
            (api().NotifyKeyspaceEvent)(self.raw, NOTIFY_GENERIC, event.as_ptr(), name.raw);
        }
    }

    /// Sends a command to replicas and the AOF.
    pub(crate) fn replicate(&self, command: &CStr, words: &[Word<'_>]) {
        let api = api();
        let strings: Vec<*mut raw::Str> = words
            .iter()
            .map(|word| match word {
                Word::Same(name) => name.raw,
                // SAFETY: the bytes are copied.
                Word::Bytes(bytes) => unsafe {
                    (api.CreateString)(std::ptr::null_mut(), bytes.as_ptr().cast(), bytes.len())
                },
            })
            .collect();
        // SAFETY: format `v` takes a vector of strings and their number; the server keeps what it needs of them.
        unsafe {
            let (name, format) = (command.as_ptr(), c"v".as_ptr());
            (api.Replicate)(self.raw, name, format, strings.as_ptr(), strings.len());
        }
        for (word, string) in words.iter().zip(strings) {
            if let Word::Bytes(_) = word {
                // SAFETY: created above.
                unsafe { (api.FreeString)(std::ptr::null_mut(), string) };
            }
        }
    }

    /// Sends the command as it came to replicas and the AOF.
    pub(crate) fn replicate_verbatim(&self) {
        // SAFETY: the context is valid.
        unsafe { (api().ReplicateVerbatim)(self.raw) };
    }

    /// Used memory and `maxmemory` (0: no limit) in bytes.
    pub(crate) fn memory(&self) -> (u64, u64) {
        let api = api();
        // SAFETY: the data is freed by the same context, after the last use.
        unsafe {
            let info = (api.GetServerInfo)(self.raw, c"memory".as_ptr());
            let field = |name: &CStr| {
                let mut error = 0;
                (api.ServerInfoGetFieldUnsigned)(info, name.as_ptr(), &mut error)
            };
            let fields = (field(c"used_memory"), field(c"maxmemory"));
            (api.FreeServerInfo)(self.raw, info);
            fields
        }
    }

    /// A line of the server's log.
    pub(crate) fn log(&self, line: &str) {
        let line = c_string(line);
        // SAFETY: the format takes one string.
        unsafe {
            (api().Log)(self.raw, c"notice".as_ptr(), c"%s".as_ptr(), line.as_ptr());
        }
    }

    /// Replies to the client: in RESP2, the server sends booleans as integers and maps as flat arrays.
    pub(super) fn reply(&self, reply: &Reply) {
        let (api, raw) = (api(), self.raw);
        // SAFETY: the context is valid, strings end with a zero or have their lengths.
        unsafe {
            match reply {
                Reply::Ok => (api.ReplyWithSimpleString)(raw, c"OK".as_ptr()),
                Reply::Null => (api.ReplyWithNull)(raw),
                Reply::Bool(value) => (api.ReplyWithBool)(raw, (*value).into()),
                Reply::Integer(value) => (api.ReplyWithLongLong)(raw, *value),
                Reply::Double(value) => (api.ReplyWithDouble)(raw, *value),
                Reply::Error(error) => (api.ReplyWithError)(raw, c_string(error).as_ptr()),
                Reply::Bytes(bytes) => {
                    (api.ReplyWithStringBuffer)(raw, bytes.as_ptr().cast(), bytes.len())
                }
                Reply::Array(items) => {
                    let result = (api.ReplyWithArray)(raw, items.len() as _);
                    items.iter().for_each(|item| self.reply(item));
                    result
                }
                Reply::Bools(items) => {
                    let result = (api.ReplyWithArray)(raw, items.len() as _);
                    for &item in items {
                        (api.ReplyWithBool)(raw, item.into());
                    }
                    result
                }
                Reply::Field(name, value) if self.has(Flag::Resp3) => {
                    let result = (api.ReplyWithMap)(raw, 1);
                    (api.ReplyWithSimpleString)(raw, c_string(name).as_ptr());
                    self.reply(value);
                    result
                }
                Reply::Field(_, value) => {
                    let result = (api.ReplyWithArray)(raw, 1);
                    self.reply(value);
                    result
                }
                Reply::Map(fields) => {
                    let result = (api.ReplyWithMap)(raw, fields.len() as _);
                    for (name, value) in fields {
                        (api.ReplyWithSimpleString)(raw, c_string(name).as_ptr());
                        self.reply(value);
                    }
                    result
                }
            }
        };
    }
}

/// An argument as the server holds it.
#[derive(Clone, Copy)]
pub(crate) struct Name<'a> {
    pub(super) raw: *mut raw::Str,
    command: PhantomData<&'a Context>,
}

impl<'a> Name<'a> {
    /// A name that the server passed to a callback, and keeps until this returns.
    pub(super) fn borrowed(raw: *mut raw::Str) -> Self {
        Self { raw, command: PhantomData }
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        let mut length = 0;
        // SAFETY: the server keeps the arguments while it runs the command.
        unsafe {
            let start = (api().StringPtrLen)(self.raw, &mut length);
            slice::from_raw_parts(start.cast(), length)
        }
    }
}

/// A word of a command for replicas.
pub(crate) enum Word<'a> {
    /// An argument of this command.
    Same(Name<'a>),
    Bytes(&'a [u8]),
}

/// The arguments of a command; the first is its name.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a> {
    raw: &'a [*mut raw::Str],
}

impl<'a> Arguments<'a> {
    /// # Safety
    /// The server keeps `count` strings at `first` as long as `'a`.
    pub(super) unsafe fn new(first: *mut *mut raw::Str, count: c_int) -> Self {
        // SAFETY: the caller's promise.
        Self { raw: unsafe { slice::from_raw_parts(first, usize::try_from(count).unwrap_or(0)) } }
    }

    pub(crate) fn len(&self) -> usize {
        self.raw.len()
    }

    /// Argument `index`, which must be there.
    pub(crate) fn name(&self, index: usize) -> Name<'a> {
        Name { raw: self.raw[index], command: PhantomData }
    }

    /// The arguments from `index` on.
    pub(crate) fn from(&self, index: usize) -> impl ExactSizeIterator<Item = Name<'a>> {
        let names = self.raw.get(index..).unwrap_or_default();
        names.iter().map(|&raw| Name { raw, command: PhantomData })
    }
}
