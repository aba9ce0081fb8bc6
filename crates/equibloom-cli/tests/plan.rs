//! `equibloom plan` as a process.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::process::{Command, Output};

use equibloom::{DEFAULT_ACCESSES_MISS, Filter, Parameters};
use serde_json::Value;

fn run(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equibloom"));
    command.arg("plan").args(arguments.split_whitespace()).output().unwrap()
}

fn json(arguments: &str) -> Value {
    let output = run(&format!("{arguments} --json"));
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_plan_says_what_to_build_and_what_to_expect() {
    let plan = json("--keys 100M --memory 150MB");
    for field in
        ["rate", "bits_per_key", "accesses_miss", "accesses_insert", "accesses_hit", "lines_miss"]
    {
        assert!(plan[field].is_number(), "{field}: {plan}");
    }
    assert!(plan["placement"].is_string());
    assert!(plan["bits_per_key"].as_f64().unwrap() <= 12.0);
    assert!(plan["rate"].as_f64().unwrap() < 0.0041);
    assert!(plan["reasons"].as_array().unwrap().len() >= 4);
    assert!(plan["alternatives"].as_array().unwrap().len() >= 7);
    let parameters: Parameters = serde_json::from_value(plan["parameters"].clone()).unwrap();
    parameters.check().unwrap();
    assert_eq!(parameters.keys, 100_000_000);
}

#[test]
fn a_filter_from_the_json_measures_what_it_says() {
    let plan = json("--keys 200k --fpr 0.1%");
    let parameters: Parameters = serde_json::from_value(plan["parameters"].clone()).unwrap();
    let mut filter = Filter::new(&parameters).unwrap();
    filter.try_extend(0..200_000_u64).unwrap();
    let promised = plan["rate"].as_f64().unwrap();
    let sigma = plan["rate_deviation"].as_f64().unwrap();
    let measured = filter.statistics().expected_rate;
    assert!(promised <= 0.001);
    assert!((measured - promised).abs() <= 4.0 * sigma + 0.01 * promised, "{measured} {promised}");
}

#[test]
fn sizes_are_found_from_all_sufficient_requirements() {
    let by_rate = json("--keys 1e6 --fpr 1e-4");
    assert!(by_rate["bits_per_key"].as_f64().unwrap() < 17.0);
    let by_memory = json("--memory 1MiB --fpr 1%");
    assert!((800_000..950_000).contains(&by_memory["keys"].as_u64().unwrap()), "{by_memory}");
    let by_bits = json("--memory 1GiB --bits-per-key 16");
    assert_eq!(by_bits["keys"], 1 << 29);
}

#[test]
fn blocks_can_be_required() {
    let removable = json("--keys 1M --bits-per-key 12 --removable");
    assert_eq!(removable["block"]["kind"], "fingerprint");
    assert_eq!(removable["removable"], true);
    assert!(removable["rate"].as_f64().unwrap() < 2.8e-3, "{removable}");
    let hinted = json("--keys 1M --bits-per-key 24 --block bloom --hints 10");
    assert_eq!(hinted["block"]["kind"], "bloom");
    assert_eq!(hinted["block"]["hints"], 10);
    assert_eq!(hinted["removable"], false);
    let best = json("--keys 1M --bits-per-key 24");
    assert!(best["rate"].as_f64() < hinted["rate"].as_f64());
}

#[test]
fn the_text_has_reasons() {
    let output = run("--keys 1M --bits-per-key 24 --accesses-miss 1.2");
    let text = String::from_utf8(output.stdout).unwrap();
    for words in ["false-positive rate", "bits per key", "cache lines", "Why:", "Not blocked"] {
        assert!(text.contains(words), "`{words}` is missing in {text}");
    }
}

#[test]
fn the_default_limit_is_shown() {
    let limit = DEFAULT_ACCESSES_MISS;
    let default = format!("on average [default: {limit}]");
    let reason = format!("with at most {limit} accesses per miss");
    let conflict = format!("raise accesses_miss from {limit} to");
    for (arguments, words) in [
        ("--help", default),
        ("--keys 1M --bits-per-key 16", reason),
        ("--keys 1M --bits-per-key 9 --placement two-choice", conflict),
    ] {
        let Output { stdout, stderr, .. } = run(arguments);
        let text = String::from_utf8([stdout, stderr].concat()).unwrap();
        assert!(text.contains(&words), "{arguments}: `{words}` is missing in {text}");
    }
}

#[test]
fn bad_requirements_are_refused_by_name_value_and_range() {
    for (arguments, words) in [
        ("--keys 0 --memory 1MB", &["--keys", "0", "between 1 and"][..]),
        ("--keys twelve", &["--keys", "twelve", "such as"]),
        ("--keys -5 --memory 1MB", &["--keys", "-5", "whole number"]),
        ("--keys 1M --memory 1XB", &["--memory", "1XB", "150MB"]),
        ("--keys 1M --memory 100", &["--memory", "100", "at least"]),
        ("--keys 1M --bits-per-key 0", &["--bits-per-key", "0", "between 0.01 and"]),
        ("--keys 1M --bits-per-key nan", &["--bits-per-key", "nan", "finite"]),
        ("--keys 1M --fpr 0", &["--fpr", "0", "at least 1e-15"]),
        ("--keys 1M --fpr 150%", &["--fpr", "150%", "between 0 and 1"]),
        ("--keys 1M --fpr 1%  --accesses-miss 0.5", &["--accesses-miss", "0.5", "between 1 and"]),
        ("--keys 1M --fpr 1%  --accesses-insert -1", &["--accesses-insert", "-1", "between 1 and"]),
        ("--keys 1M --fpr 1%  --block-bits 32", &["--block-bits", "32", "between 64 and 32768"]),
        ("--keys 1M --fpr 1%  --choices 99", &["--choices", "99", "between 1 and 16"]),
        ("--keys 1M --fpr 1%  --overflow 2", &["--overflow", "2", "between 0 and 1"]),
        ("--keys 1M --fpr 1%  --placement best", &["--placement", "best", "multi-level"]),
        ("--keys 1M", &["keys alone", "give --keys with --memory"]),
        ("", &["no size", "give --keys with --memory"]),
        ("--keys 1M --memory 1MB --bits-per-key 8", &["keys, memory and bits_per_key"]),
        (
            "--keys 1M --memory 1MB --fpr 1e-4",
            &["raise rate to", "raise memory to", "lower keys to"],
        ),
        ("--keys 1M --fpr 1% --block best", &["--block", "best", "fingerprint"]),
        ("--keys 1M --fpr 1% --hints 65", &["--hints", "65", "0 and 64"]),
        ("--keys 1M --fpr 1% --removable --block bloom", &["removal", "fingerprint"]),
        ("--keys 1M --bits-per-key 6 --removable", &["64 slots", "raise memory to"]),
        ("--keys 1M --bits-per-key 9 --placement two-choice", &["raise accesses_miss from"]),
        ("--keys 1M --fpr 1% --headroom -1", &["--headroom", "-1", "between 0 and 100"]),
        ("--keys 1125899906842624 --fpr 1%", &["1125899906842624 bytes", "lower keys to"]),
        ("--memory 890 --fpr 1%", &["890 bytes", "raise memory to 896 bytes"]),
        (
            "--keys 1M --fpr 1% --mergeable --placement sequential",
            &["sequential", "merging", "do without merging"],
        ),
        (
            "--keys 1M --bits-per-key 10 --block-bits 32768 --lines-miss 2",
            &["lines_miss is 2", "blocks of 32768 bits", "lower block_bits to 512"],
        ),
    ] {
        let output = run(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {error}");
        assert!(output.stdout.is_empty(), "{arguments}");
        for words in words {
            assert!(error.contains(words), "{arguments}: `{words}` is missing in {error}");
        }
    }
}

#[test]
fn a_filter_that_says_yes_to_nearly_everything_needs_force() {
    let refused = run("--keys 100000 --memory 1kB");
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success());
    assert!(text.contains("100.0 % of absent keys") && text.contains("--force"), "{text}");
    let enough: u64 =
        text.split("--memory ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(json(&format!("--keys 100000 --memory {enough}"))["rate"].as_f64().unwrap() <= 0.0101);
    assert!(json("--keys 100000 --memory 1kB --force")["rate"].as_f64().unwrap() > 0.99);
}

#[test]
fn headroom_is_planned_for() {
    let plan = json("--keys 1M --fpr 1% --headroom 20%");
    assert_eq!(plan["keys"], 1_200_000);
    assert!(plan["rate"].as_f64().unwrap() <= 0.01);
    let bytes = json("--keys 1.2M --fpr 1%")["bytes"].as_u64();
    assert_eq!(plan["bytes"].as_u64(), bytes);
    assert_eq!(json("--keys 1M --fpr 1% --headroom 150%")["keys"], 2_500_000);
}
