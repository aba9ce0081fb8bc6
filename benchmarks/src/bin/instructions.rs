//! Instruction counts of the hot paths, measured by callgrind and compared with a baseline in the repository.
//!
//! `cargo run --release -p equibloom-benchmarks --bin instructions` runs itself under valgrind, once for each
//! kind of filter or map and operation. It fails if an operation takes 5 % more instructions than
//! `benchmarks/instructions.txt` says. Times on a shared machine drift by more than that; instruction counts do
//! not. `-- --bless` writes the baseline (after an intended change, or for another compiler).
//!
//! The baseline is for AVX2. Without valgrind or AVX2 the program says so and checks nothing.

use std::error::Error;
use std::fmt::Write as _;
use std::hash::{BuildHasherDefault, Hasher};
use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use equibloom::{
    Blocks, Filter, HashFilter, KeyHash, KeyHasher, Layout, Overflow, Parameters, Rule, Share,
    Stable, WhenFull,
};
use equibloom_tables::{BalancedMap, BucketPlan, CuckooMap, Map, RawTable};

/// Number of keys, and of absent keys.
const KEYS: u64 = 20_000;
const FILTERS: [&str; 6] =
    ["blocked", "multi-level", "fingerprint", "short-fingerprint", "plan-11.55", "plan-16"];
const FILTER_OPERATIONS: [&str; 8] = [
    "insert",
    "miss",
    "hit",
    "insert-batch",
    "miss-batch",
    "hit-batch",
    // As many keys again as planned.
    "overload",
    "overload-batch",
];
/// Filters that are also measured in their shared form.
const SHARED: [&str; 3] = ["shared-multi-level", "shared-plan-11.55", "shared-plan-16"];
/// The balanced map with buckets of one cache line and with the default bucket, and the cuckoo map.
const MAPS: [&str; 3] = ["balanced-map-2", "balanced-map-6", "cuckoo-map-4"];
/// Operations of shared filters, growing filters and maps.
const FEW_OPERATIONS: [&str; 3] = ["insert", "miss", "hit"];
/// Plans: keys, bits per key (from 1 on) or a rate, and whether keys can be removed.
const PLANS: [(&str, u64, f64, bool); 20] = [
    ("1k-rate-0.1", 1_000, 0.1, false),
    ("1k-rate-1e-3", 1_000, 1e-3, false),
    ("1k-rate-1e-9", 1_000, 1e-9, false),
    ("1k-24-bits", 1_000, 24.0, false),
    ("1k-rate-1e-3-removable", 1_000, 1e-3, true),
    ("10k-rate-1e-2", 10_000, 1e-2, false),
    ("10k-rate-1e-6", 10_000, 1e-6, false),
    ("10k-24-bits", 10_000, 24.0, false),
    ("10k-rate-1e-4-removable", 10_000, 1e-4, true),
    ("100k-rate-1e-3", 100_000, 1e-3, false),
    ("100k-12-bits", 100_000, 12.0, false),
    ("100k-20-bits-removable", 100_000, 20.0, true),
    ("1M-rate-0.1", 1_000_000, 0.1, false),
    ("1M-rate-1e-3", 1_000_000, 1e-3, false),
    ("1M-16-bits", 1_000_000, 16.0, false),
    ("1M-rate-1e-6-removable", 1_000_000, 1e-6, true),
    ("1G-rate-1e-2", 1_000_000_000, 1e-2, false),
    ("1G-rate-1e-9", 1_000_000_000, 1e-9, false),
    ("1G-30-bits", 1_000_000_000, 30.0, false),
    ("1G-16-bits-removable", 1_000_000_000, 16.0, true),
];
/// Allowed growth over the baseline.
const TOLERANCE: f64 = 0.05;

/// Filters of 16 bits per key (one of ten) with the planner's parameters for a million keys, scaled down; and
/// default plans for a number of keys and of bits per key.
fn empty_filter(kind: &str) -> Result<HashFilter, Box<dyn Error>> {
    if kind.starts_with("plan-") {
        return Ok(HashFilter::load(plan_file(kind)?)?);
    }
    let coin = Share::new(0.5)?;
    let layout = match kind {
        "blocked" => Layout::blocked(Blocks::bloom(512, 11), 625),
        "multi-level" => Layout::multi_level(
            Blocks::Bloom { bits: 512, hashes: 10, hints: 16 },
            &[540, 75, 10],
            Rule::FirstWithRoom { below: 35, coin },
        )?,
        "fingerprint" => Layout::fingerprints(
            Blocks::Fingerprint { slots: 33, lists: 42, remainder_bits: 13 },
            &[548, 68, 9],
        )?,
        // Ten bits per key: remainders of less than a byte.
        "short-fingerprint" => Layout::fingerprints(
            Blocks::Fingerprint { slots: 52, lists: 88, remainder_bits: 7 },
            &[346, 40, 5],
        )?,
        _ => return Err("no such filter".into()),
    };
    let layout = match kind {
        "blocked" => layout,
        _ => layout.with_overflow(Overflow { capacity: 100, when_full: WhenFull::Saturate }),
    };
    Ok(HashFilter::new(&Parameters { keys: KEYS, seed: 0, design: layout.into() })?)
}

/// Where a planned filter is saved, beside the program, for the runs under valgrind: planning there would take
/// most of their time.
fn plan_file(kind: &str) -> std::io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(format!("{kind}.equibloom")))
}

fn save_plans() -> Result<(), Box<dyn Error>> {
    for kind in FILTERS {
        if let Some(bits_per_key) = kind.strip_prefix("plan-") {
            let builder = Filter::<u64>::builder().keys(KEYS).bits_per_key(bits_per_key.parse()?);
            builder.build()?.save(plan_file(kind)?)?;
        }
    }
    Ok(())
}

/// Hashes of the keys, and of as many absent keys.
fn present_and_absent() -> [Vec<KeyHash>; 2] {
    [0..KEYS, KEYS..2 * KEYS]
        .map(|range| range.map(|key| Stable::default().hash_key(&key)).collect())
}

/// Makes a filter, fills it if the operation is a lookup or `filled`, and runs the operation once on every key.
/// Runs without an operation are the baseline that is subtracted.
fn work(kind: &str, operation: &str) -> Result<(), Box<dyn Error>> {
    let mut filter = empty_filter(kind)?;
    let [keys, absent] = present_and_absent();
    let mut found = vec![0; KEYS.div_ceil(64) as usize];
    if !matches!(operation, "empty" | "insert" | "insert-batch") {
        filter.insert_batch(&keys)?;
    }
    match operation {
        "empty" | "filled" => {}
        "insert" => {
            for &key in &keys {
                filter.insert(key)?;
            }
        }
        "insert-batch" => {
            filter.insert_batch(&keys)?;
        }
        "overload" => {
            for &key in &absent {
                filter.insert(key)?;
            }
        }
        "overload-batch" => {
            filter.insert_batch(&absent)?;
        }
        "miss" | "hit" => {
            let asked = if operation == "hit" { &keys } else { &absent };
            black_box(asked.iter().filter(|&&key| filter.contains(key)).count());
        }
        "miss-batch" => filter.contains_batch_bitmap(&absent, &mut found),
        "hit-batch" => filter.contains_batch_bitmap(&keys, &mut found),
        _ => return Err("no such operation".into()),
    }
    black_box((&filter, &found));
    Ok(())
}

/// The same with a shared filter, on one thread.
fn work_on_shared(kind: &str, operation: &str) -> Result<(), Box<dyn Error>> {
    let filter: Filter<u64> = Filter::from_hash_filter(empty_filter(kind)?, Stable::default());
    let mut filter = filter.into_shared()?;
    work_one_by_one(
        &mut filter,
        operation,
        |filter, key| Ok(filter.insert_hash(key).map(|_| ())?),
        |filter, key| filter.contains_hash(key),
    )
}

/// The same with a growing filter of 1 %: inserts let it grow from nothing.
fn work_on_growing(operation: &str) -> Result<(), Box<dyn Error>> {
    let mut filter = Filter::<u64>::builder().rate(0.01).build_growing()?;
    work_one_by_one(
        &mut filter,
        operation,
        |filter, key| Ok(filter.insert_hash(key).map(|_| ())?),
        |filter, key| filter.contains_hash(key),
    )
}

/// The same with a growing filter that threads share.
fn work_on_shared_growing(operation: &str) -> Result<(), Box<dyn Error>> {
    let mut filter = Filter::<u64>::builder().rate(0.01).build_shared_growing()?;
    work_one_by_one(
        &mut filter,
        operation,
        |filter, key| Ok(filter.insert_hash(key).map(|_| ())?),
        |filter, key| filter.contains_hash(key),
    )
}

/// The operations of a filter that are counted one by one.
#[inline(always)]
fn work_one_by_one<F>(
    filter: &mut F,
    operation: &str,
    insert: impl Fn(&mut F, KeyHash) -> Result<(), Box<dyn Error>>,
    contains: impl Fn(&F, KeyHash) -> bool,
) -> Result<(), Box<dyn Error>> {
    let [keys, absent] = present_and_absent();
    if operation != "empty" {
        keys.iter().try_for_each(|&key| insert(filter, key))?;
    }
    match operation {
        "empty" | "filled" | "insert" => {}
        "miss" | "hit" => {
            let asked = if operation == "hit" { &keys } else { &absent };
            black_box(asked.iter().filter(|&&key| contains(filter, key)).count());
        }
        _ => return Err("no such operation".into()),
    }
    black_box(filter);
    Ok(())
}

/// Identity hashing: only the map's instructions are counted.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0 << 8 | u64::from(byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The same with maps of 8-byte keys and values.
fn work_on_map(kind: &str, operation: &str) -> Result<(), Box<dyn Error>> {
    let hasher = BuildHasherDefault::<AsItIs>::default();
    let balanced = |load| -> Result<BalancedMap<_, _, _>, Box<dyn Error>> {
        let plan = BucketPlan::optimal_multi_level(load, 1.2, 3)?;
        Ok(BalancedMap::with_plan_and_hasher(KEYS as usize, plan, hasher.clone())?)
    };
    match kind {
        "balanced-map-2" => use_map(balanced(2.0)?, operation),
        "balanced-map-6" => use_map(balanced(6.0)?, operation),
        "cuckoo-map-4" => {
            let map = CuckooMap::<_, _, _, 4>::with_load_and_hasher(KEYS as usize, 0.9, hasher)?;
            use_map(map, operation)
        }
        _ => Err("no such map".into()),
    }
}

fn use_map<T: RawTable<Entry = (u64, u64)>>(
    mut map: Map<u64, u64, T, BuildHasherDefault<AsItIs>>,
    operation: &str,
) -> Result<(), Box<dyn Error>> {
    let words = |range: std::ops::Range<u64>| -> Vec<u64> {
        range.map(|key| Stable::default().hash_key(&key).candidate(0)).collect()
    };
    let (keys, absent) = (words(0..KEYS), words(KEYS..2 * KEYS));
    if operation != "empty" {
        for &key in &keys {
            map.insert(key, key);
        }
    }
    match operation {
        "empty" | "filled" | "insert" => {}
        "miss" | "hit" => {
            let asked = if operation == "hit" { &keys } else { &absent };
            black_box(asked.iter().filter(|&key| map.get(key).is_some()).count());
        }
        _ => return Err("no such operation".into()),
    }
    black_box(&map);
    Ok(())
}

/// Makes a plan, or nothing. `build` makes a filter of a thousand keys from requirements.
fn work_on_plan(operation: &str) -> Result<(), Box<dyn Error>> {
    if operation == "build" {
        black_box(Filter::<u64>::builder().keys(1_000).rate(0.01).build()?);
    }
    if let Some(&(_, keys, number, removable)) = PLANS.iter().find(|(name, ..)| *name == operation)
    {
        let builder = Filter::<u64>::builder().keys(keys);
        let builder = if removable { builder.removable() } else { builder };
        let builder =
            if number < 1.0 { builder.rate(number) } else { builder.bits_per_key(number) };
        black_box(builder.plan()?);
    }
    Ok(())
}

/// Instructions of a whole run.
fn count(kind: &str, operation: &str) -> Result<u64, Box<dyn Error>> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args(["work", kind, operation])
        .output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split_once("Collected :"));
    let (_, number) = collected.ok_or_else(|| format!("valgrind: {text}"))?;
    Ok(number.trim().parse()?)
}

fn measure() -> Result<Vec<(String, u64)>, Box<dyn Error>> {
    save_plans()?;
    let mut rows = Vec::new();
    let none = count("planning", "empty")?;
    for operation in PLANS.map(|(name, ..)| name).into_iter().chain(["build"]) {
        let instructions = count("planning", operation)?.saturating_sub(none);
        rows.push((format!("planning {operation}"), instructions));
    }
    let filters = FILTERS.map(|kind| (kind, &FILTER_OPERATIONS[..]));
    let shared = SHARED.map(|kind| (kind, &FEW_OPERATIONS[..]));
    let maps = MAPS.map(|kind| (kind, &FEW_OPERATIONS[..]));
    let growing = ["growing", "shared-growing"].map(|kind| (kind, &FEW_OPERATIONS[..]));
    for (kind, operations) in filters.into_iter().chain(shared).chain(growing).chain(maps) {
        let (empty, filled) = (count(kind, "empty")?, count(kind, "filled")?);
        for operation in operations {
            let without = if operation.starts_with("insert") { empty } else { filled };
            let with = count(kind, operation)?;
            rows.push((format!("{kind} {operation}"), with.saturating_sub(without) / KEYS));
        }
    }
    Ok(rows)
}

fn check(bless: bool) -> Result<bool, Box<dyn Error>> {
    let has_valgrind = Command::new("valgrind").arg("--version").output().is_ok();
    #[cfg(target_arch = "x86_64")]
    let has_avx2 = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("bmi2");
    #[cfg(not(target_arch = "x86_64"))]
    let has_avx2 = false;
    if !has_valgrind || !has_avx2 {
        println!("skipped: valgrind {has_valgrind}, AVX2 {has_avx2}");
        return Ok(true);
    }
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.txt"));
    let rows = measure()?;
    if bless {
        let mut text = String::new();
        for (name, instructions) in &rows {
            writeln!(text, "{name} {instructions}")?;
        }
        std::fs::write(&path, text)?;
    }
    let baseline = std::fs::read_to_string(&path)?;
    let mut holds = true;
    println!("{:<28} {:>8} {:>8}", "instructions per operation", "now", "baseline");
    for (name, now) in rows {
        let line = baseline.lines().find_map(|line| line.strip_prefix(&name)?.strip_prefix(' '));
        let before: u64 = line.ok_or_else(|| format!("no baseline for {name}"))?.parse()?;
        let grew = now as f64 > before as f64 * (1.0 + TOLERANCE) + 1.0;
        holds &= !grew;
        println!(
            "{name:<28} {now:>8} {before:>8}{}",
            if grew { "  more than 5 % above" } else { "" }
        );
    }
    Ok(holds)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        [] => check(false),
        ["--bless"] => check(true),
        ["work", "growing", operation] => work_on_growing(operation).map(|()| true),
        ["work", "shared-growing", operation] => work_on_shared_growing(operation).map(|()| true),
        ["work", "planning", operation] => work_on_plan(operation).map(|()| true),
        ["work", kind, operation] if MAPS.contains(&kind) => {
            work_on_map(kind, operation).map(|()| true)
        }
        ["work", kind, operation] => match kind.strip_prefix("shared-") {
            Some(kind) => work_on_shared(kind, operation).map(|()| true),
            None => work(kind, operation).map(|()| true),
        },
        _ => Err("usage: instructions [--bless]".into()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
