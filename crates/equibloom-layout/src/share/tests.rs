use super::Share;

#[test]
fn a_coin_is_certain_at_both_ends_and_fair_between() {
    assert!(!Share::NONE.takes(0));
    assert!(Share::ALL.takes(u64::MAX) && Share::ALL.is_all());
    assert!(Share::clamped(0.25).takes((1 << 62) - 1));
    assert!(!Share::clamped(0.25).takes(1 << 62));
}

#[test]
fn numbers_outside_are_refused_or_clamped() {
    for (value, share) in [(-1.0, 0.0), (f64::NAN, 0.0), (2.0, 1.0), (f64::INFINITY, 1.0)] {
        assert!(Share::new(value).is_err());
        assert_eq!(Share::clamped(value).get(), share);
    }
}

proptest::proptest! {
    #[test]
    fn every_number_from_0_to_1_comes_back(value in 0.0..=1.0) {
        let share = Share::new(value).unwrap();
        proptest::prop_assert!((share.get() - value).abs() <= 2_f64.powi(-63));
        proptest::prop_assert_eq!(Share::new(share.get()).unwrap(), share);
        proptest::prop_assert_eq!(Share::from_units(share.units()), Some(share));
    }
}
