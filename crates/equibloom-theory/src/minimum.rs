//! The minimum of a function that falls and then rises, over the reals and over whole numbers.

use crate::error::Error;

/// Tolerance of a search over [0, 1]: rates are so flat at their minimum that more digits mean nothing.
const TOLERANCE: f64 = 5e-4;

/// The x in [0, 1] with the least f(x), by golden sections; an end of the interval if that is no worse.
pub(crate) fn of_unimodal(f: impl Fn(f64) -> Result<f64, Error>) -> Result<f64, Error> {
    of_unimodal_within(TOLERANCE, f)
}

/// The same with a given `tolerance`.
pub(crate) fn of_unimodal_within(
    tolerance: f64,
    f: impl Fn(f64) -> Result<f64, Error>,
) -> Result<f64, Error> {
    // A golden section keeps one of the two inner points.
    let section = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (0.0, 1.0);
    let (mut left, mut right) = (1.0 - section, section);
    let (mut at_left, mut at_right) = (f(left)?, f(right)?);
    while high - low > tolerance {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - section * (high - low);
            at_left = f(left)?;
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + section * (high - low);
            at_right = f(right)?;
        }
    }
    let (mut best, mut least) =
        if at_left <= at_right { (left, at_left) } else { (right, at_right) };
    for end in [0.0, 1.0] {
        let value = f(end)?;
        if value <= least {
            (best, least) = (end, value);
        }
    }
    Ok(best)
}

/// The number in 1..=`most` with the least f, and its value of f: walks from `start` in the direction that
/// lowers f until it rises again.
pub(crate) fn of_whole_numbers<T>(
    start: u32,
    most: u32,
    mut f: impl FnMut(u32) -> Result<(f64, T), Error>,
) -> Result<(u32, T), Error> {
    let (mut least, found) = f(start)?;
    let mut best = (start, found);
    for up in [false, true] {
        loop {
            let next = if up { best.0 + 1 } else { best.0 - 1 };
            if !(1..=most).contains(&next) {
                break;
            }
            let (value, found) = f(next)?;
            if value >= least {
                break;
            }
            (least, best) = (value, (next, found));
        }
    }
    Ok(best)
}

/// The minimum on [0, `most`] of a smooth convex function, and its value of f: starting from three points, each
/// step goes to the minimum of the parabola through the best three.
pub(crate) fn of_parabola<T>(
    start: [f64; 3],
    most: f64,
    steps: usize,
    f: impl Fn(f64) -> Result<(f64, T), Error>,
) -> Result<T, Error> {
    let mut points = Vec::new();
    for x in start {
        let (value, found) = f(x)?;
        points.push((x, value, found));
    }
    for _ in 0..steps {
        points.sort_by(|a, b| a.1.total_cmp(&b.1));
        let [(a, fa, _), (b, fb, _), (c, fc, _), ..] = &points[..] else { break };
        let (left, right) = ((b - a) * (fb - fc), (b - c) * (fb - fa));
        let curvature = 2.0 * (left - right);
        let vertex = b - ((b - a) * left - (b - c) * right) / curvature;
        let x = if vertex.is_finite() { vertex.clamp(0.0, most) } else { *a };
        // A known point gains nothing.
        if points.iter().any(|(known, ..)| (known - x).abs() <= 1e-4 * most) {
            break;
        }
        let (value, found) = f(x)?;
        points.push((x, value, found));
    }
    points.sort_by(|a, b| a.1.total_cmp(&b.1));
    Ok(points.swap_remove(0).2)
}

#[cfg(test)]
mod tests;
