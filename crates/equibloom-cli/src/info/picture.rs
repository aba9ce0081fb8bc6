//! A bar chart of block loads.

use std::fmt;

use equibloom::Statistics;
use indicatif::HumanCount;

/// Longest bar in characters.
const WIDTH: usize = 50;
/// Maximum number of bars; with more loads, several share one.
const MOST_BARS: usize = 25;

/// One bar per load, or per few neighbours; empty for filters without blocks.
pub(super) fn write(f: &mut fmt::Formatter<'_>, statistics: &Statistics) -> fmt::Result {
    let loads = statistics.loads();
    let bars = bars(&loads);
    let most = bars.iter().map(|bar| bar.blocks).max().unwrap_or(0);
    if most == 0 {
        return Ok(());
    }
    writeln!(f, "\n  keys   blocks")?;
    for bar in bars {
        let keys = if bar.first == bar.last {
            bar.first.to_string()
        } else {
            format!("{}–{}", bar.first, bar.last)
        };
        let drawn = drawn(bar.blocks, most);
        writeln!(f, "{keys:>6}   {drawn:WIDTH$} {}", HumanCount(bar.blocks))?;
    }
    Ok(())
}

struct Bar {
    first: usize,
    last: usize,
    blocks: u64,
}

/// From the lowest load of any block to the highest.
fn bars(loads: &[u64]) -> Vec<Bar> {
    let is_used = |&blocks: &u64| blocks > 0;
    let Some(first) = loads.iter().position(is_used) else { return Vec::new() };
    let last = loads.iter().rposition(is_used).unwrap_or(first);
    let used = &loads[first..=last];
    let width = used.len().div_ceil(MOST_BARS);
    used.chunks(width)
        .zip((first..).step_by(width))
        .map(|(chunk, first)| Bar {
            first,
            last: first + chunk.len() - 1,
            blocks: chunk.iter().sum(),
        })
        .collect()
}

/// A bar in eighths of a character; nonzero counts are always visible.
fn drawn(blocks: u64, most: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = blocks as f64 / most as f64;
    let eighths = (share * (8 * WIDTH) as f64).round() as usize;
    let eighths = if blocks > 0 { eighths.max(1) } else { 0 };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests;
