//! `ADD`, `MADD` and `INSERT`.

use std::borrow::Cow;

use equibloom::KeyHash;

use super::options::{self, Options};
use super::reserve;
use crate::ffi::{Arguments, Command, Context, Keys, Name, Spec, Word, WriteKey};
use crate::info::ADDED;
use crate::replication;
use crate::reply::{Error, Reply};
use crate::value::{Added, Content, Value};

const FULL: &str = "ERR non scaling filter is full";
const NO_MEMORY: &str = "ERR the filter has reached equibloom.memory-limit, or the server has no memory: \
     raise the limit, or start another filter";

pub(crate) struct Add;

impl Command for Add {
    const SPEC: Spec = Spec {
        name: "ADD",
        flags: c"write deny-oom fast",
        arity: 3,
        keys: Keys::Change,
        summary: c"Adds an item; creates the filter if it does not exist",
        complexity: c"O(1)",
        tips: None,
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let key = context.write(arguments.name(1))?;
        let mut replies = add(context, key, &Options::default(), arguments, 2)?;
        match replies.pop() {
            Some(Reply::Error(error)) => Err(Error::Text(error)),
            reply => reply.ok_or(Error::Arity),
        }
    }
}

pub(crate) struct AddAll;

impl Command for AddAll {
    const SPEC: Spec = Spec {
        name: "MADD",
        flags: c"write deny-oom fast",
        arity: -3,
        keys: Keys::Change,
        summary: c"Adds items; creates the filter if it does not exist",
        complexity: c"O(N), N: number of items",
        tips: None,
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let key = context.write(arguments.name(1))?;
        add(context, key, &Options::default(), arguments, 2).map(Reply::Array)
    }
}

pub(crate) struct Insert;

impl Command for Insert {
    const SPEC: Spec = Spec {
        name: "INSERT",
        flags: c"write deny-oom",
        arity: -4,
        keys: Keys::Change,
        summary: c"Adds items; creates the filter as the options say if it does not exist",
        complexity: c"O(N), N: number of items",
        tips: None,
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let mut words = arguments.from(2);
        let given = Options::of_insert(&mut words)?;
        if words.len() == 0 {
            return Err(Error::Arity);
        }
        let first = arguments.len() - words.len();
        let mut key = context.write(arguments.name(1))?;
        if key.content().is_none() && given.never_creates {
            return Err(Error::NOT_FOUND);
        }
        add(context, key, &given, arguments, first).map(Reply::Array)
    }
}

/// Adds the arguments from `first` on. Each gets a reply of its own, up to the first that is refused: that one and those
/// after it are not in the filter.
fn add(
    context: &Context,
    mut key: WriteKey<'_>,
    given: &Options,
    arguments: Arguments<'_>,
    first: usize,
) -> Result<Vec<Reply>, Error> {
    if key.content().is_none() {
        reserve::create(context, &mut key, given)?;
    }
    let limit = options::memory_limit(context);
    let filter = filter_mut(&mut key)?;
    let hashes: Vec<KeyHash> =
        arguments.from(first).map(|item| filter.hash(item.bytes())).collect();
    let added = filter.add_all(&hashes, limit);
    let stores_copies = filter.reservation.removable;

    let is_stored = |outcome: &Added| match outcome {
        Added::New => true,
        Added::Present => stores_copies,
        Added::Full | Added::NoMemory => false,
    };
    if added.iter().any(is_stored) {
        let items = arguments.from(first).zip(&added);
        let stored = items.filter(|(_, outcome)| is_stored(outcome));
        replication::items(&key, c"EB.MADD", stored.map(|(item, _)| Word::Same(item)));
        context.changed(key.name, c"bloom.add");
    }
    ADDED.add(added.iter().filter(|&&outcome| outcome == Added::New).count());
    let reply = |outcome| match outcome {
        Added::New => Reply::Bool(true),
        Added::Present => Reply::Bool(false),
        Added::Full => Reply::Error(Cow::Borrowed(FULL)),
        Added::NoMemory => Reply::Error(Cow::Borrowed(NO_MEMORY)),
    };
    Ok(added.into_iter().map(reply).collect())
}

/// The filter of a key.
pub(super) fn filter_mut<'a>(key: &'a mut WriteKey<'_>) -> Result<&'a mut Value, Error> {
    match key.content() {
        Some(Content::Filter(value)) => Ok(value),
        Some(Content::Loading(_)) => Err(IS_LOADING),
        None => Err(Error::NOT_FOUND),
    }
}

/// The filter of a key that is read; `None` if there is none.
pub(super) fn filter<T>(
    context: &Context,
    name: Name<'_>,
    with: impl FnOnce(&Value) -> T,
) -> Result<Option<T>, Error> {
    match context.read(name)?.content() {
        Some(Content::Filter(value)) => Ok(Some(with(value))),
        Some(Content::Loading(_)) => Err(IS_LOADING),
        None => Ok(None),
    }
}

const IS_LOADING: Error =
    Error::new("ERR the filter is being loaded: send the remaining chunks, or delete the key");
