//! The encoding of a design: all fields as numbers in a fixed order (`docs/format.md`, *Design*).

use alloc::format;
use alloc::vec::Vec;

use equibloom_layout::{
    Blocks, Candidates, Design, Layout, MAX_CHOICES, Overflow, Rule, Share, WhenFull,
};

use super::FileErrorKind;
use super::fields::{Decoder, Encoder};

/// Numbers of variants. They never change.
mod number {
    pub(super) const CLASSICAL: u32 = 1;
    pub(super) const BLOCKED: u32 = 2;

    pub(super) const BLOOM: u32 = 1;
    pub(super) const FINGERPRINT: u32 = 2;

    pub(super) const ANYWHERE: u32 = 1;
    pub(super) const SUBTABLES: u32 = 2;

    pub(super) const LEAST_LOADED: u32 = 1;
    pub(super) const FIRST_WITH_ROOM: u32 = 2;
    pub(super) const KEEP_LARGEST: u32 = 3;
}

pub(super) fn encode(design: &Design, to: &mut Encoder) {
    match design {
        Design::Classical { bits, hashes } => {
            to.u32(number::CLASSICAL);
            to.u64(*bits);
            to.u32(*hashes);
        }
        Design::Blocked(layout) => {
            to.u32(number::BLOCKED);
            encode_layout(layout, to);
        }
    }
}

pub(super) fn decode(from: &mut Decoder<'_>) -> Result<Design, FileErrorKind> {
    Ok(match from.variant("the design", number::BLOCKED)? {
        number::CLASSICAL => {
            Design::Classical { bits: from.u64("bits")?, hashes: from.u32("hashes")? }
        }
        _ => Design::Blocked(decode_layout(from)?),
    })
}

fn encode_layout(layout: &Layout, to: &mut Encoder) {
    match layout.blocks {
        Blocks::Bloom { bits, hashes, hints } => {
            to.u32s(&[number::BLOOM, bits, hashes, hints]);
        }
        Blocks::Fingerprint { slots, lists, remainder_bits } => {
            to.u32s(&[number::FINGERPRINT, slots, lists, remainder_bits]);
        }
    }
    match &layout.candidates {
        Candidates::Anywhere { blocks, choices, share } => {
            to.u32(number::ANYWHERE);
            to.u64(*blocks);
            to.u32(*choices);
            to.u64(share.units());
        }
        Candidates::Subtables { sizes } => {
            to.u32(number::SUBTABLES);
            to.u32(sizes.len() as u32);
            sizes.iter().for_each(|&size| to.u64(size));
        }
    }
    match layout.rule {
        Rule::LeastLoaded => to.u32(number::LEAST_LOADED),
        Rule::FirstWithRoom { below, coin } => {
            to.u32(number::FIRST_WITH_ROOM);
            to.u32(below);
            to.u64(coin.units());
        }
        Rule::KeepLargest => to.u32(number::KEEP_LARGEST),
    }
    to.u32(u32::from(layout.budget.is_some()));
    to.u64(layout.budget.unwrap_or(0));
    to.u64(layout.overflow.capacity);
    to.u32(u32::from(layout.overflow.when_full == WhenFull::Saturate));
    to.u32(u32::from(layout.multiset));
}

fn decode_layout(from: &mut Decoder<'_>) -> Result<Layout, FileErrorKind> {
    let blocks = match from.variant("the kind of blocks", number::FINGERPRINT)? {
        number::BLOOM => Blocks::Bloom {
            bits: from.u32("block bits")?,
            hashes: from.u32("hashes")?,
            hints: from.u32("hints")?,
        },
        _ => Blocks::Fingerprint {
            slots: from.u32("slots")?,
            lists: from.u32("lists")?,
            remainder_bits: from.u32("remainder bits")?,
        },
    };
    let candidates = match from.variant("the candidates", number::SUBTABLES)? {
        number::ANYWHERE => Candidates::Anywhere {
            blocks: from.u64("block count")?,
            choices: from.u32("choices")?,
            share: decode_share("the share with more than one candidate", from)?,
        },
        _ => {
            let offset = from.position();
            let count = from.u32_up_to("number of subtables", MAX_CHOICES)?;
            let sizes =
                (0..count).map(|_| from.u64("subtable size")).collect::<Result<Vec<_>, _>>()?;
            Candidates::subtables(&sizes)
                .map_err(|source| FileErrorKind::Parameters { offset, source })?
        }
    };
    let rule = match from.variant("the rule", number::KEEP_LARGEST)? {
        number::LEAST_LOADED => Rule::LeastLoaded,
        number::FIRST_WITH_ROOM => Rule::FirstWithRoom {
            below: from.u32("threshold")?,
            coin: decode_share("the coin", from)?,
        },
        _ => Rule::KeepLargest,
    };
    let has_budget = from.u32_up_to("whether there is an access budget", 1)? == 1;
    let budget = from.u64_if("the access budget", has_budget)?;
    let capacity = from.u64("planned overflow capacity")?;
    let when_full = match from.u32_up_to("what happens when the list is full", 1)? {
        0 => WhenFull::Refuse,
        _ => WhenFull::Saturate,
    };
    let multiset = from.u32_up_to("whether it is a multiset", 1)? == 1;
    let overflow = Overflow { capacity, when_full };
    Ok(Layout { blocks, candidates, rule, budget, overflow, multiset })
}

fn decode_share(name: &'static str, from: &mut Decoder<'_>) -> Result<Share, FileErrorKind> {
    let offset = from.position();
    let value = from.u64(name)?;
    let accepted = format!("at most {}, with 53 significant bits", Share::ALL.units());
    Share::from_units(value).ok_or(FileErrorKind::Field { name, offset, value, accepted })
}
