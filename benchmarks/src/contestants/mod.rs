//! The filters that are compared, behind one trait.
//!
//! All get equal care: the best documented interface, hashes instead of keys where they are accepted, and a
//! prefetching loop where there is no batch call but the memory can be reached (the table in [`peers`] says
//! where it cannot).

mod by_key;
mod limit;
mod ours;
mod peers;
mod prefetch;

use std::error::Error;

use serde::Serialize;

pub(crate) use by_key::entries as by_key;

use crate::keys::Keys;

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// A filter in the race. Loops are inside, so that a dynamic call is paid once for many keys.
pub(crate) trait Contestant: Send + Sync {
    /// All bytes it occupies.
    fn bytes(&self) -> u64;

    /// Inserts keys one by one.
    fn insert_each(&mut self, keys: Keys<'_>) -> Result<(), Failure>;

    /// Inserts keys by the fastest batch interface.
    fn insert_batch(&mut self, keys: Keys<'_>) -> Result<(), Failure> {
        self.insert_each(keys)
    }

    /// Inserts keys on this many threads.
    fn insert_parallel(&mut self, keys: Keys<'_>, _threads: usize) -> Result<(), Failure> {
        self.insert_batch(keys)
    }

    /// Looks keys up one by one; returns the number found.
    fn count_each(&self, keys: Keys<'_>) -> usize;

    /// Looks keys up by the fastest batch interface; returns the number found.
    fn count_batch(&self, keys: Keys<'_>) -> usize {
        self.count_each(keys)
    }

    /// The filter's own expectation in its present state.
    fn expectation(&self) -> Option<Expectation> {
        None
    }
}

/// A filter's expectation for lookups of absent keys.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Expectation {
    pub(crate) rate: f64,
    /// Cache lines read.
    pub(crate) lines_per_miss: f64,
}

/// A contestant before its memory is allocated.
pub(crate) struct Entry {
    pub(crate) profile: Profile,
    pub(crate) make: Make,
}

/// Makes an empty filter, or the full one if it is static.
pub(crate) type Make = Box<dyn Fn(Keys<'_>) -> Result<Box<dyn Contestant>, Failure>>;

/// Properties of a contestant that need no run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Profile {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) many: Many,
    /// Whether several threads can insert at once.
    pub(crate) parallel_inserts: bool,
    /// The planned rate.
    pub(crate) promised_rate: Option<f64>,
    /// The peer whose memory size this plan was made for.
    pub(crate) rival: Option<String>,
}

/// Kind of contestant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// No filter: the limit set by memory.
    Limit,
    /// Equibloom.
    Ours,
    /// Another library's filter that takes inserts.
    Peer,
    /// Another library's static filter, built once from all keys.
    Static,
}

/// How batches are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Many {
    /// By the library's batch call.
    Call,
    /// By this program's prefetching loop.
    PrefetchingLoop,
    /// Not at all: no batch call, and the memory addresses are not accessible.
    OneByOne,
}

/// Name of the plan for keys and memory with no other requirements.
pub(crate) const DEFAULT_PLAN: &str = "equibloom";
pub(crate) const LIMIT: &str = "limit";
pub(crate) const SBBF: &str = "sbbf-rs";
pub(crate) const FASTBLOOM: &str = "fastbloom";
pub(crate) const QFILTER: &str = "qfilter";

/// The contestants that run, and those requested that cannot.
pub(crate) struct LineUp {
    pub(crate) entries: Vec<Entry>,
    /// Names and reasons.
    pub(crate) absent: Vec<String>,
}

/// All contestants that match one of the words (or all), for this many keys and bytes.
pub(crate) fn line_up(keys: u64, bytes: u64, only: &[String]) -> Result<LineUp, Failure> {
    let mut entries = vec![limit::entry(bytes)];
    entries.extend(peers::entries(keys, bytes)?);
    let mut plans = ours::plans(keys, bytes);
    let names =
        entries.iter().map(|entry| &entry.profile.name).chain(plans.iter().map(|p| &p.name));
    let names: Vec<String> = names.cloned().collect();
    // A whole name selects one contestant; any other word selects all whose name contains it.
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
            // Some plans do not fit into very little memory; the default plan does.
            Err(error) if plan.name != DEFAULT_PLAN => {
                absent.push(format!("{}: {error}", plan.name));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(LineUp { entries, absent })
}

/// Dynamic peers whose memory cannot be chosen, with their actual size.
fn rivals(entries: &[Entry], asked: u64) -> Result<Vec<(String, u64)>, Failure> {
    let mut rivals = Vec::new();
    for entry in entries.iter().filter(|entry| entry.profile.kind == Kind::Peer) {
        let bytes = (entry.make)(Keys { plain: &[], full: &[], short: &[] })?.bytes();
        if (bytes as f64 / asked as f64 - 1.0).abs() > ROUNDING {
            rivals.push((entry.profile.name.clone(), bytes));
        }
    }
    Ok(rivals)
}

/// A difference in memory up to this share counts as rounding.
pub(crate) const ROUNDING: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Workload;

    const KEYS: u64 = 30_000;

    #[test]
    fn every_contestant_finds_every_key_in_every_way_within_the_memory() {
        let bytes = KEYS * 2;
        let workload = Workload::new(KEYS, 3_000);
        let mut entries = line_up(KEYS, bytes, &[]).unwrap().entries;
        entries.extend(by_key(bytes, |name| format!("{name}, by key")).unwrap());
        for entry in entries {
            let name = &entry.profile.name;
            let mut filter = (entry.make)(workload.members.all()).unwrap();
            let mut halves = workload.members.all().split(2);
            filter.insert_each(halves.next().unwrap()).unwrap();
            filter.insert_batch(halves.next().unwrap()).unwrap();
            let [found, at_once] =
                [filter.count_each(workload.hits.all()), filter.count_batch(workload.hits.all())];
            assert_eq!((found, at_once), (3_000, 3_000), "{name}");
            if entry.profile.kind != Kind::Limit {
                let misses = workload.misses.all();
                assert_eq!(filter.count_each(misses), filter.count_batch(misses), "{name}");
                // All rates here are below 3 %.
                assert!(filter.count_each(misses) < 130, "{name}");
            }
            // Equibloom keeps to the byte; others round up, or count a few fields of their own.
            let most = match entry.profile.kind {
                Kind::Ours if entry.profile.rival.is_none() => bytes,
                Kind::Static => bytes * 3 / 2,
                _ => bytes * 11 / 10,
            };
            assert!(filter.bytes() <= most, "{name}: {} of {most} bytes", filter.bytes());
        }
    }

    #[test]
    fn plans_that_do_not_fit_are_named() {
        let line_up = line_up(3_000, 2_500, &["removable".to_owned()]).unwrap();
        assert!(line_up.entries.is_empty());
        assert!(line_up.absent[0].starts_with("equibloom, removable: "), "{:?}", line_up.absent);
    }

    #[test]
    fn only_selected_contestants_run_and_rivals_get_a_plan() {
        let names = |only: &[&str]| -> Vec<String> {
            let only: Vec<String> = only.iter().map(|&word| word.to_owned()).collect();
            let entries = line_up(KEYS, KEYS * 2, &only).unwrap().entries;
            entries.into_iter().map(|entry| entry.profile.name).collect()
        };
        assert_eq!(names(&["limit", "sbbf"]), [LIMIT, SBBF]);
        assert_eq!(names(&["equibloom"]), [DEFAULT_PLAN]);
        assert!(names(&["unknown"]).is_empty());
        let all = names(&[]);
        assert!(
            all.contains(&ours::name_beside(QFILTER)) && !all.contains(&ours::name_beside(SBBF))
        );
    }
}
