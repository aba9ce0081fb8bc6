//! Blocks read by an insert, a hit and a miss, as filters fill.

use super::fill;
use crate::evidence::{Quantity, gather};
use crate::experiments::prelude::*;

/// Inserted keys looked up in each filter, and absent ones.
const LOOKUPS: u64 = 50_000;
/// The moment at which the filters are full.
const FULL: usize = 9;

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Error> {
    let fills: Vec<f64> = (1..=12).map(|tenth| f64::from(tenth) / 10.0).collect();
    let curves = gather(context, fill::curves(context, &fills, LOOKUPS)?)?;
    let full = |curve: usize, quantity: Quantity| curves[curve].filter(FULL, quantity);
    let multi_level = curves[4].points[FULL].paper.map(|paper| (paper.insert, paper.miss));
    let (paper_insert, paper_miss) = multi_level.unwrap_or_default();
    let text = "multi-level, full: accesses of an insert";
    let mut plot = Plot::default();
    plot.claims.push(Claim::printed("Balanced, abstract", text, 1.2, paper_insert, 0.1));
    let text = "multi-level, full: the filter's inserts";
    plot.claims.push(Claim::new(text, 1.2, full(4, |o| o.insert), 0.012));
    let panels: [(&str, Quantity); 3] =
        [("insert", |o| o.insert), ("hit", |o| o.hit), ("miss", |o| o.miss)];
    for (panel, (operation, quantity)) in panels.into_iter().enumerate() {
        for curve in &curves {
            plot.claims.extend(curve.on_models(&format!("{}, {operation}", curve.name), quantity));
            // All k bits of the classical filter would compress the other curves.
            if curve.hue == Hue::Classical && operation != "miss" {
                continue;
            }
            let series = curve.series(quantity);
            plot.series.extend(series.into_iter().map(|series| series.in_panel(panel)));
        }
    }
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
        plot,
        ..Outcome::default()
    })
}
