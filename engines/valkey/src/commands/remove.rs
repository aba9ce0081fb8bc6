//! `EB.REMOVE` and `EB.MREMOVE`.

use equibloom::KeyHash;

use super::add::filter_mut;
use crate::ffi::{Arguments, Command, Context, Keys, Spec, Word};
use crate::replication;
use crate::reply::{Error, Reply};

pub(crate) struct Remove;

impl Command for Remove {
    const SPEC: Spec = Spec {
        name: "REMOVE",
        flags: c"write fast",
        arity: 3,
        keys: Keys::Change,
        summary: c"Removes one copy of an item from a filter reserved REMOVABLE; 0: it was certainly absent",
        complexity: c"O(1)",
        tips: None,
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let removed = remove(context, arguments)?;
        Ok(Reply::Bool(removed == [true]))
    }
}

pub(crate) struct RemoveAll;

impl Command for RemoveAll {
    const SPEC: Spec = Spec {
        name: "MREMOVE",
        flags: c"write fast",
        arity: -3,
        keys: Keys::Change,
        summary: c"Removes one copy of each item from a filter reserved REMOVABLE",
        complexity: c"O(N), N: number of items",
        tips: None,
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        remove(context, arguments).map(Reply::Bools)
    }
}

fn remove(context: &Context, arguments: Arguments<'_>) -> Result<Vec<bool>, Error> {
    let mut key = context.write(arguments.name(1))?;
    let filter = filter_mut(&mut key)?;
    if !filter.reservation.removable {
        return Err(Error::new("ERR items can be removed from filters reserved REMOVABLE only"));
    }
    let hashes: Vec<KeyHash> = arguments.from(2).map(|item| filter.hash(item.bytes())).collect();
    let removed: Vec<bool> = hashes.iter().map(|&hash| filter.remove(hash)).collect();
    if removed.contains(&true) {
        let items = arguments.from(2).zip(&removed).filter(|(_, removed)| **removed);
        replication::items(&key, c"EB.MREMOVE", items.map(|(item, _)| Word::Same(item)));
        context.changed(key.name, c"bloom.remove");
    }
    Ok(removed)
}
