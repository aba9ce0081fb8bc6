//! Pictures of tables of blocks, as the papers draw them: one for each step of an insert.

use std::fmt::Write;

use super::{Screen, escape};
use crate::figure::Picture;

const ROW: f64 = 22.0;
const WIDTH: f64 = 250.0;
/// Left edge of the blocks, and the width of a bit.
const LEFT: f64 = 66.0;
const BIT: f64 = 17.0;
const LINE: f64 = 18.0;
/// Characters of a caption's line.
const CHARACTERS: usize = 34;

/// Width, height and contents of all pictures.
pub(super) fn draw(pictures: &[Picture], screen: Screen) -> (f64, f64, String) {
    let columns = match screen {
        Screen::Wide => pictures.len().clamp(1, 3),
        Screen::Narrow => 1,
    };
    let height = |picture: &Picture| {
        let rows: usize = picture.tables.iter().map(|table| table.len() + 1).sum();
        ROW * rows as f64 + LINE * (lines(&picture.caption).len() + 2) as f64
    };
    let row_height = pictures.iter().map(height).fold(0.0, f64::max);
    let captions = pictures.iter().map(|picture| lines(&picture.caption).len()).max().unwrap_or(0);
    let mut svg = String::new();
    for (number, picture) in pictures.iter().enumerate() {
        let left = 8.0 + (number % columns) as f64 * (WIDTH + 14.0);
        one(&mut svg, picture, captions, left, 8.0 + (number / columns) as f64 * row_height);
    }
    let rows = pictures.len().div_ceil(columns);
    (16.0 + columns as f64 * (WIDTH + 14.0), 16.0 + rows as f64 * row_height, svg)
}

fn one(svg: &mut String, picture: &Picture, captions: usize, left: f64, mut top: f64) {
    let mut text = |class: &str, x: f64, y: f64, text: &str| {
        // Writing to a string cannot fail.
        let _ = write!(svg, "<text class='{class}' x='{x:.1}' y='{y:.1}'>{}</text>", escape(text));
    };
    for (number, line) in lines(&picture.caption).iter().enumerate() {
        text("axis", left, top + LINE * (number + 1) as f64, line);
    }
    top += LINE * (captions as f64 + 0.5);
    let mut frames = String::new();
    for (table, blocks) in picture.tables.iter().enumerate() {
        top += ROW;
        text("title", left, top - 6.0, &format!("T{}", table + 1));
        for (row, (address, counter, bits)) in blocks.iter().enumerate() {
            let is_marked = picture.marked == Some((table, row));
            text(if is_marked { "title" } else { "axis" }, left + 22.0, top + 16.0, address);
            for (column, bit) in counter.chars().chain(bits.chars()).enumerate() {
                let class = if column < counter.len() { "title" } else { "axis" };
                let x = left + LEFT + column as f64 * BIT;
                text(class, x + 5.0, top + 16.0, &bit.to_string());
            }
            let (width, counted) = ((counter.len() + bits.len()) as f64, counter.len() as f64);
            let class = if is_marked { "focus" } else { "frame" };
            let _ = write!(
                frames,
                "<rect class='{class}' x='{x:.1}' y='{top:.1}' width='{:.1}' height='{ROW}'/>\
                 <path class='grid' d='M{:.1} {top:.1}v{ROW}'/>",
                width * BIT,
                left + LEFT + counted * BIT,
                x = left + LEFT,
            );
            top += ROW;
        }
    }
    svg.push_str(&frames);
}

/// A caption in lines of about equal length.
fn lines(caption: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in caption.split(' ') {
        let last = lines.len() - 1;
        if lines[last].chars().count() + word.chars().count() > CHARACTERS {
            lines.push(word.to_owned());
        } else {
            let space = if lines[last].is_empty() { "" } else { " " };
            lines[last] += &format!("{space}{word}");
        }
    }
    lines
}
