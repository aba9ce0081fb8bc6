use super::*;

#[test]
fn rows_have_more_bits_fewer_slots_and_a_lower_rate_than_those_before() {
    for rows in [SETS, REMOVABLE] {
        assert!(rows.len() > 40);
        for pair in rows.windows(2) {
            let [before, after] = pair else { continue };
            assert!(before.bits < after.bits && before.rate > after.rate, "{before:?} {after:?}");
            assert!(before.slots >= after.slots, "{before:?} {after:?}");
        }
    }
}

#[test]
fn bits_for_the_rate_of_a_row_are_its_own() {
    for multiset in [false, true] {
        for row in rows(multiset) {
            assert!((bits_for(row.rate, multiset) / row.bits - 1.0).abs() < 1e-9, "{row:?}");
        }
    }
    assert!(bits_for(0.5, false) < 4.5 && bits_for(1e-15, false) > 50.0);
}

#[test]
fn small_tables_try_more_slots() {
    let large = slots_near(16.0, 1e9, false);
    let small = slots_near(16.0, 1e3, false);
    assert!(large.iter().all(|slots| small.contains(slots)));
    assert!(small.iter().max() > large.iter().max());
}
