//! `equibloom theory`: bounds, optimal parameters, rates, fluid limits and cuckoo hashing.

mod alpha;
mod blocks;
mod cuckoo;
mod fluid;
mod lower_bound;
mod model;
mod optimum;
mod rate;
mod scheme;

#[derive(clap::Subcommand)]
pub(crate) enum Question {
    LowerBound(lower_bound::Arguments),
    Optimum(optimum::Arguments),
    Rate(rate::Arguments),
    Alpha(alpha::Arguments),
    Fluid(fluid::Arguments),
    Cuckoo(cuckoo::Arguments),
}

pub(crate) fn run(question: &Question) -> anyhow::Result<()> {
    match question {
        Question::LowerBound(arguments) => lower_bound::run(arguments),
        Question::Optimum(arguments) => optimum::run(arguments),
        Question::Rate(arguments) => rate::run(arguments),
        Question::Alpha(arguments) => alpha::run(arguments),
        Question::Fluid(arguments) => fluid::run(arguments),
        Question::Cuckoo(arguments) => cuckoo::run(arguments),
    }
}
