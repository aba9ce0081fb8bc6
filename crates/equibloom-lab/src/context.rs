//! The length of a run, and the context of an experiment.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::simulator::seed_of;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// About a minute in all.
    Quick,
    /// Some minutes.
    Default,
    /// The lengths of the papers.
    Full,
}

impl Length {
    /// Elements of one table or filter: a million in the 1+α paper (Table 2).
    pub fn elements(self) -> u64 {
        self.choose(100_000, 500_000, 1_000_000)
    }

    /// Repetitions of one measurement: a hundred in the 1+α paper.
    pub fn repetitions(self) -> u64 {
        self.choose(8, 8, 100)
    }

    /// One of three values.
    pub fn choose<T>(self, quick: T, default: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Default => default,
            Self::Full => full,
        }
    }
}

/// The context of an experiment.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// How much to measure.
    pub length: Length,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Receives the finished share of the figure.
    pub progress: &'a (dyn Fn(f64) + Sync),
}

impl Context<'_> {
    /// Maps items on all cores; the results are in the order of the items, whatever the number of cores.
    pub fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&T) -> Result<R, Error> + Sync,
    ) -> Result<Vec<R>, Error> {
        let done = AtomicUsize::new(0);
        let each = |item: &T| {
            let result = work(item);
            let done = 1 + done.fetch_add(1, Ordering::Relaxed);
            (self.progress)(done as f64 / items.len() as f64);
            result
        };
        items.par_iter().map(each).collect()
    }

    /// Maps the points of several curves; the results are curve by curve.
    pub fn map_curves<C: Sync, P: Sync, R: Send>(
        &self,
        curves: &[C],
        points: fn(&C) -> &[P],
        work: impl Fn(&C, &P) -> Result<R, Error> + Sync,
    ) -> Result<Vec<Vec<R>>, Error> {
        let jobs: Vec<(&C, &P)> = curves
            .iter()
            .flat_map(|curve| points(curve).iter().map(move |point| (curve, point)))
            .collect();
        let mut found = self.map(&jobs, |(curve, point)| work(curve, point))?.into_iter();
        Ok(curves.iter().map(|curve| found.by_ref().take(points(curve).len()).collect()).collect())
    }

    /// Maps repetitions, each with a seed of its own.
    pub fn repeat<R: Send>(
        &self,
        what: &str,
        repetitions: u64,
        work: impl Fn(u64) -> Result<R, Error> + Sync,
    ) -> Result<Vec<R>, Error> {
        let each = |repetition| work(seed_of(self.seed, what, repetition));
        (0..repetitions).into_par_iter().map(each).collect()
    }
}
