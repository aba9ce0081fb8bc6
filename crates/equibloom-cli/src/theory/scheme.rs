//! Arguments for a scheme of the papers.

use anyhow::{Context, bail};
use equibloom::Placement;
use equibloom_theory::paper::Scheme;

use crate::quantity;

/// The scheme and its parameters.
#[derive(clap::Args)]
pub(super) struct SchemeArguments {
    /// classical, blocked, single, sequential, multi-level, two-choice or one-plus-alpha.
    #[arg(long, value_name = "NAME")]
    pub(super) placement: Placement,
    /// Accesses per insert of sequential and multi-level, on average.
    #[arg(long, value_name = "MEAN", default_value = "1.2", value_parser = quantity::real)]
    pub(super) accesses: f64,
    /// Candidate blocks per key of sequential and multi-level.
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    pub(super) choices: u32,
    /// Share of the keys in the overflow list: required for single; the least possible by default for
    /// sequential and multi-level.
    #[arg(long, value_name = "SHARE", value_parser = quantity::share)]
    pub(super) overflow: Option<f64>,
    /// Share of the keys with a second choice, for one-plus-alpha.
    #[arg(long, value_name = "SHARE", value_parser = quantity::share)]
    pub(super) alpha: Option<f64>,
}

impl SchemeArguments {
    pub(super) fn scheme(&self) -> anyhow::Result<Scheme> {
        let Self { placement, accesses, choices, overflow, alpha } = *self;
        let has_overflow =
            matches!(placement, Placement::Single | Placement::Sequential | Placement::MultiLevel);
        if let Some(overflow) = overflow.filter(|_| !has_overflow) {
            bail!("--overflow is {overflow}, but {placement} has no overflow list: leave it out");
        }
        if let Some(alpha) = alpha.filter(|_| placement != Placement::OnePlusAlpha) {
            bail!("--alpha is {alpha}, but it is for one-plus-alpha only, not for {placement}");
        }
        Ok(match placement {
            Placement::Classical => Scheme::Classical,
            Placement::Blocked => Scheme::Blocked,
            Placement::Single => Scheme::Single {
                overflow: overflow
                    .context("single needs --overflow, a share above 0 and below 1 such as 0.5%")?,
            },
            Placement::Sequential => Scheme::Sequential { accesses, choices, overflow },
            Placement::MultiLevel => Scheme::MultiLevel { accesses, choices, overflow },
            Placement::TwoChoice => Scheme::TwoChoice,
            Placement::OnePlusAlpha => Scheme::OnePlusAlpha {
                alpha: alpha.context("one-plus-alpha needs --alpha, a share from 0 to 1")?,
            },
            _ => bail!("a list is no scheme of the papers: give --placement blocked"),
        })
    }
}
