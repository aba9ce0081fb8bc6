//! `equibloom demo` as a user runs it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::process::{Command, Output};

use serde_json::Value;

const FILTERS: [&str; 9] = [
    "classical",
    "blocked",
    "single",
    "sequential",
    "multi-level",
    "two-choice",
    "one-plus-alpha",
    "hinted",
    "fingerprint",
];

fn demo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_equibloom")).arg("demo").args(arguments).output().unwrap()
}

/// The filters of a run, in the order of [`FILTERS`].
fn filters(arguments: &[&str]) -> Vec<Value> {
    let output = demo(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(results["keys"].is_u64() && results["queries"].is_u64());
    let filters = results["filters"].as_array().unwrap().clone();
    let names: Vec<&str> =
        filters.iter().map(|filter| filter["filter"].as_str().unwrap()).collect();
    // Below 9 bits per key there is no room for fingerprints.
    assert_eq!(names, FILTERS[..if arguments.contains(&"8") { 8 } else { 9 }]);
    filters
}

fn number(filter: &Value, field: &str) -> f64 {
    filter[field].as_f64().unwrap_or_else(|| panic!("{field} is missing in {filter}"))
}

#[test]
fn measured_rates_agree_with_the_model_in_equal_memory_whatever_the_seed() {
    for arguments in [
        ["--block-bits", "256", "--bits-per-key", "24", "--seed", "1", "--keys", "300000"],
        ["--block-bits", "500", "--bits-per-key", "16", "--seed", "77", "--keys", "300000"],
        ["--block-bits", "64", "--bits-per-key", "8", "--seed", "12345", "--keys", "300000"],
    ] {
        let filters = filters(&arguments);
        for filter in &filters {
            let predicted = number(filter, "fpr_predicted");
            let allowed = 4.0 * number(filter, "fpr_sigma") + 0.01 * predicted;
            assert!((number(filter, "fpr_measured") - predicted).abs() <= allowed, "{filter}");
            assert_eq!(number(filter, "false_negatives"), 0.0);
            let memory = number(filter, "bits_per_key") / number(&filters[0], "bits_per_key");
            assert!((memory - 1.0).abs() < 0.01, "{filter}");
            assert!(number(filter, "block_bits_per_key") <= number(filter, "bits_per_key"));
            assert!(number(filter, "ns_insert") > 0.0 && number(filter, "ns_miss") > 0.0);
        }
    }
}

/// The papers' claim at 24 bits per key: several times fewer false positives at 1.2 accesses.
#[test]
fn multi_level_comes_out_several_times_below_blocked() {
    let filters = filters(&["--block-bits", "256", "--bits-per-key", "24", "--keys", "300000"]);
    let (blocked, multi_level) = (&filters[1], &filters[4]);
    assert!(number(multi_level, "fpr_measured") < number(blocked, "fpr_measured") / 3.0);
    assert!((number(multi_level, "accesses_insert") - 1.2).abs() < 0.01);
    assert!((number(multi_level, "overflow_fraction") - 0.005).abs() < 0.001);
    assert_eq!(number(blocked, "accesses_miss"), 1.0);
}

/// Beyond the papers: misses of about one block, and rates below the classical filter's.
#[test]
fn hints_spare_a_block_and_fingerprints_beat_the_classical_rate() {
    let filters = filters(&["--bits-per-key", "16", "--keys", "300000"]);
    let (classical, multi_level) = (&filters[0], &filters[4]);
    let (hinted, fingerprint) = (&filters[7], &filters[8]);
    assert!(number(hinted, "accesses_miss") <= 1.26);
    assert!(number(multi_level, "accesses_miss") > 2.0);
    assert!(number(hinted, "fpr_predicted") < number(multi_level, "fpr_predicted"));
    assert!(number(fingerprint, "accesses_miss") <= 1.26);
    assert!(number(fingerprint, "fpr_measured") < number(classical, "fpr_measured") / 2.0);
}

#[test]
fn the_table_names_every_filter_and_says_what_it_shows() {
    let output = demo(&["--keys", "20k"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for name in FILTERS {
        assert!(text.lines().any(|line| line.trim_start().starts_with(name)), "{text}");
    }
    assert!(text.contains("No key may ever be lost: 0 were."));
    assert!(output.stderr.is_empty(), "no progress bar in a pipe");
}

#[test]
fn bad_input_is_refused_with_the_value_and_the_cure() {
    for (arguments, expected) in [
        (vec!["--keys", "0"], "--keys is 0: give at least 1"),
        (vec!["--keys", "many"], "`many` is not a number: give a whole number such as"),
        (vec!["--keys", "1e18"], "`1e18` is not a count"),
        (vec!["--keys", "1000000000000000000"], "must be between 1 and 1125899906842624"),
        (vec!["--keys", "100000000000000"], "do not fit into memory: give fewer keys"),
        (vec!["--bits-per-key", "0"], "--bits-per-key is 0: give a finite number above 0"),
        (vec!["--bits-per-key", "-3"], "--bits-per-key is -3"),
        (vec!["--bits-per-key", "nan"], "--bits-per-key is NaN"),
        (vec!["--bits-per-key", "inf"], "--bits-per-key is inf"),
        (vec!["--bits-per-key", "1e300"], "with --keys 1000000, --bits-per-key 1"),
        (vec!["--block-bits", "63"], "block_bits is 63, but it must be between 64 and 32768"),
        (vec!["--block-bits", "40000"], "block_bits is 40000"),
        (vec!["--block-bits", "0"], "block_bits is 0"),
        (
            vec!["--keys", "1000", "--block-bits", "32768"],
            "memory is 3000, but it must be at least 4928 bytes for one block of 32768 bits",
        ),
        (vec!["--keys", "1"], "with --keys 1, --bits-per-key 24, --block-bits 256: memory is 3"),
    ] {
        let output = demo(&arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: «{message}» does not say «{expected}»");
        assert!(output.stdout.is_empty() && !message.contains("panicked"), "{message}");
    }
}

/// The policies past capacity, on few keys: what they promise holds at every load.
#[test]
fn overload_compares_the_policies() {
    let output = demo(&["--overload", "--keys", "20k", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let loads = results["loads"].as_array().unwrap();
    assert_eq!(loads.len(), 14);
    for load in loads {
        let number = |name: &str| load[name].as_f64().unwrap();
        assert_eq!(load["lost"], 0, "{load}");
        // Lookups deviate by less than a tenth from the filters' rates, which the tests of the library measure.
        if number("percent") <= 200.0 {
            assert!(number("rate_saturate") <= 1.1 * 1.6 * number("rate_fastbloom"), "{load}");
        }
        assert!(number("rate_refuse") <= 1.3 * number("rate_planned"), "{load}");
        assert!(number("rate_grow") <= 1.1 * number("rate_planned"), "{load}");
        let planned = loads.iter().find(|other| other["rate_planned"] == load["rate_planned"]);
        assert_eq!(load["bits_saturate"], planned.unwrap()["bits_saturate"]);
        assert_eq!(load["bits_refuse"], planned.unwrap()["bits_refuse"]);
        assert_eq!(load["refused"] == 0, number("percent") <= 100.0, "{load}");
    }
}

/// Blocks of a page: what is said about accesses, blocks and fingerprints is true of them, too.
#[test]
fn large_blocks_are_described_as_they_are() {
    let output = demo(&["--keys", "20k", "--block-bits", "32768"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for words in [
        "in Bloom blocks of 32768 bits or cache lines of fingerprints",
        "Accesses are blocks. Each has 64 cache lines",
        "save reads of a disk, not of memory",
    ] {
        assert!(text.contains(words), "`{words}` is missing in {text}");
    }
    // Hints need not spare a block.
    assert!(!text.contains("reduce a miss"), "{text}");
    let text = String::from_utf8(demo(&["--keys", "20k"]).stdout).unwrap();
    assert!(!text.contains("Accesses are blocks"), "{text}");
}
