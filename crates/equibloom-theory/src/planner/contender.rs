//! What the planner compares: placements, each with the kinds of blocks that it can have.

use core::fmt;

use super::block_kind::BlockKind;
use super::placement::PlacementName;
use super::wishes::Wishes;
use crate::error::Error;

/// A placement with a kind of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contender {
    pub(crate) placement: PlacementName,
    /// None for the classical filter, which has no blocks.
    pub(crate) block: Option<BlockKind>,
}

impl Contender {
    /// All of them, Bloom blocks first.
    fn all() -> impl Iterator<Item = Self> {
        let bloom = PlacementName::ALL.into_iter().map(|placement| {
            let blocked = placement != PlacementName::Classical;
            Self { placement, block: blocked.then_some(BlockKind::Bloom) }
        });
        let with_slots =
            [PlacementName::Single, PlacementName::MultiLevel, PlacementName::Sequential];
        bloom.chain(
            with_slots.map(|placement| Self { placement, block: Some(BlockKind::Fingerprint) }),
        )
    }

    /// Those that the wishes leave, of which there is at least one.
    pub(crate) fn of(wishes: &Wishes) -> Result<Vec<Self>, Error> {
        let left: Vec<Self> = Self::all().filter(|contender| contender.can_be(wishes)).collect();
        if left.is_empty() { Err(none_left(wishes)) } else { Ok(left) }
    }

    fn can_be(&self, wishes: &Wishes) -> bool {
        let Self { placement, block } = *self;
        let fingerprint = block == Some(BlockKind::Fingerprint);
        let has_threshold = matches!(
            placement,
            PlacementName::Single | PlacementName::Sequential | PlacementName::MultiLevel
        );
        let of_slots = [wishes.slots, wishes.lists, wishes.remainder_bits];
        wishes.placement.is_none_or(|wished| placement == wished)
            && wishes.block.is_none_or(|wished| block == Some(wished))
            && wishes.hints.is_none_or(|hints| hints == 0 || has_threshold)
            && (fingerprint || !wishes.multiset)
            && (fingerprint || of_slots == [None; 3])
            && !(fingerprint && wishes.multiset && wishes.hints == Some(0))
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

/// Wishes that no filter at all has together, whatever its size.
fn none_left(wishes: &Wishes) -> Error {
    let mut parts = Vec::new();
    let mut remedies = Vec::new();
    if let Some(placement) = wishes.placement {
        parts.push(format!("placement {placement}"));
        remedies.push("choose single, sequential or multi-level".to_owned());
    }
    if let Some(block) = wishes.block {
        parts.push(format!("{block} blocks"));
        remedies.push("leave the kind of blocks to the planner".to_owned());
    }
    if let Some(hints) = wishes.hints {
        parts.push(format!("{hints} hints"));
        remedies.push("leave the hints to the planner".to_owned());
    }
    if wishes.multiset {
        parts.push("removal of keys, which needs fingerprint blocks and hints,".to_owned());
        remedies.push("do without removal".to_owned());
    }
    for (name, wish) in [
        ("slots", wishes.slots),
        ("lists", wishes.lists),
        ("remainder bits", wishes.remainder_bits),
    ] {
        if let Some(number) = wish {
            parts.push(format!("{number} {name}, which only fingerprint blocks have,"));
        }
    }
    let conflict = format!("{} cannot be had together", parts.join(" and "));
    Error::Contradiction { conflict, remedies }
}
