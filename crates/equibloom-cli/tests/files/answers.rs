//! `equibloom query` against an exact set.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::Value;

use crate::scratch::{Scratch, lines};

/// Looks up `queries` in a filter of `members`. No member may be lost, and the number of false positives must
/// be the expected one within four standard deviations.
pub(crate) fn agree(scratch: &Scratch, members: &str, queries: &str, requirements: &str) {
    scratch.write("members", members);
    scratch.write("queries", queries);
    let summary = scratch.json(&format!("build members -o set.eqb {requirements}"));
    let set: HashSet<&str> = members.lines().collect();

    let found = scratch.run("query set.eqb queries").stdout;
    let found = String::from_utf8(found).unwrap();
    // Members and a few others, in the order of the queries.
    let mut found = found.lines().peekable();
    let (mut absent, mut false_positives) = (0, 0);
    for query in queries.lines().filter(|query| !query.is_empty()) {
        let is_found = found.next_if_eq(&query).is_some();
        if set.contains(query) {
            assert!(is_found, "{query} is lost");
        } else {
            absent += 1;
            false_positives += u32::from(is_found);
        }
    }
    assert_eq!(found.next(), None, "in another order, or twice");

    let rate = summary["rate_now"].as_f64().unwrap();
    let sigma = (rate * (1.0 - rate) * f64::from(absent)).sqrt();
    let expected = rate * f64::from(absent);
    let off = f64::from(false_positives) - expected;
    assert!(
        off.abs() <= 4.0 * sigma + 1.0,
        "{requirements}: {false_positives} instead of {expected} ± {sigma}"
    );
}

#[test]
fn members_are_found_and_few_other_keys() {
    let scratch = Scratch::new("answers");
    let members = lines("member", 50_000);
    let queries = lines("absent", 100_000) + &members + &lines("other", 100_000);
    for requirements in [
        "",
        "--fpr 1%",
        "--bits-per-key 12",
        "--memory 100kB",
        "--fpr 1% --placement blocked",
        "--fpr 1% --placement classical --accesses-miss 9",
        "--fpr 1% --block bloom --placement multi-level --hints 0 --accesses-miss 9",
        "--fpr 1% --block-bits 256 --block bloom",
        "--fpr 1% --removable",
        "--fpr 1% --seed 77",
    ] {
        agree(&scratch, &members, &queries, requirements);
    }
}

#[test]
fn a_promised_rate_is_kept() {
    let scratch = Scratch::new("promise");
    scratch.write("members", lines("member", 200_000));
    for (fpr, rate) in [("0.1%", 0.001), ("1%", 0.01), ("1e-5", 1e-5)] {
        let summary = scratch.json(&format!("build members -o set.eqb --fpr {fpr}"));
        let number = |field: &str| summary[field].as_f64().unwrap();
        assert!(number("rate_planned") <= rate, "{summary}");
        assert!(number("rate_now") <= 1.05 * rate, "{summary}");
        assert_eq!((number("keys_read"), number("planned_keys")), (200_000.0, 220_000.0));
    }
}

#[test]
fn selection_count_and_status_are_those_of_grep() {
    let scratch = Scratch::new("grep");
    scratch.write("members", "alice\nbob\n");
    scratch.ok("build members -q --placement blocked -o set.eqb --fpr 1e-9");
    scratch.write("queries", "bob\ncarol\r\nalice\r\nbob\ndave");
    scratch.write("csv", "n,key\n1,bob\n2,\"carol, \"\"c\"\"\"\n3,\"alice\"\n");
    scratch.write("jsonl", "{\"key\": \"bob\"}\n{\"key\":\"carol\"}");
    for (arguments, printed, status) in [
        ("queries", "bob\nalice\r\nbob\n", 0),
        ("queries -v", "carol\r\ndave\n", 0),
        ("queries --invert --count", "2\n", 0),
        ("queries -c", "3\n", 0),
        ("queries queries -c", "6\n", 0),
        ("queries -q", "", 0),
        ("-e bob", "bob\n", 0),
        ("-e carol -e alice -e bob", "alice\nbob\n", 0),
        ("-e carol", "", 1),
        ("-e carol -c", "0\n", 1),
        ("-e carol -q", "", 1),
        ("-e carol -v", "carol\n", 0),
        ("-e -v -v", "-v\n", 0),
        ("-e alice queries -c", "4\n", 0),
        ("-e alice -0", "alice\0", 0),
        ("csv --csv-column key", "n,key\n1,bob\n3,alice\n", 0),
        ("csv --csv-column key -v", "n,key\n2,\"carol, \"\"c\"\"\"\n", 0),
        ("csv --csv-column 2 --no-header", "1,bob\n3,alice\n", 0),
        ("csv csv --csv-column key -c", "4\n", 0),
        ("csv csv --csv-column key", "n,key\n1,bob\n3,alice\n1,bob\n3,alice\n", 0),
        ("jsonl --json-field key", "{\"key\": \"bob\"}\n", 0),
        ("jsonl --json-field key -v", "{\"key\":\"carol\"}\n", 0),
    ] {
        let output = scratch.run(&format!("query set.eqb {arguments}"));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), printed, "{arguments}");
        assert_eq!(output.status.code(), Some(status), "{arguments}");
        assert!(output.stderr.is_empty(), "{arguments}");
    }
    let numbers: Value = scratch.json("query set.eqb queries");
    let filters = [serde_json::json!({"file": "set.eqb", "selected": 3})];
    assert_eq!(
        numbers,
        serde_json::json!({"keys": 5, "missing": 0, "selected": 3, "filters": filters})
    );
    let output = scratch.run_with_input("query set.eqb", b"carol\nbob");
    assert_eq!(output.stdout, b"bob\n");
    let output = scratch.run_with_input("query set.eqb -0", b"carol\0bob\0alice");
    assert_eq!(output.stdout, b"bob\0alice\0");
}

#[test]
fn answers_come_as_soon_as_questions_do() {
    let scratch = Scratch::new("slowly");
    scratch.write("members", "alice\nbob\n");
    scratch.ok("build members -q --placement blocked -o set.eqb --fpr 1e-9");
    let mut command = scratch.command("query set.eqb");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for name in ["bob", "alice", "bob"] {
        // If the answer waited for more input, this would block forever.
        questions.write_all(format!("x\n{name}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert_eq!(answer.trim_end(), name);
    }
    drop(questions);
    assert!(child.wait().unwrap().success());

    // Nor does `-q` wait after the first match.
    let mut command = scratch.command("query set.eqb -q");
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut questions = child.stdin.take().unwrap();
    questions.write_all(b"alice\n").unwrap();
    assert!(child.wait().unwrap().success());
    drop(questions);
}

#[test]
fn a_closed_output_pipe_is_no_error() {
    let scratch = Scratch::new("leaving");
    scratch.write("members", lines("member", 100_000));
    scratch.ok("build members -q --placement blocked -o set.eqb");
    let mut command = scratch.command("query set.eqb members");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, "member0@example.com\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
