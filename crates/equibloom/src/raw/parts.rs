//! What of a filter goes into a file, and how it becomes a filter again.

use super::contents::Contents;
use super::design::Designed;
use super::{Any, Balanced, Classical};
use crate::block::simd::Best;
use crate::error::BuildError;
use crate::memory::{Words, bytes_for};
use crate::overflow::{OverflowList, slot_count};
use crate::parameters::{Overflow, Parameters, Scheme, WhenFull};

/// The numbers that a filter keeps beside its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counters {
    pub(crate) elements: u64,
    pub(crate) saturated: u64,
    pub(crate) budget_used: u64,
    pub(crate) budget_spent: bool,
    /// Entries in the overflow list.
    pub(crate) overflow_entries: u64,
    /// Entries that the overflow list has room for, which may be more than planned.
    pub(crate) overflow_capacity: u64,
}

/// A filter's words and numbers; everything else follows from its parameters.
#[derive(Debug)]
pub(crate) struct Parts<W> {
    pub(crate) blocks: W,
    pub(crate) overflow: W,
    pub(crate) counters: Counters,
}

impl Counters {
    /// Bytes of the overflow list.
    pub(crate) const fn overflow_bytes(&self) -> u64 {
        bytes_for(slot_count(self.overflow_capacity))
    }
}

/// Bytes that the blocks of a scheme occupy.
pub(crate) fn blocks_bytes(scheme: &Scheme) -> u64 {
    match scheme {
        Scheme::Classical { bits, .. } => bytes_for(bits.div_ceil(64)),
        Scheme::Blocked { blocks }
        | Scheme::Single { blocks, .. }
        | Scheme::Sequential { blocks, .. }
        | Scheme::MultiLevel { blocks, .. }
        | Scheme::TwoChoice { blocks }
        | Scheme::OnePlusAlpha { blocks, .. } => blocks.bytes(),
        Scheme::Fingerprint { blocks, .. } => blocks.bytes(),
    }
}

/// The overflow list that a scheme begins with.
pub(crate) const fn planned_overflow(scheme: &Scheme) -> Overflow {
    match scheme {
        Scheme::Single { overflow, .. }
        | Scheme::Sequential { overflow, .. }
        | Scheme::MultiLevel { overflow, .. }
        | Scheme::Fingerprint { overflow, .. } => *overflow,
        Scheme::Classical { .. }
        | Scheme::Blocked { .. }
        | Scheme::TwoChoice { .. }
        | Scheme::OnePlusAlpha { .. } => Overflow { capacity: 0, when_full: WhenFull::Refuse },
    }
}

/// A filter that can be taken apart and put together again.
pub(crate) trait FromParts: Sized {
    /// What goes into a file.
    fn parts(&self) -> Parts<&Words>;

    /// The filter of these parameters (which have been checked) with these parts; `None` if they do
    /// not fit.
    fn from_parts(parameters: &Parameters, parts: Parts<Words>) -> Option<Self>;

    /// Copies what is mapped from a file into memory.
    fn detach(&mut self) -> Result<(), BuildError>;
}

impl FromParts for Classical {
    fn parts(&self) -> Parts<&Words> {
        const NONE: &Words = &Words::none();
        let counters = Counters { elements: self.elements, ..Counters::default() };
        Parts { blocks: &self.array, overflow: NONE, counters }
    }

    fn from_parts(parameters: &Parameters, parts: Parts<Words>) -> Option<Self> {
        let Scheme::Classical { bits, hashes } = parameters.scheme else { return None };
        let fits = parts.blocks.bytes() == bytes_for(bits.div_ceil(64))
            && parts.overflow.bytes() == 0
            && parts.counters.overflow_capacity == 0;
        fits.then(|| Self { array: parts.blocks, bits, hashes, elements: parts.counters.elements })
    }

    fn detach(&mut self) -> Result<(), BuildError> {
        self.array.detach()
    }
}

impl<R: Designed<B>, B: Contents> FromParts for Balanced<R, B> {
    fn parts(&self) -> Parts<&Words> {
        Parts {
            blocks: self.blocks.storage(),
            overflow: self.overflow.storage(),
            counters: Counters {
                elements: self.elements,
                saturated: self.saturated,
                budget_used: self.budget.used(),
                budget_spent: self.budget.is_spent(),
                overflow_entries: self.overflow.len(),
                overflow_capacity: self.overflow.capacity(),
            },
        }
    }

    fn from_parts(parameters: &Parameters, parts: Parts<Words>) -> Option<Self> {
        let design = R::design(parameters)?;
        let Parts { blocks, overflow, counters } = parts;
        if blocks.bytes() != bytes_for(B::words_for(&design.blocks).ok()?) {
            return None;
        }
        let capacity = counters.overflow_capacity;
        let blocks = B::over(&design.blocks, blocks);
        Some(Self {
            engine: Self::engine_for(Best::detect(), &blocks, &design.budget),
            blocks,
            candidates: design.candidates,
            rule: design.rule,
            overflow: OverflowList::over(overflow, capacity, counters.overflow_entries)?,
            when_full: design.overflow.when_full,
            budget: design.budget.restored(counters.budget_used, counters.budget_spent),
            elements: counters.elements,
            saturated: counters.saturated,
        })
    }

    fn detach(&mut self) -> Result<(), BuildError> {
        self.blocks.storage_mut().detach()?;
        self.overflow.detach()
    }
}

impl FromParts for Any {
    fn parts(&self) -> Parts<&Words> {
        match self {
            Self::Classical(filter) => filter.parts(),
            Self::FirstWithRoom(filter) => filter.parts(),
            Self::LeastLoaded(filter) => filter.parts(),
            Self::Fingerprint(filter) => filter.parts(),
        }
    }

    fn from_parts(parameters: &Parameters, parts: Parts<Words>) -> Option<Self> {
        match parameters.scheme {
            Scheme::Classical { .. } => {
                FromParts::from_parts(parameters, parts).map(Self::Classical)
            }
            Scheme::Single { .. } | Scheme::Sequential { .. } | Scheme::MultiLevel { .. } => {
                FromParts::from_parts(parameters, parts).map(Self::FirstWithRoom)
            }
            Scheme::Blocked { .. } | Scheme::TwoChoice { .. } | Scheme::OnePlusAlpha { .. } => {
                FromParts::from_parts(parameters, parts).map(Self::LeastLoaded)
            }
            Scheme::Fingerprint { .. } => {
                FromParts::from_parts(parameters, parts).map(Self::Fingerprint)
            }
        }
    }

    fn detach(&mut self) -> Result<(), BuildError> {
        match self {
            Self::Classical(filter) => filter.detach(),
            Self::FirstWithRoom(filter) => filter.detach(),
            Self::LeastLoaded(filter) => filter.detach(),
            Self::Fingerprint(filter) => filter.detach(),
        }
    }
}
