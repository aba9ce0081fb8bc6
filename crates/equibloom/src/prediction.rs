//! What to expect of a filter before it is made: the exact model of the theory crate, asked about
//! these parameters.

pub use equibloom_theory::exact::Prediction;
use equibloom_theory::exact::{ClassicalMachine, Levels, Machine, Placement};

use crate::error::BuildError;
use crate::parameters::{BlockTable, Parameters, Scheme, Threshold};

/// Why nothing could be predicted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PredictionError {
    /// No filter can be made from the parameters.
    #[error(transparent)]
    Parameters(#[from] BuildError),
    /// The model does not reach this far.
    #[error(transparent)]
    Model(#[from] equibloom_theory::Error),
}

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
        let least_loaded = |blocks: &BlockTable, second_choice| {
            let placement = Placement::LeastLoaded { blocks: blocks.count, second_choice };
            machine(keys, blocks, 0, placement)
        };
        let first_with_room =
            |blocks: &BlockTable, threshold: &Threshold, levels, access_budget| {
                let placement = Placement::Threshold {
                    levels,
                    threshold: threshold.load,
                    probability: threshold.probability,
                    access_budget,
                };
                machine(keys, blocks, threshold.counter_bits(), placement)
            };
        let machine = match &self.scheme {
            Scheme::Classical { bits, hashes } => {
                return Ok(ClassicalMachine { keys, bits: *bits, hashes: *hashes }.predict()?);
            }
            Scheme::Blocked { blocks } => least_loaded(blocks, 0.0),
            Scheme::TwoChoice { blocks } => least_loaded(blocks, 1.0),
            Scheme::OnePlusAlpha { blocks, alpha } => least_loaded(blocks, *alpha),
            Scheme::Single { blocks, threshold, .. } => {
                let levels = Levels::Shared { blocks: blocks.count, choices: 1 };
                first_with_room(blocks, threshold, levels, None)
            }
            Scheme::Sequential { blocks, threshold, choices, accesses, .. } => {
                let levels = Levels::Shared { blocks: blocks.count, choices: *choices };
                let limited = *accesses < f64::from(*choices);
                let budget = limited.then_some((accesses * self.keys as f64) as u64);
                first_with_room(blocks, threshold, levels, budget)
            }
            Scheme::MultiLevel { blocks, threshold, subtables, .. } => {
                first_with_room(blocks, threshold, Levels::Subtables(subtables.clone()), None)
            }
        };
        Ok(machine.predict()?)
    }
}

fn machine(keys: u64, blocks: &BlockTable, counter_bits: u32, placement: Placement) -> Machine {
    Machine { keys, data_bits: blocks.bits - counter_bits, hashes: blocks.hashes, placement }
}
