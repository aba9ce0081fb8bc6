//! Estimates from the set bits of a block: false-positive rate and number of keys.

use alloc::vec::Vec;

/// Probability that an absent key matches a block with `s` set bits, for every `s`: C(s, k) / C(n, k),
/// since its `k` bits are a random subset of `n`.
pub(crate) fn match_probabilities(data_bits: u32, hashes: u32) -> Vec<f64> {
    let mut table = Vec::with_capacity(data_bits as usize + 1);
    let mut all_set = 1.0;
    for drawn in 0..hashes {
        // C(k, k) / C(n, k), factor by factor.
        all_set *= f64::from(hashes - drawn) / f64::from(data_bits - drawn);
    }
    for set in 0..=data_bits {
        if set > hashes {
            all_set *= f64::from(set) / f64::from(set - hashes);
        }
        table.push(if set < hashes { 0.0 } else { all_set });
    }
    table
}

/// The number of keys that most likely set `s` bits, for every `s`: after `i` keys the expected
/// share of unset bits is (1 − k/n)ⁱ.
pub(crate) fn likely_loads(data_bits: u32, hashes: u32) -> Vec<u32> {
    let kept = 1.0 - f64::from(hashes) / f64::from(data_bits);
    let mut table = Vec::with_capacity(data_bits as usize + 1);
    let (mut load, mut unset) = (0_u32, f64::from(data_bits));
    for set in 0..=data_bits {
        // Advance while one more key explains the bits better. The last bits need infinitely many keys on
        // average, so the load stops where the expectation no longer changes.
        let target = f64::from(data_bits - set).max(0.5);
        while unset - target > target - unset * kept && load < data_bits {
            unset *= kept;
            load += 1;
        }
        table.push(load);
    }
    table
}

#[cfg(test)]
mod tests {
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
}
