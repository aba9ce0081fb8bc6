//! `equibloom reproduce`: redraws every figure of the papers from real runs.

use std::path::PathBuf;

use comfy_table::{ContentArrangement, Table, presets};
use equibloom_lab::Length;
use equibloom_lab::experiments::{self, Experiment};
use equibloom_lab::figure::{Figure, agreement};
use equibloom_lab::number::significant;
use equibloom_lab::report::Provenance;
use equibloom_lab::run::Request;
use indicatif::{MultiProgress, ProgressBar};

use crate::{answer, progress};

/// Redraws the papers' figures: models, simulation and filters in one plot, every claim checked.
///
/// The report is DIR/index.html. An interrupted run is resumed.
///
/// Exit status: 0 if every claim holds, 1 if one does not, known errors of the papers excepted, 2 after an error.
///
/// Example: equibloom reproduce --quick --out report
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Directory of the report; created if missing.
    #[arg(long, value_name = "DIR", default_value = "reproduced")]
    out: PathBuf,
    /// Only this figure; can be repeated.
    #[arg(long, value_name = "ID")]
    figure: Vec<String>,
    /// List the figures and make none.
    #[arg(long)]
    list: bool,
    /// Short runs, about a minute in all.
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// The papers' lengths: 100 repetitions of a million elements, and 10^9 e-mail addresses (1 GB).
    #[arg(long)]
    full: bool,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Returns whether every claim agrees.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let figures: Vec<&'static Experiment> = if arguments.figure.is_empty() {
        experiments::ALL.iter().collect()
    } else {
        let chosen = arguments.figure.iter().map(|id| experiments::find(id));
        chosen.collect::<Result<_, _>>()?
    };
    let length = match (arguments.quick, arguments.full) {
        (true, _) => Length::Quick,
        (_, true) => Length::Full,
        _ => Length::Default,
    };
    if arguments.list {
        answer::write(&format!("{}\n", list(&figures, length).trim_fmt()))?;
        return Ok(true);
    }
    let command = std::env::args().skip(1).fold("equibloom".to_owned(), |command, argument| {
        let quoted = if argument.contains(' ') { format!("'{argument}'") } else { argument };
        command + " " + &quoted
    });
    let provenance = Provenance::here(command, length, arguments.seed);
    let request = Request { directory: &arguments.out, figures: &figures, provenance: &provenance };
    let bars = Bars::new(figures.len());
    let made = request.run(&|number, experiment, share| bars.show(number, experiment, share))?;
    drop(bars);
    let claims = made.iter().flat_map(|figure| &figure.claims);
    answer::write(&format!(
        "{}\n\n{} Report: {}\n",
        table(&made).trim_fmt(),
        agreement(claims),
        arguments.out.join("index.html").display()
    ))?;
    Ok(made.iter().all(Figure::agrees))
}

fn list(figures: &[&Experiment], length: Length) -> Table {
    let mut table = plain_table();
    for experiment in figures {
        table.add_row([experiment.id, experiment.source, &experiment.title(length)]);
    }
    table
}

fn table(figures: &[Figure]) -> Table {
    let mut table = plain_table();
    table.set_header(["figure", "kind", "claim", "expected", "measured", "agrees"]);
    for figure in figures {
        for claim in &figure.claims {
            let agrees = match (claim.agrees, &claim.reason) {
                (true, _) => "yes",
                (false, Some(reason)) => reason,
                (false, None) => "NO",
            };
            let (expected, measured) =
                (significant(claim.expected, 6), significant(claim.measured, 6));
            let kind = claim.kind.name();
            table.add_row([&figure.id, kind, &claim.text, &expected, &measured, agrees]);
        }
    }
    table
}

fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table
}

/// One bar for the whole run and one for the current figure, on a terminal only.
struct Bars {
    whole: ProgressBar,
    figure: ProgressBar,
}

/// Steps of a figure's bar.
const STEPS: u64 = 1_000;

impl Bars {
    fn new(figures: usize) -> Self {
        let bars = MultiProgress::new();
        let bar = |steps, template| {
            bars.add(ProgressBar::new(steps).with_style(progress::style(template)))
        };
        Self {
            whole: bar(figures as u64, "{bar:30} {pos}/{len} figures, {elapsed}"),
            figure: bar(STEPS, "{bar:30} {percent:>3} %  {msg}"),
        }
    }

    fn show(&self, finished: usize, experiment: &Experiment, share: f64) {
        self.whole.set_position(finished as u64);
        self.figure.set_message(experiment.id);
        self.figure.set_position((share * STEPS as f64) as u64);
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.figure.finish_and_clear();
        self.whole.finish_and_clear();
    }
}
