//! The lowest point of a function that falls and then rises.

use crate::error::Error;

/// Where a search over [0, 1] ends: rates are so flat at their minimum that more digits mean nothing.
const TOLERANCE: f64 = 5e-4;

/// The x in [0, 1] with the least f(x), by golden sections; an end of the interval if that is no worse.
pub(crate) fn of_unimodal(f: impl Fn(f64) -> Result<f64, Error>) -> Result<f64, Error> {
    // A golden section leaves one of the two inner points in place.
    let section = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (0.0, 1.0);
    let (mut left, mut right) = (1.0 - section, section);
    let (mut at_left, mut at_right) = (f(left)?, f(right)?);
    while high - low > TOLERANCE {
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
