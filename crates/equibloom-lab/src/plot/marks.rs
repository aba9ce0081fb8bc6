//! Lines, markers and bands.

use std::fmt::Write;

use super::palette;
use super::scale::Range;
use crate::figure::{Hue, Origin, Series};

/// A rectangle that data is drawn into.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) x: Range,
    pub(super) y: Range,
}

impl Area {
    pub(super) fn horizontal(&self, value: f64) -> Option<f64> {
        Some(self.left + self.width * self.x.place(value)?)
    }

    pub(super) fn vertical(&self, value: f64) -> Option<f64> {
        // Clamped just outside, to keep numbers short.
        Some(self.top + self.height * (1.0 - self.y.place(value)?.clamp(-2.0, 3.0)))
    }

    fn point(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.horizontal(x)?, self.vertical(y)?))
    }
}

/// The style of a model's line; `None` for sources drawn as points.
pub(super) fn line_class(origin: Origin) -> Option<&'static str> {
    match origin {
        Origin::Model | Origin::Exact => Some("exact"),
        Origin::Paper => Some("paper-model"),
        Origin::Definition => Some("definition"),
        Origin::Simulation | Origin::Peer | Origin::Filter | Origin::Map => None,
    }
}

/// Draws a series; `small` markers where there are many.
pub(super) fn draw_series(svg: &mut String, area: &Area, series: &Series) {
    let name = palette::look(series.hue).0;
    let points: Vec<(f64, f64)> =
        series.x.iter().zip(&series.y).filter_map(|(&x, &y)| area.point(x, y)).collect();
    if let Some(class) = line_class(series.origin) {
        let _ = write!(svg, "<path class='line {class} s-{name}' d='{}'/>", path(&points));
        return;
    }
    draw_band(svg, area, series);
    let scale = if points.len() > 60 { 0.55 } else { 1.0 };
    let (radius, class) = marker_style(series.origin, &format!("s-{name}"), &format!("f-{name}"));
    for (x, y) in points {
        draw_marker(svg, series.hue, x, y, radius * scale, &class);
    }
}

/// Radius and class of a marker: hollow for sources other than the library, so that its own markers fit inside.
pub(super) fn marker_style(origin: Origin, stroke: &str, fill: &str) -> (f64, String) {
    match origin {
        Origin::Simulation | Origin::Peer => (5.0, format!("hollow {stroke}")),
        _ => (2.8, fill.to_owned()),
    }
}

/// Four standard deviations to either side.
fn draw_band(svg: &mut String, area: &Area, series: &Series) {
    let edge = |sign: f64| {
        let points = series.x.iter().zip(series.y.iter().zip(&series.sigma));
        points
            .filter_map(|(&x, (&y, &sigma))| {
                let far = y + sign * 4.0 * sigma;
                // A band ends at the frame.
                area.point(x, far.clamp(area.y.low, area.y.high))
            })
            .collect::<Vec<_>>()
    };
    let (upper, mut lower) = (edge(1.0), edge(-1.0));
    if upper.len() < 2 {
        return;
    }
    lower.reverse();
    let outline = [upper, lower].concat();
    let name = palette::look(series.hue).0;
    let _ = write!(svg, "<path class='band f-{name}' d='{}Z'/>", path(&outline));
}

fn path(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' });
    }
    path
}

/// Draws a hue's marker.
pub(super) fn draw_marker(svg: &mut String, hue: Hue, x: f64, y: f64, radius: f64, class: &str) {
    let corners = palette::look(hue).1;
    let _ = if corners.is_empty() {
        write!(svg, "<circle class='{class}' cx='{x:.1}' cy='{y:.1}' r='{radius}'/>")
    } else {
        let corners: Vec<(f64, f64)> =
            corners.iter().map(|(dx, dy)| (x + radius * dx, y + radius * dy)).collect();
        write!(svg, "<path class='{class}' d='{}Z'/>", path(&corners))
    };
}

/// Writes text at a point.
pub(super) fn draw_text(svg: &mut String, x: f64, y: f64, attributes: &str, text: &str) {
    let _ = write!(svg, "<text x='{x:.1}' y='{y:.1}' {attributes}>{}</text>", escape(text));
}

/// Escapes text for XML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\'', "&#39;")
}
