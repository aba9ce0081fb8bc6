//! The papers' seven filters with their optimal parameters, and two further filters with the planner's, all in
//! the same memory.

use anyhow::{Context, ensure};
use equibloom::{BlockKind, Design, Filter, FilterBuilder, Parameters, Placement};
use equibloom_theory::optimum;
use equibloom_theory::paper::{self, Hashes};
use equibloom_theory::planner::paper_design;

use super::Arguments;

/// Mean accesses per insert of sequential and multi-level: the papers' value, or the first of these whose
/// overflow list leaves enough memory to the blocks.
const ACCESSES: [f64; 6] = [1.2, 1.15, 1.1, 1.05, 1.02, 1.01];
/// Largest share of the memory for the overflow list.
const OVERFLOW_SHARE: f64 = 0.125;
/// Candidate blocks per key, as in the papers.
const CHOICES: u32 = 3;
/// Share of keys with a second choice, as in the figures of the 1+α paper.
const ALPHA: f64 = 0.3;

/// Limit on blocks read per miss in the filters past the papers; doubled if there is too little memory for it.
const ACCESSES_MISS: [f64; 2] = [1.25, 2.5];

/// A filter and its name in the table.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) parameters: Parameters,
}

/// All filters, in the order of the table.
pub(super) fn lineup(arguments: &Arguments) -> anyhow::Result<Vec<Entry>> {
    let mut entries = of_the_papers(arguments)?;
    entries.extend(past_the_papers(arguments));
    Ok(entries)
}

/// Multi-level with hints, and with fingerprint blocks, which are always cache lines. Left out if the memory
/// does not suffice.
fn past_the_papers(arguments: &Arguments) -> impl Iterator<Item = Entry> {
    let Arguments { keys, bits_per_key, block_bits, seed, .. } = *arguments;
    let multi_level = Filter::<str>::builder()
        .keys(keys)
        .bits_per_key(bits_per_key)
        .placement(Placement::MultiLevel)
        .seed(seed);
    let fingerprint = multi_level.clone().block(BlockKind::Fingerprint);
    let hinted = multi_level.block(BlockKind::Bloom).block_bits(block_bits);
    let best = |builder: FilterBuilder<str>| {
        let at = |&accesses: &f64| builder.clone().accesses_miss(accesses).parameters().ok();
        ACCESSES_MISS.iter().find_map(at)
    };
    [("hinted", best(hinted)), ("fingerprint", best(fingerprint))]
        .into_iter()
        .filter_map(|(name, parameters)| Some(Entry { name, parameters: parameters? }))
}

fn of_the_papers(arguments: &Arguments) -> anyhow::Result<Vec<Entry>> {
    let Arguments { keys, bits_per_key, seed, .. } = *arguments;
    ensure!(
        bits_per_key.is_finite() && bits_per_key > 0.0,
        "--bits-per-key is {bits_per_key}: give a finite number above 0"
    );
    let (multi_level, accesses) = design_in_budget(arguments, |accesses| {
        paper::Scheme::MultiLevel { accesses, choices: CHOICES, overflow: None }
    })?;
    let (sequential, _) = design_in_budget(arguments, |accesses| paper::Scheme::Sequential {
        accesses,
        choices: CHOICES,
        overflow: None,
    })?;
    // The same overflow as multi-level, as in the papers' comparison.
    let overflow = optimum::multi_level(1.0, accesses, CHOICES, None)?.overflow;
    let designs = [
        design(arguments, paper::Scheme::Classical)?,
        design(arguments, paper::Scheme::Blocked)?,
        design(arguments, paper::Scheme::Single { overflow })?,
        sequential,
        multi_level,
        design(arguments, paper::Scheme::TwoChoice)?,
        design(arguments, paper::Scheme::OnePlusAlpha { alpha: ALPHA })?,
    ];
    designs
        .into_iter()
        .map(|design| {
            let parameters = Parameters { keys, seed, design };
            let name = design.name();
            parameters.check().with_context(|| name)?;
            Ok(Entry { name, parameters })
        })
        .collect()
}

fn design(arguments: &Arguments, scheme: paper::Scheme) -> anyhow::Result<Design> {
    let Arguments { keys, bits_per_key, block_bits, .. } = *arguments;
    let memory = (keys as f64 * bits_per_key / 8.0) as u64;
    let asked =
        || format!("with --keys {keys}, --bits-per-key {bits_per_key}, --block-bits {block_bits}");
    Ok(paper_design(scheme, keys, memory, block_bits, Hashes::Paper).with_context(asked)?.0)
}

/// The design with the most of [`ACCESSES`] whose overflow list is small enough, and those accesses.
fn design_in_budget(
    arguments: &Arguments,
    scheme: impl Fn(f64) -> paper::Scheme,
) -> anyhow::Result<(Design, f64)> {
    let most = OVERFLOW_SHARE * arguments.bits_per_key * arguments.keys as f64;
    let at = |accesses| Ok((design(arguments, scheme(accesses))?, accesses));
    let mut found = at(ACCESSES[0]);
    for &accesses in &ACCESSES[1..] {
        let fits = |(design, _): &(Design, f64)| 8.0 * design.overflow().bytes() as f64 <= most;
        if found.as_ref().is_ok_and(fits) {
            break;
        }
        found = at(accesses);
    }
    found
}
