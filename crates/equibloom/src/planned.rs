//! The theory's plain description of a filter and ours, turned into each other.

use equibloom_theory::planner::{
    Blocks, FingerprintBlocks as PlannedFingerprints, Layout, Plan, Route as PlannedRoute,
    Threshold as PlannedThreshold,
};

use crate::parameters::{
    BlockTable, FingerprintTable, Overflow, Parameters, Route, Scheme, Threshold, WhenFull,
};

/// The planned filter, with seed 0; what does not fit into the overflow list goes into the blocks.
impl From<&Plan> for Parameters {
    fn from(plan: &Plan) -> Self {
        Self { keys: plan.keys, seed: 0, scheme: Scheme::from(&plan.layout) }
    }
}

/// What does not fit into the overflow list goes into the blocks.
impl From<&Layout> for Scheme {
    fn from(layout: &Layout) -> Self {
        let overflow = |capacity| Overflow { capacity, when_full: WhenFull::Saturate };
        match *layout {
            Layout::Classical { bits, hashes } => Self::Classical { bits, hashes },
            Layout::Blocked { blocks } => Self::Blocked { blocks: blocks.into() },
            Layout::Single { blocks, threshold, hints, overflow_capacity } => Self::Single {
                blocks: blocks.into(),
                threshold: threshold.into(),
                hints,
                overflow: overflow(overflow_capacity),
            },
            Layout::Sequential {
                blocks,
                threshold,
                hints,
                overflow_capacity,
                choices,
                accesses,
            } => Self::Sequential {
                blocks: blocks.into(),
                threshold: threshold.into(),
                hints,
                overflow: overflow(overflow_capacity),
                choices,
                accesses,
            },
            Layout::MultiLevel { blocks, threshold, hints, overflow_capacity, ref subtables } => {
                Self::MultiLevel {
                    blocks: blocks.into(),
                    threshold: threshold.into(),
                    hints,
                    overflow: overflow(overflow_capacity),
                    subtables: subtables.clone(),
                }
            }
            Layout::TwoChoice { blocks } => Self::TwoChoice { blocks: blocks.into() },
            Layout::OnePlusAlpha { blocks, alpha } => {
                Self::OnePlusAlpha { blocks: blocks.into(), alpha }
            }
            Layout::Fingerprint { blocks, ref route, overflow_capacity, multiset } => {
                Self::Fingerprint {
                    blocks: blocks.into(),
                    route: route.into(),
                    overflow: overflow(overflow_capacity),
                    multiset,
                }
            }
        }
    }
}

impl From<&Scheme> for Layout {
    fn from(scheme: &Scheme) -> Self {
        match *scheme {
            Scheme::Classical { bits, hashes } => Self::Classical { bits, hashes },
            Scheme::Blocked { blocks } => Self::Blocked { blocks: blocks.into() },
            Scheme::Single { blocks, threshold, hints, overflow } => Self::Single {
                blocks: blocks.into(),
                threshold: threshold.into(),
                hints,
                overflow_capacity: overflow.capacity,
            },
            Scheme::Sequential { blocks, threshold, hints, overflow, choices, accesses } => {
                Self::Sequential {
                    blocks: blocks.into(),
                    threshold: threshold.into(),
                    hints,
                    overflow_capacity: overflow.capacity,
                    choices,
                    accesses,
                }
            }
            Scheme::MultiLevel { blocks, threshold, hints, overflow, ref subtables } => {
                Self::MultiLevel {
                    blocks: blocks.into(),
                    threshold: threshold.into(),
                    hints,
                    overflow_capacity: overflow.capacity,
                    subtables: subtables.clone(),
                }
            }
            Scheme::TwoChoice { blocks } => Self::TwoChoice { blocks: blocks.into() },
            Scheme::OnePlusAlpha { blocks, alpha } => {
                Self::OnePlusAlpha { blocks: blocks.into(), alpha }
            }
            Scheme::Fingerprint { blocks, ref route, overflow, multiset } => Self::Fingerprint {
                blocks: blocks.into(),
                route: route.into(),
                overflow_capacity: overflow.capacity,
                multiset,
            },
        }
    }
}

/// Both ways, field by field: the two types have the same fields.
macro_rules! mirror {
    ($ours:ident, $theirs:ident { $($field:ident),+ }) => {
        impl From<$theirs> for $ours {
            fn from($theirs { $($field),+ }: $theirs) -> Self {
                Self { $($field),+ }
            }
        }

        impl From<$ours> for $theirs {
            fn from($ours { $($field),+ }: $ours) -> Self {
                Self { $($field),+ }
            }
        }
    };
}

mirror!(BlockTable, Blocks { count, bits, hashes });
mirror!(Threshold, PlannedThreshold { load, probability });
mirror!(FingerprintTable, PlannedFingerprints { count, slots, lists, remainder_bits, hints });

impl From<&PlannedRoute> for Route {
    fn from(route: &PlannedRoute) -> Self {
        match *route {
            PlannedRoute::Single => Self::Single,
            PlannedRoute::Sequential { choices, accesses } => {
                Self::Sequential { choices, accesses }
            }
            PlannedRoute::MultiLevel { ref subtables } => {
                Self::MultiLevel { subtables: subtables.clone() }
            }
        }
    }
}

impl From<&Route> for PlannedRoute {
    fn from(route: &Route) -> Self {
        match *route {
            Route::Single => Self::Single,
            Route::Sequential { choices, accesses } => Self::Sequential { choices, accesses },
            Route::MultiLevel { ref subtables } => {
                Self::MultiLevel { subtables: subtables.clone() }
            }
        }
    }
}
