use super::*;

#[test]
fn the_lowest_point_is_found_inside_and_at_the_ends() {
    for lowest in [-0.2, 0.0, 0.3, 0.77, 1.0, 1.4_f64] {
        let f = |x: f64| ((x - lowest) / 2.0).cosh();
        let found = of_parabola([0.1, 0.5, 1.0], 1.0, 4, |x| Ok((f(x), x))).unwrap();
        let truth = lowest.clamp(0.0, 1.0);
        assert!((found - truth).abs() < 1e-3, "{found} for {truth}");
        let found = of_unimodal(|x| Ok(f(x))).unwrap();
        assert!((found - truth).abs() < 1e-3, "{found} for {truth}");
    }
}

#[test]
fn the_lowest_whole_number_is_found_from_both_sides() {
    for start in [1, 5, 17, 40] {
        let found =
            of_whole_numbers(start, 40, |n| Ok((f64::from(n).ln() - 2.8).abs()).map(|f| (f, n)));
        assert_eq!(found.unwrap(), (16, 16));
    }
}
