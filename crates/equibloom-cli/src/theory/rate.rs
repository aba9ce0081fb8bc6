//! `equibloom theory rate`: the false-positive rate of a scheme of the papers, or of blocks beyond them.

use std::fmt;

use anyhow::bail;
use equibloom::{BlockKind, Blocks, Design};
use equibloom_theory::exact::Prediction;
use equibloom_theory::paper::{self, Hashes};
use equibloom_theory::planner::paper_design;
use serde::Serialize;

use super::blocks::BlockArguments;
use super::model::{Model, ModelArguments, hashes};
use super::scheme::SchemeArguments;
use crate::answer::{self, number};

const EXAMPLES: &str = "Examples:
  equibloom theory rate --placement multi-level --block-bits 256 --bits-per-key 40 --model paper
  equibloom theory rate --placement multi-level --block fingerprint --bits-per-key 12
  equibloom theory rate --placement multi-level --block bloom --hints 12 --bits-per-key 24";

/// The false-positive rate and accesses of a scheme with the papers' parameters, or with hints or fingerprints.
///
/// The model `paper` gives the values that the papers print: bits per key is block bits / load, the overflow
/// list is not counted, bits are independent. The model `exact` counts all memory and predicts the real filter.
///
/// With hints or fingerprint blocks, which only `exact` supports, --accesses and --accesses-miss are limits,
/// and omitted parameters are chosen for the lowest rate.
///
/// Exit status: 0, or 2 after an error.
#[derive(clap::Args)]
#[command(allow_negative_numbers = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    scheme: SchemeArguments,
    #[command(flatten)]
    blocks: BlockArguments,
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
    let answer = match (arguments.model.model, arguments.blocks.are_of_the_papers()) {
        (Model::Paper, true) => by_the_papers(arguments)?,
        (Model::Exact, true) => exact(arguments)?,
        (Model::Exact, false) => past_the_papers(arguments)?,
        (Model::Paper, false) => {
            bail!(
                "--model is paper, but the papers have neither hints nor fingerprints: it must be exact"
            )
        }
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
        ..Answer::default()
    })
}

fn exact(arguments: &Arguments) -> anyhow::Result<Answer> {
    let Arguments { hashes, model: ModelArguments { block_bits, keys, .. }, .. } = *arguments;
    let memory = arguments.model.memory()?;
    let scheme = arguments.scheme.scheme()?;
    let (design, expected) =
        paper_design(scheme, keys, memory, block_bits, hashes).map_err(answer::in_flags)?;
    Ok(Answer::of(&design, &expected, keys))
}

fn past_the_papers(arguments: &Arguments) -> anyhow::Result<Answer> {
    let Arguments { hashes, model: ModelArguments { block_bits, keys, .. }, .. } = *arguments;
    if hashes != Hashes::Best {
        bail!("--hashes is for filters of the papers: with hints and fingerprints leave it out");
    }
    let memory = arguments.model.memory()?;
    let plan = arguments.blocks.plan(&arguments.scheme, keys, memory, block_bits)?;
    Ok(Answer::of(&plan.design, &plan.expected, keys))
}

impl Answer {
    fn of(design: &Design, expected: &Prediction, keys: u64) -> Self {
        Self {
            rate: expected.rate,
            accesses_insert: expected.accesses_insert,
            accesses_hit: expected.accesses_hit,
            accesses_miss: expected.accesses_miss,
            overflow: expected.overflow_fraction,
            hashes: design.hashes(),
            bits_per_key: 8.0 * design.bytes() as f64 / keys as f64,
            block: design.block_kind().map(BlockKind::as_str),
            hints: Some(design.hints()),
            fingerprint: Fingerprint::of(design),
            design: Some(*design),
            ..Self::default()
        }
    }
}

#[derive(Serialize, Default)]
struct Answer {
    rate: f64,
    /// If the coin at the threshold is a function of key and probe, as in the real filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_with_coin: Option<f64>,
    accesses_insert: f64,
    accesses_hit: f64,
    accesses_miss: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    accesses_miss_with_coin: Option<f64>,
    overflow: f64,
    /// Bits that a key sets; 0 for fingerprints.
    hashes: u32,
    bits_per_key: f64,
    /// The kind of blocks, by the exact model.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<&'static str>,
    /// Hint bits of a block, by the exact model.
    #[serde(skip_serializing_if = "Option::is_none")]
    hints: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<Fingerprint>,
    /// The predicted filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    design: Option<Design>,
}

/// Parameters of a fingerprint block.
#[derive(Serialize)]
struct Fingerprint {
    slots: u32,
    lists: u32,
    remainder_bits: u32,
}

impl Fingerprint {
    fn of(design: &Design) -> Option<Self> {
        match design.layout()?.blocks {
            Blocks::Bloom { .. } => None,
            Blocks::Fingerprint { slots, lists, remainder_bits, .. } => {
                Some(Self { slots, lists, remainder_bits })
            }
        }
    }
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
        match &self.fingerprint {
            Some(Fingerprint { slots, lists, remainder_bits }) => writeln!(
                f,
                "block                 {slots} slots of {remainder_bits} bits in {lists} lists"
            )?,
            None => writeln!(f, "hash functions        {}", self.hashes)?,
        }
        if let Some(hints) = self.hints.filter(|&hints| hints > 0) {
            writeln!(f, "hints                 {hints}")?;
        }
        writeln!(f, "bits per key          {}", number(self.bits_per_key))
    }
}
