//! `RESERVE`, and making filters.

use super::options::{self, NewFilter, Options};
use crate::ffi::{Arguments, Command, Context, Keys, Spec, WriteKey};
use crate::replication;
use crate::reply::{Error, Reply};
use crate::value::{Content, Value};

pub(crate) struct Reserve;

impl Command for Reserve {
    const SPEC: Spec = Spec {
        name: "RESERVE",
        flags: c"write deny-oom",
        arity: -4,
        keys: Keys::Change,
        summary: c"Creates a filter",
        complexity: c"O(1): memory is zeroed when it is first used",
        tips: None,
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let given = Options::of_reserve(arguments.name(2), arguments.name(3), arguments.from(4))?;
        let mut key = context.write(arguments.name(1))?;
        if key.content().is_some() {
            return Err(Error::EXISTS);
        }
        create(context, &mut key, &given)?;
        Ok(Reply::Ok)
    }
}

/// Makes a filter in an empty key, and tells replicas.
pub(crate) fn create(
    context: &Context,
    key: &mut WriteKey<'_>,
    given: &Options,
) -> Result<(), Error> {
    let filter: NewFilter = given.filter()?;
    options::check_memory(context, filter.bytes()?)?;
    let value = Value::new(filter.reservation, filter.plan).map_err(Error::because)?;
    key.set(Content::Filter(value));
    let expires = given.seconds.map(|seconds| key.expire_in(seconds * 1_000));
    replication::created(key, &filter, expires);
    context.changed(key.name, c"bloom.reserve");
    Ok(())
}
