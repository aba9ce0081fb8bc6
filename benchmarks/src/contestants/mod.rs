//! What takes part, each behind the same few operations.
//!
//! Equal care for all: the best documented interface, hashes instead of keys where they are taken, and
//! for those without a call for many keys a loop that asks for memory in advance, where their
//! memory can be reached ([`peers`] says for whom it cannot).

mod limit;
mod ours;
mod peers;
mod prefetch;

use std::error::Error;

use serde::Serialize;

use crate::keys::Keys;

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// A filter in the race. Loops are inside, so that a dynamic call is paid once for many keys.
pub(crate) trait Contestant: Send + Sync {
    /// All bytes that it occupies.
    fn bytes(&self) -> u64;

    /// Inserts keys one by one.
    fn insert_each(&mut self, keys: Keys<'_>) -> Result<(), Failure>;

    /// Inserts keys in the fastest way there is for many.
    fn insert_batch(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        self.insert_each(keys)
    }

    /// Inserts keys by so many threads.
    fn insert_parallel(&mut self, keys: Keys<'_>, _threads: usize) -> Result<(), Failure> {
        self.insert_batch(keys)
    }

    /// Looks keys up one by one; how many were found.
    fn count_each(&self, keys: Keys<'_>) -> usize;

    /// Looks keys up in the fastest way there is for many; how many were found.
    fn count_batch(&self, keys: Keys<'_>) -> usize {
        self.count_each(keys)
    }

    /// What the filter, as it is now, says of itself.
    fn expectation(&self) -> Option<Expectation> {
        None
    }
}

/// What a filter expects of lookups of absent keys.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Expectation {
    pub(crate) rate: f64,
    /// Cache lines that are read.
    pub(crate) lines_per_miss: f64,
}

/// Who takes part, before any memory is taken.
pub(crate) struct Entry {
    pub(crate) profile: Profile,
    pub(crate) make: Make,
}

/// An empty filter; of those that are built once, the full one.
pub(crate) type Make = Box<dyn Fn(Keys<'_>) -> Result<Box<dyn Contestant>, Failure>>;

/// What is known of a contestant without running it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Profile {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) many: Many,
    /// Whether several threads can insert at once.
    pub(crate) parallel_inserts: bool,
    /// The rate that was promised before it was built.
    pub(crate) promised_rate: Option<f64>,
    /// The peer whose memory this one was planned for.
    pub(crate) rival: Option<String>,
}

/// What a contestant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// No filter: what the memory allows.
    Limit,
    /// Equibloom.
    Ours,
    /// Somebody else's, and takes inserts.
    Peer,
    /// Somebody else's, and is built once from all keys.
    Static,
}

/// How many keys are asked for at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Many {
    /// By a call of its own.
    Call,
    /// By this program's loop, which asks for memory in advance.
    PrefetchingLoop,
    /// Not at all: no such call, and nobody outside can tell where it will read.
    OneByOne,
}

/// Name of the plan that users get who say nothing but their keys and memory.
pub(crate) const DEFAULT_PLAN: &str = "equibloom";
pub(crate) const LIMIT: &str = "limit";
pub(crate) const SBBF: &str = "sbbf-rs";
pub(crate) const FASTBLOOM: &str = "fastbloom";
pub(crate) const QFILTER: &str = "qfilter";

/// Who runs, and who does not although wanted.
pub(crate) struct LineUp {
    pub(crate) entries: Vec<Entry>,
    /// Names and reasons.
    pub(crate) absent: Vec<String>,
}

/// Everybody who is meant by one of the words (or everybody), for so many keys in so many bytes.
pub(crate) fn line_up(keys: u64, bytes: u64, only: &[String]) -> Result<LineUp, Failure> {
    let mut entries = vec![limit::entry(bytes)];
    entries.extend(peers::entries(keys, bytes)?);
    let mut plans = ours::plans(keys, bytes);
    let names =
        entries.iter().map(|entry| &entry.profile.name).chain(plans.iter().map(|p| &p.name));
    let names: Vec<String> = names.cloned().collect();
    // A whole name means that one; anything else, everybody whose name holds it.
    let means = |word: &String, name: &str| match names.contains(word) {
        true => word == name,
        false => name.contains(&word[..]),
    };
    let wanted = |name: &str| only.is_empty() || only.iter().any(|word| means(word, name));
    entries.retain(|entry| wanted(&entry.profile.name));
    for (rival, bytes) in rivals(&entries, bytes)? {
        plans.push(ours::beside(&rival, keys, bytes));
    }
    let mut absent = Vec::new();
    for plan in plans.iter().filter(|plan| wanted(&plan.name)) {
        match plan.entry() {
            Ok(entry) => entries.push(entry),
            // Not everything can be had in very little memory; the default plan can.
            Err(error) if plan.name != DEFAULT_PLAN => {
                absent.push(format!("{}: {error}", plan.name));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(LineUp { entries, absent })
}

/// Peers that take inserts and cannot be made as large as they are told, and how large they are.
fn rivals(entries: &[Entry], asked: u64) -> Result<Vec<(String, u64)>, Failure> {
    let mut rivals = Vec::new();
    for entry in entries.iter().filter(|entry| entry.profile.kind == Kind::Peer) {
        let bytes = (entry.make)(Keys { full: &[], short: &[] })?.bytes();
        if (bytes as f64 / asked as f64 - 1.0).abs() > ROUNDING {
            rivals.push((entry.profile.name.clone(), bytes));
        }
    }
    Ok(rivals)
}

/// Up to this share, a difference in memory is rounding.
pub(crate) const ROUNDING: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Workload;

    const KEYS: u64 = 30_000;

    #[test]
    fn everybody_finds_every_key_in_every_way_within_the_memory() {
        let bytes = KEYS * 2;
        let workload = Workload::new(KEYS, 3_000);
        for entry in line_up(KEYS, bytes, &[]).unwrap().entries {
            let name = &entry.profile.name;
            let mut filter = (entry.make)(workload.members.all()).unwrap();
            let mut halves = workload.members.all().split(2);
            filter.insert_each(halves.next().unwrap()).unwrap();
            filter.insert_batch(halves.next().unwrap()).unwrap();
            let [found, at_once] =
                [filter.count_each(workload.hits.all()), filter.count_batch(workload.hits.all())];
            assert_eq!((found, at_once), (3_000, 3_000), "{name}");
            if entry.profile.kind != Kind::Limit {
                let strangers = workload.strangers.all();
                assert_eq!(filter.count_each(strangers), filter.count_batch(strangers), "{name}");
                // Nobody here has a rate above 3 %.
                assert!(filter.count_each(strangers) < 130, "{name}");
            }
            // Ours keep to the byte; others round up, or count a few fields of their own.
            let most = match entry.profile.kind {
                Kind::Ours if entry.profile.rival.is_none() => bytes,
                Kind::Static => bytes * 3 / 2,
                _ => bytes * 11 / 10,
            };
            assert!(filter.bytes() <= most, "{name}: {} of {most} bytes", filter.bytes());
        }
    }

    #[test]
    fn what_cannot_be_planned_is_named() {
        let line_up = line_up(3_000, 6_000, &["removable".to_owned()]).unwrap();
        assert!(line_up.entries.is_empty());
        assert!(line_up.absent[0].starts_with("equibloom, removable: "), "{:?}", line_up.absent);
    }

    #[test]
    fn only_those_run_that_are_asked_for_and_rivals_get_a_plan() {
        let names = |only: &[&str]| -> Vec<String> {
            let only: Vec<String> = only.iter().map(|&word| word.to_owned()).collect();
            let entries = line_up(KEYS, KEYS * 2, &only).unwrap().entries;
            entries.into_iter().map(|entry| entry.profile.name).collect()
        };
        assert_eq!(names(&["limit", "sbbf"]), [LIMIT, SBBF]);
        assert_eq!(names(&["equibloom"]), [DEFAULT_PLAN]);
        assert!(names(&["nobody"]).is_empty());
        let all = names(&[]);
        assert!(
            all.contains(&ours::name_beside(QFILTER)) && !all.contains(&ours::name_beside(SBBF))
        );
    }
}
