//! Which blocks are best at which size: tables for some numbers of keys, within the default limits.
//!
//! They say where to look, never what to promise: every filter is predicted by the exact model, and the search walks on
//! from here. `cargo xtask frontier` writes them by trying every number of slots.

mod rows;

use rows::{REMOVABLE, SETS};

/// From so many bits per key on, for blocks and list, this number of slots has the lowest rate.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Row {
    bits: f64,
    rate: f64,
    /// The rate just before the next row.
    last: f64,
    slots: u32,
}

/// The rows for a number of keys.
struct Table {
    keys: f64,
    rows: &'static [Row],
}

const fn tables(multiset: bool) -> &'static [Table] {
    if multiset { REMOVABLE } else { SETS }
}

impl Table {
    /// The best number of slots.
    fn slots(&self, bits: f64) -> f64 {
        let next = self.rows.partition_point(|row| row.bits <= bits);
        f64::from(self.rows[next.saturating_sub(1)].slots)
    }

    /// About so many bits per key have this rate.
    fn bits(&self, rate: f64) -> f64 {
        let rows = self.rows;
        let next = rows.partition_point(|row| row.rate >= rate).clamp(1, rows.len() - 1);
        let (from, to) = (&rows[next - 1], &rows[next]);
        let fallen = (from.rate / rate).ln();
        // Beyond the table the rate falls as fast as between its rows.
        let share = match rate {
            _ if rate > from.rate || rate < to.rate => fallen / (from.rate / to.rate).ln(),
            _ if rate > from.last => fallen / (from.rate / from.last).ln(),
            _ if rate == from.rate => 0.0,
            _ => 1.0,
        };
        (from.bits + share * (to.bits - from.bits)).max(1.0)
    }
}

/// Interpolates between the tables for fewer and for more keys.
fn between(keys: f64, multiset: bool, value: impl Fn(&Table) -> f64) -> f64 {
    let tables = tables(multiset);
    let next = tables.partition_point(|table| table.keys <= keys).clamp(1, tables.len() - 1);
    let (fewer, more) = (&tables[next - 1], &tables[next]);
    let share = (keys / fewer.keys).ln() / (more.keys / fewer.keys).ln();
    let (from, to) = (value(fewer), value(more));
    from + share.clamp(0.0, 1.0) * (to - from)
}

/// The likeliest number of slots.
pub(crate) fn slots_near(bits: f64, keys: f64, multiset: bool) -> u32 {
    between(keys, multiset, |table| table.slots(bits)).round() as u32
}

/// About so many bits per key have this rate.
pub(crate) fn bits_for(rate: f64, keys: f64, multiset: bool) -> f64 {
    between(keys, multiset, |table| table.bits(rate))
}

#[cfg(test)]
#[path = "frontier_tests.rs"]
mod tests;
