//! Slides: the two examples of cuckoo hashing, step by step.

use equibloom_tables::{Outcome as End, Step, Trace};
use equibloom_theory::cuckoo;

use crate::experiments::prelude::*;
use crate::figure::Picture;

/// An example: its elements' names and keys, with h1(k) = k mod m, h2(k) = ⌊k/m⌋ mod m.
pub(super) struct Example {
    buckets: u64,
    elements: &'static [(&'static str, u64)],
    /// How the slides say that it ends: with a rehash.
    statement: &'static str,
    /// Why it does not, if it does not.
    reason: &'static str,
    note: &'static str,
}

/// The keys have the hash values of the slides: h1 = 2, 2, 4, 4, 4 and h2 = 1, 1, 2, 0, 2.
pub(super) const CYCLE: Example = Example {
    buckets: 5,
    elements: &[("x", 7), ("y", 32), ("w", 14), ("z", 4), ("u", 39)],
    statement: "1 if the insertion gets into a cycle and forces a rehash",
    reason: "erratum 14: both components have one cycle only, and all five elements fit",
    note: "The cuckoo graph has the components {T1[2], T2[1]} with x and y, and {T1[4], T2[0], T2[2]} with w, z \
           and u: as many elements as buckets, one cycle each. Nothing loops for ever.",
};

pub(super) const LECTURE: Example = Example {
    buckets: 11,
    elements: &[
        ("20", 20),
        ("50", 50),
        ("53", 53),
        ("75", 75),
        ("100", 100),
        ("67", 67),
        ("105", 105),
        ("3", 3),
        ("36", 36),
        ("39", 39),
        ("6", 6),
    ],
    statement: "1 if the last key forces a rehash",
    reason: "",
    note: "h2 is printed once with a ceiling; the table of values is that of the floor (erratum 9). The tables are \
           those of the slides before the last key.",
};

pub(super) fn parameters(_: Length) -> String {
    "h1(k) = k mod m, h2(k) = ⌊k/m⌋ mod m, one element a bucket".to_owned()
}

impl Example {
    pub(super) fn run(&self) -> Result<Outcome, Error> {
        let mut trace = Trace::new(self.buckets)?;
        let edges = self.elements.iter().map(|&(_, key)| trace.buckets_of(key));
        let components = cuckoo::components(edges.collect::<Vec<_>>(), self.buckets)?;
        let excess: u64 = components.iter().map(cuckoo::Component::excess).sum();
        let steps: Vec<Step> = self.elements.iter().map(|&(_, key)| trace.insert(key)).collect();
        let rehashed = steps.iter().any(|step| step.outcome != End::Placed);
        let name = |key: u64| self.elements.iter().find(|e| e.1 == key).map_or("", |e| e.0);
        let picture = |(step, &(element, _)): (&Step, &(&str, u64))| {
            let moved: Vec<&str> = step.moves.iter().skip(1).map(|m| name(m.key)).take(9).collect();
            let caption = match (&step.outcome, moved.is_empty()) {
                (End::Placed, true) => format!("{element}: free"),
                (End::Placed, false) => format!("{element} moves {}", moved.join(", ")),
                _ => format!("{element} moves {} …: rehash", moved.join(", ")),
            };
            let row = |(address, key): (usize, &Option<u64>)| {
                let text = format!("{:^3}", key.map_or("", name));
                (address.to_string(), String::new(), text)
            };
            let table = |table: &Vec<Option<u64>>| table.iter().enumerate().map(row).collect();
            Picture { caption, tables: step.tables.iter().map(table).collect(), marked: None }
        };
        let as_number = |holds: bool| f64::from(u8::from(holds));
        let claim = Claim::new(self.statement, 1.0, as_number(rehashed), 0.0);
        let claim = Claim::stated("Slides", claim).unless(self.reason);
        Ok(Outcome {
            finding: format!(
                "{} of {} elements are too many for their components: {}.",
                excess,
                self.elements.len(),
                if rehashed { "a rehash" } else { "no rehash" }
            ),
            notes: vec![self.note],
            pictures: steps.iter().zip(self.elements).map(picture).collect(),
            plot: Plot::of(vec![
                claim,
                Claim::new(
                    "a rehash is needed exactly if a component has too many elements",
                    as_number(excess > 0),
                    as_number(rehashed),
                    0.0,
                ),
            ]),
            ..Outcome::default()
        })
    }
}
