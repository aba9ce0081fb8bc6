//! `add`, `remove`, `merge`, `info` and `verify`.

use std::thread;

use serde_json::Value;

use crate::scratch::{Scratch, lines};

/// Planned at once, since there is no choice.
const QUICK: &str = "--placement blocked";

#[test]
fn added_keys_are_there_beside_the_old_ones() {
    let scratch = Scratch::new("add");
    scratch.write("old", lines("old", 5_000));
    scratch.write("new", lines("new", 5_000));
    scratch.write("both", lines("old", 5_000) + &lines("new", 5_000));
    scratch.ok(&format!("build old -q --keys 10010 {QUICK} -o set.eqb"));
    scratch.ok(&format!("build both -q --keys 10010 {QUICK} -o both.eqb"));
    let changed = scratch.json("add set.eqb new");
    assert_eq!(changed["keys_read"], 5_000);
    assert!(scratch.read("set.eqb") == scratch.read("both.eqb"));
    // Adding them again changes nothing.
    scratch.ok("add set.eqb new -q");
    assert!(scratch.read("set.eqb") == scratch.read("both.eqb"));
    scratch.ok("add set.eqb -q -e one -e another");
    assert_eq!(scratch.ok("query set.eqb -e one -e another"), "one\nanother\n");
    let output = scratch.run_with_input("add set.eqb", b"from input");
    assert!(String::from_utf8(output.stdout).unwrap().contains("false-positive rate"));
    let mut command = scratch.command("query set.eqb -c -e");
    assert_eq!(command.arg("from input").output().unwrap().stdout, b"1\n");
}

#[test]
fn concurrent_additions_are_all_kept() {
    let scratch = Scratch::new("together");
    scratch.write("none", "");
    scratch.ok(&format!("build none -q --keys 10000 {QUICK} -o set.eqb"));
    thread::scope(|scope| {
        for number in 0..8 {
            let scratch = &scratch;
            scope.spawn(move || {
                scratch.write(&format!("keys{number}"), lines(&format!("{number}-"), 500));
                scratch.ok(&format!("add set.eqb -q keys{number}"));
            });
        }
    });
    for number in 0..8 {
        assert_eq!(scratch.ok(&format!("query set.eqb -c keys{number}")), "500\n");
    }
}

#[test]
fn removed_keys_are_absent_and_the_others_are_kept() {
    let scratch = Scratch::new("remove");
    scratch.write("stay", lines("stay", 5_000));
    scratch.write("go", lines("go", 5_000));
    scratch.write("none", "");
    scratch.ok("build stay go -q --removable --fpr 1e-6 -o set.eqb");
    scratch.ok("remove set.eqb go -q");
    assert_eq!(scratch.ok("query set.eqb -c stay"), "5000\n");
    assert_eq!(scratch.run("query set.eqb -c go").stdout, b"0\n");
    let whole = scratch.read("set.eqb");
    let output = scratch.run("remove set.eqb -e stay1@example.com -e nobody");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("key number 2") && error.contains("--skip-absent"), "{error}");
    assert!(scratch.read("set.eqb") == whole);
    scratch.ok("remove set.eqb -q -e stay1@example.com -e nobody --skip-absent");
    assert_eq!(scratch.run("query set.eqb -c -e stay1@example.com").stdout, b"0\n");

    scratch.ok(&format!("build stay -q {QUICK} -o set.eqb"));
    let error = scratch.run("remove set.eqb -e stay1@example.com").stderr;
    let error = String::from_utf8(error).unwrap();
    assert!(error.contains("from a blocked") || error.contains("blocked"), "{error}");
    assert!(error.contains("--removable"), "{error}");
}

#[test]
fn merged_filters_have_the_keys_of_all() {
    let scratch = Scratch::new("merge");
    let requirements = format!("-q --keys 9000 --when-full refuse {QUICK}");
    for name in ["a", "b", "c"] {
        scratch.write(name, lines(name, 3_000));
        scratch.ok(&format!("build {name} {requirements} -o {name}.eqb"));
    }
    scratch.write("all", lines("a", 3_000) + &lines("b", 3_000) + &lines("c", 3_000));
    let merged = scratch.json("merge a.eqb b.eqb c.eqb -o all.eqb");
    assert_eq!((&merged["filters"], &merged["planned_keys"]), (&3.into(), &9_000.into()));
    assert_eq!(scratch.ok("query all.eqb -c all"), "9000\n");
    scratch.ok("verify all.eqb a.eqb b.eqb c.eqb");
    // The output may be an input.
    scratch.ok("merge a.eqb b.eqb c.eqb -o a.eqb -q");
    assert!(scratch.read("a.eqb") == scratch.read("all.eqb"));
    // More keys than planned.
    let output = scratch.run("merge a.eqb b.eqb -o new.eqb");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("9,000") && error.contains("--when-full saturate"), "{error}");
    assert!(!scratch.path("new.eqb").exists());
    let output = scratch.run("merge a.eqb b.eqb -o new.eqb --when-full saturate");
    assert!(output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("warning: new.eqb: "));
}

#[test]
fn filters_that_differ_are_not_merged() {
    let scratch = Scratch::new("disagree");
    scratch.write("keys", lines("key", 100));
    scratch.ok(&format!("build keys -q {QUICK} -o a.eqb"));
    for (requirements, words) in [
        (format!("{QUICK} --seed 5"), &["different seeds, 0 and 5", "--seed"][..]),
        ("--removable --fpr 1%".to_owned(), &["for 110 keys", "removable", "same --keys"]),
    ] {
        scratch.ok(&format!("build keys -q {requirements} -o b.eqb"));
        let before = scratch.read("b.eqb");
        let output = scratch.run("merge a.eqb b.eqb -o b.eqb");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{requirements}");
        for words in words {
            assert!(error.contains(words), "{requirements}: `{words}` is missing in {error}");
        }
        assert!(scratch.read("b.eqb") == before);
    }
}

#[test]
fn filters_of_other_plans_become_parts() {
    let scratch = Scratch::new("parts");
    for (name, requirements) in [
        ("a", QUICK),
        ("b", "--fpr 1e-4"),
        ("c", "--keys 20000 --fpr 1e-3 --seed 0"),
        ("d", "--placement two-choice --accesses-miss 3"),
    ] {
        scratch.write(name, lines(name, 2_000));
        scratch.ok(&format!("build {name} -q {requirements} -o {name}.eqb"));
    }
    let merged = scratch.json("merge a.eqb b.eqb c.eqb d.eqb -o all.eqb");
    assert_eq!((&merged["parts"], &merged["planned_keys"]), (&4.into(), &26_600.into()));
    for name in ["a", "b", "c", "d"] {
        assert_eq!(scratch.ok(&format!("query all.eqb -c {name}")), "2000\n");
    }
    scratch.ok("verify all.eqb");
    let text = scratch.ok("info all.eqb");
    for words in ["4 parts", "of 26,600 planned"] {
        assert!(text.contains(words), "`{words}` is missing in {text}");
    }
    scratch.ok("add all.eqb -q -e new@example.com");
    assert_eq!(scratch.ok("query all.eqb -c -e new@example.com"), "1\n");
    // A part of the same plan takes the keys in.
    let merged = scratch.json("merge all.eqb b.eqb -o all.eqb");
    assert_eq!(merged["parts"], 4);
}

#[test]
fn info_shows_the_contents_of_a_file() {
    let scratch = Scratch::new("info");
    scratch.write("keys", lines("key", 20_000));
    for requirements in [
        "--placement classical --accesses-miss 9",
        "--placement blocked",
        "--placement multi-level --block bloom --hints 0 --accesses-miss 9",
        "--block fingerprint",
    ] {
        scratch.ok(&format!("build keys -q {requirements} --seed 3 -o set.eqb"));
        scratch.write("more", lines("more", 2_000));
        scratch.ok("add set.eqb more -q");
        let text = scratch.ok("info set.eqb");
        let name = requirements.split_whitespace().nth(1).unwrap();
        for words in [name, "22,000 planned", "false-positive rate", "seed 3", "the whole file"] {
            assert!(text.contains(words), "`{words}` is missing in {text}");
        }
        assert_eq!(text.contains('█'), name != "classical", "{text}");
        let info: Value = scratch.json("info set.eqb");
        assert_eq!(info["header"]["file_length"], scratch.read("set.eqb").len());
        assert_eq!(info["header"]["parameters"]["keys"], 22_000);
        let (now, planned) = (&info["statistics"]["expected_rate"], &info["rate_planned"]);
        let ratio = now.as_f64().unwrap() / planned.as_f64().unwrap();
        assert!((0.9..1.1).contains(&ratio), "{requirements}: {now} {planned}");
    }
}

#[test]
fn verify_finds_a_flipped_bit_anywhere() {
    let scratch = Scratch::new("flipped");
    scratch.write("keys", lines("key", 300));
    scratch.ok(&format!("build keys -q {QUICK} -o set.eqb"));
    assert!(scratch.ok("verify set.eqb").starts_with("set.eqb: whole"));
    let whole = scratch.read("set.eqb");
    for byte in (0..whole.len()).step_by(whole.len() / 40).chain([whole.len() - 1]) {
        let mut damaged = whole.clone();
        damaged[byte] ^= 1 << (byte % 8);
        scratch.write("damaged.eqb", &damaged);
        for command in [
            "verify damaged.eqb",
            "query damaged.eqb keys",
            "info damaged.eqb",
            "add damaged.eqb -e x",
            "merge set.eqb damaged.eqb -o m.eqb",
        ] {
            let output = scratch.run(command);
            let status = if command.starts_with("verify") { 1 } else { 2 };
            assert_eq!(output.status.code(), Some(status), "{command} at byte {byte}");
            assert!(output.stdout.is_empty());
        }
        assert!(scratch.read("damaged.eqb") == damaged);
    }
}
