//! Does a filter that grows, is used by eight threads and is saved every second lose a key?
//!
//! `cargo run --release -p equibloom --features file --example soak -- 20000000 100000000` inserts so many keys, and
//! lets a second process, which maps the saved file, do so many checks: it asks for keys whose inserts had
//! returned before the save. The threads also look up their own keys. Printed are the number of false negatives,
//! which must be 0, and how long the longest insert and the longest lookup took, beside those of filters that neither
//! grow nor are saved.

use std::env;
use std::error::Error;
use std::io::{BufRead, BufReader, Write, stdin};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use equibloom::file::Mapped;
use equibloom::{Filter, GrowingFilter, SharedFilter, SharedGrowingFilter};

const THREADS: u64 = 8;
const RATE: f64 = 0.01;

/// Lookups of a thread after each of its inserts.
const LOOKUPS: u64 = 4;

/// Checks of the second process before it looks for a new file again.
const CHECKS_AT_ONCE: u64 = 100_000;

/// Names the task of the second process.
pub(crate) const READER: &str = "EQUIBLOOM_SOAK_FILE";

type Failed = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failed> {
    if let Ok(path) = env::var(READER) {
        return read(Path::new(&path));
    }
    let mut arguments = env::args().skip(1);
    let keys = arguments.next().map_or(Ok(1_000_000), |keys| keys.parse())?;
    let checks = arguments.next().map_or(Ok(5_000_000), |checks| checks.parse())?;
    let lost = soak(keys, checks, Duration::from_secs(1), Command::new(env::current_exe()?))?;
    if lost == 0 { Ok(()) } else { Err("keys were lost".into()) }
}

/// What the threads use.
trait Shared: Sync {
    fn insert_key(&self, key: u64) -> Result<(), Failed>;
    fn holds(&self, key: u64) -> bool;
}

impl Shared for SharedGrowingFilter<u64> {
    fn insert_key(&self, key: u64) -> Result<(), Failed> {
        Ok(self.insert(&key).map(|_| ())?)
    }

    fn holds(&self, key: u64) -> bool {
        self.contains(&key)
    }
}

impl Shared for SharedFilter<u64> {
    fn insert_key(&self, key: u64) -> Result<(), Failed> {
        Ok(self.insert(&key).map(|_| ())?)
    }

    fn holds(&self, key: u64) -> bool {
        self.contains(&key)
    }
}

/// How many operations took how long.
#[derive(Default)]
struct Times {
    longest: Duration,
    count: u64,
    /// Of 2^i to 2^(i + 1) nanoseconds.
    by_log: [u64; 32],
}

impl Times {
    fn measure<T>(&mut self, operation: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = operation();
        let time = start.elapsed();
        self.longest = self.longest.max(time);
        self.count += 1;
        self.by_log[(time.as_nanos() as u64).max(1).ilog2().min(31) as usize] += 1;
        result
    }

    fn add(&mut self, other: &Self) {
        self.longest = self.longest.max(other.longest);
        self.count += other.count;
        self.by_log.iter_mut().zip(other.by_log).for_each(|(sum, count)| *sum += count);
    }

    /// All but one in `rare` took less than this, within a factor of two.
    fn but_for(&self, rare: u64) -> Duration {
        let mut above = self.count / rare + 1;
        let slow = self.by_log.iter().enumerate().rev().find(|&(_, &count)| {
            above = above.saturating_sub(count);
            above == 0
        });
        Duration::from_nanos(slow.map_or(0, |(log, _)| 2 << log)).min(self.longest)
    }

    fn report(&self) {
        let times = [self.longest, self.but_for(100_000), self.but_for(1_000)];
        times.iter().for_each(|time| print!(" {time:>11.2?}"));
    }
}

/// What threads did to a filter.
#[derive(Default)]
struct Work {
    inserts: Times,
    lookups: Times,
    lost: u64,
}

impl Work {
    fn report(&self, name: &str) {
        print!("{name:<28}");
        self.inserts.report();
        print!("  ");
        self.lookups.report();
        println!();
    }
}

/// Threads insert `0..keys`, each its residue class, and publish how many of theirs are in the filter; `meanwhile`
/// runs beside them.
fn work(
    filter: &impl Shared,
    keys: u64,
    meanwhile: impl FnOnce(&[AtomicU64], &dyn Fn() -> bool) -> Result<(), Failed>,
) -> Result<Work, Failed> {
    let progress: Vec<AtomicU64> = (0..THREADS).map(|_| AtomicU64::new(0)).collect();
    let all = Mutex::new(Ok(Work::default()));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..)
            .zip(&progress)
            .map(|(thread, progress)| {
                let all = &all;
                scope.spawn(move || {
                    let done = insert_some(filter, thread, keys, progress);
                    let Ok(mut all) = all.lock() else { return };
                    match (&mut *all, done) {
                        (Ok(all), Ok(done)) => {
                            all.inserts.add(&done.inserts);
                            all.lookups.add(&done.lookups);
                            all.lost += done.lost;
                        }
                        (_, Err(error)) => *all = Err(error),
                        (Err(_), _) => {}
                    }
                })
            })
            .collect();
        meanwhile(&progress, &|| workers.iter().all(|worker| worker.is_finished()))
    })?;
    all.into_inner()?
}

/// The part of one thread.
fn insert_some(
    filter: &impl Shared,
    thread: u64,
    keys: u64,
    progress: &AtomicU64,
) -> Result<Work, Failed> {
    let mut done = Work::default();
    let mut random = Random(thread);
    for number in 0..(keys + THREADS - 1 - thread) / THREADS {
        let key = number * THREADS + thread;
        done.inserts.measure(|| filter.insert_key(key))?;
        progress.store(number + 1, Ordering::Release);
        for _ in 0..LOOKUPS {
            let key = random.below(number + 1) * THREADS + thread;
            let is_there = done.lookups.measure(|| filter.holds(key));
            done.lost += u64::from(!is_there);
        }
    }
    Ok(done)
}

/// Grows, saves and checks; `reader` starts the second process. Returns the number of false negatives.
pub(crate) fn soak(
    keys: u64,
    checks: u64,
    between_saves: Duration,
    mut reader: Command,
) -> Result<u64, Failed> {
    let directory = Directory::new()?;
    let path = directory.0.join("soak.eqg");
    let filter = Filter::<u64>::builder().rate(RATE).build_shared_growing()?;
    filter.save(&path)?;
    let mut reader =
        reader.env(READER, &path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut told = reader.stdin.take().ok_or("the second process takes no input")?;
    let answers = BufReader::new(reader.stdout.take().ok_or("the second process is silent")?);
    writeln!(told, "{checks}")?;

    let mut saves = Times::default();
    let growing = work(&filter, keys, |progress, is_finished| {
        loop {
            let is_last = is_finished();
            let counts: Vec<String> =
                progress.iter().map(|count| count.load(Ordering::Acquire).to_string()).collect();
            saves.measure(|| filter.save(&path))?;
            // Only now: the second process checks what the file in its place has.
            writeln!(told, "{}", counts.join(" "))?;
            if is_last {
                return Ok(());
            }
            let start = Instant::now();
            while start.elapsed() < between_saves && !is_finished() {
                thread::sleep(Duration::from_millis(1));
            }
        }
    })?;
    drop(told);
    let numbers = answers.lines().map_while(Result::ok).filter_map(|line| {
        // The test harness may have begun the line.
        let (_, numbers) = line.split_once("checked ")?;
        let numbers: Vec<u64> = numbers.split(' ').flat_map(str::parse).collect();
        <[u64; 3]>::try_from(numbers).ok()
    });
    let numbers = numbers.last();
    let is_success = reader.wait()?.success();
    let [checked, files, missed] =
        numbers.filter(|_| is_success).ok_or("the second process failed")?;

    let elements = filter.len();
    println!("{keys} keys, {elements} elements, {} bytes", filter.bytes());
    println!("{} saves, the longest {:.3?}; {files} files mapped", saves.count, saves.longest);
    println!("{} lookups by the threads, {} false negatives", growing.lookups.count, growing.lost);
    println!("{checked} checks by the second process, {missed} false negatives");
    println!();
    println!(
        "{:<28} {:<37} {:<35}",
        format!("{THREADS} threads"),
        "longest insert",
        "longest lookup"
    );
    let columns = format!(" {:>11} {:>11} {:>11}", "of all", "but 1e-5", "but 1e-3");
    println!("{:<28}{columns}  {columns}", "");
    growing.report("growing, saved");
    drop(filter);
    let planned = Filter::<u64>::builder().keys(keys.max(1)).rate(RATE);
    let nothing = |_: &[AtomicU64], _: &dyn Fn() -> bool| Ok(());
    work(&planned.build_shared_growing()?, keys, nothing)?.report("growing table, planned size");
    work(&planned.build_shared()?, keys, nothing)?.report("planned filter");
    Ok(growing.lost + missed)
}

/// The second process: checks keys that are known to be in the file. Its input is the number of checks, and after each
/// save how many keys of each thread are in the file.
pub(crate) fn read(path: &Path) -> Result<(), Failed> {
    // SAFETY: the file is only ever replaced.
    #[allow(unsafe_code, reason = "see above")]
    let mut filter: Mapped<GrowingFilter<u64>> = unsafe { Mapped::open(path) }?;
    let known = Mutex::new((vec![0; THREADS as usize], false));
    let mut checks = String::new();
    stdin().read_line(&mut checks)?;
    let checks: u64 = checks.trim().parse()?;
    let (mut checked, mut files, mut missed) = (0, 0, 0);
    let mut random = Random(99);
    thread::scope(|scope| {
        scope.spawn(|| {
            for line in stdin().lock().lines().map_while(Result::ok) {
                let counts: Vec<u64> = line.split(' ').flat_map(str::parse).collect();
                if let Ok(mut known) = known.lock() {
                    known.0 = counts;
                }
            }
            if let Ok(mut known) = known.lock() {
                known.1 = true;
            }
        });
        loop {
            // Before the file is looked at: a later one has more keys.
            let (counts, is_last) = known.lock().map_err(|_| "a thread panicked")?.clone();
            files += u64::from(filter.reload_if_changed()?);
            let some: Vec<_> = (0..).zip(counts).filter(|&(_, count)| count > 0).collect();
            if some.is_empty() {
                thread::sleep(Duration::from_millis(1));
            }
            for &(thread, count) in &some {
                for _ in 0..CHECKS_AT_ONCE / THREADS {
                    let key = random.below(count) * THREADS + thread;
                    missed += u64::from(!filter.contains(&key));
                    checked += 1;
                }
            }
            if is_last && (checked >= checks || some.is_empty()) {
                break;
            }
        }
        Ok::<_, Failed>(())
    })?;
    println!("checked {checked} {files} {missed}");
    Ok(())
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(word ^ (word >> 31)) * u128::from(end)) >> 64) as u64
    }
}

/// A directory that is removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new() -> std::io::Result<Self> {
        let path = env::temp_dir().join(format!("equibloom-soak-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}
