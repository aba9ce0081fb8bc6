//! Blocks read by an insert, a hit and a miss, as filters fill.

use super::{Outcome, fill};
use crate::context::Context;
use crate::error::Error;
use crate::evidence::{Quantity, gather, on_models, series};
use crate::figure::{Axis, Claim, Hue};
use crate::number::short;

/// Inserted keys looked up in each filter, and absent ones.
const LOOKUPS: u64 = 50_000;
/// The moment at which the filters are full.
const FULL: usize = 9;

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let fills: Vec<f64> = (1..=12).map(|tenth| f64::from(tenth) / 10.0).collect();
    let curves = fill::curves(context, &fills, LOOKUPS)?;
    let evidence = gather(context, &curves)?;
    let panels: [(&str, Quantity); 3] =
        [("insert", |o| o.insert), ("hit", |o| o.hit), ("miss", |o| o.miss)];
    let (mut drawn, mut claims) = (Vec::new(), Vec::new());
    for (panel, (operation, quantity)) in panels.iter().enumerate() {
        for (curve, evidence) in curves.iter().zip(&evidence) {
            claims.extend(on_models(&format!("{}, {operation}", curve.name), evidence, *quantity));
            // All k bits of the classical filter would compress the other curves.
            if curve.hue == Hue::Classical && *operation != "miss" {
                continue;
            }
            let series = series(curve, evidence, *quantity);
            drawn.extend(series.into_iter().map(|series| series.in_panel(panel)));
        }
    }
    let full =
        |curve: usize, quantity: Quantity| evidence[curve][FULL].filter.estimate(quantity).mean;
    let multi_level = evidence[4][FULL].paper.map(|paper| (paper.insert, paper.miss));
    let (paper_insert, paper_miss) = multi_level.unwrap_or_default();
    claims.insert(
        0,
        Claim::printed(
            "Balanced, abstract",
            "multi-level, full: accesses of an insert",
            1.2,
            paper_insert,
            0.1,
        ),
    );
    claims.insert(
        1,
        Claim::new("multi-level, full: the filter's inserts", 1.2, full(4, |o| o.insert), 0.012),
    );
    let finding = format!(
        "A full multi-level filter reads {} blocks per insert, {} per hit and {} per miss (the \
         papers' lookup rule would read {}); sequential {}, {} and {}.",
        short(full(4, |o| o.insert)),
        short(full(4, |o| o.hit)),
        short(full(4, |o| o.miss)),
        short(paper_miss),
        short(full(3, |o| o.insert)),
        short(full(3, |o| o.hit)),
        short(full(3, |o| o.miss)),
    );
    Ok(Outcome {
        finding,
        notes: vec![
            "B = 256, 24 bits per element. An insert is the mean over all inserts so far. Probes \
             of the overflow list are not blocks and not drawn. The classical filter reads one \
             bit per access: all 17 for an insert or a hit (checked, not drawn), about two for a \
             miss, which stops at the first zero.",
            "“1.2 accesses” is the mean of an insert (erratum 6). The library's coin is a \
             function of key and probe, which lets a miss stop at a block at its threshold; \
             without that it would read more.",
            "Past capacity the sequential filter's inserts read their blocks, to see whether the \
             key is there; the papers' go to the overflow list unread (dotted).",
        ],
        x: Axis::linear("fill [% of the capacity]"),
        y: Axis::linear("mean accesses [blocks; classical: bits]"),
        panels: vec!["Insert", "Hit", "Miss"],
        series: drawn,
        claims,
        ..Outcome::default()
    })
}
