//! Makes all figures of a report directory; after an interruption the finished ones are kept.
//!
//! A figure is finished when its JSON exists. It is written last, to a temporary name first, and is therefore
//! complete. A later run of the same length, seed and parameters reuses it.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::context::{Context, Length};
use crate::error::Error;
use crate::experiments::{self, Experiment};
use crate::figure::Figure;
use crate::plot::standalone_svg;
use crate::report::{Provenance, csv, page, results};

/// The figures to make, and their directory.
pub struct Request<'a> {
    /// Directory of the report.
    pub directory: &'a Path,
    /// Which figures.
    pub figures: &'a [&'static Experiment],
    /// Length, seed, command and computer.
    pub provenance: &'a Provenance,
}

/// Receives the number of finished figures, the present one, and the share of it that is done.
pub type Progress<'a> = &'a (dyn Fn(usize, &Experiment, f64) + Sync);

/// Parameters that distinguish the figures of different runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Stamp {
    version: String,
    length: Length,
    seed: u64,
    parameters: String,
}

#[derive(Serialize, Deserialize)]
struct Finished {
    run: Stamp,
    figure: Figure,
}

impl Request<'_> {
    /// Makes the missing figures, and the report of all.
    pub fn run(&self, progress: Progress<'_>) -> Result<Vec<Figure>, Error> {
        fs::create_dir_all(self.directory)
            .map_err(|source| Error::Write { path: self.directory.to_owned(), source })?;
        // Fails before the first figure if the directory is not writable.
        self.write_report()?;
        let mut figures = Vec::new();
        for (number, experiment) in self.figures.iter().enumerate() {
            progress(number, experiment, 0.0);
            let (figure, kept) = match self.finished(experiment) {
                Some(figure) => (figure, true),
                None => {
                    let Provenance { length, seed, .. } = *self.provenance;
                    let progress = |share| progress(number, experiment, share);
                    (experiment.run(&Context { length, seed, progress: &progress })?, false)
                }
            };
            self.write(&format!("{}.svg", figure.id), &standalone_svg(&figure))?;
            self.write(&format!("{}.csv", figure.id), &csv(&figure))?;
            if !kept {
                let finished = Finished { run: self.stamp(experiment), figure: figure.clone() };
                self.write(&format!("{}.json", figure.id), &serde_json::to_string(&finished)?)?;
            }
            self.write_report()?;
            figures.push(figure);
        }
        Ok(figures)
    }

    fn stamp(&self, experiment: &Experiment) -> Stamp {
        let Provenance { length, seed, .. } = *self.provenance;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Stamp { version, length, seed, parameters: experiment.parameters(length) }
    }

    /// A figure of an earlier run with the same parameters; `None` for anything else.
    fn finished(&self, experiment: &Experiment) -> Option<Figure> {
        let text = fs::read(self.directory.join(format!("{}.json", experiment.id))).ok()?;
        let finished: Finished = serde_json::from_slice(&text).ok()?;
        (finished.run == self.stamp(experiment)).then_some(finished.figure)
    }

    /// The page and `results.json` of all finished figures, requested now or before.
    fn write_report(&self) -> Result<(), Error> {
        let figures: Vec<Figure> =
            experiments::ALL.iter().filter_map(|experiment| self.finished(experiment)).collect();
        self.write("results.json", &results(&figures)?)?;
        self.write("index.html", &page(&figures, self.provenance)?)
    }

    /// Writes a file beside its target, then renames it.
    fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let (part, path) = (self.directory.join(format!("{name}.part")), self.directory.join(name));
        let written = fs::write(&part, text).and_then(|()| fs::rename(&part, &path));
        written.map_err(|source| {
            // The partial file is useless; failing to remove it does not matter.
            let _ = fs::remove_file(&part);
            Error::Write { path, source }
        })
    }
}
