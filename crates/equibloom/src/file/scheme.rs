//! The scheme with all its parameters, as numbers in a fixed order (`docs/format.md`, *Scheme*).

use alloc::format;
use alloc::vec::Vec;

use super::FileErrorKind;
use super::fields::{Decoder, Encoder};
use crate::parameters::{
    BlockTable, FingerprintTable, MAX_CHOICES, Overflow, Route, Scheme, Threshold, WhenFull,
};

/// Numbers of the schemes. They are never given anew.
mod kind {
    pub(super) const CLASSICAL: u32 = 1;
    pub(super) const BLOCKED: u32 = 2;
    pub(super) const SINGLE: u32 = 3;
    pub(super) const SEQUENTIAL: u32 = 4;
    pub(super) const MULTI_LEVEL: u32 = 5;
    pub(super) const TWO_CHOICE: u32 = 6;
    pub(super) const ONE_PLUS_ALPHA: u32 = 7;
    pub(super) const FINGERPRINT: u32 = 8;

    pub(super) const ROUTE_SINGLE: u32 = 1;
    pub(super) const ROUTE_SEQUENTIAL: u32 = 2;
    pub(super) const ROUTE_MULTI_LEVEL: u32 = 3;
}

pub(super) fn encode(scheme: &Scheme, to: &mut Encoder) {
    match scheme {
        Scheme::Classical { bits, hashes } => {
            to.u32(kind::CLASSICAL);
            to.u64(*bits);
            to.u32(*hashes);
        }
        Scheme::Blocked { blocks } => {
            to.u32(kind::BLOCKED);
            encode_table(blocks, to);
        }
        Scheme::TwoChoice { blocks } => {
            to.u32(kind::TWO_CHOICE);
            encode_table(blocks, to);
        }
        Scheme::OnePlusAlpha { blocks, alpha } => {
            to.u32(kind::ONE_PLUS_ALPHA);
            encode_table(blocks, to);
            to.f64(*alpha);
        }
        Scheme::Single { blocks, threshold, hints, overflow } => {
            to.u32(kind::SINGLE);
            encode_balanced(blocks, threshold, *hints, overflow, to);
        }
        Scheme::Sequential { blocks, threshold, hints, overflow, choices, accesses } => {
            to.u32(kind::SEQUENTIAL);
            encode_balanced(blocks, threshold, *hints, overflow, to);
            to.u32(*choices);
            to.f64(*accesses);
        }
        Scheme::MultiLevel { blocks, threshold, hints, overflow, subtables } => {
            to.u32(kind::MULTI_LEVEL);
            encode_balanced(blocks, threshold, *hints, overflow, to);
            encode_subtables(subtables, to);
        }
        Scheme::Fingerprint { blocks, route, overflow, multiset } => {
            to.u32(kind::FINGERPRINT);
            to.u64(blocks.count);
            to.u32(blocks.slots);
            to.u32(blocks.lists);
            to.u32(blocks.remainder_bits);
            to.u32(blocks.hints);
            encode_overflow(overflow, to);
            to.u32(u32::from(*multiset));
            encode_route(route, to);
        }
    }
}

pub(super) fn decode(from: &mut Decoder<'_>) -> Result<Scheme, FileErrorKind> {
    let offset = from.position();
    Ok(match from.u32("the scheme")? {
        kind::CLASSICAL => {
            Scheme::Classical { bits: from.u64("bits")?, hashes: from.u32("hashes")? }
        }
        kind::BLOCKED => Scheme::Blocked { blocks: decode_table(from)? },
        kind::TWO_CHOICE => Scheme::TwoChoice { blocks: decode_table(from)? },
        kind::ONE_PLUS_ALPHA => {
            Scheme::OnePlusAlpha { blocks: decode_table(from)?, alpha: from.f64("alpha")? }
        }
        kind::SINGLE => {
            let (blocks, threshold, hints, overflow) = decode_balanced(from)?;
            Scheme::Single { blocks, threshold, hints, overflow }
        }
        kind::SEQUENTIAL => {
            let (blocks, threshold, hints, overflow) = decode_balanced(from)?;
            let (choices, accesses) = (from.u32("choices")?, from.f64("accesses")?);
            Scheme::Sequential { blocks, threshold, hints, overflow, choices, accesses }
        }
        kind::MULTI_LEVEL => {
            let (blocks, threshold, hints, overflow) = decode_balanced(from)?;
            let subtables = decode_subtables(from)?;
            Scheme::MultiLevel { blocks, threshold, hints, overflow, subtables }
        }
        kind::FINGERPRINT => {
            let blocks = FingerprintTable {
                count: from.u64("block count")?,
                slots: from.u32("slots")?,
                lists: from.u32("lists")?,
                remainder_bits: from.u32("remainder bits")?,
                hints: from.u32("hints")?,
            };
            let overflow = decode_overflow(from)?;
            let multiset = from.u32_up_to("whether it is a multiset", 1)? == 1;
            Scheme::Fingerprint { blocks, route: decode_route(from)?, overflow, multiset }
        }
        unknown => return Err(unknown_kind("the scheme", offset, unknown, kind::FINGERPRINT)),
    })
}

fn encode_table(table: &BlockTable, to: &mut Encoder) {
    to.u64(table.count);
    to.u32(table.bits);
    to.u32(table.hashes);
}

fn decode_table(from: &mut Decoder<'_>) -> Result<BlockTable, FileErrorKind> {
    Ok(BlockTable {
        count: from.u64("block count")?,
        bits: from.u32("block bits")?,
        hashes: from.u32("hashes")?,
    })
}

fn encode_balanced(
    blocks: &BlockTable,
    threshold: &Threshold,
    hints: u32,
    overflow: &Overflow,
    to: &mut Encoder,
) {
    encode_table(blocks, to);
    to.u32(threshold.load);
    to.f64(threshold.probability);
    to.u32(hints);
    encode_overflow(overflow, to);
}

fn decode_balanced(
    from: &mut Decoder<'_>,
) -> Result<(BlockTable, Threshold, u32, Overflow), FileErrorKind> {
    let blocks = decode_table(from)?;
    let threshold =
        Threshold { load: from.u32("threshold")?, probability: from.f64("its probability")? };
    Ok((blocks, threshold, from.u32("hints")?, decode_overflow(from)?))
}

fn encode_overflow(overflow: &Overflow, to: &mut Encoder) {
    to.u64(overflow.capacity);
    to.u32(match overflow.when_full {
        WhenFull::Refuse => 0,
        WhenFull::Saturate => 1,
    });
}

fn decode_overflow(from: &mut Decoder<'_>) -> Result<Overflow, FileErrorKind> {
    let capacity = from.u64("planned overflow capacity")?;
    let when_full = match from.u32_up_to("what happens to a full filter", 1)? {
        0 => WhenFull::Refuse,
        _ => WhenFull::Saturate,
    };
    Ok(Overflow { capacity, when_full })
}

fn encode_subtables(subtables: &[u64], to: &mut Encoder) {
    // At most `MAX_CHOICES`: the parameters were checked when the filter was made.
    to.u32(subtables.len() as u32);
    for &size in subtables {
        to.u64(size);
    }
}

fn decode_subtables(from: &mut Decoder<'_>) -> Result<Vec<u64>, FileErrorKind> {
    let count = from.u32_up_to("number of subtables", MAX_CHOICES)?;
    (0..count).map(|_| from.u64("subtable size")).collect()
}

fn encode_route(route: &Route, to: &mut Encoder) {
    match route {
        Route::Single => to.u32(kind::ROUTE_SINGLE),
        Route::Sequential { choices, accesses } => {
            to.u32(kind::ROUTE_SEQUENTIAL);
            to.u32(*choices);
            to.f64(*accesses);
        }
        Route::MultiLevel { subtables } => {
            to.u32(kind::ROUTE_MULTI_LEVEL);
            encode_subtables(subtables, to);
        }
    }
}

fn decode_route(from: &mut Decoder<'_>) -> Result<Route, FileErrorKind> {
    let offset = from.position();
    Ok(match from.u32("the route")? {
        kind::ROUTE_SINGLE => Route::Single,
        kind::ROUTE_SEQUENTIAL => {
            Route::Sequential { choices: from.u32("choices")?, accesses: from.f64("accesses")? }
        }
        kind::ROUTE_MULTI_LEVEL => Route::MultiLevel { subtables: decode_subtables(from)? },
        unknown => return Err(unknown_kind("the route", offset, unknown, kind::ROUTE_MULTI_LEVEL)),
    })
}

fn unknown_kind(name: &'static str, offset: u64, value: u32, last: u32) -> FileErrorKind {
    let accepted = format!("a whole number from 1 to {last}");
    FileErrorKind::Field { name, offset, value: value.into(), accepted }
}
