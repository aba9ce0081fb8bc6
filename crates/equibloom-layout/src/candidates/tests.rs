use std::vec::Vec;

use super::*;

fn divided(blocks: u64, shares: &[f64]) -> Vec<u64> {
    divide(blocks, &PerSubtable::new(shares).unwrap()).to_vec()
}

#[test]
fn subtables_add_up_and_keep_their_proportions() {
    assert_eq!(divided(1_000, &[0.83, 0.142, 0.028]), [830, 142, 28]);
    assert_eq!(divided(3, &[0.98, 0.01, 0.01]), [1, 1, 1]);
    assert_eq!(divided(4, &[0.01, 0.98, 0.01]), [1, 2, 1]);
    assert_eq!(divided(0, &[0.5, 0.5]), [0, 0]);
    let halves: Vec<f64> = (1..=16).map(|level| 0.5_f64.powi(level)).collect();
    for shares in [&[0.6, 0.3, 0.1], &[1.0 / 16.0; 16][..], &halves] {
        for blocks in shares.len() as u64..200 {
            let sizes = divided(blocks, shares);
            assert_eq!(sizes.iter().sum::<u64>(), blocks);
            assert!(sizes.iter().all(|&size| size > 0));
        }
    }
}

proptest::proptest! {
    /// Invalid proportions still give sizes that add up.
    #[test]
    fn any_proportions_add_up(blocks: u64, shares in proptest::collection::vec(proptest::num::f64::ANY, 1..=16)) {
        let sizes = divided(blocks, &shares);
        proptest::prop_assert_eq!(sizes.iter().map(|&size| u128::from(size)).sum::<u128>(), u128::from(blocks));
    }
}

#[test]
fn more_subtables_than_there_can_be_are_refused() {
    assert!(Candidates::subtables(&[1; 17]).is_err() && Candidates::subtables(&[]).is_err());
}
