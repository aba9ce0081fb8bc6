use super::*;

#[test]
fn match_probabilities_are_ratios_of_binomial_coefficients() {
    let table = match_probabilities(10, 3);
    let choose_3 = |s: f64| s * (s - 1.0) * (s - 2.0) / 6.0;
    for (s, probability) in table.iter().enumerate() {
        assert!((probability - choose_3(s as f64) / 120.0).abs() < 1e-15, "{s}");
    }
    assert!((match_probabilities(32_768, 64)[32_768] - 1.0).abs() < 1e-9);
    assert!((match_probabilities(64, 64)[64] - 1.0).abs() < 1e-12);
    assert_eq!(match_probabilities(64, 64)[63], 0.0);
}

#[test]
fn likely_loads_invert_the_expected_number_of_set_bits() {
    for (data_bits, hashes) in [(64, 6), (252, 17), (512, 8), (32_768, 11)] {
        let table = likely_loads(data_bits, hashes);
        assert_eq!(table[0], 0);
        assert_eq!(table[hashes as usize], 1);
        let (n, k) = (f64::from(data_bits), f64::from(hashes));
        for load in 0..(n / k) as u32 {
            let set = n * (1.0 - (1.0 - k / n).powi(load as i32));
            assert_eq!(table[set.round() as usize], load, "{data_bits} bits, {hashes} hashes");
        }
        assert!(table.is_sorted());
    }
    // One key sets everything.
    assert_eq!(likely_loads(64, 64)[64], 1);
}
