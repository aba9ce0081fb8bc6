//! What a lookup costs: cache lines and instructions.

use equibloom_layout::{Blocks, Design, Layout, Rule};

/// Bits of a cache line.
const LINE_BITS: f64 = 512.0;

/// Bits that a lookup reads together before it tests them.
const BITS_READ_TOGETHER: u32 = 3;

/// Mean cache lines of 512 bits that a miss touches in the table (without the overflow list).
///
/// A block within a line costs one line per access. In a larger one a lookup touches only the lines of the bits
/// it reads, three at a time until one is unset, and of the counter if there is one. Every bit of a classical
/// filter is in a line of its own.
pub fn lines_per_miss(design: &Design, keys: u64, accesses_miss: f64) -> f64 {
    let Layout { blocks: kind, candidates, rule, .. } = match design {
        Design::Blocked(layout) => layout,
        Design::Classical { .. } => return accesses_miss,
        Design::List { overflow, .. } => {
            // Linear probing with ordered entries; a fifth of the slots is always free.
            let free = (1.0 - keys as f64 / overflow.slots() as f64).max(0.2);
            let words = (1.0 + 1.0 / free) / 2.0;
            return accesses_miss * (1.0 + (words - 1.0) * 64.0 / LINE_BITS);
        }
    };
    let Blocks::Bloom { bits, hashes, .. } = *kind else { return accesses_miss };
    let lines = lines_of(*kind);
    if lines == 1.0 {
        return accesses_miss;
    }
    let load = keys as f64 / candidates.blocks() as f64;
    let unset = (1.0 - f64::from(hashes) / f64::from(bits)).powf(load);
    let elsewhere: f64 = 1.0 - 1.0 / lines;
    let (mut touched, mut beside_counter) = (0.0, 0.0);
    for bit in 0..hashes {
        let reached = (1.0 - unset).powi((bit - bit % BITS_READ_TOGETHER) as i32);
        touched += reached * elsewhere.powi(bit as i32);
        let last = bit % BITS_READ_TOGETHER == BITS_READ_TOGETHER - 1 || bit + 1 == hashes;
        if last {
            let ends_here = reached * (1.0 - (1.0 - unset).powi(BITS_READ_TOGETHER as i32));
            beside_counter += ends_here * elsewhere.powi(bit as i32 + 1);
        }
    }
    let counter = if *rule == Rule::LeastLoaded { 0.0 } else { beside_counter };
    accesses_miss * (touched + counter)
}

/// The same for an insert, which sets all bits of a key in one of its blocks.
pub fn lines_per_insert(design: &Design, accesses_insert: f64) -> f64 {
    let Some(Layout { blocks, rule, .. }) = design.layout() else { return accesses_insert };
    let lines = lines_of(*blocks);
    let counter = f64::from(u8::from(*rule != Rule::LeastLoaded));
    let places = f64::from(blocks.hashes()) + counter;
    accesses_insert * lines * (1.0 - (1.0 - 1.0 / lines).powf(places)).max(1.0 / lines)
}

/// Mean cache lines of a block. Blocks that do not fill whole lines start anywhere in one.
fn lines_of(blocks: Blocks) -> f64 {
    let lines = blocks.stride_bits() as f64 / LINE_BITS;
    match lines {
        _ if lines.recip().fract() == 0.0 => 1.0,
        _ if lines.fract() == 0.0 => lines,
        _ => 1.0 + lines - 64.0 / LINE_BITS,
    }
}

/// A cache line from memory costs as much as so many instructions.
const LINE: f64 = 100.0;

/// Instructions of a miss that ends at the first block, by the shape (`benchmarks/instructions.txt`): remainders of a
/// byte or more in blocks whose unary code ends within two words have specialised code.
const COMMON: f64 = 25.0;
const OTHER: f64 = 50.0;
const SHORT_REMAINDER: f64 = 140.0;

/// Instructions for each further block.
const FURTHER: f64 = 250.0;

/// Of a Bloom block, and of a bit of a classical filter.
const BLOOM: f64 = 80.0;
const BIT: f64 = 15.0;

/// The cost of a miss in any filter, in instructions.
pub(crate) fn of_lookup(design: &Design, keys: u64, accesses_miss: f64) -> f64 {
    match design.layout().map(|layout| layout.blocks) {
        Some(blocks @ Blocks::Fingerprint { .. }) => of_miss(blocks, accesses_miss),
        blocks => {
            let each = if blocks.is_some() { BLOOM } else { BIT };
            each * accesses_miss + LINE * lines_per_miss(design, keys, accesses_miss)
        }
    }
}

/// The cost of a miss in fingerprint blocks, in instructions.
pub(crate) fn of_miss(blocks: Blocks, accesses_miss: f64) -> f64 {
    let first = match blocks {
        Blocks::Fingerprint { remainder_bits: ..8, .. } => SHORT_REMAINDER,
        Blocks::Fingerprint { slots: slots @ 8.., lists, .. } if lists + slots <= 128 => COMMON,
        _ => OTHER,
    };
    first + LINE * accesses_miss + FURTHER * (accesses_miss - 1.0)
}
