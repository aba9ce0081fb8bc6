//! `equibloom cuckoo --trace`: cuckoo hashing step by step, as on the slides.

use anyhow::ensure;
use equibloom_tables::{Move, Outcome, Step, Trace};

use crate::answer;

/// Shows cuckoo hashing step by step: two tables, one key per bucket, h1(k) = k mod m, h2(k) = ⌊k/m⌋ mod m.
///
/// Exit status: 0, or 2 after an error.
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
        "--keys has {}, two tables of {buckets} hold {room}: give fewer keys or more --buckets",
        answer::count(keys.len() as u64, "key")
    );
    let mut text = format!(
        "Two tables of {buckets}: h1(k) = k mod {buckets}, h2(k) = ⌊k/{buckets}⌋ mod {buckets}.\n\n"
    );
    let mut trace = Trace::new(*buckets)?;
    for &key in keys {
        let step = trace.insert(key);
        if arguments.trace {
            text += &format!("{}\n", told(&step));
        }
    }
    answer::write(&(text + &drawn(&trace)))
}

/// One step in words.
fn told(Step { key, buckets: [first, second], moves, outcome, .. }: &Step) -> String {
    let mut text = format!("{key}  (h1 = {first}, h2 = {second})\n");
    for Move { key, table, bucket, displaced } in moves {
        text += &format!("    {key} → T{}[{bucket}]", table + 1);
        text += &displaced.map_or(String::new(), |other| format!(", displaces {other}"));
        text += "\n";
    }
    text + &match outcome {
        Outcome::Placed => String::new(),
        Outcome::AlreadyPresent => "    is there already\n".to_owned(),
        Outcome::Rehashed { functions } => format!(
            "    … and so on: {key} closes a second cycle. Rehash! With new functions (the {}) \
             all keys find a place.\n",
            ordinal(*functions)
        ),
        Outcome::Stashed { keys } => format!(
            "    … and so on, whatever the functions: {keys} of the keys go to the stash.\n"
        ),
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
fn drawn(trace: &Trace) -> String {
    let [first, second] = trace.tables().map(|table| {
        let text = |key: Option<u64>| key.map_or("·".to_owned(), |key| key.to_string());
        table.into_iter().map(text).collect::<Vec<_>>()
    });
    let width = first.iter().chain(&second).map(String::len).max().unwrap_or(1).max(3);
    let mut text = format!("{:>4}  {:>width$}  {:>width$}\n", "", "T1", "T2");
    for (bucket, (first, second)) in first.iter().zip(&second).enumerate() {
        text += &format!("{bucket:>4}  {first:>width$}  {second:>width$}\n");
    }
    text
}
