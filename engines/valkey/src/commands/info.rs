//! `CARD`, `INFO` and `DEBUG`.

use super::add::filter;
use crate::ffi::{Arguments, Command, Context, Keys, Spec};
use crate::reply::{Error, Reply, integer, text};
use crate::value::Value;

pub(crate) struct Card;

impl Command for Card {
    const SPEC: Spec = Spec {
        name: "CARD",
        flags: c"readonly fast",
        arity: 2,
        keys: Keys::Read,
        summary: c"Number of items in a filter; 0 if it does not exist",
        complexity: c"O(1)",
        tips: None,
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let elements = filter(context, arguments.name(1), Value::elements)?;
        Ok(integer(elements.unwrap_or(0)))
    }
}

/// `INFO` as other modules have it.
pub(crate) struct Info;

impl Command for Info {
    const SPEC: Spec = Spec {
        name: "INFO",
        flags: c"readonly fast",
        arity: -2,
        keys: Keys::Read,
        summary: c"What a filter is and holds",
        complexity: c"O(1)",
        tips: Some(c"nondeterministic_output"),
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        if arguments.len() > 3 {
            return Err(Error::Arity);
        }
        let fields = filter(context, arguments.name(1), fields)?.ok_or(Error::NOT_FOUND)?;
        if arguments.len() == 2 {
            return Ok(Reply::Map(fields.into()));
        }
        one_field(fields, arguments.name(2).bytes())
    }
}

/// `EB.INFO`: also what to expect, from a scan of the filter.
pub(crate) struct FullInfo;

impl Command for FullInfo {
    const SPEC: Spec = Spec {
        name: "INFO",
        flags: c"readonly",
        arity: -2,
        keys: Keys::Read,
        summary: c"What a filter is and holds, and what to expect of it",
        complexity: c"O(N), N: bytes of the filter; O(1) for a single field",
        tips: Some(c"nondeterministic_output"),
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        if arguments.len() != 2 {
            return Info::run(context, arguments);
        }
        let fields = filter(context, arguments.name(1), |value| {
            let mut all = Vec::from(fields(value));
            all.extend(expected(value));
            all
        })?;
        fields.map(Reply::Map).ok_or(Error::NOT_FOUND)
    }
}

type Field = (&'static str, Reply);

/// In the order, and with the names, of other modules.
fn fields(value: &Value) -> [Field; 5] {
    let parts = u64::from(value.planned.is_some()) + u64::from(value.growing.is_some());
    let expansion = match value.reservation.expansion {
        0 => Reply::Null,
        times => Reply::Integer(times.into()),
    };
    [
        ("Capacity", integer(value.capacity())),
        ("Size", integer(value.bytes())),
        ("Number of filters", integer(parts)),
        ("Number of items inserted", integer(value.elements())),
        ("Expansion rate", expansion),
    ]
}

fn one_field(fields: [Field; 5], word: &[u8]) -> Result<Reply, Error> {
    let [capacity, size, filters, items, expansion] = fields;
    let (name, value) = match &*word.to_ascii_uppercase() {
        b"CAPACITY" => capacity,
        b"SIZE" => size,
        b"FILTERS" => filters,
        b"ITEMS" => items,
        b"EXPANSION" => expansion,
        // Other modules send no code.
        _ => return Err(Error::new("Invalid information value")),
    };
    Ok(Reply::Field(name, Box::new(value)))
}

fn expected(value: &Value) -> Vec<Field> {
    let (rate, blocks) = value.expected();
    let per_key = value.bytes() as f64 / value.elements().max(1) as f64;
    vec![
        ("Promised rate", Reply::Double(value.reservation.rate)),
        ("Expected rate", Reply::Double(rate)),
        ("Bytes per key", Reply::Double(per_key)),
        ("Blocks per miss", Reply::Double(blocks)),
        ("Removable", Reply::Bool(value.reservation.removable)),
        ("Seed", integer(value.reservation.seed)),
    ]
}

pub(crate) struct Debug;

impl Command for Debug {
    const SPEC: Spec = Spec {
        name: "DEBUG",
        flags: c"readonly",
        arity: 2,
        keys: Keys::Read,
        summary: c"The parts of a filter",
        complexity: c"O(1)",
        tips: Some(c"nondeterministic_output"),
    };

    fn run(context: &Context, arguments: Arguments<'_>) -> Result<Reply, Error> {
        let lines = filter(context, arguments.name(1), |value| {
            let mut lines = vec![format!("size:{}", value.elements())];
            if let Some(planned) = &value.planned {
                lines.push(format!(
                    "planned bytes:{} keys:{} size:{} design:{:?}",
                    planned.as_hash_filter().bytes(),
                    planned.parameters().keys,
                    planned.len(),
                    planned.parameters().design,
                ));
            }
            if let Some(growing) = &value.growing {
                let (bytes, elements) = (growing.bytes(), growing.len());
                let rate = growing.rate();
                lines.push(format!("growing bytes:{bytes} size:{elements} rate:{rate}"));
            }
            lines
        })?;
        let lines = lines.ok_or(Error::NOT_FOUND)?;
        Ok(Reply::Array(lines.into_iter().map(text).collect()))
    }
}
