//! `equibloom cuckoo --trace`: cuckoo hashing step by step, as on the slides.

use std::fmt;

use anyhow::ensure;
use equibloom_tables::{Move, Outcome, Step, Trace};

use crate::answer;

/// Shows cuckoo hashing step by step: two tables, one key per bucket, h1(k) = k mod m, h2(k) = ⌊k/m⌋ mod m.
///
/// Example: equibloom cuckoo --trace --keys 20,50,53,75 --buckets 11
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Show every step (without it, only the final tables).
    #[arg(long)]
    trace: bool,
    /// Keys in insertion order.
    #[arg(
        long,
        value_name = "KEYS",
        value_delimiter = ',',
        default_value = "20,50,53,75,100,67,105,3,36,39,6"
    )]
    keys: Vec<u64>,
    /// Buckets of each table.
    #[arg(long, value_name = "M", default_value_t = 11)]
    buckets: u64,
}

/// Wider tables would be unreadable.
const MOST_BUCKETS: u64 = 1_000;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { buckets, keys, .. } = arguments;
    ensure!(
        (1..=MOST_BUCKETS).contains(buckets),
        "--buckets is {buckets}: give a whole number from 1 to {MOST_BUCKETS}"
    );
    let room = 2 * buckets;
    ensure!(
        keys.len() as u64 <= room,
        "--keys has {} keys, two tables of {buckets} hold {room}: give fewer keys or more --buckets",
        keys.len()
    );
    let mut text = format!(
        "Two tables of {buckets}: h1(k) = k mod {buckets}, h2(k) = ⌊k/{buckets}⌋ mod {buckets}.\n\n"
    );
    let mut trace = Trace::new(*buckets)?;
    for &key in keys {
        let step = trace.insert(key);
        if arguments.trace {
            text += &format!("{}\n", Told(&step));
        }
    }
    text += &Tables(&trace).to_string();
    answer::write(&text)
}

/// One step in words.
struct Told<'a>(&'a Step);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Step { key, buckets: [first, second], moves, outcome, .. } = self.0;
        writeln!(f, "{key}  (h1 = {first}, h2 = {second})")?;
        for Move { key, table, bucket, displaced } in moves {
            write!(f, "    {key} → T{}[{bucket}]", table + 1)?;
            match displaced {
                Some(other) => writeln!(f, ", displaces {other}")?,
                None => writeln!(f)?,
            }
        }
        match outcome {
            Outcome::Placed => Ok(()),
            Outcome::AlreadyPresent => writeln!(f, "    is there already"),
            Outcome::Rehashed { functions } => writeln!(
                f,
                "    … and so on: {key} closes a second cycle. Rehash! With new functions (the {}) \
                 all keys find a place.",
                ordinal(*functions)
            ),
            Outcome::Stashed { keys } => writeln!(
                f,
                "    … and so on, whatever the functions: {keys} of the keys go to the stash."
            ),
        }
    }
}

fn ordinal(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending} pair")
}

/// Both tables side by side, as the slides draw them.
struct Tables<'a>(&'a Trace);

impl fmt::Display for Tables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.0.tables();
        let text = |key: &Option<u64>| key.map_or(String::from("·"), |key| key.to_string());
        let all = first.iter().chain(&second);
        let width = all.map(|key| text(key).len()).max().unwrap_or(1).max(3);
        writeln!(f, "{:>4}  {:>width$}  {:>width$}", "", "T1", "T2")?;
        for (bucket, (first, second)) in first.iter().zip(&second).enumerate() {
            writeln!(f, "{bucket:>4}  {:>width$}  {:>width$}", text(first), text(second))?;
        }
        Ok(())
    }
}
