//! Figures as SVG.
//!
//! A writer of its own, because plotting crates lack what the report needs: colours that follow light and dark
//! mode by a style sheet, the reader's fonts, positions that a script can turn back into values, and the same
//! figure for a page and for a phone.

mod legend;
mod marks;
mod palette;
mod picture;
mod scale;

use std::fmt::Write;

use crate::figure::{Figure, Scale};
pub use marks::escape;
use marks::{Area, draw_series, draw_text};
pub(crate) use palette::style;
use scale::Range;

/// The screen that a figure is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// A page: panels side by side.
    Wide,
    /// A phone: panels one below the other.
    Narrow,
}

/// Room around the data, for ticks and labels.
const LEFT: f64 = 68.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 10.0;
const TITLE: f64 = 22.0;
const BELOW: f64 = 52.0;

/// A figure as an SVG file, with its style sheet.
pub fn standalone_svg(figure: &Figure) -> String {
    let drawing = draw(figure, Screen::Wide, figure.y.scale, true);
    format!("<?xml version='1.0' encoding='UTF-8'?>\n{drawing}\n")
}

/// A figure for a page that has the style sheet, with the given scale of the vertical axis.
pub fn inline_svg(figure: &Figure, screen: Screen, vertical: Scale) -> String {
    draw(figure, screen, vertical, false)
}

fn draw(figure: &Figure, screen: Screen, vertical: Scale, standalone: bool) -> String {
    if !figure.pictures.is_empty() {
        let (width, height, pictures) = picture::draw(&figure.pictures, screen);
        return begin(figure, width, height, standalone) + &pictures + "</svg>";
    }
    let panels = figure.panels.len().max(1);
    let width = match screen {
        Screen::Wide => 800.0,
        Screen::Narrow => 380.0,
    };
    let own_axes = figure.y.of_each_panel;
    let title = if figure.panels.is_empty() || own_axes { 0.0 } else { TITLE };
    let (columns, data_height) = match screen {
        // More than three in a row would be too narrow.
        Screen::Wide if panels > 3 => (panels.div_ceil(2), 250.0),
        Screen::Wide => (panels, 360.0),
        Screen::Narrow => (1, 270.0),
    };
    let rows = panels.div_ceil(columns);
    let row_height = TOP + title + data_height + BELOW;
    // One vertical axis for panels in a row, unless each has its own.
    let gap = if own_axes { LEFT + 8.0 } else { 18.0 };
    let data_width = (width - LEFT - RIGHT - gap * (columns - 1) as f64) / columns as f64;
    let legend_width = width - 24.0;
    let height = row_height * rows as f64 + legend::height(figure, legend_width) + 8.0;

    let x = Range::around(
        figure.series.iter().flat_map(|series| series.x.iter().copied()),
        figure.x.scale,
    );
    let y_of = |panel: Option<usize>| {
        let shown = figure.series.iter().filter(|s| panel.is_none_or(|panel| s.panel == panel));
        Range::around(shown.flat_map(|series| series.y.iter().copied()), vertical)
    };
    let mut svg = begin(figure, width, height, standalone);
    for panel in 0..panels {
        let (row, column) = (panel / columns, panel % columns);
        let area = Area {
            left: LEFT + column as f64 * (data_width + gap),
            top: row as f64 * row_height + TOP + title,
            width: data_width,
            height: data_height,
            x,
            y: y_of(own_axes.then_some(panel)),
        };
        let labels_y = column == 0 || own_axes;
        let drawn = Panel { figure, panel, area, labels_y, narrow: screen == Screen::Narrow };
        drawn.draw(
            &mut svg,
            &format!("{}-{screen:?}-{vertical:?}-{panel}", figure.id).to_lowercase(),
        );
    }
    legend::draw(&mut svg, figure, 14.0, row_height * rows as f64, legend_width);
    svg.push_str("</svg>");
    svg
}

/// The opening of a drawing: title, style and background.
fn begin(figure: &Figure, width: f64, height: f64, standalone: bool) -> String {
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' class='plot' viewBox='0 0 {width} {height:.0}' \
         role='img' aria-label='{}'>",
        escape(&format!("{}: {}", figure.source, figure.title))
    );
    if standalone {
        let _ = write!(svg, "<title>{}</title><style>{}</style>", escape(&figure.title), style());
    }
    let _ = write!(svg, "<rect class='paper' width='{width}' height='{height:.0}'/>");
    svg
}

struct Panel<'a> {
    figure: &'a Figure,
    panel: usize,
    area: Area,
    labels_y: bool,
    narrow: bool,
}

impl Panel<'_> {
    fn draw(&self, svg: &mut String, clip: &str) {
        let Area { left, top, width, height, x, y } = self.area;
        let (right, bottom) = (left + width, top + height);
        // The script turns positions back into values with these.
        let logarithmic = |range: &Range| u8::from(range.scale == Scale::Logarithmic);
        let _ = write!(
            svg,
            "<g class='panel' data-panel='{}' data-area='{left:.1} {top:.1} {width:.1} \
             {height:.1}' data-x='{:e} {:e} {}' data-y='{:e} {:e} {}'>",
            self.panel,
            x.low,
            x.high,
            logarithmic(&x),
            y.low,
            y.high,
            logarithmic(&y),
        );
        let title = self.figure.panels.get(self.panel);
        if let (Some(title), false) = (title, self.figure.y.of_each_panel) {
            let (x, y) = (left + width / 2.0, top - 8.0);
            draw_text(svg, x, y, "class='title' text-anchor='middle'", title);
        }
        self.draw_axes(svg);
        let _ = write!(
            svg,
            "<clipPath id='{clip}'><rect x='{:.1}' y='{:.1}' width='{:.1}' \
             height='{:.1}'/></clipPath><g clip-path='url(#{clip})'>",
            left - 6.0,
            top - 6.0,
            width + 12.0,
            height + 12.0,
        );
        // Lines below points; hollow points below the filled ones inside.
        let mut shown: Vec<_> =
            self.figure.series.iter().filter(|series| series.panel == self.panel).collect();
        shown.sort_by_key(|series| series.origin);
        for series in shown {
            draw_series(svg, &self.area, series);
        }
        let _ = write!(
            svg,
            "</g><path class='frame' d='M{left:.1} \
             {top:.1}H{right:.1}V{bottom:.1}H{left:.1}Z'/></g>"
        );
    }

    fn draw_axes(&self, svg: &mut String) {
        let Area { left, top, width, height, x, y } = self.area;
        let (right, bottom) = (left + width, top + height);
        let wanted = if width < 320.0 { 5 } else { 9 };
        for tick in x.ticks(wanted) {
            let Some(at) = self.area.horizontal(tick.at) else { continue };
            let class = if tick.label.is_some() { "grid" } else { "minor" };
            let _ = write!(svg, "<path class='{class}' d='M{at:.1} {top:.1}V{bottom:.1}'/>");
            if let Some(label) = tick.label {
                draw_text(svg, at, bottom + 18.0, "text-anchor='middle'", &label);
            }
        }
        for tick in y.ticks(7) {
            let Some(at) = self.area.vertical(tick.at) else { continue };
            let class = if tick.label.is_some() { "grid" } else { "minor" };
            let _ = write!(svg, "<path class='{class}' d='M{left:.1} {at:.1}H{right:.1}'/>");
            if let (Some(label), true) = (tick.label, self.labels_y) {
                draw_text(svg, left - 7.0, at + 4.5, "text-anchor='end'", &label);
            }
        }
        let size = if self.narrow { " style='font-size:12px'" } else { "" };
        let axis = format!("class='axis' text-anchor='middle'{size}");
        draw_text(svg, left + width / 2.0, bottom + 40.0, &axis, &self.figure.x.label);
        if self.labels_y {
            let (x, y) = (left - LEFT + 15.0, top + height / 2.0);
            let own = self.figure.panels.get(self.panel).filter(|_| self.figure.y.of_each_panel);
            let upright = format!("{axis} transform='rotate(-90 {x:.1} {y:.1})'");
            draw_text(svg, x, y, &upright, own.unwrap_or(&self.figure.y.label));
        }
    }
}
