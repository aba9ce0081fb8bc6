//! A program that grows and saves a filter is killed at random moments: the file is whole, and has every key whose
//! insert had returned before the last save.
#![cfg(all(feature = "planner", feature = "file", target_has_atomic = "64"))]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod random;
mod scratch;

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use equibloom::{Filter, GrowingFilter};
use random::Random;
use scratch::Scratch;

const THREADS: u64 = 2;

/// Names the file, and how many keys of each thread it has.
const TASK: &str = "EQUIBLOOM_KILLED";

/// Written after each save, with the number of keys that each thread had inserted before it, for the process that kills this one.
const SAVED: &str = "saved ";

#[test]
fn every_key_of_the_last_save_is_in_the_file() {
    let kills = env::var("EQUIBLOOM_KILLS").ok().and_then(|kills| kills.parse().ok());
    let scratch = Scratch::new("growing-killed");
    let path = scratch.path("seen.eqg");
    Filter::<u64>::builder().rate(0.01).build_growing().unwrap().save(&path).unwrap();
    let mut random = Random(8);
    let (mut known, mut saves) = (0, 0);
    for _ in 0..kills.unwrap_or(15) {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "grow_and_save_until_killed", "--nocapture"])
            .env(TASK, format!("{known} {}", path.display()))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut note = |line: String| {
            if let Some((_, number)) = line.split_once(SAVED) {
                known = number.parse().unwrap();
                saves += 1;
            }
        };
        // From the first save on.
        lines.by_ref().find(|line| line.contains(SAVED)).into_iter().for_each(&mut note);
        thread::sleep(Duration::from_micros(random.between(0, 40_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        lines.for_each(note);
        let filter = GrowingFilter::<u64>::load(&path).unwrap();
        assert!((0..known * THREADS).all(|key| filter.contains(&key)), "{known}");
    }
    assert!(known > 1_000 && saves > 20, "{known} keys of each thread, {saves} saves");
}

/// The program that is killed.
#[test]
fn grow_and_save_until_killed() {
    let Ok(task) = env::var(TASK) else { return };
    let (known, path) = task.split_once(' ').unwrap();
    let known: u64 = known.parse().unwrap();
    let filter = GrowingFilter::<u64>::load(path).unwrap().into_shared().unwrap();
    let progress: Vec<AtomicU64> = (0..THREADS).map(|_| AtomicU64::new(known)).collect();
    thread::scope(|scope| {
        for (worker, progress) in (0..).zip(&progress) {
            let filter = &filter;
            scope.spawn(move || {
                for number in known.. {
                    filter.insert(&(number * THREADS + worker)).unwrap();
                    progress.store(number + 1, Ordering::Release);
                    // Some hundred thousand keys in all.
                    if number % 64 == 0 {
                        thread::sleep(Duration::from_millis(1));
                    }
                }
            });
        }
        loop {
            let known = progress.iter().map(|progress| progress.load(Ordering::Acquire)).min();
            filter.save(path).unwrap();
            println!("{SAVED}{}", known.unwrap());
        }
    });
}
