use super::*;

fn all_tables() -> impl Iterator<Item = (bool, &'static Table)> {
    [false, true]
        .into_iter()
        .flat_map(|multiset| tables(multiset).iter().map(move |table| (multiset, table)))
}

#[test]
fn rows_have_more_bits_fewer_slots_and_a_lower_rate_than_those_before() {
    for (_, Table { rows, .. }) in all_tables() {
        assert!(rows.len() > 30);
        for pair in rows.windows(2) {
            let [before, after] = pair else { continue };
            assert!(before.bits < after.bits && before.rate > after.rate, "{before:?} {after:?}");
            assert!(before.slots > after.slots, "{before:?} {after:?}");
            assert!(before.rate >= before.last, "{before:?}");
        }
    }
}

#[test]
fn bits_for_the_rate_of_a_row_are_its_own() {
    for (multiset, Table { keys, rows }) in all_tables() {
        for row in *rows {
            let bits = bits_for(row.rate, *keys, multiset);
            assert!((bits / row.bits - 1.0).abs() < 1e-9, "{keys} keys, {row:?}: {bits}");
        }
    }
    assert!(bits_for(0.5, 1e6, false) < 4.5 && bits_for(1e-15, 1e6, false) > 50.0);
}

#[test]
fn small_tables_have_more_slots() {
    assert!(slots_near(16.0, 1e3, false) > slots_near(16.0, 1e9, false));
    assert_eq!(slots_near(16.0, 1e9, false), slots_near(16.0, 1e12, false));
}
