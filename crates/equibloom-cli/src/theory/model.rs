//! The model and the filter size it is evaluated for.

use std::str::FromStr;

use equibloom_theory::paper::Hashes;

use crate::quantity;

/// The model and the filter size it is evaluated for.
#[derive(clap::Args)]
pub(super) struct ModelArguments {
    /// The model.
    #[arg(long, value_enum, default_value = "exact")]
    pub(super) model: Model,
    /// Bits of a block.
    #[arg(long, value_name = "BITS", default_value_t = 512)]
    pub(super) block_bits: u32,
    /// Bits per key.
    #[arg(long, value_name = "BITS", value_parser = quantity::real)]
    pub(super) bits_per_key: f64,
    /// Number of keys; only the exact model needs it.
    #[arg(long, value_name = "COUNT", default_value = "10M", value_parser = quantity::count)]
    pub(super) keys: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Model {
    /// The values that the papers print.
    Paper,
    /// The values that a real filter measures.
    Exact,
}

/// Parses `paper`, `best` or a number.
pub(super) fn hashes(text: &str) -> Result<Hashes, String> {
    match text {
        "paper" => Ok(Hashes::Paper),
        "best" => Ok(Hashes::Best),
        number => u32::from_str(number)
            .map(Hashes::Given)
            .map_err(|_| format!("`{text}` is neither `paper` nor `best` nor a whole number")),
    }
}

impl ModelArguments {
    /// Bytes for all keys, for the exact model.
    pub(super) fn memory(&self) -> anyhow::Result<u64> {
        let Self { keys, bits_per_key, .. } = *self;
        anyhow::ensure!(
            (0.01..=1e6).contains(&bits_per_key),
            "--bits-per-key is {bits_per_key}, but it must be between 0.01 and 1e6"
        );
        Ok((keys as f64 * bits_per_key / 8.0) as u64)
    }
}
