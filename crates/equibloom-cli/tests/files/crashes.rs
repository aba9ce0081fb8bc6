//! `kill -9` at random moments: the file is the old one or the new one, intact.
//!
//! Ten times each; `EQUIBLOOM_KILLS=100` for more.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::scratch::{Scratch, lines};

/// Runs a command that changes `set.eqb`, and kills it at a random moment, repeatedly.
fn kill_again_and_again(scratch: &Scratch, command: &str) {
    let kills = std::env::var("EQUIBLOOM_KILLS").ok().and_then(|kills| kills.parse().ok());
    let kills: u32 = kills.unwrap_or(10);
    let old = scratch.read("set.eqb");
    let start = Instant::now();
    scratch.ok(command);
    let whole_time = start.elapsed();
    let new = scratch.read("set.eqb");
    assert!(old != new, "the command changes nothing");

    let (mut finished, mut random) = (0, 0x9e37_79b9_7f4a_7c15_u64);
    for kill in 0..kills {
        scratch.write("set.eqb", &old);
        let mut child = scratch.command(command).stdout(Stdio::null()).spawn().unwrap();
        // Half of the kills near the end, when the file is written.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let share = (random >> 40) as f64 / (1 << 24) as f64;
        let share = if kill % 2 == 0 { share } else { 0.7 + 0.5 * share };
        sleep(whole_time.mul_f64(share));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = scratch.read("set.eqb");
        assert!(found == old || found == new, "{command}: neither old nor new after {share}");
        finished += u32::from(found == new);
        let verified = Command::new(env!("CARGO_BIN_EXE_equibloom"))
            .args(["verify", "--quiet"])
            .arg(scratch.path("set.eqb"))
            .status();
        assert!(verified.unwrap().success(), "{command}");
        sleep(Duration::from_millis(1));
    }
    eprintln!("{command}: {kills} kills, the new file was there {finished} times");
    // Files left behind do no harm.
    scratch.write("set.eqb", &old);
    scratch.ok(command);
    assert!(scratch.read("set.eqb") == new);
}

/// 100,000 keys in about 2 MB, so that writing takes a while.
const REQUIREMENTS: &str = "-q --keys 100000 --placement blocked --bits-per-key 160";

#[test]
fn a_build_that_is_killed_leaves_the_old_file_or_the_new_one() {
    let scratch = Scratch::new("kill-build");
    scratch.write("old", lines("old", 20_000));
    scratch.write("new", lines("new", 100_000));
    scratch.ok(&format!("build old {REQUIREMENTS} -o set.eqb"));
    kill_again_and_again(&scratch, &format!("build new {REQUIREMENTS} -o set.eqb"));
}

#[test]
fn an_addition_that_is_killed_leaves_the_old_file_or_the_new_one() {
    let scratch = Scratch::new("kill-add");
    scratch.write("old", lines("old", 20_000));
    scratch.write("new", lines("new", 80_000));
    scratch.ok(&format!("build old {REQUIREMENTS} -o set.eqb"));
    kill_again_and_again(&scratch, "add -q set.eqb new");
}

#[test]
fn a_merge_that_is_killed_leaves_the_old_file_or_the_new_one() {
    let scratch = Scratch::new("kill-merge");
    scratch.write("old", lines("old", 20_000));
    scratch.write("new", lines("new", 80_000));
    scratch.ok(&format!("build old {REQUIREMENTS} -o set.eqb"));
    scratch.ok(&format!("build new {REQUIREMENTS} -o other.eqb"));
    kill_again_and_again(&scratch, "merge -q set.eqb other.eqb -o set.eqb");
}
