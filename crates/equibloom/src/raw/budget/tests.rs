use super::AccessBudget;

#[test]
fn a_limit_is_kept_and_what_is_left_shrinks_with_another_filters_keys() {
    let mut budget = AccessBudget::new(Some(15));
    (0..7).for_each(|_| budget.spend(2));
    assert!(!budget.is_unlimited() && budget.affords(1) && !budget.affords(2));
    budget.spend(2);
    assert!(budget.spent && !budget.affords(1));
    let mut other = AccessBudget::new(Some(15));
    other.merge(&budget);
    assert!(other.spent && other.used == 16);
}

/// Lookups in filters without a limit do not even check.
#[test]
fn nothing_spends_an_unlimited_budget() {
    let endless = AccessBudget::new(None);
    let mut budget = endless.restored(u64::MAX, true);
    for _ in 0..3 {
        assert!(budget.is_unlimited() && !budget.spent && budget.affords(u32::MAX));
        budget.merge(&budget.clone());
        budget.spend(u32::MAX);
    }
    assert_eq!(endless.restored(7, false).used, 7);
}
