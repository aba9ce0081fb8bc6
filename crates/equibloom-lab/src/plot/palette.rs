//! Colours and markers: one for each scheme in all figures.
//!
//! The schemes have the colours of Okabe and Ito, which are distinct for all kinds of colour vision, and a
//! marker each, so that a figure works in black and white.

use std::fmt::Write;

use crate::figure::Hue;

/// Name, colour on white, colour on black, marker.
const HUES: [(&str, &str, &str, Marker); 15] = [
    ("classical", "#555555", "#b8b8b8", DOWN),
    ("blocked", "#d68a00", "#f0b040", SQUARE),
    ("single", "#009e73", "#2fc79b", UP),
    ("sequential", "#b6548e", "#e08cc0", PENTAGON),
    ("multi-level", "#0072b2", "#56a8ec", CIRCLE),
    ("two-choice", "#d55e00", "#ff8a4a", DIAMOND),
    ("one-plus-alpha", "#2aa5d8", "#7fd0f7", DOWN),
    ("one-slot", "#6a3fa0", "#b593ec", SQUARE),
    ("four-slots", "#7a4b12", "#d3a062", STAR),
    ("value-0", "#5e4fa2", "#9d8df0", CIRCLE),
    ("value-1", "#c2185b", "#f5679b", SQUARE),
    ("value-2", "#4d8c14", "#8fd14f", UP),
    ("value-3", "#8c5a10", "#d9a557", DIAMOND),
    ("value-4", "#00838f", "#4cc9d6", DOWN),
    ("value-5", "#455a64", "#9fb4bf", PENTAGON),
];

/// The corners of a marker about the origin, for a radius of 1; none for a circle.
type Marker = &'static [(f64, f64)];
const CIRCLE: Marker = &[];
const SQUARE: Marker = &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)];
const UP: Marker = &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)];
const DOWN: Marker = &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)];
const DIAMOND: Marker = &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)];
const PENTAGON: Marker =
    &[(0.0, -1.15), (1.09, -0.36), (0.68, 0.93), (-0.68, 0.93), (-1.09, -0.36)];
const STAR: Marker = &[
    (0.0, -1.5),
    (0.45, -0.45),
    (1.5, 0.0),
    (0.45, 0.45),
    (0.0, 1.5),
    (-0.45, 0.45),
    (-1.5, 0.0),
    (-0.45, -0.45),
];

fn index(hue: Hue) -> usize {
    match hue {
        Hue::Classical => 0,
        Hue::Blocked => 1,
        Hue::Single => 2,
        Hue::Sequential => 3,
        Hue::MultiLevel => 4,
        Hue::TwoChoice => 5,
        Hue::OnePlusAlpha => 6,
        Hue::OneSlot => 7,
        Hue::FourSlots => 8,
        Hue::Value(number) => 9 + usize::from(number) % 6,
    }
}

pub(super) fn name(hue: Hue) -> &'static str {
    HUES[index(hue)].0
}

pub(super) fn marker(hue: Hue) -> Marker {
    HUES[index(hue)].3
}

/// The style sheet of a figure, for light and dark mode; paper is always light.
pub(crate) fn style() -> String {
    let mut style = include_str!("light.css").to_owned();
    let mut dark = include_str!("dark.css").to_owned();
    for (name, on_white, on_black, _) in HUES {
        // Writing to a string cannot fail.
        let _ =
            write!(style, ".plot .s-{name}{{stroke:{on_white}}}.plot .f-{name}{{fill:{on_white}}}");
        let _ =
            write!(dark, ".plot .s-{name}{{stroke:{on_black}}}.plot .f-{name}{{fill:{on_black}}}");
    }
    format!("{style}@media screen and (prefers-color-scheme:dark){{{dark}}}")
}
