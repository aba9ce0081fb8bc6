//! The ISA and specialisation chosen for a filter.
#![allow(unsafe_code, reason = "functions for instructions that not every processor has")]

use core::fmt;

use super::common::{Common, OnCommon};
use super::{COMMON_ON_PORTABLE, DetectedIsa, Isa, Operation, Portable};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::hashing::KeyHash;

/// A filter whose lookup is compiled for each ISA.
pub(crate) trait Dispatch: Sized {
    /// Whether [uncommon](Isa::COMMON) filters gain enough from special instructions to compile batch
    /// operations for them. Single lookups always use them.
    const SPECIALISE_UNCOMMON: bool;

    /// Looks up a key. Must be inlined, like an [`Operation`].
    fn answer<I: Isa>(&self, isa: I, key: KeyHash) -> bool;
}

/// Runs operations on a filter. The ISA, and whether the filter is a [common](Isa::COMMON) one, are fixed
/// at construction. Most operations dispatch on them at their start; a single lookup is too short for that
/// and goes through a function pointer.
pub(crate) struct Engine<F> {
    isa: DetectedIsa,
    is_common: bool,
    /// Compiled for `isa` and `is_common`.
    answer: unsafe fn(&F, KeyHash) -> bool,
}

impl<F: Dispatch> Engine<F> {
    /// The CPU must support `isa`, as it does for every [`DetectedIsa`].
    pub(crate) fn new(isa: DetectedIsa, is_common: bool) -> Self {
        let answer: unsafe fn(&F, KeyHash) -> bool = match (isa, is_common) {
            (DetectedIsa::Portable, true) if COMMON_ON_PORTABLE => answer_portably::<F, true>,
            (DetectedIsa::Portable, _) => answer_portably::<F, false>,
            #[cfg(target_arch = "x86_64")]
            (DetectedIsa::Avx512(_), true) => avx512::answer::<F>,
            #[cfg(target_arch = "x86_64")]
            (DetectedIsa::Avx2(_), true) => avx2::answer::<F, true>,
            #[cfg(target_arch = "x86_64")]
            (DetectedIsa::Avx2(_) | DetectedIsa::Avx512(_), false) => avx2::answer::<F, false>,
        };
        Self { isa, is_common, answer }
    }

    /// Looks up a key.
    #[inline(always)]
    pub(crate) fn lookup(self, filter: &F, key: KeyHash) -> bool {
        // SAFETY: compiled for `self.isa`, which the CPU supports.
        unsafe { (self.answer)(filter, key) }
    }
}

impl<F: Dispatch> Engine<F> {
    /// Runs an operation on the filter.
    #[inline(always)]
    pub(crate) fn run<O: Operation>(self, operation: O) -> O::Output {
        if self.is_common { self.isa.run_on_common(operation) } else { self.run_on_any(operation) }
    }

    /// Runs an operation whose code is worth its size only with special instructions; otherwise returns it.
    #[inline(always)]
    pub(crate) fn run_if_worthwhile<O: Operation>(self, operation: O) -> Result<O::Output, O> {
        match (self.isa, self.is_common) {
            (DetectedIsa::Portable, _) if !COMMON_ON_PORTABLE => Err(operation),
            (DetectedIsa::Portable, true) => Ok(Portable.outlined(OnCommon(operation))),
            #[cfg(target_arch = "x86_64")]
            (DetectedIsa::Avx512(isa), true) => Ok(isa.run(OnCommon(operation))),
            #[cfg(target_arch = "x86_64")]
            (DetectedIsa::Avx2(isa), true) => Ok(isa.run(OnCommon(operation))),
            (_, false) if !F::SPECIALISE_UNCOMMON => Err(operation),
            (DetectedIsa::Portable, false) => Ok(Portable.outlined(operation)),
            #[cfg(target_arch = "x86_64")]
            (DetectedIsa::Avx512(isa), false) => Ok(isa.avx2().run(operation)),
            #[cfg(target_arch = "x86_64")]
            (DetectedIsa::Avx2(isa), false) => Ok(isa.run(operation)),
        }
    }

    /// Runs an operation without assuming the common shape.
    #[inline(always)]
    pub(crate) fn run_on_any<O: Operation>(self, operation: O) -> O::Output {
        if F::SPECIALISE_UNCOMMON { self.isa.run(operation) } else { Portable.outlined(operation) }
    }
}

/// A lookup with the target's baseline instructions.
fn answer_portably<F: Dispatch, const COMMON: bool>(filter: &F, key: KeyHash) -> bool {
    answer_on::<F, _, COMMON>(Portable, filter, key)
}

/// A lookup with one ISA.
#[inline(always)]
pub(super) fn answer_on<F: Dispatch, I: Isa, const COMMON: bool>(
    isa: I,
    filter: &F,
    key: KeyHash,
) -> bool {
    if COMMON { filter.answer(Common(isa), key) } else { filter.answer(isa, key) }
}

// Implemented by hand: deriving would require `F: Clone`.
impl<F> Clone for Engine<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Engine<F> {}

/// Engines compare equal: they differ in speed only.
impl<F> PartialEq for Engine<F> {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl<F> Eq for Engine<F> {}

impl<F> fmt::Debug for Engine<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { isa, is_common, .. } = self;
        formatter.debug_struct("Engine").field("isa", isa).field("is_common", is_common).finish()
    }
}
