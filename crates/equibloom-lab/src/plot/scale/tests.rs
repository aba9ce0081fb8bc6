use super::{Range, Scale};

fn labels(low: f64, high: f64, scale: Scale) -> Vec<String> {
    Range { low, high, scale }.ticks(6).into_iter().filter_map(|tick| tick.label).collect()
}

#[test]
fn ticks_are_round_numbers() {
    assert_eq!(labels(0.0, 1.04, Scale::Linear), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
    assert_eq!(labels(7.0, 41.0, Scale::Linear), ["10", "20", "30", "40"]);
    assert_eq!(labels(5e-5, 0.3, Scale::Logarithmic), ["10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"]);
    assert_eq!(labels(0.9, 20.0, Scale::Logarithmic), ["1", "2", "5", "10", "20"]);
}

#[test]
fn places_run_from_zero_to_one() {
    let linear = Range { low: 2.0, high: 4.0, scale: Scale::Linear };
    assert_eq!(linear.place(3.0), Some(0.5));
    let logarithmic = Range { low: 1e-6, high: 1e-2, scale: Scale::Logarithmic };
    assert!((logarithmic.place(1e-4).unwrap() - 0.5).abs() < 1e-12);
    assert_eq!(logarithmic.place(0.0), None);
    let empty = Range::around([0.0].into_iter(), Scale::Logarithmic);
    assert!(empty.low < empty.high);
}
