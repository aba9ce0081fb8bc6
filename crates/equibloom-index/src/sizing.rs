//! How many filters are asked for a key, and which rate each of them may have.
//!
//! A key is looked up in the filters of those files whose ranges it lies in. If at most `d` ranges overlap anywhere, filters of the rate
//! `x / d` open `x` files in vain for any missing key: `d` is the number of files if keys are random, and 1 if files are
//! sorted. Then 5 bits per key are as good as 14.

use crate::key::Range;

/// A bound of a range. Integers come before bytes, so that no range of one kind overlaps one of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bound<'a> {
    Integer(i128),
    Bytes(&'a [u8]),
}

fn bounds(range: &Range) -> (Bound<'_>, Bound<'_>) {
    match range {
        Range::Integers { least, most } => (Bound::Integer(*least), Bound::Integer(*most)),
        Range::Bytes { least, most } => (Bound::Bytes(least), Bound::Bytes(most)),
    }
}

/// The largest sum of weights of ranges that overlap at one point. `None` is a range of all keys.
pub fn largest_overlap<'a>(ranges: impl IntoIterator<Item = (Option<&'a Range>, f64)>) -> f64 {
    let mut everywhere = 0.0;
    // Where ranges begin or end, and whether they end: beginnings come first.
    let mut steps = Vec::new();
    for (range, weight) in ranges {
        let Some(range) = range else {
            everywhere += weight;
            continue;
        };
        let (least, most) = bounds(range);
        steps.extend([(least, false, weight), (most, true, -weight)]);
    }
    steps.sort_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)));
    let mut sum = 0.0;
    let sums = steps.iter().map(|(.., weight)| {
        sum += weight;
        sum
    });
    everywhere + sums.fold(0.0, f64::max)
}

/// The rate of each filter, so that at most `false_files` files with these ranges are opened in vain. 1 if the ranges alone are
/// enough.
///
/// The number of overlapping ranges is rounded up to a power of two: files that are added later get the same filters for a while.
pub fn rate<'a>(ranges: impl IntoIterator<Item = Option<&'a Range>>, false_files: f64) -> f64 {
    let overlap = largest_overlap(ranges.into_iter().map(|range| (range, 1.0)));
    let overlap = (overlap as u64).max(1).next_power_of_two();
    (false_files / overlap as f64).min(1.0)
}

#[cfg(test)]
mod tests;
