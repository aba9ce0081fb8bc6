//! `equibloom theory rate`: the false-positive rate of a scheme of the papers.

use std::fmt;

use equibloom::Scheme as BuiltScheme;
use equibloom_theory::paper::{self, Hashes};
use equibloom_theory::planner::paper_layout;
use serde::Serialize;

use super::model::{Model, ModelArguments, hashes};
use super::scheme::SchemeArguments;
use crate::answer::{self, number};

/// The false-positive rate and accesses of a scheme with the papers' parameters.
///
/// The model `paper` is what the papers print: bits per key is block bits / load, the overflow list is not
/// counted, bits are independent. The model `exact` counts all memory and predicts the machine.
///
/// Example: equibloom theory rate --placement multi-level --block-bits 256 --bits-per-key 40 --model paper
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    scheme: SchemeArguments,
    #[command(flatten)]
    model: ModelArguments,
    /// Hash functions: `paper` for round(bits per key × ln 2), `best` for the lowest rate, or a number.
    #[arg(long, value_name = "HOW", default_value = "best", value_parser = hashes)]
    hashes: Hashes,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let answer = match arguments.model.model {
        Model::Paper => by_the_papers(arguments)?,
        Model::Exact => exact(arguments)?,
    };
    answer::print(&answer, arguments.json)
}

fn by_the_papers(arguments: &Arguments) -> anyhow::Result<Answer> {
    let Arguments { hashes, model: ModelArguments { block_bits, bits_per_key, .. }, .. } =
        *arguments;
    let scheme = arguments.scheme.scheme()?;
    let rate = paper::rate(scheme, block_bits, bits_per_key, hashes).map_err(answer::in_flags)?;
    Ok(Answer {
        rate: rate.rate,
        rate_with_coin: Some(rate.rate_with_coin),
        accesses_insert: rate.accesses_insert,
        accesses_hit: rate.accesses_hit,
        accesses_miss: rate.accesses_miss,
        accesses_miss_with_coin: Some(rate.accesses_miss_with_coin),
        overflow: rate.overflow,
        hashes: rate.hashes,
        bits_per_key,
        parameters: None,
    })
}

fn exact(arguments: &Arguments) -> anyhow::Result<Answer> {
    let Arguments { hashes, model: ModelArguments { block_bits, keys, .. }, .. } = *arguments;
    let memory = arguments.model.memory()?;
    let scheme = arguments.scheme.scheme()?;
    let (layout, expected) =
        paper_layout(scheme, keys, memory, block_bits, hashes).map_err(answer::in_flags)?;
    Ok(Answer {
        rate: expected.rate,
        rate_with_coin: None,
        accesses_insert: expected.accesses_insert,
        accesses_hit: expected.accesses_hit,
        accesses_miss: expected.accesses_miss,
        accesses_miss_with_coin: None,
        overflow: expected.overflow_fraction,
        hashes: layout.hashes(),
        bits_per_key: 8.0 * layout.bytes() as f64 / keys as f64,
        parameters: Some(BuiltScheme::from(&layout)),
    })
}

#[derive(Serialize)]
struct Answer {
    rate: f64,
    /// If the coin at the threshold is a function of key and probe, as in the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_with_coin: Option<f64>,
    accesses_insert: f64,
    accesses_hit: f64,
    accesses_miss: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    accesses_miss_with_coin: Option<f64>,
    overflow: f64,
    hashes: u32,
    bits_per_key: f64,
    /// The filter that was predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<BuiltScheme>,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with_coin = |coin: Option<f64>| {
            coin.map_or_else(String::new, |value| {
                format!("  ({} with a coin that is a function of the key)", number(value))
            })
        };
        writeln!(
            f,
            "false-positive rate   {}{}",
            number(self.rate),
            with_coin(self.rate_with_coin)
        )?;
        writeln!(f, "accesses per insert   {}", number(self.accesses_insert))?;
        writeln!(f, "accesses per hit      {}", number(self.accesses_hit))?;
        let coin = with_coin(self.accesses_miss_with_coin);
        writeln!(f, "accesses per miss     {}{coin}", number(self.accesses_miss))?;
        writeln!(f, "overflow              {:.5} %", 100.0 * self.overflow)?;
        writeln!(f, "hash functions        {}", self.hashes)?;
        writeln!(f, "bits per key          {}", number(self.bits_per_key))
    }
}
