//! A figure's series as comma-separated values.

use std::fmt::Write;

use crate::figure::Figure;

/// One line per point: series, kind, panel, x, y and the standard deviation of y (empty if unknown).
pub fn csv(figure: &Figure) -> String {
    let mut text = String::from("series,kind,panel,x,y,sigma\n");
    for series in &figure.series {
        let name = series.name().replace('"', "\"\"");
        let panel = figure.panels.get(series.panel).map_or("", |panel| panel);
        for (index, (x, y)) in series.x.iter().zip(&series.y).enumerate() {
            let sigma = series.sigma.get(index).map(f64::to_string).unwrap_or_default();
            let kind = series.origin.kind();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\"{name}\",{kind},{panel},{x},{y},{sigma}");
        }
    }
    text
}
