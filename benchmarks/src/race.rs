//! Contestants take turns; medians and ratios come out.

use std::error::Error;
use std::fmt;
use std::hint::black_box;
use std::time::Instant;

use equibloom::{KeyHash, KeyHasher, Stable};

use crate::contestant::{Blocked, Contestant, Fastbloom, Limit, MultiLevel};

/// How large a race is.
pub(crate) struct Size {
    pub(crate) keys: u64,
    pub(crate) bits_per_key: u64,
    pub(crate) rounds: usize,
    pub(crate) lookups: u64,
}

/// Nanoseconds per operation in each round, and what the answers were.
struct Lane {
    name: &'static str,
    insert: Vec<f64>,
    miss: Vec<f64>,
    hit: Vec<f64>,
    rate: f64,
}

/// The outcome of one race.
pub(crate) struct Table {
    heading: String,
    lanes: Vec<Lane>,
}

/// Hashes of keys and of as many strangers as there are lookups.
struct Hashes {
    keys: Vec<KeyHash>,
    strangers: Vec<KeyHash>,
}

/// Runs all contestants on the same keys.
pub(crate) fn run(size: &Size) -> Result<Table, Box<dyn Error>> {
    let hash = |range: std::ops::Range<u64>| {
        range.map(|key| Stable::default().hash_key(&key)).collect::<Vec<KeyHash>>()
    };
    let hashes =
        Hashes { keys: hash(0..size.keys), strangers: hash(size.keys..size.keys + size.lookups) };
    let bits = size.keys * size.bits_per_key;
    let mut lanes = vec![
        Lane::new::<Limit>(),
        Lane::new::<Fastbloom>(),
        Lane::new::<Blocked>(),
        Lane::new::<MultiLevel>(),
    ];
    for _ in 0..size.rounds {
        if let [limit, fastbloom, blocked, multi_level] = &mut lanes[..] {
            limit.turn::<Limit>(&hashes, bits)?;
            fastbloom.turn::<Fastbloom>(&hashes, bits)?;
            blocked.turn::<Blocked>(&hashes, bits)?;
            multi_level.turn::<MultiLevel>(&hashes, bits)?;
        }
    }
    let heading = format!(
        "{} keys, {} bits per key, one thread, median of {} rounds, ns per operation",
        size.keys, size.bits_per_key, size.rounds
    );
    Ok(Table { heading, lanes })
}

impl Lane {
    fn new<C: Contestant>() -> Self {
        Self { name: C::NAME, insert: vec![], miss: vec![], hit: vec![], rate: 0.0 }
    }

    fn turn<C: Contestant>(&mut self, hashes: &Hashes, bits: u64) -> Result<(), Box<dyn Error>> {
        let mut filter = C::new(bits, hashes.keys.len() as u64)?;
        let (_, nanoseconds) = timed(&hashes.keys, |hash| {
            filter.insert(hash);
            false
        });
        self.insert.push(nanoseconds);
        let (positives, nanoseconds) = timed(&hashes.strangers, |hash| filter.contains(hash));
        self.miss.push(nanoseconds);
        self.rate = positives as f64 / hashes.strangers.len() as f64;
        // As many hits as misses, spread over all keys.
        let step = (hashes.keys.len() / hashes.strangers.len()).max(1);
        let hits: Vec<KeyHash> = hashes.keys.iter().copied().step_by(step).collect();
        let (found, nanoseconds) = timed(&hits, |hash| filter.contains(hash));
        self.hit.push(nanoseconds);
        if found != hits.len() {
            return Err(format!("{} lost {} keys", self.name, hits.len() - found).into());
        }
        Ok(())
    }
}

/// Runs `operation` on all hashes; how often it said yes, and nanoseconds per operation.
fn timed(hashes: &[KeyHash], mut operation: impl FnMut(KeyHash) -> bool) -> (usize, f64) {
    let start = Instant::now();
    let mut yes = 0;
    for &hash in hashes {
        yes += usize::from(operation(hash));
    }
    let nanoseconds = start.elapsed().as_nanos() as f64;
    (black_box(yes), nanoseconds / hashes.len() as f64)
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.heading)?;
        writeln!(
            f,
            "{:<28} {:>10} {:>8} {:>8} {:>8} {:>16} {:>18}",
            "filter", "rate", "insert", "miss", "hit", "miss ÷ limit's", "miss ÷ fastbloom's"
        )?;
        let [limit, fastbloom, ..] = &self.lanes[..] else {
            return Ok(());
        };
        let (limit, fastbloom) = (median(&limit.miss), median(&fastbloom.miss));
        for lane in &self.lanes {
            let miss = median(&lane.miss);
            let rate = if lane.name == Limit::NAME {
                "–".to_owned()
            } else {
                format!("{:.3e}", lane.rate)
            };
            writeln!(
                f,
                "{:<28} {:>10} {:>8.1} {:>8.1} {:>8.1} {:>16.2} {:>18.2}",
                lane.name,
                rate,
                median(&lane.insert),
                miss,
                median(&lane.hit),
                miss / limit,
                miss / fastbloom,
            )?;
        }
        Ok(())
    }
}
