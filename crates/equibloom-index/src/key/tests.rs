use super::*;

#[test]
fn a_range_holds_its_keys_and_none_outside() {
    let mut range = Range::of(Key::from(-5));
    assert!(range.extend(Key::from(100)));
    let held = |value: i128| range.may_hold(Key::Integer(value));
    assert!([-5, 0, 100].into_iter().all(held));
    assert!(![-6, 101, i64::MIN.into(), u64::MAX as i128 - 5].into_iter().any(held));
    // The 64 bits of −1 and −5.
    assert!(held(u64::MAX.into()) && held(u64::MAX as i128 - 4));
    let negative = Range::of(Key::Integer(u64::MAX.into()));
    assert!(negative.may_hold(Key::from(-1)) && !negative.may_hold(Key::from(-2)));
}

#[test]
fn long_bounds_are_cut_and_hold_what_they_cut() {
    let long = |last: u8| [vec![7; 100], vec![last]].concat();
    let mut range = Range::of(Key::Bytes(&long(1)));
    range.extend(Key::Bytes(&long(9)));
    assert!((0..=255).all(|last| range.may_hold(Key::Bytes(&long(last)))));
    assert!(!range.may_hold(Key::Bytes(&[7; BOUND_BYTES - 1])));
    assert!(!range.may_hold(Key::Bytes(&[8])));
    assert!(range.may_hold(Key::Bytes(&[7; BOUND_BYTES])));
}

#[test]
fn keys_of_another_kind_may_be_held() {
    assert!(Range::of(Key::from(5)).may_hold(Key::from("5")));
    assert!(!Range::of(Key::from(5)).extend(Key::from("5")));
    assert_eq!(Range::of(Key::from("5")).kind(), KeyKind::Bytes);
}

#[test]
fn gaps_are_the_integers_between_that_are_no_keys() {
    let range = Range::Integers { least: -2, most: 7 };
    assert_eq!(range.gaps(10), 0.0);
    assert_eq!(range.gaps(5), 0.5);
    assert_eq!(Range::Integers { least: i64::MIN.into(), most: u64::MAX.into() }.gaps(0), 1.0);
    assert_eq!(Range::of(Key::from("a")).gaps(1), 1.0);
}
