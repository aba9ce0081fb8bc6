//! A figure as data: series, the paper's claims, and whether they hold.

use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;

/// A finished figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Its name on the command line and in files.
    pub id: String,
    /// Where it is printed: "Balanced, Fig. 4".
    pub source: String,
    /// What it shows.
    pub title: String,
    /// What the paper claims, in one line.
    pub statement: String,
    /// The measured result, in one line.
    pub finding: String,
    /// Sizes, repetitions and all else needed to repeat it.
    pub parameters: String,
    /// Differences between the paper's words and its formulas, and other remarks.
    pub notes: Vec<String>,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Titles of the panels side by side; empty for a single panel without a title.
    pub panels: Vec<String>,
    /// Drawn instead of curves: the steps of an example.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
    /// The curves and points.
    pub series: Vec<Series>,
    /// The checks.
    pub claims: Vec<Claim>,
}

impl Figure {
    /// Whether every claim agrees, or is known not to.
    pub fn agrees(&self) -> bool {
        self.claims.iter().all(Claim::is_as_expected)
    }
}

/// Tables of blocks at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// What happens.
    pub caption: String,
    /// Subtable by subtable, each block's address, counter and bits.
    pub tables: Vec<Vec<(String, String, String)>>,
    /// The block it happens in: subtable and row.
    pub marked: Option<(usize, usize)>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Axis {
    /// Quantity and unit.
    pub label: String,
    /// How it is divided.
    pub scale: Scale,
    /// Whether each panel has an axis of its own, labelled with the panel's title.
    pub of_each_panel: bool,
}

impl Axis {
    /// Equal steps.
    pub fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), scale: Scale::Linear, of_each_panel: false }
    }

    /// Equal factors.
    pub fn logarithmic(label: &str) -> Self {
        Self { scale: Scale::Logarithmic, ..Self::linear(label) }
    }

    /// The same for panels that show different quantities.
    #[must_use]
    pub fn of_each_panel(self) -> Self {
        Self { of_each_panel: true, ..self }
    }
}

/// How an axis is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal steps.
    #[default]
    Linear,
    /// Equal factors; what is not positive is not drawn.
    Logarithmic,
}

/// A curve or a set of points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its subject: a scheme, or a value of a parameter.
    pub subject: String,
    /// Colour and marker.
    pub hue: Hue,
    /// The source of the numbers.
    pub origin: Origin,
    /// The panel it is drawn in.
    pub panel: usize,
    /// Abscissas.
    pub x: Vec<f64>,
    /// Ordinates.
    pub y: Vec<f64>,
    /// Standard deviations of the ordinates; empty for a model without any.
    pub sigma: Vec<f64>,
}

impl Series {
    /// A series in the only panel, without deviations.
    pub fn new(subject: &str, hue: Hue, origin: Origin, x: &[f64], y: Vec<f64>) -> Self {
        let subject = subject.to_owned();
        Self { subject, hue, origin, panel: 0, x: x.to_vec(), y, sigma: Vec::new() }
    }

    /// A series of measurements in the only panel.
    pub fn measured(
        subject: &str,
        hue: Hue,
        origin: Origin,
        x: &[f64],
        measured: &[Estimate],
    ) -> Self {
        let y = measured.iter().map(|estimate| estimate.mean).collect();
        let sigma = measured.iter().map(|estimate| estimate.sigma).collect();
        Self { sigma, ..Self::new(subject, hue, origin, x, y) }
    }

    /// The same in another panel.
    #[must_use]
    pub fn in_panel(self, panel: usize) -> Self {
        Self { panel, ..self }
    }

    /// Subject and origin.
    pub fn name(&self) -> String {
        format!("{}, {}", self.subject, self.origin.name())
    }
}

/// What a figure draws and checks, gathered curve by curve.
#[derive(Debug, Default)]
pub(crate) struct Plot {
    pub(crate) series: Vec<Series>,
    pub(crate) claims: Vec<Claim>,
}

impl Plot {
    /// Begins with these claims.
    pub(crate) fn of(claims: Vec<Claim>) -> Self {
        Self { claims, ..Self::default() }
    }

    /// Draws measurements on a curve and claims that each source lies on it. In `claim`, `{}` stands for the source.
    pub(crate) fn compare(
        &mut self,
        curve: &Series,
        claim: &str,
        sides: impl IntoIterator<Item = (Origin, Vec<Estimate>)>,
    ) {
        for (origin, measured) in sides {
            let text = claim.replace("{}", origin.name());
            let claim = Claim::on_model(&text, &curve.y, &measured);
            self.claims.push(claim.of_kind(Kind::against_model(origin)));
            let points = Series::measured(&curve.subject, curve.hue, origin, &curve.x, &measured);
            self.series.push(points.in_panel(curve.panel));
        }
    }
}

/// The points of the simulation and of the library's filters or maps, source by source.
pub(crate) fn sides(library: Origin, points: &[[Estimate; 2]]) -> [(Origin, Vec<Estimate>); 2] {
    [(Origin::Simulation, 0), (library, 1)]
        .map(|(origin, side)| (origin, points.iter().map(|sides| sides[side]).collect()))
}

/// The source of numbers, in the order of a legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A model of placement alone, in which papers and library agree.
    Model,
    /// The papers' model: loads by the fluid limit, bits independent.
    Paper,
    /// The model of the schemes as the papers define them (every element placed, balanced by elements), with
    /// the exact distribution of the bits set.
    Definition,
    /// The exact model of the library's filters.
    Exact,
    /// The simulator.
    Simulation,
    /// The filters of other libraries.
    Peer,
    /// The library's filters.
    Filter,
    /// The library's hash tables.
    Map,
}

impl Origin {
    /// Its name in a legend.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Paper => "paper model",
            Self::Definition => "exact bits, paper rule",
            Self::Exact => "exact model",
            Self::Simulation => "simulation",
            Self::Peer => "peer",
            Self::Filter => "filter",
            Self::Map => "map",
        }
    }

    /// Whether it is drawn as points instead of a line.
    pub const fn is_measured(self) -> bool {
        matches!(self, Self::Simulation | Self::Peer | Self::Filter | Self::Map)
    }

    /// Model, simulation or filter, the three kinds in `results.json`. A map counts as the library itself, as a
    /// filter does.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Model | Self::Paper | Self::Definition | Self::Exact => "model",
            Self::Simulation => "simulation",
            Self::Peer | Self::Filter | Self::Map => "filter",
        }
    }
}

/// A colour with its marker: one for each scheme in all figures, others for values of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hue {
    /// The classical filter.
    Classical,
    /// The blocked filter.
    Blocked,
    /// SINGLE, SIMPLE.
    Single,
    /// SEQUENTIAL, GREEDY.
    Sequential,
    /// MHT.
    MultiLevel,
    /// Power of two.
    TwoChoice,
    /// Power of 1 + α.
    OnePlusAlpha,
    /// Cuckoo hashing with one slot per bucket.
    OneSlot,
    /// Cuckoo hashing with four slots per bucket.
    FourSlots,
    /// A value of a parameter, by its number.
    Value(u8),
}

/// What is compared with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A number or statement that stands in a paper, in the paper's own digits.
    Printed,
    /// A value computed from the papers' formulas by an independent method: mpmath, another algorithm, or a
    /// simulation from the definition.
    Derived,
    /// Two of this project's models, or model and machine.
    Consistency,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Printed, Self::Derived, Self::Consistency];

    /// The kind of a comparison with a model: the simulation shares no code with any.
    pub const fn against_model(origin: Origin) -> Self {
        match origin {
            Origin::Simulation => Self::Derived,
            _ => Self::Consistency,
        }
    }

    /// Its name on pages and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Printed => "printed",
            Self::Derived => "derived",
            Self::Consistency => "consistency",
        }
    }
}

/// How many claims of each kind agree, in one line.
pub fn agreement<'a>(claims: impl Iterator<Item = &'a Claim> + Clone) -> String {
    let of = |kind: &Kind| {
        let kind = *kind;
        let all = claims.clone().filter(move |claim| claim.kind == kind);
        let agreeing = all.clone().filter(|claim| claim.agrees).count();
        let known = all.clone().filter(|claim| !claim.agrees && claim.reason.is_some()).count();
        let known = if known > 0 { format!(" ({known} in the errata)") } else { String::new() };
        format!("{agreeing} of {} {}{known}", all.count(), kind.name())
    };
    let kinds = Kind::ALL.iter().filter(|kind| claims.clone().any(|claim| claim.kind == **kind));
    format!("Claims that agree: {}.", kinds.map(of).collect::<Vec<_>>().join(", "))
}

/// A check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// What is compared with what.
    pub kind: Kind,
    /// The claim; a printed one begins with its place.
    pub text: String,
    /// The claimed value.
    pub expected: f64,
    /// The measured value.
    pub measured: f64,
    /// The allowed difference.
    pub tolerance: f64,
    /// Whether they agree.
    pub agrees: bool,
    /// Why a claim does not hold, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Claim {
    /// The measured value is the expected one within the tolerance.
    pub fn new(text: impl Into<String>, expected: f64, measured: f64, tolerance: f64) -> Self {
        // Rounding must not decide: 0.5 units of the last digit may be 0.5000000001.
        let agrees = (measured - expected).abs() <= tolerance * (1.0 + 1e-9);
        let (kind, reason) = (Kind::Consistency, None);
        Self { kind, text: text.into(), expected, measured, tolerance, agrees, reason }
    }

    /// A number of independent origin is met to its last digit, whose unit is `unit`.
    pub fn derived(text: impl Into<String>, expected: f64, measured: f64, unit: f64) -> Self {
        Self::new(text, expected, measured, unit / 2.0).of_kind(Kind::Derived)
    }

    /// A number that stands at this place of a paper is met to its last digit, whose unit is `unit`. The papers
    /// round some of their numbers and cut others off.
    pub fn printed(
        place: &str,
        text: impl Into<String>,
        expected: f64,
        measured: f64,
        unit: f64,
    ) -> Self {
        let text = format!("{place}: {}", text.into());
        let above = (measured - expected) / unit;
        let agrees = (-0.5 - 1e-9..1.0 - 1e-9).contains(&above);
        Self { agrees, ..Self::new(text, expected, measured, unit) }.of_kind(Kind::Printed)
    }

    /// A statement that stands at this place of a paper holds.
    pub fn stated(place: &str, claim: Self) -> Self {
        let text = format!("{place}: {}", claim.text);
        Self { text, ..claim }.of_kind(Kind::Printed)
    }

    /// The same claim of another kind.
    #[must_use]
    pub fn of_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// Says why the claim does not hold, if it does not.
    #[must_use]
    pub fn unless(self, reason: &str) -> Self {
        let reason = (!self.agrees).then(|| reason.to_owned());
        Self { reason, ..self }
    }

    /// Whether it agrees, or is known not to.
    pub const fn is_as_expected(&self) -> bool {
        self.agrees || self.reason.is_some()
    }

    /// The value is at most the promised one.
    pub fn promised(text: impl Into<String>, most: f64, measured: f64) -> Self {
        Self { agrees: measured <= most, ..Self::new(text, most, measured, most) }
    }

    /// Measured values agree with a model, each within 4σ + 1 %. The claim's number is the worst deviation in
    /// units of that.
    pub fn on_model(what: &str, model: &[f64], measured: &[Estimate]) -> Self {
        let mut worst = 0.0_f64;
        for (model, measured) in model.iter().zip(measured) {
            let allowed = 4.0 * measured.sigma + 0.01 * model.abs();
            let deviation = (measured.mean - model).abs();
            if deviation > 0.0 {
                worst = worst.max(deviation / allowed);
            }
        }
        let count = model.len();
        let text = format!("{what}: worst of {count} points, as a share of 4σ + 1 %");
        // JSON has no infinity.
        Self::new(text, 0.0, worst.min(1e9), 1.0)
    }

    /// Two measurements agree: within 4σ of their difference + 1 %.
    pub fn same(what: &str, expected: &[Estimate], measured: &[Estimate]) -> Self {
        let means: Vec<f64> = expected.iter().map(|estimate| estimate.mean).collect();
        let both = expected.iter().zip(measured);
        let measured: Vec<Estimate> =
            both.map(|(a, b)| Estimate { sigma: a.sigma.hypot(b.sigma), ..*b }).collect();
        Self::on_model(what, &means, &measured)
    }

    /// Measured values are at most a bound + 4σ. The claim's number is the worst excess in units of that, or 0
    /// if there is none.
    pub fn at_most(what: &str, bound: &[f64], measured: &[Estimate]) -> Self {
        let excess = |(bound, measured): (&f64, &Estimate)| match measured.mean - bound {
            above if above > 0.0 => above / (4.0 * measured.sigma),
            _ => 0.0,
        };
        let worst = bound.iter().zip(measured).map(excess).fold(0.0, f64::max);
        let text = format!("{what}: worst excess of {} points, as a share of 4σ", bound.len());
        Self::new(text, 0.0, worst.min(1e9), 1.0)
    }
}

#[cfg(test)]
mod tests;
