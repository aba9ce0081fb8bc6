//! The classical filter as an urn: only the number of set bits matters.

use super::random::Random;

/// The share of set bits of a filter of `bits` bits after each number of elements in `moments` (increasing),
/// each drawing `hashes` bits with replacement.
pub fn share_of_set_bits(bits: u64, hashes: u32, moments: &[u64], seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let (mut inserted, mut set) = (0, 0);
    let after = |&moment: &u64| {
        // A drawn bit is already set, or is set now.
        for _ in 0..moment.saturating_sub(inserted) * u64::from(hashes) {
            set += u64::from(random.below(bits) >= set);
        }
        inserted = inserted.max(moment);
        set as f64 / bits as f64
    };
    moments.iter().map(after).collect()
}
