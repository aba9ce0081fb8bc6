use equibloom_layout::{Blocks, Layout, Rule};

use super::{HashFilter, share_of_stage};
use crate::{Filter, Parameters};

/// A stage of two blocks without an overflow list refuses a key long before the planned thousand.
#[test]
fn a_stage_that_is_full_early_is_followed_by_the_next() {
    let mut filter = Filter::builder().keys(1_000).rate(0.01).build_growing().unwrap();
    let design = Layout::single(Blocks::bloom(512, 8), 2, Rule::below(4)).into();
    let parameters = Parameters { keys: 1_000, seed: 0, design };
    filter.stages = vec![HashFilter::new(&parameters).unwrap()];
    for key in 0..100_u64 {
        filter.insert(&key).unwrap();
    }
    assert_eq!(filter.stages.len(), 2);
    assert!((0..100).all(|key| filter.contains(&key)));
}

#[test]
fn the_shares_of_all_stages_add_up_to_one() {
    let sum: f64 = (0..1_000_000).map(share_of_stage).sum();
    assert!((1.0 - 1e-6..1.0).contains(&sum), "{sum}");
}
