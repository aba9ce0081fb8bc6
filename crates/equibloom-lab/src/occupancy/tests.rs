use super::block_rates;

#[test]
fn small_blocks_are_as_counted_by_hand() {
    // Two of four bits: empty, then the same pair again (1/6); two elements set 2, 3 or 4 bits.
    let rates = block_rates(4, 2, 2);
    assert_eq!(rates[0], 0.0);
    assert!((rates[1] - 1.0 / 6.0).abs() < 1e-12);
    let two = 1.0 / 6.0 * (1.0 / 6.0) + 4.0 / 6.0 * (3.0 / 6.0) + 1.0 / 6.0;
    assert!((rates[2] - two).abs() < 1e-12);
}
