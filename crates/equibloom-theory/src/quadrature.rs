//! Composite Gauss-Legendre rules, fitted to functions of a Poisson mean.

use core::num::NonZeroUsize;
use gauss_quad::GaussLegendre;

/// Nodes per panel; one panel integrates a smooth bump of its own width to full precision.
const DEGREE: NonZeroUsize = match NonZeroUsize::new(16) {
    Some(degree) => degree,
    None => NonZeroUsize::MIN,
};

/// Equal panels, each with a Gauss-Legendre rule.
pub(crate) struct Panels {
    rule: Vec<(f64, f64)>,
    panels: usize,
}

impl Panels {
    pub(crate) fn new(panels: usize) -> Self {
        // The crate's pairs are on [−1, 1]; ours on [0, 1].
        let rule = GaussLegendre::new(DEGREE)
            .iter()
            .map(|&(node, weight)| ((node + 1.0) / 2.0, weight / 2.0))
            .collect();
        Self { rule, panels }
    }

    /// Panels for functions of the Poisson mean on [0, `mean`]: they vary on the scale √mean.
    pub(crate) fn over_attempts(mean: f64) -> Self {
        Self::new(4 + (mean.sqrt() / 2.0).ceil() as usize)
    }

    /// Nodes and weights on [from, to], panel after panel.
    pub(crate) fn nodes(&self, from: f64, to: f64) -> impl Iterator<Item = (f64, f64)> {
        let width = (to - from) / self.panels as f64;
        (0..self.panels).flat_map(move |panel| {
            let start = from + panel as f64 * width;
            self.rule.iter().map(move |&(node, weight)| (start + node * width, weight * width))
        })
    }
}
