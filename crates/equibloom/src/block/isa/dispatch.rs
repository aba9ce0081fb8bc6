//! Operations compiled for each instruction set.
//!
//! [`entry_points`] writes, for each function that is generic over a [`Target`], one function per ISA. A
//! filter holds pointers to those of its own: they are chosen once, when it is made. Everything below an
//! entry point must be inlined into it, or intrinsics become calls; what most keys do not need is an entry
//! point of its own, called through the filter's pointers.

use core::ops::Deref;

use super::Isa;

/// An ISA, and whether the filter is a common one: checks for other filters are compiled out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct On<I, const COMMON: bool>(pub(crate) I);

impl<I, const COMMON: bool> Deref for On<I, COMMON> {
    type Target = I;

    #[inline(always)]
    fn deref(&self) -> &I {
        &self.0
    }
}

/// What code is compiled for: an ISA, and common filters only or any.
pub(crate) trait Target: Copy + Deref<Target: Isa> {
    /// Whether only common filters are handled.
    const COMMON: bool;
}

impl<I: Isa, const COMMON: bool> Target for On<I, COMMON> {
    const COMMON: bool = COMMON;
}

/// Writes modules `portable`, `avx2` and `avx512` with a function for each of these: it calls the function of
/// the same name in the parent module, with the target as its first argument. `[..]` are the generic
/// parameters and their names; the last is the constant `COMMON`.
macro_rules! entry_points {
    ($( fn $name:ident [$($bounds:tt)*] [$($names:ident),*] ($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty; )*) => {
        mod portable {
            use super::*;
            $(
                #[allow(clippy::too_many_arguments)]
                pub(super) fn $name<$($bounds)* const COMMON: bool>($($arg: $ty),*) -> $ret {
                    let target = $crate::block::isa::On::<_, COMMON>($crate::block::isa::Portable);
                    super::$name::<_, $($names),*>(target, $($arg),*)
                }
            )*
        }

        #[cfg(target_arch = "x86_64")]
        mod avx2 {
            use super::*;
            $(
                #[allow(clippy::too_many_arguments)]
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                pub(super) fn $name<$($bounds)* const COMMON: bool>($($arg: $ty),*) -> $ret {
                    let target = $crate::block::isa::On::<_, COMMON>($crate::block::isa::Avx2::found());
                    super::$name::<_, $($names),*>(target, $($arg),*)
                }
            )*
        }

        #[cfg(target_arch = "x86_64")]
        mod avx512 {
            use super::*;
            $(
                #[allow(clippy::too_many_arguments)]
                #[target_feature(
                    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2"
                )]
                pub(super) fn $name<$($bounds)* const COMMON: bool>($($arg: $ty),*) -> $ret {
                    let target = $crate::block::isa::On::<_, COMMON>($crate::block::isa::Avx512::found());
                    super::$name::<_, $($names),*>(target, $($arg),*)
                }
            )*
        }
    };
}
pub(crate) use entry_points;

/// A table of functions that [`entry_points`] has written, for a detected ISA. AVX-512 has code for common
/// filters only; portable code for common filters is left out where few CPUs need it.
macro_rules! kernels {
    ($isa:expr, $common:expr, { $($field:ident: $name:ident $(::<$($generic:ty),*>)?),* $(,)? }) => {{
        macro_rules! table {
            ($module:ident, $is_common:literal) => {
                Self { $($field: $module::$name::<$($($generic,)*)? $is_common>),* }
            };
        }
        match ($isa, $common) {
            ($crate::block::isa::DetectedIsa::Portable, true)
                if $crate::block::isa::COMMON_ON_PORTABLE => table!(portable, true),
            ($crate::block::isa::DetectedIsa::Portable, _) => table!(portable, false),
            #[cfg(target_arch = "x86_64")]
            ($crate::block::isa::DetectedIsa::Avx512(_), true) => table!(avx512, true),
            #[cfg(target_arch = "x86_64")]
            ($crate::block::isa::DetectedIsa::Avx2(_), true) => table!(avx2, true),
            #[cfg(target_arch = "x86_64")]
            (_, false) => table!(avx2, false),
        }
    }};
}
pub(crate) use kernels;
