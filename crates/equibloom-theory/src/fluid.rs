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
//! turned away, and `share` the subtable's share of the buckets. (The report prints f_{h−1} in the row of
//! f_{h+1}; mass is conserved with f_h only.) With one plus α choices
//!
//! ```text
//!     f_i' = r·(C_{i−1} − C_i)          C_i = (1−α)·f_i + α·(f_i² + 2·f_i·Σ_{j>i} f_j)
//! ```
//!
//! [`closed_form`] gives the papers' solutions: each table is a single-choice table by the number of its
//! attempts. `trace` (feature `papers`) solves the equations numerically, also where no closed form is known.

use crate::error::{Error, require};
use crate::lower_bound::check_point;
use crate::optimum::{geometric_sum, share_above, share_at, turned_away};
use crate::poisson::Weights;
use crate::quadrature::Panels;
use crate::root;

#[cfg(feature = "papers")]
mod equations;

#[cfg(feature = "papers")]
pub use equations::trace;

/// A balancing scheme with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Scheme {
    /// The first bucket below a threshold.
    Threshold {
        /// A bucket below this load admits every element.
        threshold: u32,
        /// A bucket at the threshold admits an element with this probability.
        probability: f64,
        /// The buckets of an element.
        tables: Tables,
    },
    /// The less loaded of one or two buckets.
    LessLoaded {
        /// Share of the elements that have a second choice: 0 is one choice, 1 power of two.
        second_choice: f64,
    },
}

/// The buckets an element may go to under a threshold.
#[derive(Debug, Clone, PartialEq)]
pub enum Tables {
    /// This many, anywhere in one table; with one choice this is the single scheme.
    Shared {
        /// Buckets per element.
        choices: u32,
    },
    /// One in each of several subtables with these shares of the buckets.
    Subtables(Vec<f64>),
}

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
}

/// Largest load the fluid limits are followed for.
const LARGEST_LOAD: f64 = 20_000.0;

/// The state at one time by the papers' solutions; `None` where there is none (second choices).
pub fn closed_form(scheme: &Scheme, load: f64, time: f64) -> Result<Option<State>, Error> {
    check(scheme, load)?;
    require((0.0..=1.0).contains(&time), "time", time, "between 0 and 1")?;
    Ok(match scheme {
        Scheme::LessLoaded { second_choice } if *second_choice == 0.0 => {
            let weights = Weights::new(load * time);
            let mut loads = vec![0.0; weights.first];
            loads.extend(weights.mass);
            Some(State { time, loads: vec![loads], accesses: time, overflow: 0.0 })
        }
        Scheme::LessLoaded { .. } => None,
        Scheme::Threshold { threshold, probability, tables } => {
            let table = Table { h: *threshold as usize, p: *probability };
            Some(match tables {
                Tables::Shared { choices } => table.sequential(load, time, *choices),
                Tables::Subtables(shares) => table.multi_level(load, time, shares),
            })
        }
    })
}

fn check(scheme: &Scheme, load: f64) -> Result<(), Error> {
    check_point(load, 1.0, 0.0)?;
    require(load <= LARGEST_LOAD, "load", load, format!("at most {LARGEST_LOAD}"))?;
    match scheme {
        Scheme::LessLoaded { second_choice } => {
            let holds = (0.0..=1.0).contains(second_choice);
            require(holds, "second_choice", *second_choice, "between 0 and 1")
        }
        Scheme::Threshold { threshold, probability, tables } => {
            let low = f64::from(*threshold) <= LARGEST_LOAD;
            require(low, "threshold", f64::from(*threshold), format!("at most {LARGEST_LOAD}"))?;
            let holds = (0.0..=1.0).contains(probability);
            require(holds, "probability", *probability, "between 0 and 1")?;
            match tables {
                Tables::Shared { choices } => {
                    let holds = (1..=64).contains(choices);
                    require(holds, "choices", f64::from(*choices), "between 1 and 64")
                }
                Tables::Subtables(shares) => {
                    let count = shares.len();
                    require(
                        (1..=64).contains(&count),
                        "subtables",
                        count as f64,
                        "between 1 and 64",
                    )?;
                    shares.iter().try_for_each(|&share| {
                        let holds = share > 0.0 && share <= 1.0;
                        require(holds, "subtable share", share, "above 0 and at most 1")
                    })
                }
            }
        }
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

    /// Share of `attempts` per bucket that were turned away.
    fn turned_away_so_far(&self, attempts: f64) -> f64 {
        if attempts == 0.0 {
            return 0.0;
        }
        let loads = self.loads(&Weights::new(attempts));
        let stored: f64 = loads.iter().enumerate().map(|(load, mass)| load as f64 * mass).sum();
        (1.0 - stored / attempts).max(0.0)
    }

    /// One table: find the attempts s per element by ∫₀ˢ du/g(u) = t.
    fn sequential(&self, load: f64, time: f64, choices: u32) -> State {
        let tries = |away: f64| geometric_sum(away, choices);
        let most = time * f64::from(choices);
        let panels = Panels::over_attempts(load * most);
        let integral = |to: f64, f: &dyn Fn(f64) -> f64| -> f64 {
            let away = |s: f64| turned_away(&Weights::new(s * load), self.h, self.p);
            panels.nodes(0.0, to).map(|(s, width)| width * f(away(s))).sum()
        };
        let attempts = if choices == 1 {
            time
        } else {
            root::increasing(time, most, |s| integral(s, &|away| 1.0 / tries(away)) - time)
        };
        State {
            time,
            loads: vec![self.loads(&Weights::new(attempts * load))],
            accesses: attempts,
            overflow: integral(attempts, &|away| away.powi(choices as i32) / tries(away)),
        }
    }

    /// Theorem 6: each subtable is a single-choice table for what the ones before it turned away.
    fn multi_level(&self, load: f64, time: f64, shares: &[f64]) -> State {
        let mut state = State { time, loads: Vec::new(), accesses: 0.0, overflow: time };
        for share in shares {
            let attempts = state.overflow * load / share;
            state.accesses += state.overflow;
            state.overflow *= self.turned_away_so_far(attempts);
            state.loads.push(self.loads(&Weights::new(attempts)));
        }
        state
    }
}

#[cfg(all(test, feature = "papers"))]
#[path = "fluid_tests.rs"]
mod tests;
