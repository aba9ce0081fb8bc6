//! The block accesses that placing keys may cost in all.

/// Accesses left, and whether a key has come that they did not suffice for. From then on every new
/// key goes to the overflow list, although its blocks may have room, and every lookup must look
/// there too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AccessBudget {
    total: u64,
    left: u64,
    spent: bool,
}

impl AccessBudget {
    /// So many that they never run out.
    pub(super) const fn unlimited() -> Self {
        Self::of(u64::MAX)
    }

    /// `accesses` for each of `keys` on average. A key never needs more than `choices`.
    pub(super) fn for_keys(keys: u64, accesses: f64, choices: u32) -> Self {
        if accesses >= f64::from(choices) {
            Self::unlimited()
        } else {
            Self::of((accesses * keys as f64) as u64)
        }
    }

    const fn of(total: u64) -> Self {
        Self { total, left: total, spent: false }
    }

    pub(super) const fn affords(&self, reads: u32) -> bool {
        !self.spent && self.left >= reads as u64
    }

    /// Takes the accesses of one placed key off, or notes that they were too many.
    pub(super) fn spend(&mut self, reads: u32) {
        if self.affords(reads) {
            self.left -= u64::from(reads);
        } else {
            self.spent = true;
        }
    }

    pub(super) const fn is_spent(&self) -> bool {
        self.spent
    }

    pub(super) const fn reset(&mut self) {
        *self = Self::of(self.total);
    }
}
