//! What runs a filter: a machine, and what is known of the filter.
#![allow(unsafe_code, reason = "functions for instructions that not every processor has")]

use core::fmt;

use super::common::{Common, OnCommon};
use super::{DetectedIsa, Isa, Operation, Portable, USUAL_ON_PORTABLE};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::hashing::KeyHash;

/// Something that is asked about keys.
pub(crate) trait Dispatch: Sized {
    /// Whether special instructions are worth their code also where it is not a [usual](Isa::COMMON) one.
    /// Single lookups have them always.
    const UNUSUAL_BY_SPECIAL_INSTRUCTIONS: bool;

    /// The answer. Must be inlined, as an [`Operation`] must.
    fn answer<I: Isa>(&self, isa: I, key: KeyHash) -> bool;
}

/// Runs operations on a filter. Which machine does it and whether the filter is a [usual](Isa::COMMON)
/// one is known when it is made. Most operations are long enough to look that up when they begin; single
/// lookups are not, and a filter is asked through the function that was compiled for just this.
pub(crate) struct Engine<F> {
    isa: DetectedIsa,
    on_usual: bool,
    /// For `isa` and for `on_usual` only.
    answer: unsafe fn(&F, KeyHash) -> bool,
}

impl<F: Dispatch> Engine<F> {
    /// The machine must be that of the processor, as every [`DetectedIsa`] is.
    pub(crate) fn new(isa: DetectedIsa, on_usual: bool) -> Self {
        let answer: unsafe fn(&F, KeyHash) -> bool = match (isa, on_usual) {
            (DetectedIsa::Portable, true) if USUAL_ON_PORTABLE => answer_portably::<F, true>,
            (DetectedIsa::Portable, _) => answer_portably::<F, false>,
            #[cfg(target_arch = "x86_64")]
            (DetectedIsa::Avx512(_), true) => avx512::answer::<F>,
            #[cfg(target_arch = "x86_64")]
            (DetectedIsa::Avx2(_), true) => avx2::answer::<F, true>,
            #[cfg(target_arch = "x86_64")]
            (DetectedIsa::Avx2(_) | DetectedIsa::Avx512(_), false) => avx2::answer::<F, false>,
        };
        Self { isa, on_usual, answer }
    }

    /// Asks about a key.
    #[inline(always)]
    pub(crate) fn ask(self, asked: &F, key: KeyHash) -> bool {
        // SAFETY: compiled for `self.machine`, which the processor is.
        unsafe { (self.answer)(asked, key) }
    }
}

impl<F: Dispatch> Engine<F> {
    /// Runs an operation on the filter.
    #[inline(always)]
    pub(crate) fn run<O: Operation>(self, operation: O) -> O::Output {
        if self.on_usual { self.isa.run_on_usual(operation) } else { self.run_on_any(operation) }
    }

    /// Runs an operation that is worth its code only by the best instructions of the target; otherwise it
    /// comes back.
    #[inline(always)]
    pub(crate) fn run_if_worthwhile<O: Operation>(self, operation: O) -> Result<O::Output, O> {
        match (self.isa, self.on_usual) {
            (DetectedIsa::Portable, _) if !USUAL_ON_PORTABLE => Err(operation),
            (DetectedIsa::Portable, true) => Ok(Portable.outlined(OnCommon(operation))),
            #[cfg(target_arch = "x86_64")]
            (DetectedIsa::Avx512(isa), true) => Ok(isa.run(OnCommon(operation))),
            #[cfg(target_arch = "x86_64")]
            (DetectedIsa::Avx2(isa), true) => Ok(isa.run(OnCommon(operation))),
            (_, false) if !F::UNUSUAL_BY_SPECIAL_INSTRUCTIONS => Err(operation),
            (DetectedIsa::Portable, false) => Ok(Portable.outlined(operation)),
            #[cfg(target_arch = "x86_64")]
            (DetectedIsa::Avx512(isa), false) => Ok(isa.avx2().run(operation)),
            #[cfg(target_arch = "x86_64")]
            (DetectedIsa::Avx2(isa), false) => Ok(isa.run(operation)),
        }
    }

    /// Runs an operation that takes nothing for granted of the filter.
    #[inline(always)]
    pub(crate) fn run_on_any<O: Operation>(self, operation: O) -> O::Output {
        if F::UNUSUAL_BY_SPECIAL_INSTRUCTIONS {
            self.isa.run(operation)
        } else {
            Portable.outlined(operation)
        }
    }
}

/// The answer by instructions that every processor of the target has.
fn answer_portably<F: Dispatch, const COMMON: bool>(asked: &F, key: KeyHash) -> bool {
    answer_on::<F, _, COMMON>(Portable, asked, key)
}

/// The answer by one machine.
#[inline(always)]
pub(super) fn answer_on<F: Dispatch, I: Isa, const COMMON: bool>(
    isa: I,
    asked: &F,
    key: KeyHash,
) -> bool {
    if COMMON { asked.answer(Common(isa), key) } else { asked.answer(isa, key) }
}

// Not derived: whatever `F` is, this is not a part of it.
impl<F> Clone for Engine<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Engine<F> {}

/// All answer the same.
impl<F> PartialEq for Engine<F> {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl<F> Eq for Engine<F> {}

impl<F> fmt::Debug for Engine<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { isa, on_usual, .. } = self;
        formatter.debug_struct("Engine").field("isa", isa).field("on_usual", on_usual).finish()
    }
}
