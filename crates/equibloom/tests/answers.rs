//! The answers of 300 random Bloom and classical filters, false positives included, never change.
//!
//! `answers.txt` has a line for each filter and kind of key: its parameters, and after the bar the results. API
//! and file format may change; the answers may not. So only [`build`], [`insert`] and [`counts`] depend on how
//! the crate describes a filter and reports on it, and the words of a filter are left out.
//!
//! `EQUIBLOOM_RENEW_ANSWERS=1 cargo test -p equibloom --test answers` rewrites the file after an intended
//! change of the answers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod random;

use std::collections::HashMap;
use std::fmt;

use equibloom::{
    Blocks, Design, Filter, Insertion, Layout, Overflow, Parameters, Rule, Share, StableKey,
    WhenFull,
};
use random::Random;

const FILTERS: u64 = 300;
/// Absent keys looked up in each filter.
const ABSENT: u64 = 4_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Classical,
    Blocked,
    Single,
    Sequential,
    MultiLevel,
    TwoChoice,
    OnePlusAlpha,
}

/// A filter described without the crate's types. Fields that do not apply are ignored.
#[derive(Debug)]
struct Spec {
    kind: Kind,
    blocks: u64,
    /// Bits of a block; a classical filter has `blocks` times as many.
    bits: u32,
    hashes: u32,
    /// A block below this load admits every key.
    threshold: u32,
    /// Probability in 64ths that a block at the threshold admits a key.
    coin: u32,
    hints: u32,
    /// Candidates of a key anywhere in the table.
    choices: u32,
    subtables: Vec<u64>,
    /// Share of keys in 64ths that have a second choice.
    alpha: u32,
    /// Block accesses that placing all keys may cost.
    budget: Option<u64>,
    capacity: u64,
    refuses: bool,
    seed: u64,
    keys: u64,
}

/// The only function that knows the crate's description of a filter.
fn build<K: StableKey>(spec: &Spec) -> Filter<K> {
    let (count, hashes) = (spec.blocks, spec.hashes);
    let blocks = Blocks::bloom(spec.bits, hashes);
    let hinted = blocks.with_hints(spec.hints);
    let share = |sixty_fourths: u32| Share::new(f64::from(sixty_fourths) / 64.0).unwrap();
    let rule = Rule::FirstWithRoom { below: spec.threshold, coin: share(spec.coin) };
    let when_full = if spec.refuses { WhenFull::Refuse } else { WhenFull::Saturate };
    let overflow = Overflow { capacity: spec.capacity, when_full };
    let layout = match spec.kind {
        Kind::Classical => None,
        Kind::Blocked => Some(Layout::blocked(blocks, count)),
        Kind::TwoChoice => Some(Layout::two_choice(blocks, count)),
        Kind::OnePlusAlpha => Some(Layout::one_plus_alpha(blocks, count, share(spec.alpha))),
        Kind::Single => Some(Layout::single(hinted, count, rule).with_overflow(overflow)),
        Kind::Sequential => {
            let layout = Layout::sequential(hinted, count, spec.choices, rule);
            Some(layout.with_overflow(overflow).with_budget(spec.budget))
        }
        Kind::MultiLevel => {
            let layout = Layout::multi_level(hinted, &spec.subtables, rule).unwrap();
            Some(layout.with_overflow(overflow))
        }
    };
    let classical = Design::Classical { bits: count * u64::from(spec.bits), hashes };
    let design = layout.map_or(classical, Design::Blocked);
    Filter::new(&Parameters { keys: spec.keys, seed: spec.seed, design }).unwrap()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    New,
    Present,
    Refused,
}

fn insert<K: StableKey>(filter: &mut Filter<K>, key: &K) -> Outcome {
    match filter.insert(key) {
        Ok(Insertion::New) => Outcome::New,
        Ok(Insertion::AlreadyPresent) => Outcome::Present,
        Err(_) => Outcome::Refused,
    }
}

/// Elements, and those of them in the overflow list.
fn counts<K>(filter: &Filter<K>) -> (u64, u64) {
    let statistics = filter.statistics();
    (statistics.elements, statistics.overflowed)
}

impl Spec {
    fn random(random: &mut Random) -> Self {
        let kind = random.one_of(&[
            Kind::Classical,
            Kind::Blocked,
            Kind::Single,
            Kind::Single,
            Kind::Sequential,
            Kind::Sequential,
            Kind::Sequential,
            Kind::MultiLevel,
            Kind::MultiLevel,
            Kind::MultiLevel,
            Kind::TwoChoice,
            Kind::OnePlusAlpha,
        ]);
        let bits = match random.between(0, 19) {
            0 => random.one_of(&[2_048, 4_096, 32_768]),
            1 => random.between(1_025, 32_768),
            2..10 => random.between(64, 1_024),
            _ => random.one_of(&[64, 65, 128, 256, 500, 512, 513, 1_024]),
        };
        let blocks = match random.between(0, 9) {
            0 => random.between(4, 9),
            _ if bits > 1_024 => random.between(4, 20),
            _ => random.between(10, 400),
        };
        let keys = (blocks * bits / random.between(4, 14)).max(1);
        let mean = keys / blocks;
        let threshold = (mean * random.between(5, 14) / 10).max(1) as u32;
        let counter = u64::from(u32::BITS - (threshold + 1).leading_zeros());
        let hints = match random.between(0, 1) {
            0 => 0,
            _ => random.between(1, (bits / 6).min(64)),
        };
        // Small enough that there are false positives to compare.
        let hashes = random.between(1, 8).min((bits - counter - hints) / 2) as u32;
        let choices = random.between(1, 5) as u32;
        // From a tenth of what all keys need to more than that.
        let budget = random.between(1, 12) * keys / 10;
        Self {
            kind,
            blocks,
            bits: bits as u32,
            hashes,
            threshold,
            coin: random.one_of(&[0, 13, 32, 50, 64]),
            hints: hints as u32,
            choices,
            subtables: random.subtables(blocks),
            alpha: random.between(0, 64) as u32,
            budget: (random.between(0, 1) == 1).then_some(budget),
            capacity: keys * random.one_of(&[0, 1, 5, 20, 100]) / 100,
            refuses: random.between(0, 1) == 1,
            seed: random.word(),
            keys,
        }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, blocks, bits, hashes, threshold, coin, hints, seed, keys, .. } = self;
        write!(f, "{kind:?} {blocks}x{bits} hashes {hashes} keys {keys} seed {seed:016x}")?;
        match kind {
            Kind::Classical | Kind::Blocked | Kind::TwoChoice => return Ok(()),
            Kind::OnePlusAlpha => return write!(f, " alpha {}/64", self.alpha),
            Kind::Single => {}
            Kind::Sequential => write!(f, " choices {} budget {:?}", self.choices, self.budget)?,
            Kind::MultiLevel => write!(f, " subtables {:?}", self.subtables)?,
        }
        let full = if self.refuses { "refuse" } else { "saturate" };
        write!(
            f,
            " threshold {threshold} coin {coin}/64 hints {hints} overflow {} {full}",
            self.capacity
        )
    }
}

/// Distinct keys, of all lengths that the hash treats differently.
fn byte_key(index: u64) -> Vec<u8> {
    let times = if index.is_multiple_of(32) { 50 } else { 1 + index % 4 };
    format!("key {index}").repeat(times as usize).into_bytes()
}

/// FNV-1a of 64 bits: two lists that differ in one byte never have the same digest.
fn digest(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The results of one filter and its keys.
struct Outcomes {
    new: u64,
    refused: u64,
    overflowed: u64,
    false_positives: u64,
    inserts: u64,
    answers: u64,
}

impl fmt::Display for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { new, refused, overflowed, false_positives, inserts, answers } = self;
        write!(
            f,
            "new {new} refused {refused} overflowed {overflowed} false-positives \
             {false_positives} inserts {inserts:016x} answers {answers:016x}"
        )
    }
}

/// Fills a filter key by key, looks keys up, and does the same in batches.
fn run<K: StableKey>(name: &str, spec: &Spec, key: fn(u64) -> K) -> Outcomes {
    // Every eighth key is inserted twice, the second time among later keys.
    let inserted: Vec<K> = (0..spec.keys)
        .flat_map(|i| [Some(i), (i % 8 == 7).then_some(i / 2)])
        .flatten()
        .map(key)
        .collect();
    let mut filter = build(spec);
    let outcomes: Vec<Outcome> = inserted.iter().map(|key| insert(&mut filter, key)).collect();
    let times = |outcome| outcomes.iter().filter(|&&other| other == outcome).count() as u64;
    let (elements, overflowed) = counts(&filter);
    assert_eq!(elements, times(Outcome::New), "{name}");

    let mut in_batches = build(spec);
    let mut rest = &inserted[..];
    // A batch ends at the first refused key.
    for outcomes in outcomes.split_inclusive(|outcome| *outcome == Outcome::Refused) {
        let (batch, later) = rest.split_at(outcomes.len());
        let new = outcomes.iter().filter(|&&outcome| outcome == Outcome::New).count() as u64;
        let expected = (outcomes.last() != Some(&Outcome::Refused)).then_some(new);
        assert_eq!(in_batches.insert_batch(batch).ok(), expected, "new keys of a batch, {name}");
        rest = later;
    }
    assert_eq!(counts(&in_batches), (elements, overflowed), "in batches, {name}");

    let mut asked = inserted;
    let members = asked.len();
    asked.extend((spec.keys..spec.keys + ABSENT).map(key));
    let answers: Vec<bool> = asked.iter().map(|key| filter.contains(key)).collect();
    let mut batch = Vec::new();
    in_batches.contains_batch(&asked, &mut batch);
    assert!(batch == answers, "batches answer otherwise, {name}");
    let lost = outcomes
        .iter()
        .zip(&answers)
        .filter(|&(&outcome, &found)| outcome != Outcome::Refused && !found);
    assert_eq!(lost.count(), 0, "keys were lost, {name}");

    Outcomes {
        new: elements,
        refused: times(Outcome::Refused),
        overflowed,
        false_positives: answers[members..].iter().filter(|&&found| found).count() as u64,
        inserts: digest(outcomes.iter().map(|&outcome| outcome as u8)),
        answers: digest(answers.iter().map(|&found| found.into())),
    }
}

/// The names of the differing values of two rows.
fn differences(expected: &str, got: &str) -> String {
    let (expected, got): (Vec<&str>, Vec<&str>) =
        (expected.split(' ').collect(), got.split(' ').collect());
    let pairs = expected.chunks(2).zip(got.chunks(2)).filter(|(expected, got)| expected != got);
    let texts = pairs
        .map(|(expected, got)| format!("{} instead of {}", got.join(" "), expected[1..].join(" ")));
    texts.collect::<Vec<_>>().join(", ")
}

/// The number of filters with properties that must be covered.
#[derive(Debug, Default)]
struct Covered {
    kinds: HashMap<Kind, u64>,
    hinted: u64,
    /// Neither almost all nor almost no absent keys are found.
    telling: u64,
    refusing: u64,
    saturated: u64,
    /// The budget did not suffice for one access of each key.
    budget_spent: u64,
}

impl Covered {
    fn count(&mut self, spec: &Spec, outcomes: &Outcomes) {
        let balanced = matches!(spec.kind, Kind::Single | Kind::Sequential | Kind::MultiLevel);
        let is_full = balanced && outcomes.overflowed == spec.capacity;
        let budget = spec.budget.filter(|_| spec.kind == Kind::Sequential);
        *self.kinds.entry(spec.kind).or_default() += 1;
        self.hinted += u64::from(balanced && spec.hints > 0);
        self.telling += u64::from((20..ABSENT * 3 / 4).contains(&outcomes.false_positives));
        self.refusing += u64::from(outcomes.refused > 0);
        self.saturated += u64::from(is_full && !spec.refuses);
        self.budget_spent += u64::from(budget.is_some_and(|budget| budget < outcomes.new));
    }

    fn check(&self) {
        let Self { kinds, hinted, telling, refusing, saturated, budget_spent } = self;
        let of_all_kinds = kinds.len() == 7 && kinds.values().all(|&filters| filters >= 10);
        let enough =
            [(hinted, 60), (telling, 200), (refusing, 20), (saturated, 20), (budget_spent, 15)];
        assert!(of_all_kinds && enough.iter().all(|&(count, least)| *count >= least), "{self:#?}");
    }
}

#[test]
fn the_answers_have_not_changed() {
    let mut random = Random(16);
    let mut covered = Covered::default();
    let mut lines = Vec::new();
    for number in 0..FILTERS {
        let spec = Spec::random(&mut random);
        let name = format!("{number} bytes {spec}");
        let outcomes = run(&name, &spec, byte_key);
        covered.count(&spec, &outcomes);
        lines.push(format!("{name} | {outcomes}"));
        let name = format!("{number} u64 {spec}");
        lines.push(format!("{name} | {}", run(&name, &spec, |index| index)));
    }
    covered.check();

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/answers.txt");
    if std::env::var_os("EQUIBLOOM_RENEW_ANSWERS").is_some() {
        std::fs::write(path, lines.join("\n") + "\n").unwrap();
    }
    let recorded = std::fs::read_to_string(path).unwrap();
    assert_eq!(recorded.lines().count(), lines.len(), "lines of {path}");
    let mut changed = Vec::new();
    for (recorded, line) in recorded.lines().zip(&lines) {
        let (expected_name, expected) = recorded.split_once(" | ").unwrap();
        let (name, got) = line.split_once(" | ").unwrap();
        assert_eq!(name, expected_name, "the test itself has changed: it asks for another filter");
        if got != expected {
            changed.push(format!("{name}: {}", differences(expected, got)));
        }
    }
    let first = changed[..changed.len().min(10)].join("\n");
    assert!(changed.is_empty(), "{} of {} have changed:\n{first}", changed.len(), lines.len());
}
