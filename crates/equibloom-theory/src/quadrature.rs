//! Composite Gauss-Legendre rules, fitted to functions of a Poisson mean.

/// The positive nodes of the 16-point Gauss-Legendre rule on [−1, 1] with their weights; the negative ones
/// mirror them. (Abramowitz and Stegun, table 25.4; the last digits computed with mpmath.) A table, because a
/// crate for it depends on a whole linear algebra library.
const RULE: [(f64, f64); 8] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_6),
    (0.458_016_777_657_227_37, 0.169_156_519_395_002_54),
    (0.617_876_244_402_643_7, 0.149_595_988_816_576_73),
    (0.755_404_408_355_003, 0.124_628_971_255_533_87),
    (0.865_631_202_387_831_8, 0.095_158_511_682_492_78),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_89),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_095),
];

/// Equal panels, each with the rule: one panel integrates a smooth bump of its own width to full precision.
pub(crate) struct Panels {
    panels: usize,
}

impl Panels {
    pub(crate) fn new(panels: usize) -> Self {
        Self { panels }
    }

    /// Panels for functions of the Poisson mean on [0, `mean`]: they vary on the scale √mean.
    pub(crate) fn over_attempts(mean: f64) -> Self {
        Self::new(4 + (mean.sqrt() / 2.0).ceil() as usize)
    }

    /// Nodes and weights on [from, to], panel after panel.
    pub(crate) fn nodes(&self, from: f64, to: f64) -> impl Iterator<Item = (f64, f64)> {
        let half = (to - from) / self.panels as f64 / 2.0;
        (0..self.panels).flat_map(move |panel| {
            let middle = from + (2 * panel + 1) as f64 * half;
            let node = move |side: f64| {
                move |&(node, weight): &(f64, f64)| (middle + side * node * half, weight * half)
            };
            RULE.iter().rev().map(node(-1.0)).chain(RULE.iter().map(node(1.0)))
        })
    }
}

#[cfg(test)]
mod tests;
