//! `results.json`: every claim and every series.

use serde::Serialize;

use crate::error::Error;
use crate::figure::{Claim, Figure};

#[derive(Serialize)]
struct Results<'a> {
    figures: Vec<FigureResults<'a>>,
}

#[derive(Serialize)]
struct FigureResults<'a> {
    id: &'a str,
    claims: &'a [Claim],
    series: Vec<SeriesResults<'a>>,
}

#[derive(Serialize)]
struct SeriesResults<'a> {
    name: String,
    kind: &'static str,
    x: &'a [f64],
    y: &'a [f64],
}

/// All figures as one JSON document.
pub fn results(figures: &[Figure]) -> Result<String, Error> {
    let figures = figures
        .iter()
        .map(|figure| FigureResults {
            id: &figure.id,
            claims: &figure.claims,
            series: figure
                .series
                .iter()
                .map(|series| {
                    // Panels show different quantities.
                    let name = match figure.panels.get(series.panel) {
                        Some(panel) => format!("{panel}: {}", series.name()),
                        None => series.name(),
                    };
                    SeriesResults { name, kind: series.origin.kind(), x: &series.x, y: &series.y }
                })
                .collect(),
        })
        .collect();
    Ok(serde_json::to_string(&Results { figures })?)
}
