//! Which blocks are best at which size: a table for many keys within the default limits.
//!
//! The best number of slots hardly depends on the number of keys. The table says where to look, never what to promise:
//! every filter is predicted by the exact model. `cargo xtask frontier` writes it by trying every number of slots.

mod rows;

use rows::{REMOVABLE, SETS};

/// From so many bits per key on, for blocks and list, this number of slots has the lowest rate.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Row {
    bits: f64,
    rate: f64,
    slots: u32,
}

const fn rows(multiset: bool) -> &'static [Row] {
    if multiset { REMOVABLE } else { SETS }
}

/// So near to the end of a row its neighbour may be better.
const NEAR: f64 = 0.02;

/// Small tables need more slots than large ones: with fewer keys than this, so many rows before are tried.
const SMALL: [(f64, usize); 3] = [(1e4, 4), (1e5, 2), (3e6, 1)];

/// Numbers of slots to try, the likeliest first.
pub(crate) fn slots_near(bits: f64, keys: f64, multiset: bool) -> Vec<u32> {
    let rows = rows(multiset);
    let here = rows.partition_point(|row| row.bits <= bits).saturating_sub(1);
    let at_start = usize::from(bits < (1.0 + NEAR) * rows[here].bits);
    let at_end = rows.get(here + 1).is_some_and(|next| bits > (1.0 - NEAR) * next.bits);
    let before =
        SMALL.iter().find(|(most, _)| keys < *most).map_or(at_start, |(_, before)| *before);
    let before = rows[here.saturating_sub(before)..here].iter().rev();
    let after = rows[here..].iter().take(1 + usize::from(at_end));
    after.chain(before).map(|row| row.slots).collect()
}

/// About so many bits per key have this rate.
pub(crate) fn bits_for(rate: f64, multiset: bool) -> f64 {
    let rows = rows(multiset);
    let next = rows.partition_point(|row| row.rate >= rate).clamp(1, rows.len() - 1);
    let (from, to) = (&rows[next - 1], &rows[next]);
    let slope = (to.bits - from.bits) / (from.rate / to.rate).ln();
    (from.bits + slope * (from.rate / rate).ln()).max(1.0)
}

#[cfg(test)]
#[path = "frontier_tests.rs"]
mod tests;
