//! Means of repeated measurements and their standard deviations.

/// A mean over repetitions with its standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its standard deviation.
    pub sigma: f64,
}

impl Estimate {
    /// The mean of `values`, each with a standard deviation of at least `floor`.
    ///
    /// The spread of a few repetitions is a poor estimate, and sometimes far too low. The floor, known from
    /// theory, replaces it then.
    pub fn of(values: impl IntoIterator<Item = f64>, floor: f64) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let sample = if values.len() > 1 { squares / (count - 1.0) } else { 0.0 };
        Self { mean, sigma: (sample.max(floor * floor) / count).sqrt() }
    }

    /// The mean of counts, of which one more or less in all `repetitions` is always possible.
    pub fn of_counts(counts: &[f64], repetitions: u64) -> Self {
        let Self { mean, sigma } = Self::of(counts.iter().copied(), 0.0);
        Self { mean, sigma: sigma + 0.5 / repetitions as f64 }
    }

    /// The share of buckets at each load that the model has, over all repetitions' numbers of buckets by load.
    pub fn of_loads(counts: &[Vec<u64>], model: &[f64]) -> Vec<Self> {
        let buckets = counts.iter().flatten().sum::<u64>() as f64;
        let at = |(load, &expected): (usize, &f64)| {
            let count = counts.iter().filter_map(|counts| counts.get(load)).sum();
            Self::of_share(count, buckets, expected)
        };
        model.iter().enumerate().map(at).collect()
    }

    /// A share of `trials` independent trials, given as counts in all repetitions together. One count more or
    /// less is always possible.
    pub fn of_share(counts: u64, trials: f64, expected: f64) -> Self {
        let sigma = (expected * (1.0 - expected).max(0.0) / trials).sqrt() + 0.5 / trials;
        Self { mean: counts as f64 / trials, sigma }
    }
}
