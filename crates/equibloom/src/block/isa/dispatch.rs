//! Operations compiled for each instruction set.
//!
//! [`entry_points`] writes, for each function that is generic over a [`Target`], one function per ISA. A
//! filter holds pointers to those of its own: they are chosen once, when it is made. Everything below an
//! entry point must be inlined into it, or intrinsics become calls; what most keys do not need is an entry
//! point of its own, called through the filter's pointers.

use core::ops::Deref;

use super::{DetectedIsa, Isa, Portable};

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
    ($functions:tt) => {
        $crate::block::isa::entry_points! { portable [] [$crate::block::isa::Portable] $functions }
        #[cfg(target_arch = "x86_64")]
        $crate::block::isa::entry_points! {
            avx2
            [#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]]
            [$crate::block::isa::Avx2::found()]
            $functions
        }
        #[cfg(target_arch = "x86_64")]
        $crate::block::isa::entry_points! {
            avx512
            [#[allow(dead_code, reason = "some steps are left out")]
            #[target_feature(
                enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512vpopcntdq"
            )]]
            [$crate::block::isa::Avx512::found()]
            $functions
        }
    };
    ($module:ident $features:tt $isa:tt
        { $( fn $name:ident $bounds:tt $names:tt $arguments:tt -> $ret:ty; )* }
    ) => {
        mod $module {
            use super::*;
            $( $crate::block::isa::entry_points! { @ $features $isa fn $name $bounds $names $arguments -> $ret } )*
        }
    };
    (@ [$($features:tt)*] [$isa:expr]
        fn $name:ident [$($bounds:tt)*] [$($names:ident),*] ($($arg:ident: $ty:ty),*) -> $ret:ty
    ) => {
        #[allow(clippy::too_many_arguments)]
        $($features)*
        pub(super) fn $name<$($bounds)* const COMMON: bool>($($arg: $ty),*) -> $ret {
            let target = $crate::block::isa::On::<_, COMMON>($isa);
            super::$name::<_, $($names),*>(target, $($arg),*)
        }
    };
}
pub(crate) use entry_points;

/// The function that [`entry_points`] has written for a detected ISA, with these generic parameters. AVX-512
/// has code for common filters only; portable code for common filters is left out where few CPUs need it. With
/// `any`, there is one function for all filters, and none for AVX-512.
macro_rules! entry_point {
    ($isa:expr, $is_common:expr, $name:ident [$($names:ident),*] any) => {
        match ($isa, $is_common) {
            ($crate::block::isa::DetectedIsa::Portable, _) => portable::$name::<$($names,)* false>,
            #[cfg(target_arch = "x86_64")]
            _ => avx2::$name::<$($names,)* false>,
        }
    };
    ($isa:expr, $is_common:expr, $name:ident [$($names:ident),*]) => {
        match ($isa, $is_common) {
            ($crate::block::isa::DetectedIsa::Portable, true)
                if $crate::block::isa::COMMON_ON_PORTABLE =>
            {
                portable::$name::<$($names,)* true>
            }
            ($crate::block::isa::DetectedIsa::Portable, _) => portable::$name::<$($names,)* false>,
            #[cfg(target_arch = "x86_64")]
            ($crate::block::isa::DetectedIsa::Avx512(_), true) => avx512::$name::<$($names,)* true>,
            #[cfg(target_arch = "x86_64")]
            ($crate::block::isa::DetectedIsa::Avx2(_), true) => avx2::$name::<$($names,)* true>,
            #[cfg(target_arch = "x86_64")]
            (_, false) => avx2::$name::<$($names,)* false>,
        }
    };
}
pub(crate) use entry_point;

/// Any filter, with the target's baseline instructions.
pub(crate) const ANY: On<Portable, false> = On(Portable);

/// A table of entry points.
pub(crate) trait KernelTable: Copy {
    /// Those for an ISA, which the CPU has, and for a common filter or any.
    fn new(isa: DetectedIsa, is_common: bool) -> Self;
}

/// Writes a [table of entry points](KernelTable), with a method for each. Their contents are the functions of the same
/// names in this module, generic over a [`Target`]. `[..]` as for [`entry_points`]. `#[any]` is for steps that few
/// keys reach or that gain little from code of their own for common filters: they are most of the build time.
macro_rules! kernel_table {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $table:ident [$($bounds:tt)*] [$($names:ident),*] { $($functions:tt)* }
    ) => {
        $crate::block::isa::kernel_table! {
            @ $(#[$attribute])* $visibility struct $table
            [$($bounds)*] [$($bounds)*] [$($names),*] [$($names),*] { $($functions)* }
        }
    };
    (
        @ $(#[$attribute:meta])* $visibility:vis struct $table:ident
        $bounds:tt [$($bound:tt)*] $names:tt [$($parameter:ident),*]
        { $( $(#[$any:ident])? fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty; )* }
    ) => {
        $(#[$attribute])*
        $visibility struct $table<$($bound)*> {
            $( $name: unsafe fn($($ty),*) -> $ret, )*
        }

        // Implemented by hand: deriving would require that the parameters are `Copy`.
        impl<$($bound)*> Clone for $table<$($parameter),*> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$($bound)*> Copy for $table<$($parameter),*> {}

        impl<$($bound)*> $crate::block::isa::KernelTable for $table<$($parameter),*> {
            fn new(isa: $crate::block::isa::DetectedIsa, is_common: bool) -> Self {
                Self {
                    $($name: $crate::block::isa::entry_point!(isa, is_common, $name $names $($any)?)),*
                }
            }
        }

        #[allow(unsafe_code, reason = "functions for instructions that not every processor has")]
        impl<$($bound)*> $table<$($parameter),*> {
            $(
                #[inline(always)]
                #[allow(clippy::too_many_arguments)]
                pub(super) fn $name(self, $($arg: $ty),*) -> $ret {
                    // SAFETY: chosen for an ISA that was detected.
                    unsafe { (self.$name)($($arg),*) }
                }
            )*
        }

        $crate::block::isa::entry_points! {
            { $( fn $name $bounds $names ($($arg: $ty),*) -> $ret; )* }
        }
    };
}
pub(crate) use kernel_table;
