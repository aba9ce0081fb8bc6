//! The seven filters, each with the papers' optimal parameters, all in the same memory.

use anyhow::{Context, ensure};
use equibloom::{Parameters, Scheme};
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

/// What the user asked for.
pub(super) struct Wishes {
    pub(super) keys: u64,
    pub(super) bits_per_key: f64,
    pub(super) block_bits: u32,
    pub(super) seed: u64,
}

/// The filters of the papers, in the order of the table.
pub(super) fn lineup(wishes: &Wishes) -> anyhow::Result<Vec<Parameters>> {
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
    let filters = layouts.map(|layout| Parameters { keys, seed, scheme: Scheme::from(&layout) });
    for parameters in &filters {
        parameters.check().with_context(|| parameters.scheme.name())?;
    }
    Ok(filters.into())
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
