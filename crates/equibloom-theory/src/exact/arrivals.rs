//! The number of keys that arrive at one block.

use crate::poisson::{LARGEST_MEAN, Weights};

/// Shares of blocks below this are left out.
const NEGLIGIBLE: f64 = 1e-24;

/// `total` keys spread at random over `blocks` blocks, seen from one block: binomial, so that small tables are
/// exact too.
pub(crate) fn spread(total: f64, blocks: f64) -> Weights {
    if blocks <= 1.0 || total / blocks > LARGEST_MEAN {
        return certain(total / blocks);
    }
    let mode = ((total + 1.0) / blocks).floor().min(total);
    Weights::from_ratio(mode as usize, total as usize, NEGLIGIBLE, |j| {
        (total - j as f64 + 1.0) / (j as f64 * (blocks - 1.0))
    })
}

/// Arrivals of a block at a random time, when `mean` are expected.
pub(crate) fn poisson(mean: f64) -> Weights {
    if mean > LARGEST_MEAN {
        return certain(mean);
    }
    Weights::from_ratio(mean.floor() as usize, usize::MAX, NEGLIGIBLE, |j| mean / j as f64)
}

/// A fixed number of arrivals: large, or without spread.
fn certain(arrivals: f64) -> Weights {
    let part = arrivals.fract();
    Weights { first: arrivals as usize, mass: vec![1.0 - part, part] }
}
