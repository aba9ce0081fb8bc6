use super::*;

/// The number of set bits after one more key that does not match.
fn after_new_key(patterns: &Patterns, set_bits: &Window) -> Window {
    let others = set_bits.iter().filter(|&(set, _)| set < patterns.bits());
    let others: Vec<f64> = others.map(|(set, mass)| mass / (1.0 - patterns.matched(set))).collect();
    let mut next = Window::default();
    patterns.grow(set_bits.first, &others, &mut next);
    next.add(patterns.bits(), &[1.0], set_bits.get(patterns.bits()));
    next
}

/// The oracle follows the whole distribution of the set bits.
#[test]
fn mean_patterns_are_those_of_the_distribution_of_set_bits() {
    for (bits, hashes) in [(512, 1), (512, 14), (1_500, 4), (2_048, 40), (8_192, 6)] {
        let patterns = Patterns::new(bits, hashes);
        let mut mean = MeanPatterns::new(bits, hashes);
        let mut set_bits = Window::certain(0);
        for keys in 1..2 * bits / hashes {
            set_bits = after_new_key(&patterns, &set_bits);
            mean.resolve(keys);
            let matched = set_bits.mean_of(|set| patterns.matched(set));
            let squared = set_bits.mean_of(|set| patterns.matched(set).powi(2));
            let (once, twice) = mean.matched(keys);
            let tolerance = if bits < 1_024 { 0.02 } else { 2e-3 };
            if matched < 1e-12 {
                continue;
            }
            let context = format!("{bits} bits, {hashes} hashes, {keys} keys: {once} {matched}");
            assert!((once / matched - 1.0).abs() < tolerance, "{context}");
            assert!(
                (twice / squared - 1.0).abs() < 4.0 * tolerance,
                "{context}, {twice} {squared}"
            );
        }
    }
}
