//! The papers' names for the schemes.

use equibloom_theory::paper::Scheme;

use crate::figure::Hue;

/// A paper's names.
pub(super) struct Names {
    pub(super) single: &'static str,
    pub(super) sequential: &'static str,
    pub(super) multi_level: &'static str,
    /// Where it speaks of the optimality regions, and of rates.
    pub(super) regions: &'static str,
    pub(super) rates: &'static str,
}

pub(super) const BALANCED: Names = Names {
    single: "SINGLE",
    sequential: "SEQUENTIAL",
    multi_level: "MHT",
    regions: "Balanced, VIII",
    rates: "Balanced, IX",
};
pub(super) const ENERGY: Names = Names {
    single: "SIMPLE",
    sequential: "GREEDY",
    multi_level: "MHT",
    regions: "Energy, VII",
    rates: "Energy, IX-C",
};

/// A scheme for every number of accesses, with the least overflow at which it is optimal.
pub(super) struct ByAccesses {
    pub(super) name: &'static str,
    pub(super) hue: Hue,
    pub(super) scheme: fn(f64) -> Scheme,
}

impl Names {
    /// The schemes with three choices.
    pub(super) fn optimal_schemes(&self) -> [ByAccesses; 2] {
        [
            ByAccesses {
                name: self.sequential,
                hue: Hue::Sequential,
                scheme: |accesses| Scheme::Sequential { accesses, choices: 3, overflow: None },
            },
            ByAccesses {
                name: self.multi_level,
                hue: Hue::MultiLevel,
                scheme: |accesses| Scheme::MultiLevel { accesses, choices: 3, overflow: None },
            },
        ]
    }
}
