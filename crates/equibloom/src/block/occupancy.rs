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
mod tests;
