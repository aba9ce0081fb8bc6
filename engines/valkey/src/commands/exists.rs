//! `EXISTS` and `MEXISTS`.

use equibloom::KeyHash;

use super::add::filter;
use crate::ffi::{Arguments, Command, Context, Keys, Spec};
use crate::info::{HITS, LOOKUPS};
use crate::reply::{Error, Reply};

pub(crate) struct Exists;

impl Command for Exists {
    const SPEC: Spec = Spec {
        name: "EXISTS",
        flags: c"readonly fast",
        arity: 3,
        keys: Keys::Read,
        summary: c"Whether an item may have been added",
        complexity: c"O(1)",
        tips: None,
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let item = arguments.name(2).bytes();
        let found = filter(context, arguments.name(1), |value| value.contains(value.hash(item)))?;
        let found = found.unwrap_or(false);
        LOOKUPS.add(1);
        HITS.add(found.into());
        Ok(Reply::Bool(found))
    }
}

pub(crate) struct ExistAll;

impl Command for ExistAll {
    const SPEC: Spec = Spec {
        name: "MEXISTS",
        flags: c"readonly fast",
        arity: -3,
        keys: Keys::Read,
        summary: c"Whether each of some items may have been added",
        complexity: c"O(N), N: number of items",
        tips: None,
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let items = arguments.from(2);
        let count = items.len();
        let found = filter(context, arguments.name(1), |value| {
            let hashes: Vec<KeyHash> = items.map(|item| value.hash(item.bytes())).collect();
            value.contains_all(&hashes)
        })?;
        let found = found.unwrap_or_else(|| vec![false; count]);
        LOOKUPS.add(count);
        HITS.add(found.iter().filter(|&&found| found).count());
        Ok(Reply::Bools(found))
    }
}
