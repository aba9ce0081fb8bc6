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
//! [`trace`] solves them with the Dormand-Prince method of order 8 from `ode_solvers`; [`closed_form`] gives
//! the papers' solutions: each table is a single-choice table by the number of its attempts.

use crate::error::{Error, require};
use crate::lower_bound::check_point;
use crate::optimum::{geometric_sum, share_above, share_at, turned_away};
use crate::poisson::Weights;
use crate::quadrature::Panels;
use crate::root;
use ode_solvers::{DVector, Dop853, OutputType, System};

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

/// Shares of buckets below this are left out of the less-loaded schemes.
const NO_MASS: f64 = 1e-24;

/// Largest load the fluid limits are followed for.
const LARGEST_LOAD: f64 = 20_000.0;

/// The states at the given times (increasing, between 0 and 1), by the differential equations.
pub fn trace(scheme: &Scheme, load: f64, times: &[f64]) -> Result<Vec<State>, Error> {
    check(scheme, load)?;
    let mut flow = Flow::new(scheme, load);
    let mut now = 0.0;
    times
        .iter()
        .map(|&time| {
            let holds = time >= now && time <= 1.0;
            require(holds, "time", time, "between 0 and 1, and not before the one before it")?;
            flow.advance(now, time)?;
            now = time;
            Ok(flow.state(time))
        })
        .collect()
}

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

/// The differential equations of one scheme with their present state: the tables' fractions one after the
/// other, then accesses and overflow.
#[derive(Clone)]
struct Flow {
    scheme: Scheme,
    load: f64,
    /// Loads per table, from `first_load` on.
    loads: usize,
    first_load: usize,
    tables: usize,
    now: DVector<f64>,
}

impl Flow {
    fn new(scheme: &Scheme, load: f64) -> Self {
        let (loads, tables) = match scheme {
            Scheme::LessLoaded { .. } => (1, 1),
            Scheme::Threshold { threshold, tables: Tables::Shared { .. }, .. } => {
                (*threshold as usize + 2, 1)
            }
            Scheme::Threshold { threshold, tables: Tables::Subtables(shares), .. } => {
                (*threshold as usize + 2, shares.len())
            }
        };
        let mut now = DVector::zeros(loads * tables + 2);
        for table in 0..tables {
            now[table * loads] = 1.0;
        }
        Self { scheme: scheme.clone(), load, loads, first_load: 0, tables, now }
    }

    fn advance(&mut self, mut from: f64, to: f64) -> Result<(), Error> {
        if let Scheme::LessLoaded { second_choice } = self.scheme {
            // Piece by piece, each over the loads that carry mass in it: of a page's thousands only a few
            // dozen do.
            let piece = (self.load.sqrt() + 4.0) / self.load;
            while to - from > piece {
                self.move_window((1.0 + second_choice) * self.load * piece);
                self.solve(from, from + piece)?;
                from += piece;
            }
            self.move_window((1.0 + second_choice) * self.load * (to - from));
        }
        self.solve(from, to)
    }

    /// Drops the lowest loads that have no mass left and makes room for `arrivals` per bucket at the top.
    fn move_window(&mut self, arrivals: f64) {
        let (fractions, sums) = self.now.as_slice().split_at(self.loads);
        let empty = fractions.iter().take_while(|&&share| share < NO_MASS).count();
        let kept = fractions.iter().rposition(|&share| share > NO_MASS).map_or(0, |last| last + 1);
        let room = (arrivals + 13.0 * arrivals.sqrt() + 20.0).ceil() as usize;
        let mut now = fractions[empty.min(kept)..kept].to_vec();
        now.resize(now.len() + room, 0.0);
        self.first_load += empty.min(kept);
        self.loads = now.len();
        now.extend_from_slice(sums);
        self.now = DVector::from_vec(now);
    }

    fn solve(&mut self, from: f64, to: f64) -> Result<(), Error> {
        if to <= from {
            return Ok(());
        }
        // As the crate's defaults, but patient: many small steps are not stiffness here, and tiny
        // fractions of full buckets matter as much as large ones.
        let mut solver = Dop853::from_param(
            self.clone(),
            from,
            to,
            to - from,
            self.now.clone(),
            1e-10,
            1e-18,
            0.9,
            0.0,
            0.333,
            6.0,
            to - from,
            0.0,
            1_000_000,
            u32::MAX,
            OutputType::Sparse,
        );
        solver.integrate().map_err(|error| Error::Integration(error.to_string()))?;
        if let Some(last) = solver.y_out().last() {
            self.now = last.clone();
        }
        Ok(())
    }

    fn state(&self, time: f64) -> State {
        let fractions = self.now.as_slice();
        let end = self.loads * self.tables;
        State {
            time,
            loads: fractions[..end]
                .chunks_exact(self.loads)
                .map(|table| [&vec![0.0; self.first_load], table].concat())
                .collect(),
            accesses: fractions[end],
            overflow: fractions[end + 1],
        }
    }
}

impl System<f64, DVector<f64>> for Flow {
    fn system(&self, _time: f64, now: &DVector<f64>, slope: &mut DVector<f64>) {
        let (now, slope) = (now.as_slice(), slope.as_mut_slice());
        let end = self.loads * self.tables;
        slope[end + 1] = 0.0;
        match &self.scheme {
            Scheme::LessLoaded { second_choice } => {
                slope[end] = 1.0 + second_choice;
                let mut fuller = 0.0;
                let mut chosen_above = 0.0;
                for load in (0..self.loads).rev() {
                    let here = now[load];
                    let chosen =
                        here * ((1.0 - second_choice) + second_choice * (here + 2.0 * fuller));
                    // The row of load + 1 gains what is chosen here.
                    if load + 1 < self.loads {
                        slope[load + 1] = self.load * (chosen - chosen_above);
                    }
                    (fuller, chosen_above) = (fuller + here, chosen);
                }
                slope[0] = -self.load * chosen_above;
            }
            Scheme::Threshold { threshold, probability, tables } => {
                let h = *threshold as usize;
                let away = |table: &[f64]| (1.0 - probability) * table[h] + table[h + 1];
                let tables: Vec<(f64, f64)> = match tables {
                    Tables::Shared { choices } => {
                        let away = away(&now[..end]);
                        slope[end + 1] = away.powi(*choices as i32);
                        vec![(1.0, geometric_sum(away, *choices))]
                    }
                    Tables::Subtables(shares) => {
                        let mut reaching = 1.0;
                        let tables = shares.iter().zip(now.chunks_exact(self.loads));
                        let tables = tables.map(|(&share, table)| {
                            let tries = reaching;
                            reaching *= away(table);
                            (share, tries)
                        });
                        let tables = tables.collect();
                        slope[end + 1] = reaching;
                        tables
                    }
                };
                slope[end] = tables.iter().map(|(_, tries)| tries).sum();
                for (index, (share, tries)) in tables.into_iter().enumerate() {
                    let range = index * self.loads..(index + 1) * self.loads;
                    let (now, slope) = (&now[range.clone()], &mut slope[range]);
                    let rate = self.load * tries / share;
                    let mut arriving = 0.0;
                    for load in 0..self.loads {
                        let admits = match load {
                            _ if load < h => 1.0,
                            _ if load == h => *probability,
                            _ => 0.0,
                        };
                        let leaving = rate * admits * now[load];
                        slope[load] = arriving - leaving;
                        arriving = leaving;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "fluid_tests.rs"]
mod tests;
