//! Measures `equibloom build` and `equibloom query` on generated keys: time, memory and rate. Compares them
//! with the parts of the job (reading, hashing, filter operations) timed separately, and with `grep` and `sort
//! | comm`.
//!
//!     cargo build --release
//!     cargo run --release -p equibloom-benchmarks --example commands -- --keys 100000000
//!
//! Needs about 60 bytes of disk per key in `--directory`, and Linux for the memory.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use equibloom::{HashFilter, KeyHash, KeyHasher, Parameters, Stable, file};

/// Measures `equibloom build` and `equibloom query`.
#[derive(Parser)]
struct Arguments {
    /// Number of keys; as many lookups, half of them of absent keys.
    #[arg(long, default_value_t = 10_000_000)]
    keys: u64,
    /// Number of keys in the comparison with `grep` and `sort | comm`; 0 skips it.
    #[arg(long, default_value_t = 1_000_000)]
    peer_keys: u64,
    /// Required false-positive rate.
    #[arg(long, default_value_t = 0.001)]
    rate: f64,
    /// Directory for the files.
    #[arg(long, default_value = "target/commands")]
    directory: PathBuf,
    /// Path of the `equibloom` command.
    #[arg(long, default_value = "target/release/equibloom")]
    equibloom: PathBuf,
}

/// Keys hashed before they are used, so that both steps can be timed; the batch size of `build`.
const CHUNK: usize = 1 << 19;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    fs::create_dir_all(&arguments.directory)?;
    let equibloom = fs::canonicalize(&arguments.equibloom)?;
    let outcome = run(&arguments, &equibloom);
    for name in ["keys", "queries", "set", "grep.keys", "grep.queries", "grep.set"] {
        let _ = fs::remove_file(arguments.directory.join(name));
    }
    outcome
}

fn run(arguments: &Arguments, equibloom: &Path) -> Result<(), Box<dyn Error>> {
    let keys = arguments.keys;
    let [key_file, query_file, set] =
        ["keys", "queries", "set"].map(|name| arguments.directory.join(name));
    generate(&key_file, 0..keys)?;
    // Members from the middle, then absent keys.
    let members = keys / 2;
    generate(&query_file, keys - members..2 * keys - members)?;
    let bytes = fs::metadata(&key_file)?.len();
    println!("{keys} keys in {:.1} MB of lines, {keys} lookups\n", bytes as f64 / 1e6);

    let rate = arguments.rate.to_string();
    let (build, _) = measured(
        Command::new(equibloom)
            .args(["build", "--quiet", "--fpr", &rate, "--output"])
            .args([&set, &key_file]),
    )?;
    let (build_known, _) = measured(
        Command::new(equibloom)
            .args(["build", "--quiet", "--fpr", &rate, "--keys", &keys.to_string(), "--output"])
            .args([&set, &key_file]),
    )?;
    let (query, selected) =
        measured(Command::new(equibloom).args(["query", "--count"]).args([&set, &query_file]))?;
    let selected: u64 = selected.trim().parse()?;
    // Members only: false positives cannot hide a lost key.
    let (members_only, found) =
        measured(Command::new(equibloom).args(["query", "--count"]).args([&set, &key_file]))?;
    let found: u64 = found.trim().parse()?;
    assert_eq!(found, keys, "keys are lost");

    let parameters = file::inspect(&set)?.parameters;
    let mut filter = HashFilter::new(&parameters)?;
    let inserting = apart(&key_file, &parameters, |hashes| {
        filter.insert_batch(hashes).map_or(0, |new| new as usize)
    })?;
    let mut answers = Vec::new();
    let looking = apart(&query_file, &parameters, |hashes| {
        filter.contains_batch_bitmap(hashes, &mut answers);
        answers.iter().map(|word: &u64| word.count_ones() as usize).sum()
    })?;
    assert_eq!(looking.found, selected, "the command and the library disagree");

    let size = fs::metadata(&set)?.len();
    println!("filter: {:.1} MB, {:.2} bits per key", mega(size), 8.0 * size as f64 / keys as f64);
    let absent = (keys - members) as f64;
    let measured_rate = (selected - members) as f64 / absent;
    let sigma = (arguments.rate / absent).sqrt();
    let expected = filter.statistics().expected_rate;
    println!(
        "rate: {measured_rate:.4e} measured, {expected:.4e} ± {sigma:.1e} by its bits, {rate} promised; \
         of {keys} keys none is lost\n"
    );
    println!(
        "{:34}{:>9}{:>16}{:>14}{:>14}",
        "", "seconds", "million keys/s", "CPU seconds", "peak MB"
    );
    let row = |name: &str, time: Duration, command: Option<&Measured>| {
        let per_second = keys as f64 / time.as_secs_f64() / 1e6;
        let more = command.map_or(String::new(), |command| {
            format!("{:>14.2}{:>14.1}", command.cpu.as_secs_f64(), mega(command.memory))
        });
        println!("{name:34}{:>9.2}{per_second:>16.2}{more}", time.as_secs_f64());
    };
    row("build, keys counted first", build.time, Some(&build));
    row("build --keys", build_known.time, Some(&build_known));
    row("  apart: reading and hashing", inserting.reading, None);
    row("  apart: inserting", inserting.working, None);
    row("query --count, members only", members_only.time, Some(&members_only));
    row("query --count, half of them", query.time, Some(&query));
    row("  apart: reading and hashing", looking.reading, None);
    row("  apart: looking up", looking.working, None);
    println!();
    for (name, command, parts) in [
        ("build", build.time, &inserting),
        ("build --keys", build_known.time, &inserting),
        ("query", query.time, &looking),
    ] {
        let sum = parts.reading + parts.working;
        let share = |allowed: Duration| 100.0 * allowed.as_secs_f64() / command.as_secs_f64();
        println!(
            "{name}: {:.0} % of what its parts allow one after the other, {:.0} % of what they allow two threads",
            share(sum),
            share(sum / 2)
        );
    }
    let over = build.memory.max(build_known.memory).saturating_sub(size);
    println!("build's memory: {:.1} MiB above the filter's size\n", over as f64 / 1_048_576.0);
    peers(arguments, equibloom)
}

/// The same smaller job for every tool: how many of the queries are among the keys?
fn peers(arguments: &Arguments, equibloom: &Path) -> Result<(), Box<dyn Error>> {
    let keys = arguments.peer_keys;
    if keys == 0 {
        return Ok(());
    }
    let directory = &arguments.directory;
    generate(&directory.join("grep.keys"), 0..keys)?;
    generate(&directory.join("grep.queries"), keys / 2..keys + keys / 2)?;
    println!("{keys} keys, {keys} lookups, from files to a number:");
    let mut first = None;
    let ours = format!(
        "{0} build -q grep.keys -o grep.set && {0} query -c grep.set grep.queries",
        equibloom.display()
    );
    for (name, line) in [
        ("equibloom build; query", ours.as_str()),
        (
            "sort | comm",
            "sort grep.queries | { sort grep.keys | comm -12 - /dev/fd/3; } 3<&0 | wc -l",
        ),
        ("grep -F -x -f", "grep -c -F -x -f grep.keys grep.queries"),
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", line]).env("LC_ALL", "C").current_dir(directory);
        let start = Instant::now();
        let output = command.stdin(Stdio::null()).output()?;
        let time = start.elapsed();
        let count = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let ratio = time.as_secs_f64() / first.get_or_insert(time).as_secs_f64();
        println!("{name:34}{:>9.2} s, {ratio:6.2} times ours; found {count}", time.as_secs_f64());
    }
    Ok(())
}

/// Distinct keys in the form of addresses.
fn generate(path: &Path, numbers: std::ops::Range<u64>) -> std::io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    for number in numbers {
        // Odd multiples modulo 2⁴⁰ are a permutation.
        let mixed = number.wrapping_mul(0x9e_3779_b97f) & ((1 << 40) - 1);
        writeln!(file, "user{mixed:x}@example.com")?;
    }
    file.flush()
}

struct Measured {
    time: Duration,
    /// CPU time of all threads; less sensitive to other load than wall time.
    cpu: Duration,
    memory: u64,
}

/// Runs a command to its end and samples its memory.
fn measured(command: &mut Command) -> Result<(Measured, String), Box<dyn Error>> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let file = |name: &str| format!("/proc/{}/{name}", child.id());
    let (status_file, stat_file) = (file("status"), file("stat"));
    let (mut memory, mut cpu) = (0, Duration::ZERO);
    let status = loop {
        let status = fs::read_to_string(&status_file).unwrap_or_default();
        memory = memory.max(peak(&status).unwrap_or(0));
        let stat = fs::read_to_string(&stat_file).unwrap_or_default();
        cpu = cpu.max(cpu_time(&stat).unwrap_or_default());
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let time = start.elapsed();
    let output = child.wait_with_output()?;
    if !status.success() {
        return Err(format!("{command:?}: {status}").into());
    }
    Ok((Measured { time, cpu, memory }, String::from_utf8(output.stdout)?))
}

/// Peak memory of a process in bytes.
fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(1024 * kibibytes)
}

/// CPU time of a process; Linux counts in hundredths of a second.
fn cpu_time(stat: &str) -> Option<Duration> {
    // The fields follow the command's name, which may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis(10 * (user + system)))
}

/// Two parts of a job, timed separately.
struct Apart {
    reading: Duration,
    working: Duration,
    found: u64,
}

fn apart(
    path: &Path,
    parameters: &Parameters,
    mut work: impl FnMut(&[KeyHash]) -> usize,
) -> std::io::Result<Apart> {
    let hasher = Stable::with_seed(parameters.seed);
    let mut file = BufReader::with_capacity(256 << 10, File::open(path)?);
    let (mut line, mut hashes) = (Vec::new(), Vec::with_capacity(CHUNK));
    let mut apart = Apart { reading: Duration::ZERO, working: Duration::ZERO, found: 0 };
    loop {
        let start = Instant::now();
        hashes.clear();
        while hashes.len() < CHUNK {
            line.clear();
            if file.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            hashes.push(hasher.hash_key(line.strip_suffix(b"\n").unwrap_or(&line)));
        }
        apart.reading += start.elapsed();
        if hashes.is_empty() {
            return Ok(apart);
        }
        let start = Instant::now();
        apart.found += work(&hashes) as u64;
        apart.working += start.elapsed();
    }
}

fn mega(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
