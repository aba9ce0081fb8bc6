//! The access budget.

/// Block accesses spent on placing keys, and whether a key has exceeded the budget. From then on every new
/// key goes to the overflow list, even if its blocks have room, and every lookup has to check the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AccessBudget {
    pub(super) total: u64,
    /// Accesses of all stored keys.
    pub(super) used: u64,
    pub(super) spent: bool,
}

impl AccessBudget {
    /// A budget of `total` accesses; `None` is unlimited.
    pub(super) fn new(total: Option<u64>) -> Self {
        Self { total: total.unwrap_or(u64::MAX), used: 0, spent: false }
    }

    pub(super) const fn affords(&self, reads: u32) -> bool {
        !self.spent && self.total.saturating_sub(self.used) >= reads as u64
    }

    /// Counts the accesses of one placed key; marks the budget as spent if they exceed it.
    pub(super) fn spend(&mut self, reads: u32) {
        self.spent = !self.affords(reads);
        self.used = self.used.saturating_add(u64::from(reads));
    }

    /// Whether the budget is unlimited.
    pub(super) const fn is_unlimited(&self) -> bool {
        self.total == u64::MAX
    }

    /// Refunds accesses.
    pub(super) fn refund(&mut self, reads: u32) {
        self.used = self.used.saturating_sub(u64::from(reads));
    }

    /// Adds the accesses of another filter's keys.
    pub(super) const fn merge(&mut self, other: &Self) {
        *self = self.restored(self.used.saturating_add(other.used), self.spent || other.spent);
    }

    /// The same budget with `used` accesses spent. An unlimited budget is never spent, whatever a file
    /// says.
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
mod tests;
