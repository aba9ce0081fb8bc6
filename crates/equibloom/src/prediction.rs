//! Predicts a filter's rate and accesses with the exact model of the theory crate.

pub use equibloom_theory::Error as PredictionError;
pub use equibloom_theory::exact::Prediction;

use crate::parameters::Parameters;

impl Parameters {
    /// Expected rate, accesses, overflow and loads after inserting `keys` different keys.
    ///
    /// ```
    /// use equibloom::{Blocks, Filter, Layout, Parameters};
    ///
    /// let design = Layout::blocked(Blocks::bloom(512, 11), 10_000).into();
    /// let parameters = Parameters { keys: 320_000, seed: 0, design };
    /// let promised = parameters.predict(320_000)?;
    ///
    /// let mut filter = Filter::new(&parameters)?;
    /// filter.try_extend(0..320_000_u64)?;
    /// let actual = filter.statistics().expected_rate;
    /// assert!((actual / promised.rate - 1.0).abs() < 0.1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PredictionError`] if the parameters are invalid or outside the range of the model.
    pub fn predict(&self, keys: u64) -> Result<Prediction, PredictionError> {
        equibloom_theory::exact::predict(&self.design, keys)
    }
}
