//! Two editions of the library in one race, with sbbf-rs and the limit beside them.
//!
//! `cargo xtask compare <revision>` links the library of another revision under the name `other` and says by
//! `--cfg other_edition` which adapter fits its interface. Linked without it, the program compares the library
//! with itself: the ratios then show the noise of the machine.
//!
//! Every filter takes part twice, by hash and by key. The editions plan for the same memory. The present one
//! has a second layout, for single lookups: it seldom reads a second block, at the price of a higher rate.

mod claims;
#[cfg_attr(
    not(other_edition = "first"),
    expect(clippy::duplicate_mod, reason = "one adapter for both editions")
)]
mod other;
mod present;
mod table;

pub(crate) use claims::judge;
pub(crate) use table::table;

use equibloom::KeyHash;

use crate::contestants::{self, Entry, Failure, Kind, LIMIT, LineUp, Make, Many, Profile, SBBF};
use crate::keys::{Hashes, Keys};
use crate::race::{self, Outcome, Size};

/// Whether another revision is linked.
pub(crate) const OTHER_IS_LINKED: bool = cfg!(other_edition);

/// The present edition's plan of the lowest rate, and its plan for single lookups.
const PRESENT: &str = "present";
const SINGLE: &str = "present, single";

/// Runs a race of the editions and measures their rates.
pub(crate) fn run(
    size: &Size,
    other: &str,
    single_accesses: f64,
    progress: &dyn Fn(&str),
) -> Result<Outcome, Failure> {
    let line_up = line_up(size, other, single_accesses)?;
    let mut rates = Vec::new();
    for entry in &line_up.entries {
        let name = &entry.profile.name;
        if [other, PRESENT, SINGLE, SBBF].contains(&&name[..]) {
            progress(&format!("rate of {name}"));
            rates.push((name.clone(), rate(entry, size)?));
        }
    }
    let mut outcome = race::run(size, line_up, progress)?;
    for lane in &mut outcome.lanes {
        let rate = rates.iter().find(|(name, _)| *name == lane.profile.name);
        lane.rate = rate.map(|(_, rate)| *rate);
    }
    Ok(outcome)
}

fn line_up(size: &Size, other: &str, single_accesses: f64) -> Result<LineUp, Failure> {
    let (keys, bytes) = (size.keys, size.bytes());
    let mut entries = contestants::line_up(keys, bytes, &[LIMIT, SBBF].map(str::to_owned))?.entries;
    entries.extend(contestants::by_key(bytes, by_key)?);
    entries.extend(other::entries(other, keys, bytes, None)?);
    entries.extend(present::entries(PRESENT, keys, bytes, None)?);
    let mut absent = Vec::new();
    match present::entries(SINGLE, keys, bytes, Some(single_accesses)) {
        Ok(single) => entries.extend(single),
        Err(error) => absent.push(format!("{SINGLE}: {error}")),
    }
    Ok(LineUp { entries, absent })
}

/// The name of the same filter when it is given keys.
fn by_key(name: &str) -> String {
    format!("{name}, by key")
}

/// An edition's filter.
fn entry(name: String, parallel_inserts: bool, make: Make) -> Entry {
    let (kind, many) = (Kind::Ours, Many::Call);
    let (promised_rate, rival) = (None, None);
    Entry { profile: Profile { name, kind, many, parallel_inserts, promised_rate, rival }, make }
}

/// Keys per batch of lookups; the answers stay in the L1 cache.
const BATCH: usize = 16_384;

/// The number of keys found by lookups that write bitmaps.
fn count_in_batches<K>(keys: &[K], mut look_up: impl FnMut(&[K], &mut Vec<u64>)) -> usize {
    let (mut found, mut count) = (Vec::new(), 0);
    for keys in keys.chunks(BATCH) {
        look_up(keys, &mut found);
        count += found.iter().map(|word| word.count_ones() as usize).sum::<usize>();
    }
    count
}

/// False positives for a rate within about 2 % (two standard deviations).
const FALSE_POSITIVES: usize = 10_000;
/// Absent keys looked up at most, as a multiple of a round's lookups.
const MOST_ROUNDS: u64 = 200;
/// Keys inserted or looked up at once.
const CHUNK: u64 = 1 << 20;

/// The share of absent keys that are found, from more keys than a round has.
fn rate(entry: &Entry, size: &Size) -> Result<f64, Failure> {
    let chunk = |start: u64, end: u64| Hashes::of(start..end.min(start + CHUNK));
    let mut filter = (entry.make)(Keys { plain: &[], full: &[], short: &[] })?;
    for start in (0..size.keys).step_by(CHUNK as usize) {
        filter.insert_batch(chunk(start, size.keys).all())?;
    }
    let end = size.keys + size.lookups.saturating_mul(MOST_ROUNDS);
    let (mut found, mut asked) = (0, 0);
    for start in (size.keys..end).step_by(CHUNK as usize) {
        let absent = chunk(start, end);
        found += filter.count_batch(absent.all());
        asked += absent.all().len();
        if found >= FALSE_POSITIVES {
            break;
        }
    }
    Ok(found as f64 / asked.max(1) as f64)
}

/// The hashes as the type of another edition, without a copy.
///
/// Copies would be timed: batches take slices.
#[inline(always)]
#[allow(unsafe_code, reason = "editions have different types of the same shape")]
fn view<H: EditionHash>(hashes: &[KeyHash]) -> &[H] {
    const { assert!(size_of::<H>() == size_of::<KeyHash>() && align_of::<H>() == align_of::<KeyHash>()) };
    // SAFETY: every edition's hash is two words, any bits of which are valid; size and alignment are compared
    // above. `check_view` has compared the order of the words.
    unsafe { std::slice::from_raw_parts(hashes.as_ptr().cast(), hashes.len()) }
}

/// The hash type of an edition.
trait EditionHash: Copy + From<u128> + Into<u128> {}
impl<H: Copy + From<u128> + Into<u128>> EditionHash for H {}

/// An error if [`view`] does not show the same hashes.
fn check_view<H: EditionHash>() -> Result<(), Failure> {
    let hash = 0x0123_4567_89ab_cdef_1111_2222_3333_4444_u128;
    let seen: Vec<u128> =
        view::<H>(&[KeyHash::from(hash)]).iter().map(|&hash| hash.into()).collect();
    if seen == [hash] {
        Ok(())
    } else {
        Err("the hashes of this revision have another form in memory; compare with a revision whose KeyHash has the same fields".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Mode, Operation, Task};

    #[test]
    fn every_filter_runs_by_hash_and_by_key_and_has_a_rate() {
        let (rounds, builds, threads) = (2, 1, vec![1, 2]);
        let size =
            Size { keys: 20_000, bits_per_key: 11.55, rounds, builds, lookups: 20_000, threads };
        // The race checks the answers.
        let outcome = run(&size, "itself", 1.1, &|_| ()).unwrap();
        assert!(outcome.absent.is_empty(), "{:?}", outcome.absent);
        let rate = |name: &str| outcome.lane(name).unwrap().rate;
        for name in [LIMIT, SBBF, "itself", PRESENT, SINGLE] {
            for name in [name.to_owned(), by_key(name)] {
                let lane = outcome.lane(&name).unwrap();
                for operation in [Operation::Insert, Operation::Miss, Operation::Hit] {
                    for mode in [Mode::Single, Mode::Batch] {
                        let times = lane.nanoseconds.of(Task { operation, mode, threads: 1 });
                        assert!(times.is_some(), "{name} {operation:?} {mode:?}");
                    }
                }
            }
            assert_eq!(rate(name).is_some(), name != LIMIT, "{name}");
        }
        // The same library and keys: the same false positives.
        assert_eq!(rate("itself"), rate(PRESENT));
        assert!(rate(PRESENT) < rate(SBBF));
    }
}
