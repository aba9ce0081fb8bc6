//! The figures, each a short definition.

mod accesses;
mod alpha;
mod beyond;
mod chains;
mod cuckoo_steps;
mod evolution;
mod fill;
mod finite;
mod lower_bound;
mod max_load;
mod names;
mod rates;
mod regions;
mod slides;
mod steps;
mod tables;
mod touched;
mod variance;

use crate::figure::{Figure, Picture};
use names::{BALANCED, ENERGY};
use prelude::*;

/// What nearly every experiment uses.
mod prelude {
    pub(super) use super::Outcome;
    pub(super) use crate::context::{Context, Length};
    pub(super) use crate::error::Error;
    pub(super) use crate::estimate::Estimate;
    pub(super) use crate::figure::{Axis, Claim, Hue, Origin, Plot, Series, sides};
    pub(super) use crate::number::short;
}

/// A figure that can be made.
pub struct Experiment {
    /// Its name on the command line and in files.
    pub id: &'static str,
    /// Where it is printed.
    pub source: &'static str,
    /// What it shows; `{n}` stands for the size of the run, the first word of its parameters.
    title: &'static str,
    /// What the paper claims about it, in one line.
    pub statement: &'static str,
    /// Sizes and repetitions at a length.
    parameters: fn(Length) -> String,
    /// Measures and checks.
    run: fn(&Context<'_>) -> Result<Outcome, Error>,
}

/// The result of an experiment.
#[derive(Default)]
struct Outcome {
    finding: String,
    notes: Vec<&'static str>,
    x: Axis,
    y: Axis,
    panels: Vec<&'static str>,
    pictures: Vec<Picture>,
    plot: Plot,
}

impl Experiment {
    /// Sizes, repetitions and all else that differs between lengths.
    pub fn parameters(&self, length: Length) -> String {
        (self.parameters)(length)
    }

    /// What it shows at a length.
    pub fn title(&self, length: Length) -> String {
        let parameters = self.parameters(length);
        self.title.replace("{n}", parameters.split(' ').next().unwrap_or_default())
    }

    /// Makes the figure.
    pub fn run(&self, context: &Context<'_>) -> Result<Figure, Error> {
        let outcome = (self.run)(context)?;
        Ok(Figure {
            id: self.id.to_owned(),
            source: self.source.to_owned(),
            title: self.title(context.length),
            statement: self.statement.to_owned(),
            finding: outcome.finding,
            parameters: self.parameters(context.length),
            notes: outcome.notes.into_iter().map(str::to_owned).collect(),
            x: outcome.x,
            y: outcome.y,
            panels: outcome.panels.into_iter().map(str::to_owned).collect(),
            pictures: outcome.pictures,
            series: outcome.plot.series,
            claims: outcome.plot.claims,
        })
    }
}

/// The experiment of this name.
pub fn find(id: &str) -> Result<&'static Experiment, Error> {
    ALL.iter().find(|experiment| experiment.id == id).ok_or_else(|| Error::UnknownFigure {
        id: id.to_owned(),
        known: ALL.iter().map(|experiment| experiment.id).collect(),
    })
}

/// Elements and repetitions of most figures.
fn usual_size(length: Length) -> String {
    format!("n = {}, {} repetitions", length.elements(), length.repetitions())
}

/// All figures, paper by paper.
pub const ALL: &[Experiment] = &[
    Experiment {
        id: "balanced-fig-1",
        source: "Balanced, Fig. 1",
        title: "An insert into a multi-level filter, step by step",
        statement: "With h = 3 element y is turned away at 10 of T1, which has 3 elements, and stored at 01 \
             of T2, which has 2; T3 is not read.",
        parameters: steps::parameters,
        run: |_| steps::BALANCED.run(),
    },
    Experiment {
        id: "balanced-fig-2",
        source: "Balanced, Fig. 2",
        title: "The distribution of loads that no scheme can beat",
        statement: "With r = 8 and γ = 0 more accesses cut off the tail of the Poisson \
             distribution.",
        parameters: lower_bound::parameters,
        run: lower_bound::run,
    },
    Experiment {
        id: "balanced-fig-3a",
        source: "Balanced, Fig. 3a",
        title: "Least overflow with which the schemes are optimal, by accesses",
        statement: "At r = 8, d = 3 MHT needs less overflow than SEQUENTIAL, which needs about 1 \
             % at a ≈ 1.1.",
        parameters: regions::parameters,
        run: |context| regions::by_accesses(context, &BALANCED),
    },
    Experiment {
        id: "balanced-fig-3b",
        source: "Balanced, Fig. 3b",
        title: "Least overflow with which the schemes are optimal, by load",
        statement: "At a = 1.2, d = 3 MHT scales better to high loads: its overflow does not \
             depend on r.",
        parameters: regions::parameters,
        run: |context| regions::by_load(context, &BALANCED),
    },
    Experiment {
        id: "balanced-fig-4",
        source: "Balanced, Fig. 4",
        title: "False positives by bits per element, blocks of 256 bits",
        statement: "With many bits per element MHT is two orders of magnitude below the blocked \
             filter and one above the standard one; with few it is worse.",
        parameters: usual_size,
        run: |context| rates::run(context, &BALANCED),
    },
    Experiment {
        id: "balanced-fig-5",
        source: "Balanced (technical report), Fig. 5",
        title: "Loads of SINGLE while it fills",
        statement: "The differential equations follow the simulation (r = 2.5, p = 0.5, h = 2, n \
             = 25,000).",
        parameters: evolution::parameters,
        run: evolution::run,
    },
    Experiment {
        id: "energy-fig-1",
        source: "Energy, Fig. 1",
        title: "The lower-bound distribution of loads",
        statement: "With r = 8 and γ = 0 more accesses require a more and more even balance.",
        parameters: lower_bound::parameters,
        run: lower_bound::run,
    },
    Experiment {
        id: "energy-fig-2",
        source: "Energy, Fig. 2",
        title: "Loads of SIMPLE while it fills",
        statement: "The model follows the simulation (r = 2.5, p = 0.5, h = 2, n = 25,000, m = \
             10,000).",
        parameters: evolution::parameters,
        run: evolution::run,
    },
    Experiment {
        id: "energy-fig-3",
        source: "Energy, Fig. 3",
        title: "Optimality regions of GREEDY and MHT, by accesses",
        statement: "At r = 8, d = 3 and an overflow list of 1 % GREEDY is optimal for a ≈ 1.1.",
        parameters: regions::parameters,
        run: |context| regions::by_accesses(context, &ENERGY),
    },
    Experiment {
        id: "energy-fig-4",
        source: "Energy, Fig. 4",
        title: "Optimality regions of GREEDY and MHT, by load",
        statement: "At a = 1.2, d = 3 MHT scales better to higher loads.",
        parameters: regions::parameters,
        run: |context| regions::by_load(context, &ENERGY),
    },
    Experiment {
        id: "energy-fig-5",
        source: "Energy, Fig. 5",
        title: "An insert into a multi-level filter with a coin, step by step",
        statement: "With h = 2 and a coin element x is turned away at 10 of T1, whose counter is 11, and \
             stored at 01 of T2, whose counter is 10, because its coin says yes; T3 is not read.",
        parameters: steps::parameters,
        run: |_| steps::ENERGY.run(),
    },
    Experiment {
        id: "energy-fig-6",
        source: "Energy, Fig. 6 and section IX",
        title: "False positives by bits per element, words of 256 bits",
        statement: "At 40 bits per element: standard 6.1e-9, MHT 1.4e-7, blocked 2.3e-5.",
        parameters: usual_size,
        run: |context| rates::run(context, &ENERGY),
    },
    Experiment {
        id: "energy-variance",
        source: "Energy, section VIII",
        title: "Variance of the bucket size",
        statement: "The schemes reach the least variance of the bucket size that any scheme can \
             have.",
        parameters: usual_size,
        run: variance::run,
    },
    Experiment {
        id: "energy-query-time",
        source: "Energy, section VIII",
        title: "Elements of a chain that a query walks over",
        statement: "A miss goes over the whole chain of its bucket, a hit over half of it on average: a quadratic cost \
             gives the least variance of the query time.",
        parameters: usual_size,
        run: chains::run,
    },
    Experiment {
        id: "alpha-fig-1",
        source: "1+α, Fig. 1",
        title: "Distribution of the elements over the blocks",
        statement: "1+α (α = 0.3) lies between the blocked filter and power of two (c = 20, B = \
             500).",
        parameters: usual_size,
        run: alpha::distributions::run,
    },
    Experiment {
        id: "alpha-fig-2",
        source: "1+α, Fig. 2 and Table 2",
        title: "False positives by bits per element, blocks of 500 bits",
        statement: "Power of two beats the blocked filter from c = 17 on; α = 0.3 is best for 13 \
             ≤ c ≤ 20.",
        parameters: usual_size,
        run: alpha::rates,
    },
    Experiment {
        id: "alpha-fig-3",
        source: "1+α, Fig. 3",
        title: "False positives by α, relative to α = 0",
        statement: "The rate is convex in α; the best α is 0.3, 0.4, 0.5 for c = 16, 18, 20.",
        parameters: usual_size,
        run: alpha::by_alpha,
    },
    Experiment {
        id: "alpha-fig-4",
        source: "1+α, Fig. 4",
        title: "The best α by bits per element",
        statement: "α = 0 is best up to c = 10, α = 1 from c = 31 on, and it is nearly linear \
             between.",
        parameters: alpha::best::parameters,
        run: alpha::best::run,
    },
    Experiment {
        id: "alpha-max-load",
        source: "1+α, section 3.1",
        title: "The fullest block by the number of choices",
        statement: "The least loaded of d ≥ 2 blocks lowers the fullest block from Θ(ln n/ln ln n) to Θ(ln ln n).",
        parameters: max_load::parameters,
        run: max_load::run,
    },
    Experiment {
        id: "alpha-lemma-6-1",
        source: "1+α, Lemma 6.1",
        title: "Blocks that the k bits of a query lie in",
        statement: "A query of the classical filter reads k − O(1/b) of b blocks.",
        parameters: touched::parameters,
        run: touched::run,
    },
    Experiment {
        id: "slides-rate",
        source: "Slides",
        title: "False positives of the classical filter by number of elements",
        statement: "With k = (m/n) ln 2 the rate is 0.6185^(m/n); with one hash function 1 − \
             e^(−n/m).",
        parameters: slides::parameters_of_rate,
        run: slides::rate,
    },
    Experiment {
        id: "slides-k",
        source: "Slides",
        title: "False positives by the number of hash functions",
        statement: "f(k) = (1 − e^(−kn/m))^k is least at k = (m/n) ln 2.",
        parameters: slides::parameters_of_k,
        run: slides::by_hash_functions,
    },
    Experiment {
        id: "slides-emails",
        source: "Slides",
        title: "A list of {n} e-mail addresses in as many bytes",
        statement: "A Bloom filter of 8 bits per address answers with about 2 % false positives \
             (k = 6).",
        parameters: slides::parameters_of_emails,
        run: slides::emails,
    },
    Experiment {
        id: "fill",
        source: "Not in the papers",
        title: "False positives while a filter fills, up to 20 % past its capacity",
        statement: "The papers show full filters only; here the exact model is followed from the \
             first key.",
        parameters: usual_size,
        run: fill::run,
    },
    Experiment {
        id: "accesses",
        source: "Not in the papers",
        title: "Blocks read by an insert, a hit and a miss, by load",
        statement: "The papers give 1.2 accesses: that is an insert. Misses read more at full \
             load.",
        parameters: usual_size,
        run: accesses::run,
    },
    Experiment {
        id: "finite",
        source: "Not in the papers",
        title: "False positives with few blocks, relative to the limit of many",
        statement: "The papers' models are limits; here is how many blocks they need.",
        parameters: finite::parameters,
        run: finite::run,
    },
    Experiment {
        id: "cuckoo-graph",
        source: "Slides, cuckoo hashing",
        title: "The cuckoo graph of random keys",
        statement: "With m = (1 + ε)n buckets in each table a component has at most 1 + 1/ε buckets \
             on average, and a second cycle, which forces a rehash, has a probability of order 1/m.",
        parameters: tables::graph::parameters,
        run: tables::graph::run,
    },
    Experiment {
        id: "cuckoo-load",
        source: "Slides, cuckoo hashing",
        title: "What inserts displace and how often tables are rehashed, by load",
        statement: "Below a load of one half an insert takes constant time on average, and \
             rehashes are rare; four slots a bucket carry it to 95 %.",
        parameters: tables::load::parameters,
        run: tables::load::run,
    },
    Experiment {
        id: "slides-rehash",
        source: "Slides, cuckoo hashing",
        title: "How often tables are rehashed, and what it costs",
        statement: "A rehash costs O(m + n/ε) accesses and is needed O(1) times on average.",
        parameters: tables::rehash::parameters,
        run: tables::rehash::run,
    },
    Experiment {
        id: "slides-example",
        source: "Slides, cuckoo hashing",
        title: "The example of eleven keys, step by step",
        statement: "With 6 we have to rehash.",
        parameters: cuckoo_steps::parameters,
        run: |_| cuckoo_steps::LECTURE.run(),
    },
    Experiment {
        id: "slides-cycle",
        source: "Slides, cuckoo hashing",
        title: "The example of a cycle, step by step",
        statement: "{x, y, w, z, u} with the printed hash values: an insertion gets into a cycle, and a rehash is needed.",
        parameters: cuckoo_steps::parameters,
        run: |_| cuckoo_steps::CYCLE.run(),
    },
    Experiment {
        id: "table-variance",
        source: "Energy, section VIII, as hash tables",
        title: "Variance of the bucket size of balanced maps, by accesses",
        statement: "With the cost i² the optimal schemes give a hash table buckets of the least \
             variance that its accesses and overflow allow.",
        parameters: tables::variance::parameters,
        run: tables::variance::run,
    },
    Experiment {
        id: "table-lines",
        source: "Not in the papers",
        title: "Buckets and cache lines read by lookups in hash tables, by load",
        statement: "A lookup reads d buckets and the stash at most; here is what it reads on \
             average, and in 99 of 100 cases.",
        parameters: tables::lines::parameters,
        run: tables::lines::run,
    },
    Experiment {
        id: "beyond",
        source: "Not in the papers",
        title: "Past the papers: false positives and blocks read by bits per key",
        statement: "The papers' lookups of absent keys read two blocks or more, at rates above the \
             classical filter's; hints and fingerprint blocks remove both limits.",
        parameters: beyond::parameters,
        run: beyond::run,
    },
];
