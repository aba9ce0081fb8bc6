//! Colours and markers: one for each scheme in all figures.
//!
//! The schemes have the colours of Okabe and Ito, which are distinct for all kinds of colour vision, and a
//! marker each, so that a figure works in black and white.

use std::fmt::Write;

use crate::figure::Hue;

/// Name, colour on white, colour on black, marker.
const HUES: [(Hue, &str, &str, &str, Marker); 15] = [
    (Hue::Classical, "classical", "#555555", "#b8b8b8", DOWN),
    (Hue::Blocked, "blocked", "#d68a00", "#f0b040", SQUARE),
    (Hue::Single, "single", "#009e73", "#2fc79b", UP),
    (Hue::Sequential, "sequential", "#b6548e", "#e08cc0", PENTAGON),
    (Hue::MultiLevel, "multi-level", "#0072b2", "#56a8ec", CIRCLE),
    (Hue::TwoChoice, "two-choice", "#d55e00", "#ff8a4a", DIAMOND),
    (Hue::OnePlusAlpha, "one-plus-alpha", "#2aa5d8", "#7fd0f7", DOWN),
    (Hue::OneSlot, "one-slot", "#6a3fa0", "#b593ec", SQUARE),
    (Hue::FourSlots, "four-slots", "#7a4b12", "#d3a062", STAR),
    (Hue::Value(0), "value-0", "#5e4fa2", "#9d8df0", CIRCLE),
    (Hue::Value(1), "value-1", "#c2185b", "#f5679b", SQUARE),
    (Hue::Value(2), "value-2", "#4d8c14", "#8fd14f", UP),
    (Hue::Value(3), "value-3", "#8c5a10", "#d9a557", DIAMOND),
    (Hue::Value(4), "value-4", "#00838f", "#4cc9d6", DOWN),
    (Hue::Value(5), "value-5", "#455a64", "#9fb4bf", PENTAGON),
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

/// Name and marker. Values beyond the last have the colours of the first.
pub(super) fn look(hue: Hue) -> (&'static str, Marker) {
    let hue = if let Hue::Value(number) = hue { Hue::Value(number % 6) } else { hue };
    let found = HUES.iter().find(|known| known.0 == hue);
    found.map_or(("classical", CIRCLE), |known| (known.1, known.4))
}

/// The style sheet of a figure, for light and dark mode; paper is always light.
pub(crate) fn style() -> String {
    let mut style = include_str!("light.css").to_owned();
    let mut dark = include_str!("dark.css").to_owned();
    for (_, name, on_white, on_black, _) in HUES {
        // Writing to a string cannot fail.
        let _ =
            write!(style, ".plot .s-{name}{{stroke:{on_white}}}.plot .f-{name}{{fill:{on_white}}}");
        let _ =
            write!(dark, ".plot .s-{name}{{stroke:{on_black}}}.plot .f-{name}{{fill:{on_black}}}");
    }
    format!("{style}@media screen and (prefers-color-scheme:dark){{{dark}}}")
}
