//! The differential equations of the fluid limits, solved with the Dormand-Prince method of order 8.

use equibloom_layout::{Proportions, Rule};

use super::{Process, State};
use crate::error::{Error, require};
use crate::optimum::geometric_sum;
use ode_solvers::{DVector, Dop853, OutputType, System};

/// Largest load and threshold that the equations follow.
const LARGEST_LOAD: f64 = 20_000.0;

/// Limit for the search of the time when a budget is spent.
const MOST_STEPS: u32 = 50;

/// Shares of buckets below this are left out of the least-loaded rule.
const NO_MASS: f64 = 1e-24;

impl Process {
    /// The states at the given times (increasing, between 0 and 1), by the differential equations.
    pub fn trace(&self, times: &[f64]) -> Result<Vec<State>, Error> {
        self.check()?;
        let highest = self.load.max(self.rule.capacity().map_or(0.0, f64::from));
        require(highest <= LARGEST_LOAD, "load", highest, format!("at most {LARGEST_LOAD}"))?;
        let mut flow = Flow::new(self);
        let (mut now, mut stop) = (0.0, None);
        times
            .iter()
            .map(|&time| {
                let holds = time >= now && time <= 1.0;
                require(holds, "time", time, "between 0 and 1, and not before the one before it")?;
                if stop.is_none() {
                    stop = flow.advance_within(self.budget, now, time)?;
                }
                now = time;
                Ok(flow.state(stop.unwrap_or(time)).stopped(time))
            })
            .collect()
    }
}

/// The differential equations with their present state: the tables' fractions one after the other, then
/// accesses and overflow.
#[derive(Clone)]
struct Flow {
    candidates: Proportions,
    rule: Rule,
    load: f64,
    /// Loads per table, from `first_load` on.
    loads: usize,
    first_load: usize,
    tables: usize,
    now: DVector<f64>,
}

impl Flow {
    fn new(&Process { candidates, rule, load, .. }: &Process) -> Self {
        let loads = match rule {
            // Only fingerprint blocks keep the largest, which have no fluid limit here.
            Rule::LeastLoaded | Rule::KeepLargest => 1,
            Rule::FirstWithRoom { below, .. } => below as usize + 2,
        };
        let tables = match candidates {
            Proportions::Anywhere { .. } => 1,
            Proportions::Subtables { shares } => shares.len(),
        };
        let mut now = DVector::zeros(loads * tables + 2);
        for table in 0..tables {
            now[table * loads] = 1.0;
        }
        Self { candidates, rule, load, loads, first_load: 0, tables, now }
    }

    /// Candidates of an element beyond the first, and the share of the elements that have them.
    fn further_choices(&self) -> (u32, f64) {
        match self.candidates {
            Proportions::Anywhere { choices, share } => (choices - 1, share.get()),
            Proportions::Subtables { shares } => (shares.len() as u32 - 1, 1.0),
        }
    }

    fn accesses(&self) -> f64 {
        self.now[self.loads * self.tables]
    }

    /// Advances until the budget is spent; returns the time when it is, if that comes first.
    fn advance_within(
        &mut self,
        budget: Option<f64>,
        from: f64,
        to: f64,
    ) -> Result<Option<f64>, Error> {
        let before = self.clone();
        self.advance(from, to)?;
        let Some(budget) = budget.filter(|&budget| self.accesses() > budget) else {
            return Ok(None);
        };
        // Accesses grow by at least one per element: a few steps suffice.
        let mut stop = to;
        for _ in 0..MOST_STEPS {
            let excess = self.accesses() - budget;
            if excess.abs() < 1e-11 {
                break;
            }
            let mut slope = self.now.clone();
            self.system(stop, &self.now, &mut slope);
            stop -= excess / slope[self.loads * self.tables];
            *self = before.clone();
            self.advance(from, stop)?;
        }
        Ok(Some(stop))
    }

    fn advance(&mut self, mut from: f64, to: f64) -> Result<(), Error> {
        if self.rule == Rule::LeastLoaded {
            // Piece by piece, each over the loads that carry mass in it: a few dozen of a page's thousands.
            let piece = (self.load.sqrt() + 4.0) / self.load;
            let (more, share) = self.further_choices();
            let most_arrivals = (1.0 + share * f64::from(more)) * self.load;
            while to - from > piece {
                self.move_window(most_arrivals * piece);
                self.solve(from, from + piece)?;
                from += piece;
            }
            self.move_window(most_arrivals * (to - from));
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
        // The crate's defaults, but more steps: many small steps are not stiffness here, and tiny fractions of
        // full buckets matter as much as large ones.
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
            late: 0.0,
        }
    }
}

impl System<f64, DVector<f64>> for Flow {
    fn system(&self, _time: f64, now: &DVector<f64>, slope: &mut DVector<f64>) {
        let (now, slope) = (now.as_slice(), slope.as_mut_slice());
        let end = self.loads * self.tables;
        slope[end + 1] = 0.0;
        match self.rule {
            Rule::LeastLoaded | Rule::KeepLargest => {
                let (more, share) = self.further_choices();
                slope[end] = 1.0 + share * f64::from(more);
                let (mut fuller, mut chosen_above) = (0.0_f64, 0.0);
                for load in (0..self.loads).rev() {
                    let here = now[load];
                    // F_i^d − F_{i+1}^d, without cancellation.
                    let as_full = fuller + here;
                    let terms = (0..=more as i32)
                        .map(|before| fuller.powi(before) * as_full.powi(more as i32 - before));
                    let chosen = here * ((1.0 - share) + share * terms.sum::<f64>());
                    // The row of load + 1 gains what is chosen here.
                    if load + 1 < self.loads {
                        slope[load + 1] = self.load * (chosen - chosen_above);
                    }
                    (fuller, chosen_above) = (as_full, chosen);
                }
                slope[0] = -self.load * chosen_above;
            }
            Rule::FirstWithRoom { below, coin } => {
                let (h, p) = (below as usize, coin.get());
                let rejected = |table: &[f64]| (1.0 - p) * table[h] + table[h + 1];
                let tables: Vec<(f64, f64)> = match &self.candidates {
                    Proportions::Anywhere { choices, .. } => {
                        let rejected = rejected(&now[..end]);
                        slope[end + 1] = rejected.powi(*choices as i32);
                        vec![(1.0, geometric_sum(rejected, *choices))]
                    }
                    Proportions::Subtables { shares } => {
                        let mut reaching = 1.0;
                        let tables = shares.iter().zip(now.chunks_exact(self.loads));
                        let tables = tables.map(|(&share, table)| {
                            let tries = reaching;
                            reaching *= rejected(table);
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
                            _ if load == h => p,
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
