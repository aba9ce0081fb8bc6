//! The offline process behind the lower bound (Theorem 1).

use equibloom_layout::{Candidates, Rule};

use super::fill;

/// Throws `accesses · elements` balls into the buckets, one after the other, then removes balls until `(1 −
/// overflow) · elements` are left, always from a fullest bucket. Returns the number of buckets at each load.
pub fn offline_bound(
    elements: u64,
    buckets: u64,
    accesses: f64,
    overflow: f64,
    seed: u64,
) -> Vec<u64> {
    let balls = (accesses * elements as f64).round() as u64;
    let kept = ((1.0 - overflow) * elements as f64).round() as u64;
    let one = Candidates::anywhere(buckets, 1);
    let mut counts = fill(&one, Rule::LeastLoaded, None, &[balls], seed).remove(0).all_loads();
    let mut to_remove = balls.saturating_sub(kept);
    while to_remove > 0 && counts.len() > 1 {
        // The fullest buckets lose one ball each.
        let fullest = counts.len() - 1;
        let losing = counts[fullest].min(to_remove);
        counts[fullest] -= losing;
        counts[fullest - 1] += losing;
        to_remove -= losing;
        if counts[fullest] == 0 {
            counts.pop();
        }
    }
    counts
}
