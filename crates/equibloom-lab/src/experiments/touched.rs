//! 1+α, Lemma 6.1: the blocks that the k bits of a query lie in.

use equibloom::{Filter, Parameters};
use equibloom_layout::Design;
use equibloom_theory::paper::blocks_touched;

use crate::experiments::prelude::*;
use crate::simulator::words;

const HASHES: u32 = 17;
const BLOCK_BITS: u64 = 512;
const BLOCKS: [u64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

fn queries(length: Length) -> u64 {
    length.choose(400, 2_000, 20_000)
}

pub(super) fn parameters(length: Length) -> String {
    format!("k = {HASHES}, blocks of {BLOCK_BITS} bits, {} queries", queries(length))
}

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let queries = queries(context.length);
    let found = context.map(&BLOCKS, |&blocks| {
        let model = blocks_touched(HASHES, blocks)?;
        let simulated = context.repeat(&format!("touched {blocks}"), queries, |seed| {
            let drawn = words(seed).take(HASHES as usize);
            Ok(distinct(drawn.map(|word| ((u128::from(word) * u128::from(blocks)) >> 64) as u64)))
        })?;
        let design = Design::Classical { bits: blocks * BLOCK_BITS, hashes: HASHES };
        let mut filter = Filter::<u64>::new(&Parameters { keys: 1, seed: context.seed, design })?;
        let mut filtered = Vec::new();
        for key in 0..queries {
            filter.clear();
            filter.insert(&key)?;
            let words = filter.as_hash_filter().words().zip(0..).filter(|(word, _)| *word > 0);
            filtered.push(distinct(words.map(|(_, index)| index * 64 / BLOCK_BITS)));
        }
        let floor = 1.0 / (queries as f64).sqrt();
        Ok((model, [Estimate::of(simulated, floor), Estimate::of(filtered, floor)]))
    })?;
    let x = BLOCKS.map(|blocks| blocks as f64);
    let (model, points): (Vec<f64>, Vec<[Estimate; 2]>) = found.into_iter().unzip();
    let mut plot = Plot::of(vec![Claim::stated(
        "1+α, Lemma 6.1",
        Claim::new(
            "b·(k − blocks) for large b: at most k(k − 1)/2, so blocks are k − O(1/b)",
            f64::from(HASHES * (HASHES - 1)) / 2.0,
            1e9 * (f64::from(HASHES) - blocks_touched(HASHES, 1_000_000_000)?),
            2.0,
        ),
    )]);
    let curve = Series::new("classical", Hue::Classical, Origin::Paper, &x, model.clone());
    plot.series.push(curve.clone());
    let text = "the {} reads as many blocks as the lemma says";
    plot.compare(&curve, text, sides(Origin::Filter, &points));
    Ok(Outcome {
        finding: format!(
            "{HASHES} bits lie in {} of 16 blocks and in {} of 256.",
            short(model[4]),
            short(model[8])
        ),
        notes: vec![
            "b[1 − (1 − 1/b)^k] blocks of b are read by a query that tests all k bits. A lookup of an absent key \
             stops at the first unset bit: see the figure “accesses”.",
        ],
        x: Axis::logarithmic("blocks b"),
        y: Axis::linear("blocks read by a query"),
        plot,
        ..Outcome::default()
    })
}

fn distinct(blocks: impl Iterator<Item = u64>) -> f64 {
    blocks.collect::<std::collections::HashSet<u64>>().len() as f64
}
