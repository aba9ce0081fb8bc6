use super::*;

#[test]
fn all_memory_is_counted_and_none_is_wasted() {
    let sizing = Sizing { keys: 1_000, bytes: 2_000 };
    let overflow = Overflow { capacity: 10, when_full: WhenFull::Saturate };
    assert_eq!(overflow.bytes(), 128);
    let blocks = sizing.blocks(512, overflow.bytes()).unwrap();
    assert_eq!(blocks, (2_000 - HEADER_BYTES - 128) / 64);
    assert!(HEADER_BYTES + 128 + 64 * (blocks + 1) > 2_000);
    let tiny = Sizing { keys: 1, bytes: HEADER_BYTES + 63 };
    assert!(tiny.blocks(64, 0).is_err());
}
