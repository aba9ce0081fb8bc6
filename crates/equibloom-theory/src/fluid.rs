//! Fluid limits: the load distributions of the schemes while they fill, by element loads.
//!
//! With n elements over m buckets, r = n/m, and time t the share of the elements inserted, the fractions
//! f_i(t) of buckets that hold i elements follow differential equations (technical report, appendix A; the
//! 1+α paper, equations 3.3 and 3.5):
//!
//! ```text
//!     f_i' = (r·g/share)·(A_{i−1}·f_{i−1} − A_i·f_i)        A_i = 1 below h, p at h, 0 above
//! ```
//!
//! where g is the number of tries an element makes in the table (1 for single, 1 + P + … + P^{d−1} for
//! sequential, Π P_k over the earlier subtables for multi-level), P = (1−p)f_h + f_{h+1} the chance to be
//! rejected, and `share` the subtable's share of the buckets. (The report prints f_{h−1} in the row of
//! f_{h+1}; mass is conserved with f_h only.) If a share α of the elements goes to the least loaded of d buckets and the
//! others to one,
//!
//! ```text
//!     f_i' = r·(C_{i−1} − C_i)          C_i = (1−α)·f_i + α·(F_i^d − F_{i+1}^d)      F_i = Σ_{j≥i} f_j
//! ```
//!
//! Where placing stops after a budget of accesses, the tables stay as they are from then on, and all further elements
//! overflow.
//!
//! [`Process::closed_form`] gives the papers' solutions: each table is a single-choice table by the number of its
//! attempts. `Process::trace` (feature `papers`) solves the equations numerically, also where no closed form is
//! known.

use equibloom_layout::{Blocks, Layout, MAX_BLOCK_BITS, Proportions, Rule, Share};

use crate::error::{Error, require};
use crate::lower_bound::check_point;
use crate::optimum::{Budget, share_above, share_at};
use crate::poisson::Weights;
use crate::root;

#[cfg(feature = "papers")]
mod equations;

/// The tables at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Share of the elements inserted.
    pub time: f64,
    /// Per table, the fraction of buckets by load.
    pub loads: Vec<Vec<f64>>,
    /// Bucket accesses so far, per element of the whole set.
    pub accesses: f64,
    /// Elements in the overflow list, as a share of the whole set.
    pub overflow: f64,
    /// Those of them that came after the budget was spent.
    pub late: f64,
}

/// The filling of a table with many buckets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Process {
    /// The buckets of an element.
    pub candidates: Proportions,
    /// The rule that selects one.
    pub rule: Rule,
    /// Elements per bucket in the end.
    pub load: f64,
    /// Accesses per element after which placing stops: the remaining elements overflow.
    pub budget: Option<f64>,
}

impl Process {
    /// Without a budget.
    pub const fn new(candidates: Proportions, rule: Rule, load: f64) -> Self {
        Self { candidates, rule, load, budget: None }
    }

    /// The state at one time by the papers' solutions; `None` where there is none (second choices).
    ///
    /// ```
    /// use equibloom_layout::{Proportions, Rule};
    /// use equibloom_theory::fluid::Process;
    ///
    /// // Buckets of four at 95 % load; two subtables.
    /// let tables = Proportions::subtables(&[0.9, 0.1])?;
    /// let full = Process::new(tables, Rule::below(4), 3.8).closed_form(1.0)?;
    /// assert!(full.is_some_and(|state| (0.1..0.2).contains(&state.overflow)));
    /// # Ok::<(), equibloom_theory::Error>(())
    /// ```
    pub fn closed_form(&self, time: f64) -> Result<Option<State>, Error> {
        self.check()?;
        require((0.0..=1.0).contains(&time), "time", time, "between 0 and 1")?;
        let Self { load, budget, .. } = *self;
        let budget = budget.unwrap_or(f64::INFINITY);
        Ok(match (self.rule, &self.candidates) {
            (Rule::FirstWithRoom { below, coin }, candidates) => {
                let table = Table { h: below as usize, p: coin.get() };
                Some(match candidates {
                    Proportions::Anywhere { choices, .. } => {
                        table.sequential(load, time, *choices, budget)
                    }
                    Proportions::Subtables { shares } => {
                        let stop = root::increasing(0.0, time, |stop| {
                            table.multi_level(load, stop, shares).accesses - budget
                        });
                        table.multi_level(load, stop, shares).stopped(time)
                    }
                })
            }
            (Rule::LeastLoaded, Proportions::Anywhere { choices: 1, .. })
            | (Rule::LeastLoaded, Proportions::Anywhere { share: Share::NONE, .. }) => {
                let weights = Weights::new(load * time);
                let mut loads = vec![0.0; weights.first];
                loads.extend(weights.mass);
                Some(State { time, loads: vec![loads], accesses: time, overflow: 0.0, late: 0.0 })
            }
            // Only fingerprint blocks keep the largest: the check has refused that rule.
            (Rule::LeastLoaded | Rule::KeepLargest, _) => None,
        })
    }

    /// The state when all elements are in.
    #[cfg(feature = "papers")]
    pub fn end(&self) -> Result<State, Error> {
        match self.closed_form(1.0)? {
            Some(state) => Ok(state),
            None => Ok(self.trace(&[1.0])?.remove(0)),
        }
    }

    /// A table is possible only if a filter of many large blocks with the same candidates and rule is.
    fn check(&self) -> Result<(), Error> {
        check_point(self.load, 1.0, 0.0)?;
        if let Some(budget) = self.budget {
            require(budget >= 1.0 && budget.is_finite(), "budget", budget, "at least 1")?;
        }
        Layout::new(
            Blocks::bloom(MAX_BLOCK_BITS, 1),
            self.candidates.with_blocks(1 << 32),
            self.rule,
        )
        .with_budget(self.budget.map(|_| u64::MAX))
        .check()?;
        let Proportions::Subtables { shares } = self.candidates else { return Ok(()) };
        shares.iter().try_for_each(|&share| {
            let holds = share > 0.0 && share <= 1.0;
            require(holds, "subtable share", share, "above 0 and at most 1")
        })?;
        let sum: f64 = shares.iter().sum();
        // Tolerance for shares that were rounded to six digits.
        require(
            (sum - 1.0).abs() <= 1e-6,
            "subtables",
            sum,
            "1 in all: they are shares of the buckets",
        )
    }
}

impl State {
    /// This state, with everything that comes until `time` in the overflow list.
    fn stopped(self, time: f64) -> Self {
        let late = time - self.time;
        Self { time, overflow: self.overflow + late, late, ..self }
    }
}

/// The single-choice table, solved.
struct Table {
    h: usize,
    p: f64,
}

impl Table {
    /// Fractions of buckets by load after Poisson(`attempts`) attempts a bucket.
    fn loads(&self, attempts: &Weights) -> Vec<f64> {
        let mass = |j: usize| {
            j.checked_sub(attempts.first).and_then(|i| attempts.mass.get(i)).copied().unwrap_or(0.0)
        };
        let mut loads: Vec<f64> = (0..self.h).map(mass).collect();
        loads.push(share_at(attempts, self.h, self.p));
        loads.push(share_above(attempts, self.h, self.p));
        loads
    }

    /// Share of `attempts` per bucket that were rejected.
    fn rejected_so_far(&self, attempts: f64) -> f64 {
        if attempts == 0.0 {
            return 0.0;
        }
        let loads = self.loads(&Weights::new(attempts));
        let stored: f64 = loads.iter().enumerate().map(|(load, mass)| load as f64 * mass).sum();
        (1.0 - stored / attempts).max(0.0)
    }

    /// One table: find the attempts s per element by ∫₀ˢ du/g(u) = t, up to the budget.
    fn sequential(&self, load: f64, time: f64, choices: u32, budget: f64) -> State {
        let most = time * f64::from(choices);
        let budget_of = |attempts: f64| Budget::new(load, attempts, choices);
        let elements = |attempts: f64| budget_of(attempts).elements(self.h, self.p);
        let attempts = if choices == 1 {
            time
        } else {
            root::increasing(time, most, |attempts| elements(attempts) - time)
        };
        let attempts = attempts.min(budget);
        let state = State {
            time: if attempts < budget { time } else { elements(attempts).min(time) },
            loads: vec![self.loads(&Weights::new(attempts * load))],
            accesses: attempts,
            overflow: budget_of(attempts).overflow(self.h, self.p),
            late: 0.0,
        };
        state.stopped(time)
    }

    /// Theorem 6: each subtable is a single-choice table for what the ones before it reject.
    fn multi_level(&self, load: f64, time: f64, shares: &[f64]) -> State {
        let mut state = State { time, loads: Vec::new(), accesses: 0.0, overflow: time, late: 0.0 };
        for share in shares {
            let attempts = state.overflow * load / share;
            state.accesses += state.overflow;
            state.overflow *= self.rejected_so_far(attempts);
            state.loads.push(self.loads(&Weights::new(attempts)));
        }
        state
    }
}

#[cfg(all(test, feature = "papers"))]
#[path = "fluid_tests.rs"]
mod tests;
