//! `equibloom theory alpha`: the best share of second choices.

use std::fmt;

use equibloom_theory::exact::best_second_choice;
use equibloom_theory::optimum::paper_hashes;
use equibloom_theory::paper::{self, Hashes};
use equibloom_theory::planner::paper_design;
use serde::Serialize;

use super::model::{Model, ModelArguments, hashes};
use crate::answer::{self, number};

/// The share α of keys with a second choice that gives the lowest rate.
///
/// Exit status: 0, or 2 after an error.
///
/// Example: equibloom theory alpha --block-bits 500 --bits-per-key 18 --model paper
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    /// Hash functions: `paper` for round(bits per key × ln 2), `best` for the lowest rate at each α, or a
    /// number [default: paper in the model paper, best in the model exact].
    #[arg(long, value_name = "HOW", value_parser = hashes)]
    hashes: Option<Hashes>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let ModelArguments { model, block_bits, bits_per_key, .. } = arguments.model;
    let answer = match model {
        Model::Paper => {
            let hashes = arguments.hashes.unwrap_or(Hashes::Paper);
            let (alpha, rate) =
                paper::best_alpha(block_bits, bits_per_key, hashes).map_err(answer::in_flags)?;
            Answer { alpha, rate: rate.rate, hashes: rate.hashes }
        }
        Model::Exact => exact(arguments, arguments.model.memory()?).map_err(answer::in_flags)?,
    };
    answer::print(&answer, arguments.json)
}

fn exact(arguments: &Arguments, memory: u64) -> Result<Answer, equibloom_theory::Error> {
    let ModelArguments { block_bits, bits_per_key, keys, .. } = arguments.model;
    let scheme = paper::Scheme::Blocked;
    let hashes = match arguments.hashes {
        Some(Hashes::Given(hashes)) => Some(hashes),
        Some(Hashes::Paper) => Some(paper_hashes(bits_per_key)),
        Some(Hashes::Best) | None => None,
    };
    let given = hashes.map_or(Hashes::Paper, Hashes::Given);
    // All memory as blocks, whatever α is.
    let (design, _) = paper_design(scheme, keys, memory, block_bits, given)?;
    let blocks = design.layout().map_or(1, |layout| layout.candidates.blocks());
    let (alpha, hashes, expected) = best_second_choice(keys, blocks, block_bits, hashes)?;
    Ok(Answer { alpha, rate: expected.rate, hashes })
}

#[derive(Serialize)]
struct Answer {
    alpha: f64,
    rate: f64,
    hashes: u32,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "alpha                 {:.3}", self.alpha)?;
        writeln!(f, "false-positive rate   {}", number(self.rate))?;
        writeln!(f, "hash functions        {}", self.hashes)
    }
}
