//! The name of a filter: the same in every command.

use equibloom::{Blocks, Design};

use crate::answer::count;

/// Name and sizes of a filter.
pub(crate) fn describe(design: &Design) -> String {
    let removable = if design.is_multiset() { ", keys can be removed" } else { "" };
    let sizes = match design {
        Design::Classical { bits, hashes } => {
            format!("{}, {hashes} for every key", count(*bits, "bit"))
        }
        Design::List { overflow, .. } => {
            format!("{} of 64 bits", count(overflow.capacity, "slot"))
        }
        Design::Blocked(layout) => {
            let blocks = count(layout.candidates.blocks(), "block");
            match layout.blocks {
                Blocks::Bloom { bits, hashes, .. } => {
                    format!("{blocks} of {bits} bits, {hashes} for every key")
                }
                Blocks::Fingerprint { slots, remainder_bits, .. } => {
                    format!("{blocks} with {slots} slots of {remainder_bits} bits")
                }
            }
        }
    };
    format!("{}, {sizes}{removable}", design.name())
}
