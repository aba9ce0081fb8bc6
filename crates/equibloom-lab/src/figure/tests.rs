use super::*;

#[test]
fn a_bound_may_be_passed_by_4_sigma_and_no_more() {
    let measured = |mean| [Estimate { mean, sigma: 0.1 }];
    assert!(Claim::at_most("", &[1.0], &measured(0.2)).agrees);
    assert!(Claim::at_most("", &[1.0], &measured(1.39)).agrees);
    assert!(!Claim::at_most("", &[1.0], &measured(1.41)).agrees);
    let certain = [Estimate { mean: 1.1, sigma: 0.0 }];
    assert!(!Claim::at_most("", &[1.0], &certain).agrees);
}
