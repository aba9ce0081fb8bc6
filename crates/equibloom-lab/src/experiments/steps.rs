//! Balanced Fig. 1 and energy Fig. 5: an insert into a multi-level filter, step by step.

use equibloom_layout::{Blocks, Layout, Overflow, Rule, Share, WhenFull};

use crate::experiments::prelude::*;
use crate::figure::Picture;
use crate::trace::{Block, End, Step, Trace};

/// What is drawn: the block of T1 that turns the element away and the block of T2 that stores it, each with the number
/// of its elements.
const FIRST: (usize, u32) = (0b10, 3);
const SECOND: (usize, u32) = (0b01, 2);

/// One of the two figures.
pub(super) struct Drawn {
    place: &'static str,
    element: &'static str,
    rule: Rule,
    note: &'static str,
}

/// A block takes three elements. A threshold of 2 with a coin that always says yes is a threshold of 3, and leaves the
/// counter at two bits.
pub(super) const BALANCED: Drawn = Drawn {
    place: "Balanced, Fig. 1",
    element: "y",
    rule: Rule::FirstWithRoom { below: 2, coin: Share::ALL },
    note: "h = 3 without a coin. It is built as a threshold of 2 with a coin that always says yes, which \
           is the same and needs a counter of two bits.",
};

pub(super) const ENERGY: Drawn = Drawn {
    place: "Energy, Fig. 5",
    element: "x",
    rule: Rule::FirstWithRoom { below: 2, coin: Share::clamped(0.5) },
    note: "h = 2 with a coin of probability 1/2: the block of T2 is at exactly h, and the element's coin \
           says yes.",
};

impl Drawn {
    /// Subtables of 4, 2 and 1 blocks of 6 bits, with a counter of 2; one bit per element.
    pub(super) fn layout(&self) -> Result<Layout, Error> {
        let overflow = Overflow { capacity: 100, when_full: WhenFull::Refuse };
        let layout = Layout::multi_level(Blocks::bloom(6, 1), &[4, 2, 1], self.rule);
        Ok(layout.map_err(equibloom_theory::Error::from)?.with_overflow(overflow))
    }

    /// The first run in which the element meets the blocks as drawn: elements come until the blocks hold as many as
    /// drawn, then the first new element that comes by them.
    fn find(&self) -> Result<(Vec<Vec<Block>>, Step), Error> {
        for seed in 0..MOST_RUNS {
            let mut trace = Trace::new(self.layout()?, seed)?;
            for number in 0..MOST_ELEMENTS {
                let before = trace.tables();
                let mut step = trace.insert(&format!("{}{number}", self.element))?;
                if Self::is_drawn(&step) {
                    step.key = self.element.to_owned();
                    return Ok((before, step));
                }
            }
        }
        Err(Error::NoSuchRun { figure: self.place })
    }

    fn is_drawn(step: &Step) -> bool {
        let found = step.visits.iter().map(|visit| (visit.address, visit.before.load));
        step.end == End::Stored(1) && found.take(2).eq([FIRST, SECOND])
    }

    pub(super) fn run(&self) -> Result<Outcome, Error> {
        let (before, step) = self.find()?;
        let element = self.element;
        let picture = |caption: String, tables: &[Vec<Block>], marked| {
            let row = |(address, block): (usize, &Block)| {
                (step.address(address), block.counter.clone(), block.bits.clone())
            };
            let table = |blocks: &Vec<Block>| blocks.iter().enumerate().map(row).collect();
            Picture { caption, tables: tables.iter().map(table).collect(), marked }
        };
        let at = |number: usize| {
            let visit = &step.visits[number];
            let tables = if number == 0 { &before } else { &step.tables };
            let caption = format!("{}. {element} → {}", number + 1, step.told(number));
            picture(caption, tables, Some((visit.table, visit.address)))
        };
        let printed = |text: &str, expected: f64, found: f64| {
            Claim::printed(self.place, text, expected, found, 1.0)
        };
        let [first, second, third] = [0, 1, 2].map(|number| &step.visits[number]);
        let stored = &step.tables[1][SECOND.0];
        let claims = vec![
            printed("elements in T1 at 10, which turns it away", 3.0, first.before.load.into()),
            printed(
                "elements in T2 at 01 before it is stored there",
                2.0,
                second.before.load.into(),
            ),
            printed("elements there afterwards", 3.0, stored.load.into()),
            printed("blocks read in T3", 0.0, f64::from(u8::from(third.is_read))),
        ];
        Ok(Outcome {
            finding: format!(
                "{element} is turned away at {} of T1 (counter {}) and stored at {} of T2 (counter {}, \
                 then {}); T3 is not read.",
                step.address(first.address),
                first.before.counter,
                step.address(second.address),
                second.before.counter,
                stored.counter,
            ),
            notes: vec![
                "A run of the library's filter with this layout: the first seed and the first elements \
                 that come by the blocks as the paper draws them. The upper two bits, in bold, are the \
                 counter; `equibloom trace` shows any other run.",
                self.note,
            ],
            pictures: vec![at(0), at(1), at(2)],
            plot: Plot::of(claims),
            ..Outcome::default()
        })
    }
}

/// Limits of the search.
const MOST_RUNS: u64 = 10_000;
const MOST_ELEMENTS: u64 = 40;

pub(super) fn parameters(_: Length) -> String {
    "subtables of 4, 2 and 1 blocks of 6 bits, 2 of them the counter; one hash function".to_owned()
}
