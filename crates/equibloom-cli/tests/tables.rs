//! `equibloom tables` and `equibloom cuckoo` as processes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::process::{Command, Output};

use serde_json::Value;

const MAPS: [&str; 8] = [
    "balanced-multi-level",
    "balanced-sequential",
    "balanced-single",
    "balanced-two-choice",
    "cuckoo-1",
    "cuckoo-4",
    "std",
    "hashbrown",
];

fn equibloom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_equibloom")).args(arguments).output().unwrap()
}

#[test]
fn the_json_has_every_map_with_every_field_and_the_variance_of_the_bound() {
    let output = equibloom(&["tables", "--json", "--entries", "300k", "--load", "3"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    let maps = results["maps"].as_array().unwrap();
    let names: Vec<&str> = maps.iter().map(|map| map["map"].as_str().unwrap()).collect();
    assert_eq!(names, MAPS);
    for map in maps {
        for field in ["ns_insert", "ns_hit", "ns_miss", "bytes_per_entry"] {
            assert!(map[field].as_f64().unwrap() > 0.0, "{field} of {map}");
        }
        let name = map["map"].as_str().unwrap();
        let (ours, balanced) = (name.contains('-'), name.starts_with("balanced"));
        for field in ["variance", "buckets_hit", "buckets_miss", "buckets_max", "lines_miss"] {
            assert_eq!(map[field].is_null(), !ours, "{field} of {map}");
        }
        assert_eq!(map["variance_bound"].is_null(), !balanced, "{map}");
        let most = match name {
            "balanced-single" => 1,
            "balanced-multi-level" | "balanced-sequential" => 3,
            _ => 2,
        };
        assert!(!ours || map["buckets_max"].as_u64().unwrap() <= most, "{map}");
        if balanced && name != "balanced-two-choice" {
            let number = |field: &str| map[field].as_f64().unwrap();
            let ratio = number("variance") / number("variance_bound");
            assert!((ratio - 1.0).abs() < 0.03, "{map}");
        }
    }
}

#[test]
fn the_table_names_every_map() {
    let output = equibloom(&["tables", "--entries", "10k"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for name in MAPS {
        assert!(text.lines().any(|line| line.trim_start().starts_with(name)), "{text}");
    }
}

#[test]
fn the_slides_example_is_followed_up_to_the_rehash_that_6_causes() {
    let output = equibloom(&["cuckoo", "--trace"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for expected in [
        "53  (h1 = 9, h2 = 4)\n    53 → T1[9], displaces 20\n    20 → T2[1]\n",
        "    53 → T1[9], displaces 75\n    75 → T2[6]\n",
        "6 closes a second cycle. Rehash!",
    ] {
        assert!(text.contains(expected), "«{expected}» is not in {text}");
    }
    assert_eq!(text.matches("Rehash!").count(), 1);
    let output = equibloom(&["cuckoo", "--trace", "--keys", "1,8,1", "--buckets", "7"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("8 → T1[1], displaces 1\n    1 → T2[0]"), "{text}");
    assert!(text.contains("is there already"), "{text}");
}

#[test]
fn bad_input_is_refused_with_the_value_and_the_cure() {
    for (arguments, expected) in [
        (vec!["tables", "--entries", "0"], "--entries is 0: give at least 1"),
        (vec!["tables", "--entries", "some"], "`some` is not a number"),
        (vec!["tables", "--entries", "1000000000000000"], "give fewer --entries"),
        (vec!["tables", "--load", "-1"], "load is -1"),
        (vec!["tables", "--load", "nan"], "load is NaN"),
        (vec!["tables", "--load", "3000"], "slots per bucket is"),
        (vec!["tables", "--accesses", "0.5"], "accesses is 0.5"),
        (vec!["tables", "--accesses", "4"], "accesses is 4"),
        (vec!["tables", "--choices", "0"], "--choices is 0: give a whole number from 1 to 16"),
        (vec!["tables", "--choices", "99"], "--choices is 99"),
        (vec!["tables", "--choices", "1", "--accesses", "1"], "the threshold is"),
        (vec!["cuckoo", "--buckets", "0"], "--buckets is 0: give a whole number from 1 to 1000"),
        (vec!["cuckoo", "--buckets", "5000"], "--buckets is 5000"),
        (vec!["cuckoo", "--buckets", "2"], "--keys has 11 keys, two tables of 2 hold 4"),
        (vec!["cuckoo", "--keys", "1,x"], "invalid value 'x'"),
    ] {
        let output = equibloom(&arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: «{message}» does not say «{expected}»");
        assert!(output.stdout.is_empty() && !message.contains("panicked"), "{message}");
    }
}
