//! `EB.PLAN`: what a reservation would cost and promise.

use super::options::Options;
use crate::ffi::{Arguments, Command, Context, Keys, Spec};
use crate::reply::{Error, Reply, integer, text};

pub(crate) struct Plan;

impl Command for Plan {
    const SPEC: Spec = Spec {
        name: "PLAN",
        flags: c"readonly",
        arity: -3,
        keys: Keys::None,
        summary: c"What a reservation would cost and promise; creates nothing",
        complexity: c"O(1)",
        tips: None,
    };

    fn run(_context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let mut given = Options::of(arguments.name(1).bytes(), arguments.name(2).bytes())?;
        if given.read(&mut arguments.from(3))? {
            return Err(Error::new("ERR PLAN takes no ITEMS"));
        }
        let filter = given.filter()?;
        let Some(parameters) = filter.plan else {
            let kind = "one growing table: it takes memory as items come, about twice as much as a planned filter";
            return Ok(Reply::Map(vec![("Kind", text(kind)), ("Bytes", integer(0))]));
        };
        let keys = parameters.keys;
        let expected = parameters.predict(keys).map_err(Error::because)?;
        let bytes = filter.bytes();
        // A plan is numbers and names, which are always written.
        let plan = serde_json::to_string(&filter.plan).unwrap_or_default();
        Ok(Reply::Map(vec![
            ("Kind", text(parameters.design.name())),
            ("Bytes", integer(bytes)),
            ("Bits per key", Reply::Double(8.0 * bytes as f64 / keys as f64)),
            ("Expected rate", Reply::Double(expected.rate)),
            ("Blocks per miss", Reply::Double(expected.accesses_miss)),
            ("Blocks per hit", Reply::Double(expected.accesses_hit)),
            ("Plan", text(plan)),
        ]))
    }
}
