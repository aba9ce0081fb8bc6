//! `results.json`: every claim and every series.

use serde_json::{Value, json};

use crate::error::Error;
use crate::figure::Figure;

/// All figures as one JSON document.
pub fn results(figures: &[Figure]) -> Result<String, Error> {
    let figures: Vec<Value> = figures.iter().map(result).collect();
    Ok(serde_json::to_string(&json!({ "figures": figures }))?)
}

fn result(figure: &Figure) -> Value {
    let series = figure.series.iter().map(|series| {
        // Panels show different quantities.
        let panel = figure.panels.get(series.panel).map(|panel| format!("{panel}: "));
        let name = panel.unwrap_or_default() + &series.name();
        json!({ "name": name, "kind": series.origin.kind(), "x": series.x, "y": series.y })
    });
    json!({ "id": figure.id, "claims": figure.claims, "series": series.collect::<Vec<_>>() })
}
