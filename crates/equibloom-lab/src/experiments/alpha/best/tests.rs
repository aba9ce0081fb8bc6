use super::{least_squares, lowest_point};

#[test]
fn a_line_and_a_parabola_are_recovered() {
    let x: Vec<f64> = (0..=10).map(|step| f64::from(step) / 10.0).collect();
    let line: Vec<f64> = x.iter().map(|x| 2.0 - 3.0 * x).collect();
    let [intercept, slope] = least_squares(&x, &line);
    assert!((intercept - 2.0).abs() < 1e-9 && (slope + 3.0).abs() < 1e-9);
    let bowl: Vec<f64> = x.iter().map(|x| (x - 0.37).powi(2) + 0.1 * x.powi(3)).collect();
    let slope = |x: f64| 2.0 * (x - 0.37) + 0.3 * x * x;
    assert!(slope(lowest_point(&x, &bowl)).abs() < 0.01);
}
