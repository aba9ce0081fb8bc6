//! What to expect of a filter before it is made: the exact model of the theory crate, asked about
//! these parameters.

use core::fmt;

pub use equibloom_theory::exact::Prediction;
use equibloom_theory::planner::Layout;

use crate::error::{BuildError, wraps};
use crate::parameters::Parameters;

/// Why nothing could be predicted.
#[derive(Debug)]
#[non_exhaustive]
pub enum PredictionError {
    /// No filter can be made from the parameters.
    Parameters(BuildError),
    /// The model does not reach this far.
    Model(equibloom_theory::Error),
}

impl fmt::Display for PredictionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameters(error) => error.fmt(f),
            Self::Model(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for PredictionError {}

wraps!(PredictionError { Parameters(BuildError), Model(equibloom_theory::Error) });

impl Parameters {
    /// Rate, accesses, overflow and loads to expect once `keys` different keys are inserted.
    ///
    /// ```
    /// use equibloom::{AnyFilter, BlockTable, Parameters, Scheme};
    ///
    /// let blocks = BlockTable { count: 10_000, bits: 512, hashes: 11 };
    /// let parameters = Parameters { keys: 320_000, seed: 0, scheme: Scheme::Blocked { blocks } };
    /// let promised = parameters.predict(320_000)?;
    ///
    /// let mut filter = AnyFilter::new(&parameters)?;
    /// filter.try_extend(0..320_000_u64)?;
    /// let actual = filter.statistics().expected_rate;
    /// assert!((actual / promised.rate - 1.0).abs() < 0.1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn predict(&self, keys: u64) -> Result<Prediction, PredictionError> {
        self.check()?;
        Ok(Layout::from(&self.scheme).predict_filled(self.keys, keys)?)
    }
}
