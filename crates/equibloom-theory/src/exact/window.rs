//! A distribution over whole numbers that keeps only the window carrying mass.

use core::ops::Range;

/// Mass below this is dropped at the ends of a window: far below any rate we predict.
const NEGLIGIBLE: f64 = 1e-24;

/// Mass on `first..first + mass.len()`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Window {
    pub(crate) first: usize,
    pub(crate) mass: Vec<f64>,
}

impl Window {
    /// All mass at one value.
    pub(crate) fn certain(value: usize) -> Self {
        Self { first: value, mass: vec![1.0] }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.mass.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, f64)> {
        self.mass.iter().enumerate().map(|(i, &mass)| (self.first + i, mass))
    }

    /// The mass at one value.
    pub(crate) fn get(&self, value: usize) -> f64 {
        value.checked_sub(self.first).and_then(|i| self.mass.get(i)).copied().unwrap_or(0.0)
    }

    /// Makes room for these values.
    pub(crate) fn cover(&mut self, values: Range<usize>) {
        if self.mass.is_empty() {
            self.first = values.start;
        }
        let missing = self.first.saturating_sub(values.start);
        self.mass.splice(0..0, core::iter::repeat_n(0.0, missing));
        self.first -= missing;
        let length = values.end.saturating_sub(self.first).max(self.mass.len());
        self.mass.resize(length, 0.0);
    }

    /// Adds `factor · values`, the first of them at `at`.
    pub(crate) fn add(&mut self, at: usize, values: &[f64], factor: f64) {
        self.cover(at..at + values.len());
        for (mass, value) in self.mass[at - self.first..].iter_mut().zip(values) {
            *mass += factor * value;
        }
    }

    /// Drops negligible mass at both ends.
    pub(crate) fn trim(&mut self) {
        self.trim_below(NEGLIGIBLE);
    }

    /// Drops values at both ends with less mass than `least`.
    pub(crate) fn trim_below(&mut self, least: f64) {
        let keep = self.mass.iter().rposition(|&mass| mass > least).map_or(0, |last| last + 1);
        self.mass.truncate(keep);
        let drop = self.mass.iter().position(|&mass| mass > least).unwrap_or(0);
        if drop > 0 {
            self.mass.drain(..drop);
            self.first += drop;
        }
    }

    /// The mean of `f` over the mass.
    pub(crate) fn mean_of(&self, f: impl Fn(usize) -> f64) -> f64 {
        self.iter().map(|(value, mass)| mass * f(value)).sum()
    }

    /// As a vector from value 0.
    pub(crate) fn to_vec(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.first];
        all.extend_from_slice(&self.mass);
        all
    }
}
