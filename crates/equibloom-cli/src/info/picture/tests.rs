use super::*;

#[test]
fn bars_are_as_long_as_their_blocks_are_many() {
    assert_eq!(drawn(0, 10), "");
    assert_eq!(drawn(10, 10), "█".repeat(WIDTH));
    assert_eq!(drawn(5, 10), "█".repeat(WIDTH / 2));
    assert_eq!(drawn(1, 1_000_000), "▏");
}

#[test]
fn every_block_is_in_one_bar() {
    for loads in [vec![], vec![0, 0], vec![7], vec![0, 0, 3, 0, 2, 0], vec![1; 1000]] {
        let bars = bars(&loads);
        assert!(bars.len() <= MOST_BARS);
        let sum: u64 = bars.iter().map(|bar| bar.blocks).sum();
        assert_eq!(sum, loads.iter().sum::<u64>());
        assert!(bars.windows(2).all(|pair| pair[0].last + 1 == pair[1].first));
    }
}
