use super::Panels;

#[test]
fn polynomials_up_to_degree_31_are_integrated_exactly() {
    for degree in 0..32 {
        let integral: f64 =
            Panels::new(1).nodes(0.0, 2.0).map(|(x, weight)| weight * x.powi(degree)).sum();
        let truth = 2.0_f64.powi(degree + 1) / f64::from(degree + 1);
        assert!((integral / truth - 1.0).abs() < 1e-14, "{degree}: {integral} {truth}");
    }
}
