use super::super::fingerprint_block::FingerprintBlock;
use super::super::{BlockModel, subtables};
use super::*;

/// Counts keys, as simple as possible: a key is equal to one of a block's `held` entries with probability held / M.
struct Simulator {
    state: u64,
    slots: u16,
    fingerprints: u64,
}

impl Simulator {
    /// SplitMix64.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.random()) * u128::from(limit)) >> 64) as u64
    }

    /// Keys that the last of these subtables sends on.
    fn fill(&mut self, keys: u64, sizes: &[u64]) -> u64 {
        sizes.iter().fold(keys, |arriving, &size| {
            let mut arrived = vec![0_u16; size as usize];
            let mut sent_on = 0;
            for _ in 0..arriving {
                let block = self.below(size) as usize;
                if self.below(self.fingerprints) >= arrived[block].into() {
                    arrived[block] += 1;
                    sent_on += u64::from(arrived[block] > self.slots);
                }
            }
            sent_on
        })
    }
}

/// Filters as they are planned: keys, slots, lists, remainder bits, subtables.
const FILTERS: [(u64, u32, u32, u32, &[u64]); 6] = [
    (1_000, 64, 120, 5, &[16, 1]),
    (1_000, 41, 53, 10, &[20, 4, 1]),
    (3_000, 39, 75, 10, &[67, 9, 2, 1]),
    (3_000, 55, 64, 7, &[49, 5, 1, 1]),
    (10_000, 35, 49, 12, &[264, 30, 3, 1]),
    (25_260, 38, 48, 11, &[560, 98, 16, 2]),
];

/// Fillings of filters with 1,000 keys; fewer of larger ones.
const FILLINGS: u64 = 60_000;

/// After each subtable: the mean, the standard deviation, and the numbers that a hundredth, a thousandth and a
/// ten-thousandth of all filters exceed.
#[test]
fn what_is_sent_on_varies_as_in_simulated_filters() {
    for (keys, slots, lists, remainder_bits, sizes) in FILTERS {
        let block = FingerprintBlock::new(slots, lists, remainder_bits, false);
        let mut simulator = Simulator {
            state: keys,
            slots: slots as u16,
            fingerprints: u64::from(lists) << remainder_bits,
        };
        for levels in 1..=sizes.len() {
            let sizes = &sizes[..levels];
            let outline = |distance: f64| {
                let model = &mut BlockModel::Fingerprint(block);
                subtables::outline(model, keys as f64, sizes, f64::INFINITY, distance).unwrap()
            };
            let fillings = (FILLINGS * 1_000 / keys).max(2_000);
            let mut sent_on: Vec<u64> =
                (0..fillings).map(|_| simulator.fill(keys, sizes)).collect();
            sent_on.sort_unstable();
            let mean = sent_on.iter().sum::<u64>() as f64 / fillings as f64;
            let squares: f64 = sent_on.iter().map(|&sent| (sent as f64 - mean).powi(2)).sum();
            let deviation = (squares / fillings as f64).sqrt();
            let expected = outline(0.0);
            let filter = format!("{keys} keys, {sizes:?}");
            // What hardly any filter sends on is known by its tail alone.
            if mean > 2.0 {
                let ratio = expected.overflow_fraction * keys as f64 / mean;
                assert!((0.85..1.3).contains(&ratio), "{filter}: mean {mean}, {ratio}");
                let ratio = expected.overflow_deviation * keys as f64 / deviation;
                assert!((0.9..1.1).contains(&ratio), "{filter}: deviation {deviation}, {ratio}");
            }
            for (share, distance) in [(1e-2, 2.326), (1e-3, 3.090), (1e-4, 3.719)] {
                let above = (share * fillings as f64) as usize;
                if above < 5 {
                    continue;
                }
                let measured = sent_on[sent_on.len() - above] as f64;
                // As in `FAR`, and whole numbers.
                let most = outline(FAR / 6.0 * distance).overflow_most * keys as f64 + 2.0;
                assert!(measured <= most, "{filter}: {share} above {measured}, model {most}");
                assert!(most <= 1.25 * measured + 25.0, "{filter}: {share} {measured}, {most}");
            }
        }
    }
}
