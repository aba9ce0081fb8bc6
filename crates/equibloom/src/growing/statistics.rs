//! How full is a growing table, and what is to be expected of it?

use alloc::vec::Vec;
use core::convert::Infallible;
use core::ops::{ControlFlow, Range};

use super::levels::Levels;
use super::schedule::{LEVELS, share};
use super::table::{Previous, Table};
use crate::block::isa::ANY;
use crate::statistics::{LevelStatistics, Memory, Statistics};

/// Sums over the lists of one or two tables.
#[derive(Default)]
struct Survey {
    loads: [Vec<u64>; LEVELS],
    rate: f64,
    /// Probability that a lookup of an absent key reads a block of each level after the first.
    reached: [f64; LEVELS - 1],
}

impl Table {
    /// Bytes of everything that is allocated.
    pub(super) fn bytes(&self) -> u64 {
        let previous = self
            .previous
            .as_ref()
            .map_or(0, |previous| size_of::<Previous>() as u64 + previous.levels.bytes());
        self.current.bytes() + previous
    }

    /// Scans the table. The header is the caller's.
    pub(super) fn statistics(&self) -> Statistics {
        let mut survey = Survey::default();
        for (levels, lists) in self.parts() {
            survey.add(levels, &lists);
        }
        let listed: f64 = self.listed.iter().map(|(string, _)| share(string.length())).sum();
        let level = |loads: Vec<u64>| LevelStatistics {
            blocks: loads.iter().sum(),
            loads,
            set_bits: Vec::new(),
        };
        let overflow = self.listed.bytes();
        Statistics {
            elements: self.elements,
            beyond_plan: 0,
            overflowed: self.listed.iter().map(|(_, copies)| copies).sum(),
            saturated: 0,
            budget_spent: false,
            levels: survey.loads.into_iter().map(level).collect(),
            memory: Memory { blocks: self.bytes(), overflow, header: 0 },
            expected_rate: (survey.rate + listed).min(1.0),
            expected_accesses_per_miss: 1.0 + survey.reached.iter().sum::<f64>(),
        }
    }
}

impl Survey {
    /// Adds some lists of the first level, and what they have in the others.
    fn add(&mut self, table: &Levels, lists: &Range<u64>) {
        for (level, loads) in table.levels.iter().zip(&mut self.loads) {
            for block in level.blocks_with(lists, table.geometry.list_bits) {
                let Some(line) = level.lines.get(block) else { continue };
                let load = level.shape.load(ANY, line) as usize;
                loads.resize(loads.len().max(load + 1), 0);
                loads[load] += 1;
            }
        }
        let mut before = None;
        let _: ControlFlow<Infallible> = table.for_each(lists, |string| {
            // Equal strings of a list mostly follow each other.
            if before.replace(string) != Some(string) {
                self.rate += share(string.length());
            }
            ControlFlow::Continue(())
        });
        for list in lists.clone() {
            let hinted = table.hinted_levels(list);
            for reached in &mut self.reached[..hinted.min(LEVELS - 1)] {
                *reached += share(table.geometry.list_bits);
            }
        }
    }
}
