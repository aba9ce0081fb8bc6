//! The closed form of the share that goes on, against the sum over all bytes.

use super::FingerprintBlock;

/// The chance that fewer than `sent_on` of `entries` bytes are below a byte, averaged over all bytes.
#[test]
fn the_share_that_goes_on_is_that_of_an_order_statistic() {
    for remainder_bits in 5..=8 {
        let block = FingerprintBlock::new(40, 256, remainder_bits, false);
        let bytes = 1 << remainder_bits;
        for (sent_on, accuracy) in [(1, 0.02), (2, 0.02), (3, 0.005), (10, 0.001), (40, 0.001)] {
            let entries = 40 + sent_on;
            let reaches = |byte: i32| -> f64 {
                let below = f64::from(byte) / f64::from(bytes);
                let mut chance = (1.0 - below).powi(entries);
                let next = |i: i32| {
                    let here = chance;
                    chance *= f64::from(entries - i) / f64::from(i + 1) * below / (1.0 - below);
                    here
                };
                (0..sent_on).map(next).sum()
            };
            let exact = (0..bytes).map(reaches).sum::<f64>() / f64::from(bytes);
            // The blocks have enough lists that a fingerprint more or less does not matter.
            let model = block.passes(entries.into()).0;
            let off = (model / exact - 1.0).abs();
            assert!(off < accuracy, "{bytes} bytes, {sent_on} sent on: {model}, not {exact}");
        }
    }
}
