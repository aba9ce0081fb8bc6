//! `equibloom trace` as a process.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::process::{Command, Output};

fn trace(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equibloom"));
    command.arg("trace").args(arguments.split_whitespace()).output().unwrap()
}

#[test]
fn every_key_is_told_with_its_blocks() {
    let output = trace("--keys a,b,c,d,e,f,g,h,i,j --threshold 1 --probability 0");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for words in
        ["T1 at", "T2 at", "counter 00 = 0: stored", "counter 01 = 1: turned away", "not read"]
    {
        assert!(text.contains(words), "{words} in {text}");
    }
    let least_loaded = trace("--least-loaded --blocks 4 --choices 2 --block-bits 8 --keys a,b,c");
    let text = String::from_utf8(least_loaded.stdout).unwrap();
    assert_eq!(text.matches("0 bits set: stored").count(), 3, "{text}");
    let budget = trace("--blocks 9 --budget 1 --keys a,b,c");
    assert_eq!(String::from_utf8(budget.stdout).unwrap().matches("overflow list").count(), 2);
}

#[test]
fn what_cannot_be_shown_is_refused_by_value_limit_and_cure() {
    for (arguments, words) in [
        ("--block-bits 3", ["--block-bits is 3", "from 4 to"]),
        ("--subtables 4,0", ["0", "at least 1"]),
        ("--subtables 4,x", ["--subtables", "x"]),
        ("--blocks 4 --choices 0", ["--choices is 0", "from 1 to 16"]),
        ("--probability 1.5", ["1.5", "between 0 and 1"]),
        ("--probability nan", ["nan", "--probability"]),
        ("--threshold 0 --probability 0", ["admits no key", "raise the threshold"]),
        ("--subtables 4000", ["4000 blocks", "at most 1000"]),
        ("--hashes 9", ["--hashes is 9", "from 1 to 2"]),
        ("--least-loaded", ["--blocks", "required"]),
        ("--blocks 4 --least-loaded --budget 3", ["access budget", "give no budget"]),
    ] {
        let output = trace(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {error}");
        for word in words {
            assert!(error.contains(word), "{arguments}: `{word}` is missing in {error}");
        }
    }
}
