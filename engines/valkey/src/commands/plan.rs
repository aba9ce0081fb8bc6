//! `EB.PLAN`: what a reservation would cost and promise.

use super::options::Options;
use crate::ffi::{Arguments, Command, Context, Keys, Spec};
use crate::reply::{Error, Reply, integer, text};
use crate::value::Reservation;

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
        let given = Options::of_reserve(arguments.name(1), arguments.name(2), arguments.from(3))?;
        let filter = given.filter()?;
        let (bytes, Reservation { rate, capacity, .. }) = (filter.bytes()?, filter.reservation);
        let kind = filter.plan.as_ref().map(|plan| plan.design.name());
        let mut fields = vec![
            ("Kind", text(kind.unwrap_or("growing table"))),
            ("Bytes", integer(bytes)),
            ("Bits per key", Reply::Double(8.0 * bytes as f64 / capacity as f64)),
            ("Promised rate", Reply::Double(rate)),
        ];
        let Some(parameters) = filter.plan else { return Ok(Reply::Map(fields)) };
        let expected = parameters.predict(parameters.keys).map_err(Error::because)?;
        // A plan is numbers and names, which are always written.
        let plan = serde_json::to_string(&filter.plan).unwrap_or_default();
        fields.extend([
            ("Expected rate", Reply::Double(expected.rate)),
            ("Blocks per miss", Reply::Double(expected.accesses_miss)),
            ("Blocks per hit", Reply::Double(expected.accesses_hit)),
            ("Plan", text(plan)),
        ]);
        Ok(Reply::Map(fields))
    }
}
