//! `equibloom trace`: inserts into a filter step by step, as the papers draw them.

use std::fmt::Write;

use anyhow::ensure;
use equibloom::{Blocks, Candidates, Layout, Overflow, Rule, Share, WhenFull};
use equibloom_lab::trace::{Block, End, Step, Trace};

use crate::{answer, quantity};

/// Shows inserts step by step: the blocks that a key reads, their counters and bits, and where it is stored.
///
/// Without options the filter is that of the papers' drawings: subtables of 4, 2 and 1 blocks of 6 bits, 2 of them the
/// counter, with a threshold of 2 and a coin.
///
/// Exit status: 0, or 2 after an error.
///
/// Example: equibloom trace --subtables 4,2,1 --block-bits 6 --threshold 2 --probability 0.5 --keys x,y,z,u,v,w
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Keys in insertion order.
    #[arg(long, value_name = "KEYS", value_delimiter = ',', default_value = "a,b,c,d,e,f,g,h")]
    keys: Vec<String>,
    /// Blocks of each subtable.
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', default_value = "4,2,1")]
    subtables: Vec<u64>,
    /// Blocks of one table instead of subtables.
    #[arg(long, value_name = "COUNT", conflicts_with = "subtables")]
    blocks: Option<u64>,
    /// Candidate blocks of a key in that table.
    #[arg(long, value_name = "COUNT", requires = "blocks", default_value_t = 1)]
    choices: u32,
    /// Bits of a block, counter and hints included.
    #[arg(long, value_name = "BITS", default_value_t = 6)]
    block_bits: u32,
    /// Bits that a key sets.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    hashes: u32,
    /// Hint bits of a block.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    hints: u32,
    /// A block below this load admits every key.
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    threshold: u32,
    /// A block at the threshold admits a key with this probability.
    #[arg(long, value_name = "SHARE", default_value = "0.5", value_parser = quantity::share)]
    probability: f64,
    /// The least loaded block takes the key, instead of a threshold; needs --blocks.
    #[arg(long, requires = "blocks", conflicts_with_all = ["threshold", "probability"])]
    least_loaded: bool,
    /// Accesses in all after which keys go to the overflow list.
    #[arg(long, value_name = "COUNT")]
    budget: Option<u64>,
    /// Seed of the hash function.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// More would be unreadable.
const MOST_BLOCKS: u64 = 1_000;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let layout = layout(arguments)?;
    let mut trace = Trace::new(layout, arguments.seed)?;
    let mut text = String::new();
    for key in &arguments.keys {
        text += &told(&trace.insert(key)?)?;
    }
    answer::write(&text)
}

fn layout(arguments: &Arguments) -> anyhow::Result<Layout> {
    let blocks = Blocks::bloom(arguments.block_bits, arguments.hashes).with_hints(arguments.hints);
    let candidates = match arguments.blocks {
        Some(count) => Candidates::anywhere(count, arguments.choices),
        None => Candidates::subtables(&arguments.subtables)?,
    };
    let (rule, capacity) = match arguments.least_loaded {
        true => (Rule::LeastLoaded, 0),
        false => {
            let coin = Share::new(arguments.probability)?;
            let below = arguments.threshold;
            (Rule::FirstWithRoom { below, coin }, arguments.keys.len() as u64)
        }
    };
    let overflow = match capacity {
        0 => Overflow::NONE,
        capacity => Overflow { capacity, when_full: WhenFull::Refuse },
    };
    let layout =
        Layout::new(blocks, candidates, rule).with_overflow(overflow).with_budget(arguments.budget);
    layout.check().map_err(|error| answer::in_flags(error.into()))?;
    let count = candidates.blocks();
    ensure!(
        count <= MOST_BLOCKS,
        "the filter has {count} blocks, but a trace shows at most {MOST_BLOCKS}: give smaller \
         --subtables or --blocks"
    );
    Ok(layout)
}

fn told(step: &Step) -> Result<String, std::fmt::Error> {
    let mut text = format!("{}\n", step.key);
    for number in 0..step.visits.len() {
        writeln!(text, "    {}", step.told(number))?;
    }
    if step.end == End::Listed {
        writeln!(text, "    overflow list")?;
    }
    // The subtables side by side.
    let rows = step.tables.iter().map(Vec::len).max().unwrap_or(0);
    let width = step.tables.iter().flatten().map(|block| shown(block).len()).max().unwrap_or(0);
    for row in 0..rows {
        let cell = |table: &Vec<Block>| {
            table.get(row).map_or(String::new(), |block| {
                format!("{} {:<width$}", step.address(row), shown(block))
            })
        };
        let cells: Vec<String> = step.tables.iter().map(cell).collect();
        writeln!(text, "        {}", cells.join("    ").trim_end())?;
    }
    Ok(text + "\n")
}

/// Counter and bits.
fn shown(block: &Block) -> String {
    format!("{}|{}", block.counter, block.bits)
}
