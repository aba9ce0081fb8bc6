//! The differential equations of the fluid limits, solved with the Dormand-Prince method of order 8.

use super::{Scheme, State, Tables, check};
use crate::error::{Error, require};
use crate::optimum::geometric_sum;
use ode_solvers::{DVector, Dop853, OutputType, System};

/// Shares of buckets below this are left out of the less-loaded schemes.
const NO_MASS: f64 = 1e-24;

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
