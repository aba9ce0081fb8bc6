//! `SCANDUMP` and `LOADCHUNK`: a filter in chunks that a client can store, and load anywhere.
//!
//! The iterator is one more than the number of bytes so far: 0 asks for the announcement, 1 for the first chunk.

use super::add::filter;
use super::options;
use crate::ffi::{Arguments, Command, Context, Keys, Spec, WriteKey};
use crate::rdb;
use crate::reply::{Error, Reply, integer};
use crate::value::{Content, Loading};

pub(crate) struct ScanDump;

impl Command for ScanDump {
    const SPEC: Spec = Spec {
        name: "SCANDUMP",
        flags: c"readonly",
        arity: 3,
        keys: Keys::Read,
        summary: c"One chunk of a filter, and the iterator of the next; 0 at the end",
        complexity: c"O(N), N: bytes of the filter up to the chunk's end",
        tips: None,
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let iterator = iterator(arguments.name(2).bytes())?;
        let chunk = filter(context, arguments.name(1), |value| match iterator.checked_sub(1) {
            None => (1, rdb::announcement(rdb::length(value)).to_vec()),
            Some(from) => {
                let chunk = rdb::chunk(value, from);
                let next = if chunk.is_empty() { 0 } else { iterator + chunk.len() as u64 };
                (next, chunk)
            }
        })?;
        let (next, chunk) = chunk.ok_or(Error::NOT_FOUND)?;
        Ok(Reply::Array(vec![integer(next), Reply::Bytes(chunk)]))
    }
}

pub(crate) struct LoadChunk;

impl Command for LoadChunk {
    const SPEC: Spec = Spec {
        name: "LOADCHUNK",
        flags: c"write deny-oom",
        arity: 4,
        keys: Keys::Change,
        summary: c"Loads a chunk that SCANDUMP gave, with its iterator",
        complexity: c"O(N), N: bytes of the chunk; of the filter at the last one",
        tips: None,
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let iterator = iterator(arguments.name(2).bytes())?;
        let bytes = arguments.name(3).bytes();
        let mut key = context.write(arguments.name(1))?;
        if iterator == 1 {
            announce(context, &mut key, bytes)?;
        } else {
            append(&mut key, iterator, bytes)?;
        }
        context.replicate_verbatim();
        context.changed(key.name, c"bloom.loadchunk");
        Ok(Reply::Ok)
    }
}

fn iterator(bytes: &[u8]) -> Result<u64, Error> {
    let number = str::from_utf8(bytes).ok().and_then(|text| text.parse().ok());
    number.ok_or(Error::new("ERR Second argument must be numeric"))
}

/// The first chunk: how many bytes will come.
fn announce(context: &Context, key: &mut WriteKey<'_>, bytes: &[u8]) -> Result<(), Error> {
    if key.content().is_some() {
        return Err(Error::new("ERR received bad data: the key exists, delete it first"));
    }
    let bad = Error::new("ERR received bad data: this is not what SCANDUMP gives for iterator 0");
    let total = rdb::announced(bytes).ok_or(bad)?;
    options::check_encoded(context, total)?;
    key.set(Content::Loading(Loading { bytes: Vec::new(), total }));
    Ok(())
}

/// A further chunk. After the last one the key holds the filter. If that is damaged, nothing changes: delete the key.
fn append(key: &mut WriteKey<'_>, iterator: u64, bytes: &[u8]) -> Result<(), Error> {
    let no_link = Error::new("ERR invalid offset - no link found");
    let loading = match key.content() {
        Some(Content::Loading(loading)) => loading,
        Some(Content::Filter(_)) => return Err(no_link),
        None => return Err(Error::NOT_FOUND),
    };
    let length = loading.bytes.len() as u64 + bytes.len() as u64;
    if iterator.checked_sub(1) != Some(length) {
        return Err(no_link);
    }
    if length > loading.total {
        let total = loading.total;
        return Err(Error::because(format!("received bad data: {length} of {total} bytes")));
    }
    loading
        .bytes
        .try_reserve(bytes.len())
        .map_err(|_| Error::new("OOM no memory for the chunk"))?;
    loading.bytes.extend_from_slice(bytes);
    if length < loading.total {
        return Ok(());
    }
    let loaded = rdb::read_all(&loading.bytes);
    match loaded {
        Ok(value) => key.set(Content::Filter(value)),
        Err(reason) => {
            let length = bytes.len();
            loading.bytes.truncate(loading.bytes.len() - length);
            return Err(Error::because(format!("received bad data: {reason}")));
        }
    }
    Ok(())
}
