//! The alternatives that the planner compares: placements, each with its possible kinds of blocks.

use core::fmt;

use equibloom_layout::{BlockKind, FINGERPRINT_BLOCK_BITS, Placement, WhenFull};

use super::requirements::Requirements;
use crate::error::Error;

/// A placement with a kind of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contender {
    pub(crate) placement: Placement,
    /// None for the classical filter and for a list, which have no blocks.
    pub(crate) block: Option<BlockKind>,
}

/// Most keys of a list.
const MOST_LISTED: u64 = 100;

impl Contender {
    /// All of them, Bloom blocks first.
    fn all() -> impl Iterator<Item = Self> {
        let bloom = Placement::ALL.iter().map(|&placement| {
            let blocked = placement != Placement::Classical;
            Self { placement, block: blocked.then_some(BlockKind::Bloom) }
        });
        let block = Some(BlockKind::Fingerprint);
        let list = Self { placement: Placement::List, block: None };
        bloom.chain([Self { placement: Placement::MultiLevel, block }, list])
    }

    /// Those that the requirements allow, at least one.
    pub(crate) fn of(requirements: &Requirements) -> Result<Vec<Self>, Error> {
        let left: Vec<Self> =
            Self::all().filter(|contender| contender.can_be(requirements)).collect();
        if left.is_empty() { Err(none_left(requirements)) } else { Ok(left) }
    }

    fn can_be(&self, requirements: &Requirements) -> bool {
        let Self { placement, block } = *self;
        let fingerprint = block == Some(BlockKind::Fingerprint);
        let is_list = placement == Placement::List;
        let grows = requirements.when_full.is_some_and(WhenFull::grows);
        let has_threshold =
            matches!(placement, Placement::Single | Placement::Sequential | Placement::MultiLevel);
        let of_slots = [requirements.slots, requirements.lists, requirements.remainder_bits];
        requirements.placement.is_none_or(|required| placement == required)
            && requirements.block.is_none_or(|required| block == Some(required))
            && requirements.hints.is_none_or(|hints| hints == 0 || has_threshold && !fingerprint)
            && (fingerprint || is_list || !requirements.multiset)
            && (!is_list || requirements.keys.is_some_and(|keys| keys <= MOST_LISTED))
            && (!is_list || !requirements.keeps_memory())
            && (block.is_some() || requirements.block_bits.is_none())
            && (!fingerprint || requirements.limits().block_bits == FINGERPRINT_BLOCK_BITS)
            && (!requirements.mergeable
                || fingerprint
                || matches!(placement, Placement::Classical | Placement::Blocked | Placement::List))
            && (has_threshold || is_list || requirements.when_full != Some(WhenFull::Refuse))
            && (placement != Placement::Classical || !grows)
            && (fingerprint || of_slots == [None; 3])
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.block {
            Some(BlockKind::Fingerprint) => write!(f, "{} with fingerprint blocks", self.placement),
            _ => write!(f, "{}", self.placement),
        }
    }
}

/// Requirements that no filter meets together, whatever its size.
fn none_left(requirements: &Requirements) -> Error {
    let mut parts = Vec::new();
    let mut remedies = Vec::new();
    if let Some(placement) = requirements.placement {
        parts.push(format!("placement {placement}"));
        remedies.push("leave the placement to the planner".to_owned());
    }
    if let Some(block) = requirements.block {
        let of_lines = match block {
            BlockKind::Fingerprint => {
                format!(", which are cache lines of {FINGERPRINT_BLOCK_BITS} bits,")
            }
            _ => String::new(),
        };
        parts.push(format!("{block} blocks{of_lines}"));
        remedies.push("leave the kind of blocks to the planner".to_owned());
    }
    if let Some(bits) = requirements.block_bits {
        parts.push(format!("blocks of {bits} bits"));
        remedies.push(match requirements.placement {
            Some(Placement::Classical) => "leave the size of blocks to the planner".to_owned(),
            _ => format!("set block_bits to {FINGERPRINT_BLOCK_BITS}"),
        });
    }
    if let Some(hints) = requirements.hints {
        parts.push(format!("{hints} hints"));
        remedies.push("leave the hints to the planner".to_owned());
    }
    if requirements.multiset {
        parts.push(format!(
            "removal of keys, which needs fingerprint blocks of {FINGERPRINT_BLOCK_BITS} bits,"
        ));
        remedies.push("do without removal".to_owned());
    }
    if requirements.mergeable {
        parts.push(
            "merging, which needs a blocked or classical filter or fingerprint blocks,".to_owned(),
        );
        remedies.push("do without merging".to_owned());
    }
    if requirements.when_full == Some(WhenFull::Refuse) {
        parts.push("keys to be refused, which needs a threshold or fingerprint blocks,".to_owned());
        remedies.push("let a full filter saturate".to_owned());
    }
    if requirements.keeps_memory() && requirements.placement == Some(Placement::List) {
        parts.push("memory that stays, where a list grows,".to_owned());
        remedies.push("refuse keys when the filter is full".to_owned());
    }
    if requirements.when_full.is_some_and(WhenFull::grows) {
        parts.push("growth, which a classical filter does not have,".to_owned());
        remedies.push("let a full filter saturate".to_owned());
    }
    for (name, number) in [
        ("slots", requirements.slots),
        ("lists", requirements.lists),
        ("remainder bits", requirements.remainder_bits),
    ] {
        if let Some(number) = number {
            parts.push(format!("{number} {name}, which only fingerprint blocks have,"));
        }
    }
    let conflict = format!("{} are incompatible", parts.join(" and "));
    Error::Contradiction { conflict, remedies }
}
