//! The legend: colours show a curve's subject, line and marker its source.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::marks::{draw_marker, draw_text, line_class, marker_style};
use super::palette;
use crate::figure::{Figure, Hue, Origin};

/// Height of one row.
const ROW: f64 = 21.0;
/// Width of the sample before a label.
const SAMPLE: f64 = 32.0;
/// Mean width of a letter at 13 pixels; generous, because fonts differ.
const LETTER: f64 = 7.1;

enum Entry<'a> {
    Subject(&'a str, Hue),
    Origin(Origin),
    Band,
}

impl Entry<'_> {
    fn label(&self) -> &str {
        match self {
            Self::Subject(name, _) => name,
            Self::Origin(origin) => origin.name(),
            Self::Band => "4σ",
        }
    }

    fn width(&self) -> f64 {
        SAMPLE + LETTER * self.label().chars().count() as f64 + 16.0
    }
}

/// The rows of a legend of this width: subjects first, then origins.
fn rows(figure: &Figure, width: f64) -> Vec<Vec<Entry<'_>>> {
    let mut subjects: Vec<(&str, Hue)> = Vec::new();
    for series in &figure.series {
        if !subjects.contains(&(&series.subject, series.hue)) {
            subjects.push((&series.subject, series.hue));
        }
    }
    let origins: BTreeSet<Origin> = figure.series.iter().map(|series| series.origin).collect();
    let mut rows = Vec::new();
    let banded = figure.series.iter().any(|series| !series.sigma.is_empty());
    let groups = [
        subjects.into_iter().map(|(name, hue)| Entry::Subject(name, hue)).collect::<Vec<_>>(),
        origins.into_iter().map(Entry::Origin).chain(banded.then_some(Entry::Band)).collect(),
    ];
    for group in groups {
        let mut row: Vec<Entry<'_>> = Vec::new();
        for entry in group {
            let used: f64 = row.iter().map(Entry::width).sum();
            if !row.is_empty() && used + entry.width() > width {
                rows.push(std::mem::take(&mut row));
            }
            row.push(entry);
        }
        rows.push(row);
    }
    rows
}

pub(super) fn height(figure: &Figure, width: f64) -> f64 {
    ROW * rows(figure, width).len() as f64
}

/// Draws the legend with its upper left corner at a point.
pub(super) fn draw(svg: &mut String, figure: &Figure, left: f64, top: f64, width: f64) {
    for (index, row) in rows(figure, width).into_iter().enumerate() {
        let y = top + ROW * (index as f64 + 0.5);
        let mut x = left;
        for entry in row {
            let (from, middle, to) = (x, x + 12.0, x + 24.0);
            // Writing to a string cannot fail.
            let _ = match &entry {
                Entry::Subject(_, hue) => {
                    let name = palette::look(*hue).0;
                    let line =
                        write!(svg, "<path class='line s-{name}' d='M{from:.1} {y:.1}H{to:.1}'/>");
                    draw_marker(svg, *hue, middle, y, 4.0, &format!("f-{name}"));
                    line
                }
                Entry::Origin(origin) => match line_class(*origin) {
                    Some(class) => {
                        write!(
                            svg,
                            "<path class='line key {class}' d='M{from:.1} {y:.1}H{to:.1}'/>"
                        )
                    }
                    None => {
                        let (radius, class) = marker_style(*origin, "key", "key-fill");
                        write!(
                            svg,
                            "<circle class='{class}' cx='{middle:.1}' cy='{y:.1}' r='{radius}'/>"
                        )
                    }
                },
                Entry::Band => write!(
                    svg,
                    "<rect class='band key-fill' x='{from:.1}' y='{:.1}' width='24' height='12'/>",
                    y - 6.0
                ),
            };
            draw_text(svg, x + SAMPLE, y + 4.5, "", entry.label());
            x += entry.width();
        }
    }
}
