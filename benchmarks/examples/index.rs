//! An index of many files: files opened per hit and per miss, bits per key, and the processor time of a lookup beside that of as many
//! random lines in as much memory, in the same run.
//!
//!     cargo run --release -p equibloom-benchmarks --example index

use std::error::Error;
use std::hint::black_box;

use equibloom_index::{Draft, Index, Key, KeySet, Settings, State, sizing};

/// Files, and keys in each.
const LAKES: [(u64, u64); 2] = [(100, 50_000), (1_000, 20_000)];
/// Keys that are looked up one by one, and those that are looked up at once.
const SINGLE: u64 = 3_000;
const TOGETHER: u64 = 100_000;
/// Each is timed so often, turn by turn; the median ratio counts.
const ROUNDS: usize = 7;

const LINE_WORDS: usize = 8;

/// A number of 63 bits for each number, different ones for different ones (SplitMix64 up to its last step, which drops a bit).
fn scattered(number: u64) -> u64 {
    let mut word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (word ^ (word >> 31)) >> 1
}

fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists, and the pointer is to a value of its type.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn timed(run: impl FnOnce()) -> f64 {
    let start = processor_seconds();
    run();
    processor_seconds() - start
}

/// Reads so many random lines of the memory, all independent of each other.
fn read_lines(memory: &[[u64; LINE_WORDS]], count: u64, round: u64) -> u64 {
    let line = |number: u64| {
        let place = u128::from(scattered(number ^ round << 40)) * memory.len() as u128;
        memory[(place >> 63) as usize][0]
    };
    (0..count).fold(0, |sum, number| sum ^ line(number))
}

fn main() -> Result<(), Box<dyn Error>> {
    for (files, keys) in LAKES {
        let range = equibloom_index::Range::Integers { least: 0, most: i64::MAX.into() };
        let ranges = (0..files).map(|_| Some(&range));
        let settings = Settings::new(["id"]);
        let rate = sizing::rate(ranges, settings.false_files);
        let mut draft = Draft::new(settings);
        let start = processor_seconds();
        for file in 0..files {
            let mut set = KeySet::new(0);
            (0..keys).for_each(|key| set.insert(Key::from(scattered(file * keys + key))));
            draft.add(&format!("{file:04}"), State::default(), [set.finish(rate)?])?;
        }
        let built = processor_seconds() - start;
        let index = Index::from_bytes(Aligned::of(&draft.to_bytes()?))?;
        let summary = index.summary("id");
        let bits = summary.filter_bytes as f64 * 8.0 / summary.filtered_keys as f64;
        println!(
            "{files} files × {keys} keys: {bits:.2} bits per key, built in {:.0} ns per key",
            built * 1e9 / (files * keys) as f64
        );

        let hit = |query: u64| Key::from(scattered(query.wrapping_mul(7_919) % (files * keys)));
        let miss = |query: u64| Key::from(scattered(files * keys + query));
        let opened = |key| index.find("id", key).count() as f64;
        let (hits, misses): (f64, f64) = (
            (0..50_000).map(|query| opened(hit(query))).sum(),
            (0..50_000).map(|query| opened(miss(query))).sum(),
        );
        println!("  opened per hit {:.4}, per miss {:.4}", hits / 50_000.0, misses / 50_000.0);

        let memory = vec![[1_u64; LINE_WORDS]; (index.bytes() / 64) as usize];
        let together: Vec<Key<'_>> = (0..TOGETHER).map(miss).collect();
        let (mut single, mut many) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS as u64 {
            let lines = timed(|| {
                black_box(read_lines(&memory, SINGLE * files, round));
            });
            let finds = timed(|| {
                (0..SINGLE).for_each(|query| {
                    black_box(index.find("id", miss(query + round * SINGLE)).count());
                })
            });
            single.push((finds / lines, finds * 1e9 / (SINGLE * files) as f64));
            let batch = timed(|| {
                let mut found = 0;
                index.find_many("id", &together, |_, _| found += 1);
                black_box(found);
            });
            // As many random lines would take long: a tenth, times ten.
            let lines = 10.0
                * timed(|| {
                    black_box(read_lines(&memory, TOGETHER / 10 * files, round + 100));
                });
            many.push((batch / lines, batch * 1e9 / (TOGETHER * files) as f64));
        }
        for (name, ratios) in [("one key", &mut single), ("100,000 keys", &mut many)] {
            ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
            let (ratio, each) = ratios[ROUNDS / 2];
            println!(
                "  find of {name}: {ratio:.2} × as many random lines ({:.2} to {:.2}), {each:.1} ns per filter",
                ratios[0].0,
                ratios[ROUNDS - 1].0
            );
        }
    }
    Ok(())
}

/// Bytes that begin at a cache line, as those of a mapped file do.
struct Aligned {
    lines: Vec<[u8; 128]>,
    start: usize,
    length: usize,
}

impl Aligned {
    fn of(bytes: &[u8]) -> Self {
        let mut lines = vec![[0; 128]; bytes.len() / 128 + 2];
        let start = lines.as_ptr().cast::<u8>().align_offset(64);
        lines.as_flattened_mut()[start..start + bytes.len()].copy_from_slice(bytes);
        Self { lines, start, length: bytes.len() }
    }
}

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        &self.lines.as_flattened()[self.start..self.start + self.length]
    }
}
