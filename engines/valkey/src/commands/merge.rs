//! `EB.MERGE`.

use super::add::filter;
use super::options;
use crate::ffi::{Arguments, Command, Context, Keys, Spec};
use crate::reply::{Error, Reply};
use crate::value::{Content, Value};

pub(crate) struct Merge;

impl Command for Merge {
    const SPEC: Spec = Spec {
        name: "MERGE",
        flags: c"write deny-oom",
        arity: -3,
        keys: Keys::ChangeAndRead,
        summary: c"Adds all items of other filters; creates the filter if it does not exist",
        complexity: c"O(N), N: bytes of all filters",
        tips: None,
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let target = arguments.name(1);
        // Into a copy, so that an error at any source leaves the filter as it was. Keys are open one at a time.
        let mut merged = filter(context, target, Value::clone)?;
        for source in arguments.from(2).filter(|source| source.bytes() != target.bytes()) {
            let result = filter(context, source, |other| match &mut merged {
                Some(merged) => merged.merge(other),
                none => {
                    *none = Some(other.clone());
                    Ok(())
                }
            });
            result?.ok_or(Error::NOT_FOUND)?.map_err(Error::because)?;
            options::check_limit(context, merged.as_ref().map_or(0, Value::bytes))?;
        }
        let mut key = context.write(target)?;
        key.set(Content::Filter(merged.ok_or(Error::NOT_FOUND)?));
        context.replicate_verbatim();
        context.changed(target, c"bloom.merge");
        Ok(Reply::Ok)
    }
}
