//! The encoding of a design: all fields as numbers in a fixed order (`docs/format.md`, *Design*).

use alloc::format;

use equibloom_layout::{
    Blocks, Candidates, Design, Layout, MAX_CHOICES, MAX_GROWTH_BITS, Overflow, PerSubtable, Rule,
    Share, WhenFull,
};

use super::FileErrorKind;
use super::fields::{Checked, Fields, check};

/// The design that another one is read into.
pub(super) const BLANK: Design = Design::Classical { bits: 0, hashes: 0 };

/// Reads or writes a design.
pub(super) fn fields(design: &mut Design, io: &mut Fields<'_>) -> Checked {
    let blocked = Design::Blocked(Layout::blocked(Blocks::bloom(0, 0), 0));
    let list = Design::List { overflow: Overflow::NONE, multiset: false };
    io.variant("the design", design, &[BLANK, blocked, list])?;
    match design {
        Design::Classical { bits, hashes } => {
            io.u64("bits", bits)?;
            io.u32("hashes", hashes)
        }
        Design::Blocked(layout) => layout_fields(layout, io),
        Design::List { overflow, multiset } => list_fields(overflow, multiset, io),
    }
}

fn layout_fields(layout: &mut Layout, io: &mut Fields<'_>) -> Checked {
    let Layout { blocks, candidates, rule, budget, overflow, multiset } = layout;
    let fingerprint = Blocks::Fingerprint { slots: 0, lists: 0, remainder_bits: 0 };
    io.variant("the kind of blocks", blocks, &[Blocks::bloom(0, 0), fingerprint])?;
    match blocks {
        Blocks::Bloom { bits, hashes, hints } => {
            io.u32("block bits", bits)?;
            io.u32("hashes", hashes)?;
            io.u32("hints", hints)?;
        }
        Blocks::Fingerprint { slots, lists, remainder_bits } => {
            io.u32("slots", slots)?;
            io.u32("lists", lists)?;
            io.u32("remainder bits", remainder_bits)?;
        }
    }
    let subtables = Candidates::Subtables { sizes: PerSubtable::from([0]) };
    io.variant("the candidates", candidates, &[Candidates::anywhere(0, 0), subtables])?;
    match candidates {
        Candidates::Anywhere { blocks, choices, share } => {
            io.u64("block count", blocks)?;
            io.u32("choices", choices)?;
            share_field("the share with more than one candidate", share, io)?;
        }
        Candidates::Subtables { sizes } => size_fields(sizes, io)?,
    }
    io.variant("the rule", rule, &[Rule::LeastLoaded, Rule::below(0), Rule::KeepLargest])?;
    if let Rule::FirstWithRoom { below, coin } = rule {
        io.u32("threshold", below)?;
        share_field("the coin", coin, io)?;
    }
    let (mut has_budget, mut accesses) = (budget.is_some(), budget.unwrap_or(0));
    io.flag("whether there is an access budget", &mut has_budget)?;
    if has_budget {
        io.u64("the access budget", &mut accesses)?;
    }
    *budget = has_budget.then_some(accesses);
    list_fields(overflow, multiset, io)
}

fn list_fields(overflow: &mut Overflow, multiset: &mut bool, io: &mut Fields<'_>) -> Checked {
    io.u64("planned overflow capacity", &mut overflow.capacity)?;
    let mut policy = match overflow.when_full {
        WhenFull::Refuse => 0,
        WhenFull::Saturate => 1,
        WhenFull::Grow { rate_bits } => 1 + u64::from(rate_bits),
    };
    let most = 1 + u64::from(MAX_GROWTH_BITS);
    io.up_to("what happens to keys beyond the plan", &mut policy, most)?;
    overflow.when_full = match policy {
        0 => WhenFull::Refuse,
        1 => WhenFull::Saturate,
        more => WhenFull::Grow { rate_bits: (more - 1) as u8 },
    };
    io.flag("whether it is a multiset", multiset)
}

fn size_fields(sizes: &mut PerSubtable<u64>, io: &mut Fields<'_>) -> Checked {
    let offset = io.position();
    let mut count = sizes.len() as u64;
    io.up_to("number of subtables", &mut count, MAX_CHOICES.into())?;
    let mut list = sizes.to_vec();
    list.resize(count as usize, 0);
    list.iter_mut().try_for_each(|size| io.u64("subtable size", size))?;
    *sizes =
        PerSubtable::new(&list).map_err(|source| FileErrorKind::Parameters { offset, source })?;
    Ok(())
}

fn share_field(name: &'static str, share: &mut Share, io: &mut Fields<'_>) -> Checked {
    let (mut units, offset) = (share.units(), io.position());
    io.u64(name, &mut units)?;
    let read = Share::from_units(units);
    *share = read.unwrap_or(*share);
    let accepted = || format!("at most {}, with 53 significant bits", Share::ALL.units());
    check(read.is_some(), name, offset, units, accepted)
}
