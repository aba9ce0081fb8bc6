//! The block accesses that placing keys may cost in all.

/// Accesses that placing the stored keys has cost, and whether a key has come that the budget did not
/// suffice for. From then on every new key goes to the overflow list, although its blocks may have
/// room, and every lookup must look there too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AccessBudget {
    total: u64,
    used: u64,
    spent: bool,
}

impl AccessBudget {
    /// A budget of so many accesses; `None` never runs out.
    pub(super) const fn new(total: Option<u64>) -> Self {
        let total = match total {
            Some(total) => total,
            None => u64::MAX,
        };
        Self { total, used: 0, spent: false }
    }

    pub(super) const fn affords(&self, reads: u32) -> bool {
        !self.spent && self.total.saturating_sub(self.used) >= reads as u64
    }

    /// Counts the accesses of one placed key, and notes if they were too many.
    pub(super) fn spend(&mut self, reads: u32) {
        self.spent = !self.affords(reads);
        self.used = self.used.saturating_add(u64::from(reads));
    }

    /// Whether it never runs out.
    pub(super) const fn is_unlimited(&self) -> bool {
        self.total == u64::MAX
    }

    /// Counts the accesses of many placed keys that nothing limits.
    #[cfg(feature = "std")]
    pub(super) fn spend_of_unlimited(&mut self, reads: u64) {
        self.used = self.used.saturating_add(reads);
    }

    /// Gives back the accesses of a key that was removed.
    pub(super) fn refund(&mut self, reads: u32) {
        self.used = self.used.saturating_sub(u64::from(reads));
    }

    /// Accesses of all keys that are there.
    pub(super) const fn used(&self) -> u64 {
        self.used
    }

    /// What is left when another filter's keys are placed as well.
    pub(super) const fn merge(&mut self, other: &Self) {
        *self = self.restored(self.used.saturating_add(other.used), self.spent || other.spent);
    }

    pub(super) const fn is_spent(&self) -> bool {
        self.spent
    }

    /// Accesses that may be used in all.
    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// The same budget with so much of it used. An unlimited one is not spent, nor ever will be, whatever a
    /// file says.
    pub(super) const fn restored(self, used: u64, spent: bool) -> Self {
        let total = self.total;
        if self.is_unlimited() {
            let used = if used < total / 2 { used } else { total / 2 };
            return Self { total, used, spent: false };
        }
        Self { total, used, spent }
    }

    pub(super) const fn reset(&mut self) {
        *self = Self { used: 0, spent: false, ..*self };
    }
}

#[cfg(test)]
mod tests {
    use super::AccessBudget;

    #[test]
    fn a_limit_is_kept_and_what_is_left_shrinks_with_another_filters_keys() {
        let mut budget = AccessBudget::new(Some(15));
        (0..7).for_each(|_| budget.spend(2));
        assert!(!budget.is_unlimited() && budget.affords(1) && !budget.affords(2));
        budget.spend(2);
        assert!(budget.is_spent() && !budget.affords(1));
        let mut other = AccessBudget::new(Some(15));
        other.merge(&budget);
        assert!(other.is_spent() && other.used() == 16);
    }

    /// Lookups of filters without a limit do not even ask.
    #[test]
    fn nothing_spends_an_unlimited_budget() {
        let endless = AccessBudget::new(None);
        let mut budget = endless.restored(u64::MAX, true);
        for _ in 0..3 {
            assert!(budget.is_unlimited() && !budget.is_spent() && budget.affords(u32::MAX));
            budget.merge(&budget.clone());
            budget.spend(u32::MAX);
        }
        assert_eq!(endless.restored(7, false).used(), 7);
    }
}
