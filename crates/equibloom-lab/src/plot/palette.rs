//! Colours and markers: one for each scheme in all figures.
//!
//! The schemes have the colours of Okabe and Ito, which are distinct for all kinds of colour vision, and a
//! marker each, so that a figure works in black and white.

use std::fmt::Write;

use crate::figure::Hue;

/// Name, colour on white, colour on black.
const COLOURS: [(&str, &str, &str); 15] = [
    ("classical", "#555555", "#b8b8b8"),
    ("blocked", "#d68a00", "#f0b040"),
    ("single", "#009e73", "#2fc79b"),
    ("sequential", "#b6548e", "#e08cc0"),
    ("multi-level", "#0072b2", "#56a8ec"),
    ("two-choice", "#d55e00", "#ff8a4a"),
    ("one-plus-alpha", "#2aa5d8", "#7fd0f7"),
    ("one-slot", "#6a3fa0", "#b593ec"),
    ("four-slots", "#7a4b12", "#d3a062"),
    ("value-0", "#5e4fa2", "#9d8df0"),
    ("value-1", "#c2185b", "#f5679b"),
    ("value-2", "#4d8c14", "#8fd14f"),
    ("value-3", "#8c5a10", "#d9a557"),
    ("value-4", "#00838f", "#4cc9d6"),
    ("value-5", "#455a64", "#9fb4bf"),
];

pub(super) fn name(hue: Hue) -> &'static str {
    COLOURS[index(hue)].0
}

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

/// The corners of a hue's marker about the origin, for a radius of 1; empty for a circle.
pub(super) fn marker(hue: Hue) -> &'static [(f64, f64)] {
    const CIRCLE: &[(f64, f64)] = &[];
    const SQUARE: &[(f64, f64)] = &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)];
    const UP: &[(f64, f64)] = &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)];
    const DOWN: &[(f64, f64)] = &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)];
    const DIAMOND: &[(f64, f64)] = &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)];
    const PENTAGON: &[(f64, f64)] =
        &[(0.0, -1.15), (1.09, -0.36), (0.68, 0.93), (-0.68, 0.93), (-1.09, -0.36)];
    const STAR: &[(f64, f64)] = &[
        (0.0, -1.5),
        (0.45, -0.45),
        (1.5, 0.0),
        (0.45, 0.45),
        (0.0, 1.5),
        (-0.45, 0.45),
        (-1.5, 0.0),
        (-0.45, -0.45),
    ];
    const MARKERS: [&[(f64, f64)]; 9] =
        [DOWN, SQUARE, UP, PENTAGON, CIRCLE, DIAMOND, DOWN, SQUARE, STAR];
    const OF_VALUES: [&[(f64, f64)]; 6] = [CIRCLE, SQUARE, UP, DIAMOND, DOWN, PENTAGON];
    match hue {
        Hue::Value(number) => OF_VALUES[usize::from(number) % 6],
        _ => MARKERS[index(hue)],
    }
}

/// The style sheet of a figure, for light and dark mode; paper is always light.
pub(crate) fn style() -> String {
    let mut style = String::from(
        ".plot text{font:13px system-ui,'DejaVu Sans',sans-serif;fill:#222}.plot \
         .axis{font-size:14px}.plot .title{font-size:14px;font-weight:600}.plot \
         .paper{fill:#fff}.plot .frame{fill:none;stroke:#444}.plot \
         .grid{stroke:#8884;stroke-width:1}.plot .minor{stroke:#8882;stroke-width:1}.plot \
         .line{fill:none;stroke-width:2;stroke-linejoin:round}.plot \
         .paper-model{stroke-dasharray:7 4;stroke-width:1.6}.plot \
         .definition{stroke-dasharray:1.5 3.5;stroke-linecap:round}.plot \
         .hollow{fill:#fff;stroke-width:1.5}.plot .band{fill-opacity:.18;stroke:none}.plot \
         .key{stroke:#444}.plot .key-fill{fill:#444}.plot \
         .focus{fill:none;stroke:#222;stroke-width:2}",
    );
    let mut dark = String::from(
        ".plot text{fill:#ddd}.plot .paper{fill:#161618}.plot .hollow{fill:#161618}\
         .plot .frame,.plot .key{stroke:#aaa}.plot .key-fill{fill:#aaa}.plot .focus{stroke:#eee}",
    );
    for (name, on_white, on_black) in COLOURS {
        // Writing to a string cannot fail.
        let _ =
            write!(style, ".plot .s-{name}{{stroke:{on_white}}}.plot .f-{name}{{fill:{on_white}}}");
        let _ =
            write!(dark, ".plot .s-{name}{{stroke:{on_black}}}.plot .f-{name}{{fill:{on_black}}}");
    }
    format!("{style}@media screen and (prefers-color-scheme:dark){{{dark}}}")
}
