//! Killed at any moment while it inserts and saves, a program leaves a whole file with every key that it had acknowledged,
//! and the next save removes what was left behind.

#![cfg(all(unix, feature = "file", feature = "planner"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod random;
mod scratch;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use equibloom::{Filter, GrowingFilter, file};
use random::Random;
use scratch::Scratch;

/// Tells the child process which directory to use, and which filter.
const DIRECTORY: &str = "EQUIBLOOM_TEST_DIRECTORY";
const KIND: &str = "EQUIBLOOM_TEST_KIND";
/// How often each kind of filter is killed; 20 if not set.
const KILLS: &str = "EQUIBLOOM_KILLS";

/// Keys of the filters that do not grow.
const KEYS: u64 = 200_000;

/// What the filter in a file does not hold of the keys below `end`.
fn missing(kind: &str, path: &Path, end: u64) -> Vec<u64> {
    if kind.ends_with("growing") {
        let filter = GrowingFilter::<u64>::load(path).unwrap();
        return (0..end).filter(|key| !filter.contains(key)).collect();
    }
    file::verify(path).unwrap();
    let filter = Filter::<u64>::load(path).unwrap();
    (0..end).filter(|key| !filter.contains(key)).collect()
}

/// Starts the child, kills it after a while, and returns how many keys it has acknowledged.
fn start_and_kill(kind: &str, directory: &Path, after: Duration) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "inserts_and_saves", "--ignored", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, directory)
        .env(KIND, kind)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let reader = thread::spawn(move || {
        let lines = output.lines().map_while(Result::ok);
        // A line that was not finished may lack digits: it ends in a word.
        let saved = lines.filter_map(|line| line.strip_suffix(" saved")?.parse().ok());
        saved.last().unwrap_or(0_u64)
    });
    thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

fn kill(kind: &str) {
    let kills = std::env::var(KILLS).map_or(20, |kills| kills.parse().unwrap());
    let scratch = Scratch::new(kind);
    let path = scratch.path("filter");
    let random = &mut Random(kills);
    let (mut saved, mut in_all, mut left_behind) = (0, 0, 0);
    for round in 0..kills {
        // Each second program goes on with the file of the one before; the other begins anew.
        if round % 2 == 0 {
            let _ = std::fs::remove_file(&path);
            saved = 0;
        }
        let after = Duration::from_micros(random.between(10_000, 160_000));
        saved = start_and_kill(kind, scratch.directory(), after).max(saved);
        in_all += saved;
        if path.exists() {
            assert_eq!(missing(kind, &path, saved), [0; 0], "{saved} keys, killed after {after:?}");
        } else {
            assert_eq!(saved, 0);
        }
        let files = scratch.files();
        let unfinished = |name: &&String| name.ends_with(".equibloom-tmp");
        left_behind += files.iter().filter(unfinished).count();
        // At most that of the last one.
        assert!(files.len() <= 2, "{files:?}");
    }
    println!("{kind}: {kills} kills, {in_all} keys acknowledged, {left_behind} files left behind");
    assert!(in_all > 0);
    Filter::<u64>::builder().keys(10).rate(0.1).build().unwrap().save(&path).unwrap();
    assert_eq!(scratch.files(), ["filter"]);
}

#[test]
fn a_killed_program_leaves_a_growing_filter_with_all_acknowledged_keys() {
    kill("growing");
}

#[test]
fn a_killed_program_leaves_a_filter_with_all_acknowledged_keys() {
    kill("planned");
}

#[test]
fn a_killed_program_leaves_a_shared_filter_with_all_acknowledged_keys() {
    kill("shared");
}

#[test]
fn a_killed_program_leaves_a_shared_growing_filter_with_all_acknowledged_keys() {
    kill("shared-growing");
}

fn acknowledge(keys: u64) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "\n{keys} saved").unwrap();
    output.flush().unwrap();
}

#[test]
#[ignore = "run by the others, which kill it"]
fn inserts_and_saves() {
    let (Some(directory), Ok(kind)) = (std::env::var_os(DIRECTORY), std::env::var(KIND)) else {
        return;
    };
    let path = PathBuf::from(directory).join("filter");
    match kind.as_str() {
        "growing" => save_growing(&path),
        "planned" => save_planned(&path),
        "shared-growing" => save_shared_growing(&path),
        _ => save_shared(&path),
    }
}

/// From the start, or from a file on; each save has a few thousand keys more.
fn save_growing(path: &Path) {
    let new = || Filter::<u64>::builder().rate(0.01).build_growing().unwrap();
    let mut filter = GrowingFilter::<u64>::load(path).unwrap_or_else(|_| new());
    let mut keys = 0;
    loop {
        for key in keys..keys + 3_000 {
            filter.insert(&key).unwrap();
        }
        keys += 3_000;
        filter.save(path).unwrap();
        acknowledge(keys);
    }
}

/// Inserts more keys than planned, too.
fn save_planned(path: &Path) {
    let new = || Filter::<u64>::builder().keys(KEYS).rate(0.001).build().unwrap();
    let mut filter = Filter::<u64>::load(path).unwrap_or_else(|_| new());
    let mut keys = 0;
    loop {
        let batch: Vec<u64> = (keys..keys + 10_000).collect();
        filter.insert_batch(&batch).unwrap();
        keys += 10_000;
        filter.save(path).unwrap();
        acknowledge(keys);
    }
}

/// One thread inserts while another saves.
fn save_shared(path: &Path) {
    let new = || Filter::<u64>::builder().keys(KEYS).rate(0.001).build().unwrap();
    let filter = Filter::<u64>::load(path).unwrap_or_else(|_| new()).into_shared().unwrap();
    insert_and_save(|key| filter.insert(&key).is_ok(), || filter.save(path).is_ok());
}

/// The same while the filter grows.
fn save_shared_growing(path: &Path) {
    let new = || Filter::<u64>::builder().rate(0.01).build_growing().unwrap();
    let filter = GrowingFilter::<u64>::load(path).unwrap_or_else(|_| new()).into_shared().unwrap();
    insert_and_save(|key| filter.insert(&key).is_ok(), || filter.save(path).is_ok());
}

fn insert_and_save(insert: impl Fn(u64) -> bool + Sync, save: impl Fn() -> bool) {
    let (inserted, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for key in 0.. {
                if !insert(key) || failed.load(Ordering::Relaxed) {
                    break;
                }
                inserted.store(key + 1, Ordering::Release);
            }
        });
        loop {
            let keys = inserted.load(Ordering::Acquire);
            if !save() {
                failed.store(true, Ordering::Relaxed);
                break;
            }
            acknowledge(keys);
        }
    });
}
