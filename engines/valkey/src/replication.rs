//! What replicas and the AOF get: never a command as it came, if its result depends on this server's options or limits.
//!
//! - A creation says everything: rate, capacity, seed, and the planned design as JSON. A replica with other options, or
//!   with another planner, makes the same filter.
//! - Only items that were stored are sent on, so that the replica cannot refuse any.
//! - What a file contained is sent as chunks.
//!
//! Commands go under their `EB.` names, which every server with this module has.

use crate::commands::options::{self, NewFilter};
use crate::ffi::{Context, Name, Word, WriteKey};
use crate::rdb;
use crate::value::Value;

/// A filter was made, and perhaps expires at a time in milliseconds since 1970.
pub(crate) fn created(key: &WriteKey<'_>, filter: &NewFilter, expires: Option<i64>) {
    let words = options::words(filter);
    let mut all = vec![Word::Same(key.name)];
    all.extend(words.iter().map(|word| Word::Bytes(word.as_bytes())));
    key.context().replicate(c"EB.RESERVE", &all);
    if let Some(at) = expires {
        expire(key, at);
    }
}

/// The key expires at a time in milliseconds since 1970.
pub(crate) fn expire(key: &WriteKey<'_>, at: i64) {
    let at = at.to_string();
    key.context().replicate(c"PEXPIREAT", &[Word::Same(key.name), Word::Bytes(at.as_bytes())]);
}

/// Items were stored, or one copy of each was removed.
pub(crate) fn items<'a>(
    key: &WriteKey<'a>,
    command: &std::ffi::CStr,
    items: impl Iterator<Item = Word<'a>>,
) {
    let words: Vec<Word<'_>> = std::iter::once(Word::Same(key.name)).chain(items).collect();
    key.context().replicate(command, &words);
}

/// A filter came from elsewhere.
pub(crate) fn loaded(context: &Context, name: Name<'_>, value: &Value) {
    let send = |position: u64, chunk: &[u8]| {
        let position = position.to_string();
        let words = [Word::Same(name), Word::Bytes(position.as_bytes()), Word::Bytes(chunk)];
        context.replicate(c"EB.LOADCHUNK", &words);
    };
    send(1, &rdb::announcement(rdb::length(value)));
    let mut from = 0;
    loop {
        let chunk = rdb::chunk(value, from);
        if chunk.is_empty() {
            return;
        }
        from += chunk.len() as u64;
        send(from + 1, &chunk);
    }
}
