//! The HTML page: self-contained, light or dark, for screens, phones and paper, complete without scripts.

use std::fmt::Write;

use serde_json::json;

use crate::context::Length;
use crate::error::Error;
use crate::figure::{Figure, Scale, agreement};
use crate::number::short;
use crate::plot::{self, Screen, escape, inline_svg};

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// Shows values under the pointer, on a page with an element `value`. Optional.
pub const SCRIPT: &str = include_str!("page.js");

/// The style sheet of a page with figures.
pub fn style() -> String {
    format!("{STYLE}{}", plot::style())
}

/// Whether a figure is also in separate files beside the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Files {
    /// As SVG, CSV and JSON.
    Beside,
    /// Only on the page.
    None,
}

/// A description of this computer.
pub fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let processor = processor.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!("{processor}, {cores} cores, {}", std::env::consts::OS)
}

/// The origin of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Provenance {
    /// The command that repeats the run.
    pub command: String,
    /// How long the run was.
    pub length: Length,
    /// Its seed.
    pub seed: u64,
    /// The computer it ran on.
    pub machine: String,
}

impl Provenance {
    /// A run on this computer.
    pub fn here(command: String, length: Length, seed: u64) -> Self {
        Self { command, length, seed, machine: machine() }
    }
}

/// The whole report as one page.
pub fn page(figures: &[Figure], provenance: &Provenance) -> Result<String, Error> {
    let claims = figures.iter().flat_map(|figure| &figure.claims);
    let length = match provenance.length {
        Length::Quick => "quick",
        Length::Default => "default",
        Length::Full => "full, as in the papers",
    };
    let (mut contents, mut sections) = (String::new(), String::new());
    for figure in figures {
        // Writing to a string cannot fail.
        let _ = write!(
            contents,
            "<li><a href='#{}'>{}: {}</a> {}</li>",
            figure.id,
            escape(&figure.source),
            escape(&figure.title),
            badge(figure)
        );
        section(&mut sections, figure, Files::Beside)?;
    }
    let fill_in = |page: String, (name, text): (&str, &str)| page.replacen(name, text, 1);
    // The command is the only foreign text: inserted last, so that nothing in it is substituted.
    let parts = [
        ("{{style}}", &style()[..]),
        ("{{agreement}}", &agreement(claims)),
        ("{{seed}}", &provenance.seed.to_string()),
        ("{{length}}", length),
        ("{{machine}}", &escape(&provenance.machine)),
        ("{{version}}", env!("CARGO_PKG_VERSION")),
        ("{{contents}}", &contents),
        ("{{figures}}", &sections),
        ("{{script}}", SCRIPT),
        ("{{command}}", &escape(&provenance.command)),
    ];
    Ok(parts.into_iter().fold(TEMPLATE.to_owned(), fill_in))
}

fn badge(figure: &Figure) -> &'static str {
    match figure.claims.iter().all(|claim| claim.agrees) {
        true => "<span class='yes'>agrees</span>",
        false if figure.agrees() => "<span class='no'>agrees up to the errata</span>",
        false => "<span class='no'>disagrees</span>",
    }
}

/// Appends a figure with its text and claims, for a page with [`style`] and [`SCRIPT`].
pub fn section(html: &mut String, figure: &Figure, files: Files) -> Result<(), Error> {
    let _ = write!(
        html,
        "<section class='figure' id='{id}'><h2>{}: {} {}</h2>\
         <p><b>Claimed.</b> {}</p><p><b>Measured.</b> {} <span class='count'>{}</span></p>",
        escape(&figure.source),
        escape(&figure.title),
        badge(figure),
        escape(&figure.statement),
        escape(&figure.finding),
        agreement(figure.claims.iter()),
        id = figure.id,
    );
    let draw = |screen, scale| inline_svg(figure, screen, scale);
    let own = figure.y.scale;
    let drawings = if figure.pictures.is_empty() {
        // Both scales of the vertical axis are drawn, so that the switch needs no script.
        let (other, name) = match own {
            Scale::Linear => (Scale::Logarithmic, "logarithmic"),
            Scale::Logarithmic => (Scale::Linear, "linear"),
        };
        format!(
            "<input type='checkbox' class='switch' id='{id}-switch'><label for='{id}-switch'>{name} \
             vertical axis</label><div class='wide first'>{}</div><div class='wide second'>{}</div>\
             <div class='narrow first'>{}</div><div class='narrow second'>{}</div>",
            draw(Screen::Wide, own),
            draw(Screen::Wide, other),
            draw(Screen::Narrow, own),
            draw(Screen::Narrow, other),
            id = figure.id,
        )
    } else {
        let [wide, narrow] = [Screen::Wide, Screen::Narrow].map(|screen| draw(screen, own));
        format!("<div class='wide'>{wide}</div><div class='narrow'>{narrow}</div>")
    };
    let parameters = escape(&figure.parameters);
    let _ = write!(html, "<figure>{drawings}<figcaption>{parameters}.");
    if files == Files::Beside {
        for kind in ["svg", "csv", "json"] {
            let _ = write!(html, " <a href='{}.{kind}'>{}</a>", figure.id, kind.to_uppercase());
        }
    }
    html.push_str("</figcaption></figure>");
    if !figure.notes.is_empty() {
        let notes = figure.notes.iter().map(|note| format!("<li>{}</li>", escape(note)));
        let _ = write!(html, "<ul class='notes'>{}</ul>", notes.collect::<String>());
    }
    claims_table(html, figure);
    html.push_str(&hover_data(figure)?);
    html.push_str("</section>");
    Ok(())
}

fn claims_table(html: &mut String, figure: &Figure) {
    let _ = write!(
        html,
        "<details{}><summary>What was checked</summary><div class='scroll'><table><thead><tr>\
         <th>Kind</th><th>Claim</th><th>Expected</th><th>Measured</th><th>Tolerance</th><th>Agrees</th>\
         </tr></thead><tbody>",
        if figure.agrees() { "" } else { " open" }
    );
    for claim in &figure.claims {
        let _ = write!(
            html,
            "<tr class='{kind}'><td>{kind}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&match &claim.reason {
                Some(reason) => format!("{} — does not hold: {reason}", claim.text),
                None => claim.text.clone(),
            }),
            crate::number::significant(claim.expected, 6),
            crate::number::significant(claim.measured, 6),
            short(claim.tolerance),
            if claim.agrees { "yes" } else { "no" },
            kind = claim.kind.name(),
        );
    }
    html.push_str("</tbody></table></div></details>");
}

/// The points, so that the script can find the nearest one.
fn hover_data(figure: &Figure) -> Result<String, Error> {
    // Digits beyond the sixth cannot be seen.
    let round = |values: &[f64]| -> Vec<f64> {
        values.iter().map(|value| format!("{value:.5e}").parse().unwrap_or(*value)).collect()
    };
    let series: Vec<_> = figure
        .series
        .iter()
        .map(|series| {
            json!({
                "name": series.name(),
                "panel": series.panel,
                "x": round(&series.x),
                "y": round(&series.y),
                "sigma": round(&series.sigma),
                "points": series.origin.is_measured(),
            })
        })
        .collect();
    let text = serde_json::to_string(&json!({ "x": figure.x.label, "series": series }))?;
    // A closing tag inside a script would end it.
    Ok(format!("<script type='application/json'>{}</script>", text.replace("</", "<\\/")))
}
