//! The complete description of a filter: design, number of keys, seed.

use equibloom_layout::{Design, LayoutError, check_whole};

use crate::error::{BuildError, ShrinkError};

/// The complete description of a filter, as plain data.
///
/// ```
/// use equibloom::{Blocks, HashFilter, Layout, Parameters};
///
/// let design = Layout::two_choice(Blocks::bloom(512, 11), 1_000).into();
/// let parameters = Parameters { keys: 32_000, seed: 7, design };
/// let filter = HashFilter::new(&parameters)?;
/// assert_eq!(filter.parameters(), &parameters);
/// # Ok::<(), equibloom::BuildError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parameters {
    /// Number of keys that the filter is planned for. It accepts more while there is room.
    pub keys: u64,
    /// Seed of the hash. The same seed and keys in the same order give the same bytes; fingerprint blocks
    /// without removal give them for any order.
    pub seed: u64,
    /// Blocks, candidates, rule and sizes.
    pub design: Design,
}

impl Parameters {
    /// Checks that the filter can be built, without allocating anything.
    pub fn check(&self) -> Result<(), LayoutError> {
        self.design.check()
    }

    /// The same filter with every `factor` blocks folded into one.
    pub(crate) fn folded(mut self, factor: u64) -> Result<Self, ShrinkError> {
        check_whole("factor", factor, 1, u64::MAX).map_err(BuildError::from)?;
        if self.design.hashes() == 0 {
            return Err(ShrinkError::Fingerprints);
        }
        for size in self.design.sizes_mut() {
            if !size.is_multiple_of(factor) {
                return Err(ShrinkError::NotDivisible { size: *size, factor });
            }
            *size /= factor;
        }
        Ok(self)
    }
}
