use super::*;

#[test]
fn a_distribution_has_four_numbers() {
    let found = Distribution::of(&[0, 98, 1, 0, 1]);
    assert_eq!((found.mean, found.p99, found.max), (1.04, 2, 4));
    assert!((found.variance - (98.0 + 4.0 + 16.0) / 100.0 + 1.04 * 1.04).abs() < 1e-12);
    let none = Distribution::of(&[]);
    assert_eq!((none.mean, none.variance, none.p99, none.max), (0.0, 0.0, 0, 0));
}
