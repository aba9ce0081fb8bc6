//! The papers' seven filters with their optimal parameters, and the two that go past them with the
//! planner's, all in the same memory.

use anyhow::{Context, ensure};
use equibloom::{AnyFilter, BlockKind, FilterBuilder, Parameters, PlacementName, Scheme};
use equibloom_theory::optimum;
use equibloom_theory::paper::{self, Hashes};
use equibloom_theory::planner::{Layout, paper_layout};

/// Mean accesses per insert that sequential and multi-level may use: as in the papers, or the first
/// of these whose overflow list leaves enough memory to the blocks.
const ACCESSES: [f64; 6] = [1.2, 1.15, 1.1, 1.05, 1.02, 1.01];
/// Most of the memory that the overflow list may take.
const OVERFLOW_SHARE: f64 = 0.125;
/// Candidate blocks per key, as in the papers.
const CHOICES: u32 = 3;
/// Share of keys with a second choice, as in the figures of the 1+α paper.
const ALPHA: f64 = 0.3;

/// Most blocks that a miss may read in the filters with hints; twice as many where memory is so short
/// that this cannot be had.
const ACCESSES_MISS: [f64; 2] = [1.25, 2.5];

/// What the user asked for.
pub(super) struct Wishes {
    pub(super) keys: u64,
    pub(super) bits_per_key: f64,
    pub(super) block_bits: u32,
    pub(super) seed: u64,
}

/// A filter under the name it has in the table.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) parameters: Parameters,
}

/// All filters, in the order of the table.
pub(super) fn lineup(wishes: &Wishes) -> anyhow::Result<Vec<Entry>> {
    let mut entries = of_the_papers(wishes)?;
    entries.extend(past_the_papers(wishes));
    Ok(entries)
}

/// Multi-level with hints, and with fingerprint blocks, which are cache lines always. Where the memory
/// does not suffice for them, they are left out.
fn past_the_papers(wishes: &Wishes) -> impl Iterator<Item = Entry> {
    let Wishes { keys, bits_per_key, block_bits, seed } = *wishes;
    let multi_level = AnyFilter::builder()
        .keys(keys)
        .bits_per_key(bits_per_key)
        .placement(PlacementName::MultiLevel)
        .seed(seed);
    let fingerprint = multi_level.clone().block(BlockKind::Fingerprint);
    let hinted = multi_level.block(BlockKind::Bloom).block_bits(block_bits);
    let best = |wishes: FilterBuilder| {
        let at = |&accesses: &f64| wishes.clone().accesses_miss(accesses).parameters().ok();
        ACCESSES_MISS.iter().find_map(at)
    };
    [("hinted", best(hinted)), ("fingerprint", best(fingerprint))]
        .into_iter()
        .filter_map(|(name, parameters)| Some(Entry { name, parameters: parameters? }))
}

fn of_the_papers(wishes: &Wishes) -> anyhow::Result<Vec<Entry>> {
    let Wishes { keys, bits_per_key, seed, .. } = *wishes;
    ensure!(
        bits_per_key.is_finite() && bits_per_key > 0.0,
        "--bits-per-key is {bits_per_key}: give a finite number above 0"
    );
    let (multi_level, accesses) = layout_in_budget(wishes, |accesses| paper::Scheme::MultiLevel {
        accesses,
        choices: CHOICES,
        overflow: None,
    })?;
    let (sequential, _) = layout_in_budget(wishes, |accesses| paper::Scheme::Sequential {
        accesses,
        choices: CHOICES,
        overflow: None,
    })?;
    // With as much overflow as multi-level has, as in the papers' comparison.
    let overflow = optimum::multi_level(1.0, accesses, CHOICES, None)?.overflow;
    let layouts = [
        layout(wishes, paper::Scheme::Classical)?,
        layout(wishes, paper::Scheme::Blocked)?,
        layout(wishes, paper::Scheme::Single { overflow })?,
        sequential,
        multi_level,
        layout(wishes, paper::Scheme::TwoChoice)?,
        layout(wishes, paper::Scheme::OnePlusAlpha { alpha: ALPHA })?,
    ];
    layouts
        .into_iter()
        .map(|layout| {
            let parameters = Parameters { keys, seed, scheme: Scheme::from(&layout) };
            let name = parameters.scheme.name();
            parameters.check().with_context(|| name)?;
            Ok(Entry { name, parameters })
        })
        .collect()
}

fn layout(wishes: &Wishes, scheme: paper::Scheme) -> anyhow::Result<Layout> {
    let memory = (wishes.keys as f64 * wishes.bits_per_key / 8.0) as u64;
    let Wishes { keys, bits_per_key, block_bits, .. } = *wishes;
    let wanted =
        || format!("with --keys {keys}, --bits-per-key {bits_per_key}, --block-bits {block_bits}");
    Ok(paper_layout(scheme, keys, memory, block_bits, Hashes::Paper).with_context(wanted)?.0)
}

/// The layout with the most of [`ACCESSES`] whose overflow list is small enough, and those accesses.
fn layout_in_budget(
    wishes: &Wishes,
    scheme: impl Fn(f64) -> paper::Scheme,
) -> anyhow::Result<(Layout, f64)> {
    let most = OVERFLOW_SHARE * wishes.bits_per_key * wishes.keys as f64;
    let at = |accesses| Ok((layout(wishes, scheme(accesses))?, accesses));
    let mut found = at(ACCESSES[0]);
    for &accesses in &ACCESSES[1..] {
        if found.as_ref().is_ok_and(|(layout, _)| overflow_bits(layout) <= most) {
            break;
        }
        found = at(accesses);
    }
    found
}

/// Bits of the overflow list, 80 for each entry.
fn overflow_bits(layout: &Layout) -> f64 {
    layout.threshold().map_or(0.0, |(_, capacity)| 80.0 * capacity as f64)
}
