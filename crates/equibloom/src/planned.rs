//! The theory's plain description of a filter and ours, turned into each other.

use equibloom_theory::planner::{Blocks, Layout, Plan, Threshold as PlannedThreshold};

use crate::parameters::{BlockTable, Overflow, Parameters, Scheme, Threshold, WhenFull};

/// The planned filter, with seed 0; what does not fit into the overflow list goes into the blocks.
impl From<&Plan> for Parameters {
    fn from(plan: &Plan) -> Self {
        Self { keys: plan.keys, seed: 0, scheme: Scheme::from(&plan.layout) }
    }
}

/// What does not fit into the overflow list goes into the blocks.
impl From<&Layout> for Scheme {
    fn from(layout: &Layout) -> Self {
        let overflow = |capacity| Overflow { capacity, when_full: WhenFull::Saturate };
        match *layout {
            Layout::Classical { bits, hashes } => Self::Classical { bits, hashes },
            Layout::Blocked { blocks } => Self::Blocked { blocks: blocks.into() },
            Layout::Single { blocks, threshold, overflow_capacity } => Self::Single {
                blocks: blocks.into(),
                threshold: threshold.into(),
                overflow: overflow(overflow_capacity),
            },
            Layout::Sequential { blocks, threshold, overflow_capacity, choices, accesses } => {
                Self::Sequential {
                    blocks: blocks.into(),
                    threshold: threshold.into(),
                    overflow: overflow(overflow_capacity),
                    choices,
                    accesses,
                }
            }
            Layout::MultiLevel { blocks, threshold, overflow_capacity, ref subtables } => {
                Self::MultiLevel {
                    blocks: blocks.into(),
                    threshold: threshold.into(),
                    overflow: overflow(overflow_capacity),
                    subtables: subtables.clone(),
                }
            }
            Layout::TwoChoice { blocks } => Self::TwoChoice { blocks: blocks.into() },
            Layout::OnePlusAlpha { blocks, alpha } => {
                Self::OnePlusAlpha { blocks: blocks.into(), alpha }
            }
        }
    }
}

impl From<&Scheme> for Layout {
    fn from(scheme: &Scheme) -> Self {
        match *scheme {
            Scheme::Classical { bits, hashes } => Self::Classical { bits, hashes },
            Scheme::Blocked { blocks } => Self::Blocked { blocks: blocks.into() },
            Scheme::Single { blocks, threshold, overflow } => Self::Single {
                blocks: blocks.into(),
                threshold: threshold.into(),
                overflow_capacity: overflow.capacity,
            },
            Scheme::Sequential { blocks, threshold, overflow, choices, accesses } => {
                Self::Sequential {
                    blocks: blocks.into(),
                    threshold: threshold.into(),
                    overflow_capacity: overflow.capacity,
                    choices,
                    accesses,
                }
            }
            Scheme::MultiLevel { blocks, threshold, overflow, ref subtables } => Self::MultiLevel {
                blocks: blocks.into(),
                threshold: threshold.into(),
                overflow_capacity: overflow.capacity,
                subtables: subtables.clone(),
            },
            Scheme::TwoChoice { blocks } => Self::TwoChoice { blocks: blocks.into() },
            Scheme::OnePlusAlpha { blocks, alpha } => {
                Self::OnePlusAlpha { blocks: blocks.into(), alpha }
            }
        }
    }
}

impl From<Blocks> for BlockTable {
    fn from(Blocks { count, bits, hashes }: Blocks) -> Self {
        Self { count, bits, hashes }
    }
}

impl From<BlockTable> for Blocks {
    fn from(BlockTable { count, bits, hashes }: BlockTable) -> Self {
        Self { count, bits, hashes }
    }
}

impl From<Threshold> for PlannedThreshold {
    fn from(Threshold { load, probability }: Threshold) -> Self {
        Self { load, probability }
    }
}

impl From<PlannedThreshold> for Threshold {
    fn from(PlannedThreshold { load, probability }: PlannedThreshold) -> Self {
        Self { load, probability }
    }
}
