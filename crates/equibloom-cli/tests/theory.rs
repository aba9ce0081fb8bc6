//! `equibloom theory` as a process: the published values, and errors.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::process::{Command, Output};

use serde_json::Value;

fn run(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equibloom"));
    command.arg("theory").args(arguments.split_whitespace()).output().unwrap()
}

fn json(arguments: &str) -> Value {
    let output = run(&format!("{arguments} --json"));
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Equal up to the last printed digit.
fn assert_printed(answer: &Value, field: &str, printed: f64, unit: f64) {
    let value = answer[field].as_f64().unwrap();
    assert!((value - printed).abs() <= 0.5 * unit, "{field}: {value} is not {printed} in {answer}");
}

#[test]
fn lower_bounds_are_the_published_ones() {
    for (accesses, k0, at_k0, above) in [(1.1, 9, 0.238134, 0.279585), (1.2, 8, 0.185636, 0.555935)]
    {
        let answer = json(&format!("lower-bound --load 8 --accesses {accesses} --overflow 0"));
        assert_eq!(answer["k0"], k0);
        let distribution = answer["distribution"].as_array().unwrap();
        for (load, printed) in [(k0, at_k0), (k0 + 1, above)] {
            let value = distribution[load].as_f64().unwrap();
            assert!((value - printed).abs() < 1e-6, "{load}: {value}");
        }
    }
    let poisson = json("lower-bound --load 8 --accesses 1");
    assert!(poisson["k0"].is_null());
    let block = json("lower-bound --load 8 --accesses 1.2 --block-bits 256 --hashes 6");
    assert!(block["rate"].as_f64().unwrap() < 1e-4);
}

#[test]
fn least_overflows_are_the_published_ones() {
    let accesses = [1.05, 1.1, 1.15, 1.2];
    for (placement, printed, unit) in [
        ("multi-level", [0.01087, 0.07688, 0.23239, 0.49845], 1e-5),
        ("sequential", [0.1161, 0.5874, 1.5192, 2.6211], 1e-4),
    ] {
        for (accesses, percent) in accesses.into_iter().zip(printed) {
            let question =
                format!("optimum --placement {placement} --load 8 --accesses {accesses}");
            let answer = json(&format!("{question} --choices 3"));
            assert_printed(&answer, "overflow", percent / 100.0, 1.02 * unit / 100.0);
            let shares = answer["subtables"].as_array().unwrap();
            let sum: f64 = shares.iter().map(|share| share.as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
    }
    let single = json("optimum --placement single --load 8 --overflow 0.5%");
    assert_eq!(single["overflow"], 0.005);
}

#[test]
fn rates_are_the_published_ones() {
    let common = "--model paper --block-bits 256 --hashes paper --bits-per-key";
    for (placement, bits, printed, unit) in [
        ("multi-level --accesses 1.2 --choices 3", 40, 1.39e-7, 1e-9),
        ("blocked", 40, 2.36e-5, 1e-7),
        ("single --overflow 0.00498447", 40, 7.6e-6, 1e-7),
        ("multi-level --accesses 1.2 --choices 3", 24, 4.70e-5, 1e-7),
        ("blocked", 24, 1.99e-4, 1e-6),
        ("single --overflow 0.00498447", 24, 1.52e-4, 1e-6),
    ] {
        let answer = json(&format!("rate --placement {placement} {common} {bits}"));
        assert_printed(&answer, "rate", printed, unit);
    }
}

#[test]
fn best_alphas_are_the_published_ones() {
    for (bits, printed) in [(10, 0.0), (16, 0.3), (18, 0.4), (20, 0.5), (31, 1.0)] {
        let answer = json(&format!("alpha --block-bits 500 --bits-per-key {bits} --model paper"));
        assert_printed(&answer, "alpha", printed, 0.1);
    }
    let exact = json("alpha --block-bits 512 --bits-per-key 24 --hashes 16");
    assert!((0.4..1.0).contains(&exact["alpha"].as_f64().unwrap()), "{exact}");
}

/// The exact model counts all memory: padding, counters, the overflow list, the header.
#[test]
fn exact_rates_count_all_memory() {
    for placement in [
        "classical",
        "blocked",
        "single --overflow 0.5%",
        "sequential",
        "multi-level",
        "two-choice",
        "one-plus-alpha --alpha 0.3",
    ] {
        let answer = json(&format!("rate --placement {placement} --bits-per-key 24 --keys 1M"));
        let bits = answer["bits_per_key"].as_f64().unwrap();
        assert!(bits <= 24.0 && bits > 23.9, "{placement}: {bits}");
        let rate = answer["rate"].as_f64().unwrap();
        assert!((9e-6..2e-4).contains(&rate), "{placement}: {rate}");
        assert!(answer["accesses_miss"].as_f64().unwrap() >= 1.0);
    }
}

/// All memory counted, at most 1.25 blocks per miss and per insert.
#[test]
fn blocks_past_the_papers_have_lower_rates() {
    for (blocks, bits, rate) in [
        ("fingerprint", 10, 6.1e-3),
        ("fingerprint", 12, 1.7e-3),
        ("fingerprint --removable", 16, 2.8e-4),
        ("fingerprint --accesses 1.25", 24, 7.2e-7),
        ("bloom --hints 12 --accesses-miss 1.2", 24, 2.9e-5),
        ("bloom --hints 12 --accesses-miss 1.2", 32, 9.5e-7),
    ] {
        let question = format!("rate --placement multi-level --choices 4 --block {blocks}");
        let answer = json(&format!("{question} --bits-per-key {bits}"));
        let number = |field: &str| answer[field].as_f64().unwrap();
        assert!(number("rate") <= rate, "{blocks}, {bits} bits: {answer}");
        assert!(number("bits_per_key") <= f64::from(bits));
        assert!(number("accesses_miss") <= 1.25 && number("accesses_insert") <= 1.25);
        assert_eq!(answer["block"], blocks.split(' ').next().unwrap());
        assert_eq!(answer["fingerprint"]["slots"].is_u64(), blocks.starts_with("fingerprint"));
    }
    let given = "--block fingerprint --slots 48 --lists 64 --remainder-bits 8";
    let answer =
        json(&format!("rate --placement multi-level {given} --bits-per-key 13 --accesses-miss 2"));
    assert_eq!(answer["hints"], 0);
    assert_eq!(answer["fingerprint"]["lists"], 64);
    let papers = json("rate --placement multi-level --block bloom --hints 0 --bits-per-key 24");
    assert!(papers["accesses_miss"].as_f64().unwrap() > 2.0, "{papers}");
}

#[test]
fn fluid_limits_end_where_the_optimum_is() {
    let answer =
        json("fluid --placement multi-level --load 8 --accesses 1.2 --choices 3 --steps 4");
    let states = answer["states"].as_array().unwrap();
    assert_eq!(states.len(), 4);
    assert_printed(&states[3], "accesses", 1.2, 1e-7);
    assert_printed(&states[3], "overflow", 0.0049845, 1e-7);
    for placement in [
        "blocked",
        "two-choice",
        "one-plus-alpha --alpha 0.5",
        "sequential",
        "single --overflow 1%",
    ] {
        let answer = json(&format!("fluid --placement {placement} --load 8 --steps 2"));
        let end = &answer["states"][1];
        let loads = end["loads"][0].as_array().unwrap();
        let total: f64 = loads.iter().map(|share| share.as_f64().unwrap()).sum();
        assert!((total - 1.0).abs() < 1e-9, "{placement}: {total}");
    }
}

/// Above the least overflow the process stops when its accesses are spent.
#[test]
fn fluid_limits_keep_the_promise_of_any_optimum() {
    for (placement, load, accesses, choices, overflow) in [
        ("multi-level", 7, 1.17, 3, 0.031),
        ("multi-level", 12, 1.33, 4, 0.044),
        ("sequential", 9, 1.13, 3, 0.027),
    ] {
        let answer = json(&format!(
            "fluid --placement {placement} --load {load} --accesses {accesses} --choices {choices} \
             --overflow {overflow}"
        ));
        assert_printed(&answer, "accesses_insert", accesses, 1e-6);
        assert_printed(&answer, "overflow", overflow, 1e-6);
    }
    let given = "fluid --placement multi-level --load 8 --threshold 8 --subtables 0.8,0.15,0.05";
    let (free, limited) = (json(given), json(&format!("{given} --probability 0 --budget 1.2")));
    assert_printed(&limited, "accesses_insert", 1.2, 1e-6);
    let number = |answer: &Value, field: &str| answer[field].as_f64().unwrap();
    assert!(number(&free, "accesses_insert") > 1.2);
    assert!(number(&free, "overflow") < number(&limited, "overflow"));
}

#[test]
fn cuckoo_hashing_has_the_slides_components_and_costs() {
    let answer = json("cuckoo --epsilon 0.25 --buckets 1000");
    assert_printed(&answer, "load", 0.4, 1e-12);
    assert_printed(&answer, "component", 5.0, 1e-9);
    assert_printed(&answer, "rehash_cost", 6_000.0, 1e-6);
    let number = |field: &str| answer[field].as_f64().unwrap();
    let probability = number("rehash_probability");
    assert!((1e-3..1e-2).contains(&probability));
    assert!((number("rehashes") - probability / (1.0 - probability)).abs() < 1e-12);
    assert!((number("total_rehash_cost") - 6_000.0 * number("rehashes")).abs() < 1e-6);
}

#[test]
fn texts_name_the_results() {
    for (arguments, words) in [
        ("lower-bound --load 8 --accesses 1", "infinite"),
        ("optimum --placement multi-level --load 8", "subtables"),
        ("rate --placement blocked --bits-per-key 16", "false-positive rate"),
        ("rate --placement multi-level --block fingerprint --bits-per-key 16", "lists"),
        ("rate --placement sequential --hints 5 --bits-per-key 24", "hints"),
        ("alpha --bits-per-key 12 --model paper", "alpha"),
        ("fluid --placement single --overflow 1% --load 8", "overflow"),
    ] {
        let output = run(arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains(words), "{arguments}: {text}");
    }
}

#[test]
fn arguments_outside_the_domain_are_refused_by_name_value_and_range() {
    for (arguments, words) in [
        ("lower-bound --load 0 --accesses 1.2", &["--load", "0", "above 0"][..]),
        ("lower-bound --load 8 --accesses 0.5", &["--accesses", "0.5", "at least"]),
        ("lower-bound --load 8 --accesses 1.2 --overflow 1", &["--overflow", "1", "below 1"]),
        ("lower-bound --load x --accesses 1.2", &["--load", "x", "such as"]),
        ("optimum --placement single --load 8", &["single needs --overflow"]),
        ("optimum --placement blocked --load 8", &["single, sequential or multi-level"]),
        ("optimum --placement multi-level --load 8 --accesses 4", &["--accesses", "4", "below"]),
        ("optimum --placement multi-level --load 8 --choices 0", &["--choices", "0", "between 1"]),
        (
            "optimum --placement multi-level --load 8 --overflow 0.001",
            &[
                "overflow 0.001",
                "raise overflow to at least 4.98",
                "lower accesses to at most 1.11",
            ],
        ),
        ("rate --placement blocked --bits-per-key 0", &["--bits-per-key", "0"]),
        ("rate --placement blocked --bits-per-key 1e9 --model paper", &["--bits-per-key", "1e5"]),
        ("rate --placement blocked --bits-per-key 16 --block-bits 7", &["--block-bits", "7", "64"]),
        ("rate --placement blocked --bits-per-key 16 --hashes many", &["--hashes", "many", "best"]),
        (
            "rate --placement blocked --bits-per-key 16 --hashes 0",
            &["--hashes", "0", "from 1 to 64"],
        ),
        ("rate --placement blocked --bits-per-key 16 --keys 0", &["--keys", "0", "between 1"]),
        ("rate --placement one-plus-alpha --bits-per-key 16", &["needs --alpha"]),
        ("rate --placement blocked --alpha 0.5 --bits-per-key 16", &["--alpha", "0.5"]),
        ("rate --placement two-choice --overflow 0.5 --bits-per-key 16", &["--overflow", "0.5"]),
        ("rate --placement magic --bits-per-key 16", &["--placement", "magic", "blocked"]),
        (
            "rate --placement single --block cuckoo --bits-per-key 16",
            &["--block", "cuckoo", "bloom"],
        ),
        ("rate --placement single --hints 65 --bits-per-key 16", &["--hints", "65", "0 and 64"]),
        ("rate --placement blocked --hints 4 --bits-per-key 16", &["blocked", "4 hints"]),
        (
            "rate --placement single --hints 4 --bits-per-key 16 --model paper",
            &["--model", "exact"],
        ),
        ("rate --placement single --hints 4 --bits-per-key 16 --hashes 5", &["--hashes", "leave"]),
        (
            "rate --placement multi-level --block fingerprint --bits-per-key 16 --slots 60 --remainder-bits 8",
            &["--slots", "60", "at most 55"],
        ),
        (
            "rate --placement multi-level --block fingerprint --bits-per-key 16 --block-bits 256",
            &["512 bits", "set block_bits"],
        ),
        ("alpha --bits-per-key -3 --model paper", &["--bits-per-key", "-3", "above 0"]),
        ("fluid --placement classical --load 8", &["classical", "no buckets"]),
        ("fluid --placement blocked --load 1e6", &["--load", "1000000", "20000"]),
        (
            "fluid --placement sequential --load 8 --accesses 0.9",
            &["--accesses", "0.9", "at least 1"],
        ),
        ("fluid --placement sequential --load 8 --overflow 1.5", &["--overflow", "1.5", "0 and 1"]),
        ("fluid --placement sequential --load 8 --choices 0", &["--choices", "0", "between 1 and"]),
        (
            "fluid --placement sequential --load 8 --threshold 9 --budget 0.9",
            &["--budget", "0.9", "at least 1"],
        ),
        (
            "fluid --placement multi-level --load 8 --threshold 9 --subtables 0.9,0.2",
            &["--subtables", "1.1", "1 in all"],
        ),
        ("fluid --placement multi-level --load 8 --threshold 9", &["needs --subtables"]),
        ("fluid --placement two-choice --load 8 --threshold 9", &["two-choice", "leave it out"]),
        ("fluid --placement single --load nan --threshold 9", &["--load", "nan", "finite"]),
        (
            "fluid --placement single --load 8 --threshold 9 --accesses 1.2",
            &["--threshold", "--accesses"],
        ),
        ("cuckoo --epsilon 0 --buckets 10", &["--epsilon", "0", "above 0"]),
        ("cuckoo --epsilon nan --buckets 10", &["--epsilon", "nan", "finite"]),
        ("cuckoo --epsilon 0.1 --buckets 0", &["--buckets", "0", "at least 1"]),
        ("fluid --placement blocked --load 8 --steps 0", &["--steps", "0", "between 1 and 1000"]),
    ] {
        let output = run(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {error}");
        for words in words {
            assert!(error.contains(words), "{arguments}: `{words}` is missing in {error}");
        }
    }
}
