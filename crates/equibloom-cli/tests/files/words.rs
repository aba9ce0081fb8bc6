//! What the commands say: errors, warnings, numbers and names.

use std::process::{Command, Output};

use crate::scratch::{Scratch, lines};

fn error_of(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn an_error_of_the_system_is_printed_once() {
    let scratch = Scratch::new("once");
    scratch.write("keys", "a\n");
    for arguments in [
        "info absent",
        "query absent",
        "verify absent",
        "build absent -o x",
        "add absent -e x",
        "merge absent -o x",
    ] {
        let error = error_of(&scratch.run(arguments));
        assert_eq!(error.matches("No such file or directory").count(), 1, "{arguments}: {error}");
        assert_eq!(error.matches("absent").count(), 1, "{arguments}: {error}");
    }
}

#[test]
fn text_in_other_encodings_is_warned_about() {
    let scratch = Scratch::new("encodings");
    let utf_16 = |mark: &[u8], bytes: fn(u16) -> [u8; 2]| {
        let text: Vec<u8> = "alice\nbob\n".encode_utf16().flat_map(bytes).collect();
        [mark, &text].concat()
    };
    for (name, contents, words) in [
        ("little", utf_16(&[0xff, 0xfe], u16::to_le_bytes), "looks like UTF-16"),
        ("big", utf_16(&[0xfe, 0xff], u16::to_be_bytes), "looks like UTF-16"),
        ("unmarked", utf_16(&[], u16::to_le_bytes), "looks like UTF-16"),
        ("returns", b"alice\rbob\rcarol".to_vec(), "carriage returns"),
    ] {
        scratch.write(name, &contents);
        let warning = error_of(&scratch.run(&format!("build {name} -q -o set.eqb")));
        assert!(warning.starts_with(&format!("warning: {name}: ")), "{warning}");
        assert_eq!(warning.matches(words).count(), 1, "{warning}");
        let output = scratch.run_with_input("query set.eqb -c", &contents);
        assert!(error_of(&output).contains(words) && output.status.code() == Some(0));
    }
    for (name, contents) in
        [("dos", "alice\r\nbob\r\n"), ("one", "alice\r"), ("plain", "alice"), ("nul", "ab\0c\0")]
    {
        scratch.write(name, contents);
        scratch.ok(&format!("build {name} -q -o set.eqb"));
    }
    // Rows of a table may end so.
    scratch.write("csv", "key\ralice\rbob\r");
    assert_eq!(scratch.json("build csv --csv-column key -o set.eqb")["keys_read"], 2);
}

#[test]
fn packings_that_are_not_unpacked_are_named() {
    let scratch = Scratch::new("packings");
    for (name, contents, packing) in [
        ("keys.bz2", &b"BZh91AY&SY\x01\x02"[..], "bzip2"),
        ("keys.xz", b"\xfd7zXZ\0\0\x04", "xz"),
        ("keys.lz4", b"\x04\x22\x4d\x18\x64", "lz4"),
        ("keys.sz", b"\xff\x06\0\0sNaPpY\x01", "snappy"),
        ("keys.lz", b"LZIP\x01", "lzip"),
        ("keys.Z", b"\x1f\x9d\x90", "compress"),
        ("keys.zip", b"PK\x03\x04\x14", "zip"),
        ("keys.7z", b"7z\xbc\xaf\x27\x1c\0", "7-Zip"),
        ("keys.rar", b"Rar!\x1a\x07\x01", "RAR"),
        ("keys.br", b"\x1b\x0a\x00\xf8\xe5", "brotli"),
    ] {
        scratch.write(name, contents);
        for output in [
            scratch.run(&format!("build {name} -o set.eqb")),
            scratch.run(&format!("build {name} -0 -o set.eqb")),
        ] {
            let error = error_of(&output);
            assert_eq!(output.status.code(), Some(2), "{error}");
            let words = format!("error: {name}: it is packed by {packing}, and only gzip and zstd");
            assert!(error.starts_with(&words) && error.contains("pipe it through `"), "{error}");
        }
    }
    // Brazilian names are text.
    scratch.write("names.br", "josé\nana\n");
    scratch.ok("build names.br -q -o set.eqb");
}

#[test]
fn records_have_a_longest_length() {
    let scratch = Scratch::new("longest");
    scratch.write("lines", format!("ok\n{}\n", "x".repeat(1_000)));
    scratch.write("csv", format!("key\nok\n\"{}\n\"\n", "x\n".repeat(500)));
    scratch.write("unfinished", "x".repeat(1_000_000));
    for arguments in [
        "lines --max-record 999",
        "csv --csv-column key --max-record 999",
        "unfinished --max-record 500k",
        "unfinished --csv-column x --max-record 500k",
    ] {
        let output = scratch.run(&format!("build {arguments} -o set.eqb"));
        let error = error_of(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {error}");
        assert!(error.contains("has more than") && error.contains("--max-record"), "{error}");
    }
    scratch.ok("build lines -q --max-record 1000 -o set.eqb");
    scratch.ok("build csv -q --csv-column key --max-record 1001 -o set.eqb");
    scratch.ok("build unfinished -q --max-record 1MB -o set.eqb");
    assert!(scratch.ok("build --help").contains("Longest line or row"));
}

/// A line of 50 MB in less and less memory: an answer or an error, never a signal.
#[cfg(unix)]
#[test]
fn a_long_line_in_little_memory_gives_an_error() {
    let scratch = Scratch::new("little-memory");
    scratch.write("lines", "x".repeat(50_000_000));
    let mut refused = 0;
    for flags in ["", "--csv-column 1 --no-header"] {
        for kilobytes in [400_000, 200_000, 130_000, 100_000, 70_000, 50_000] {
            let script = format!(
                "ulimit -v {kilobytes}; exec \"$0\" build lines {flags} -q --threads 1 --placement blocked -o set.eqb"
            );
            let mut command = Command::new("sh");
            command.args(["-c", &script, env!("CARGO_BIN_EXE_equibloom")]);
            let output = command.current_dir(scratch.path("")).output().unwrap();
            let error = error_of(&output);
            match output.status.code() {
                Some(0) => assert!(error.is_empty(), "{kilobytes} kB: {error}"),
                Some(2) => {
                    refused += 1;
                    assert!(error.contains("error: ") && error.contains("memory"), "{error}");
                }
                _ => panic!("{kilobytes} kB {flags}: {:?} {error}", output.status),
            }
            assert!(!error.contains("panicked"), "{error}");
        }
    }
    assert!(refused > 0);
}

#[test]
fn one_is_singular() {
    let scratch = Scratch::new("one");
    scratch.write("key", "alice\n");
    let printed = [
        scratch.ok("build key --keys 1 -o one.eqb"),
        scratch.ok("info one.eqb"),
        scratch.ok("verify one.eqb"),
        scratch.ok("add one.eqb -e alice"),
        scratch.ok("merge one.eqb -o merged.eqb"),
        scratch.ok("plan --keys 1 --fpr 1%"),
        error_of(&scratch.run("add one.eqb -e bob --when-full refuse")),
        error_of(&scratch.run("add one.eqb -e bob --when-full saturate")),
    ];
    for text in printed {
        for plural in ["1 keys", "1 blocks", "1 filters", "1 bytes", "1 bits", "1 slots"] {
            let wrong = |at: usize| {
                !text[..at].ends_with(|before: char| {
                    before.is_ascii_digit() || before == '.' || before == ','
                })
            };
            let found = text.match_indices(plural).any(|(at, _)| wrong(at));
            assert!(!found, "`{plural}` in {text}");
        }
    }
}

#[test]
fn rates_far_below_the_hash_are_only_said_to_be_small() {
    let scratch = Scratch::new("rates");
    scratch.write("keys", "a\nb\nc\n");
    for text in [
        scratch.ok("build keys --keys 3 --placement blocked -o set.eqb"),
        scratch.ok("info set.eqb"),
        scratch.ok("plan --keys 3 --fpr 1% --placement blocked"),
        scratch.ok("plan --keys 1 --fpr 1%"),
    ] {
        let rate = text.lines().find(|line| line.contains("false-positive rate")).unwrap();
        assert!(rate.contains("below 1e-20"), "{text}");
        let is_tiny = |word: &str| word.parse::<f64>().is_ok_and(|rate| rate > 0.0 && rate < 9e-21);
        let words = text.split(|it: char| !(it.is_ascii_alphanumeric() || ".-+".contains(it)));
        assert!(!words.clone().any(|word| is_tiny(word.trim_end_matches('.'))), "{text}");
        assert!(!words.clone().any(|word| word.len() > 25), "{text}");
    }
}

#[test]
fn build_info_and_plan_name_a_filter_alike_and_agree_to_the_byte() {
    let scratch = Scratch::new("names");
    scratch.write("keys", lines("key", 5_000));
    for (requirements, name) in [
        ("--fpr 0.1%", "fingerprint, "),
        ("--fpr 1% --removable", "fingerprint, "),
        ("--bits-per-key 12 --placement blocked", "blocked, "),
        ("--memory 9kB", "fingerprint, "),
        ("--fpr 1% --placement classical --accesses-miss 9", "classical, "),
        ("--fpr 1% --block bloom --placement multi-level --accesses-miss 9", "multi-level, "),
    ] {
        let plan = scratch.json(&format!("plan --keys 5000 {requirements}"));
        let built = scratch.json(&format!("build keys --keys 5000 {requirements} -o set.eqb"));
        let info = scratch.json("info set.eqb");
        assert!(plan["filter"].as_str().unwrap().starts_with(name), "{plan}");
        for field in ["filter", "bytes", "bits_per_key"] {
            assert_eq!(plan[field], built[field], "{requirements}");
        }
        assert_eq!(plan["filter"], info["filter"], "{requirements}");
        assert_eq!(plan["parameters"], info["header"]["parameters"], "{requirements}");
        let memory = &info["statistics"]["memory"];
        let table = memory["blocks"].as_u64().unwrap() + memory["overflow"].as_u64().unwrap();
        let sections = info["header"]["sections"].as_array().unwrap();
        let stored: u64 = sections.iter().map(|it| it["length"].as_u64().unwrap()).sum();
        assert_eq!(table, stored);
        let header = plan["bytes"].as_u64().unwrap() - table;
        assert!((memory["header"].as_u64().unwrap()..=832).contains(&header), "{header}");
        // Counted keys have headroom.
        let plan = scratch.json(&format!("plan --keys 5000 --headroom 10% {requirements}"));
        let built = scratch.json(&format!("build keys {requirements} -o set.eqb"));
        assert_eq!((&plan["bytes"], &plan["keys"]), (&built["bytes"], &built["planned_keys"]));
        // The texts begin alike.
        let filter = plan["filter"].as_str().unwrap();
        for text in [
            scratch.ok("info set.eqb"),
            scratch.ok(&format!("build keys {requirements} -o set.eqb")),
        ] {
            assert!(text.starts_with(&format!("set.eqb: {filter}\n")), "{text}");
        }
    }
}

#[test]
fn the_number_of_different_keys_is_called_an_estimate() {
    let scratch = Scratch::new("estimate");
    scratch.write("keys", lines("key", 5_000));
    let text = scratch.ok("build keys keys --fpr 1% -o set.eqb");
    let line = text.lines().find(|line| line.contains("10,000 read")).unwrap();
    assert!(line.contains("an estimated 4,9"), "{line}");
    assert!(scratch.ok("info set.eqb").contains("an estimated 4,9"));
    // A filter that says yes to nearly everything counts few of its keys.
    let text = |command| String::from_utf8(scratch.run(command).stdout).unwrap();
    let built = text("build keys --keys 100 --when-full saturate -o set.eqb");
    assert!(built.contains("5,000 read, at least ") && !built.contains("estimated"), "{built}");
    assert!(text("info set.eqb").contains("  at least "));
    // A removable filter stores repeated keys each time, and knows their number.
    let text = scratch.ok("build keys keys --removable -o set.eqb");
    assert!(text.contains("10,000 read, 10,000 stored, repeated ones each time"), "{text}");
    assert!(!text.contains("different") && !scratch.ok("info set.eqb").contains("estimated"));
}

#[test]
fn counted_keys_leave_room_for_more() {
    let scratch = Scratch::new("headroom");
    scratch.write("keys", lines("key", 1_000));
    scratch.write("few", "a\nb\nc\n");
    scratch.write("more", lines("more", 100));
    let planned = |arguments: &str| {
        scratch.json(&format!("build {arguments} -o set.eqb"))["planned_keys"].as_u64().unwrap()
    };
    assert_eq!(planned("keys"), 1_100);
    scratch.ok("add set.eqb more -q");
    assert_eq!(scratch.ok("query set.eqb -c keys more"), "1100\n");
    let refused = error_of(&scratch.run(
        "add set.eqb --when-full refuse -e one -e two -e three -e four -e five -e six -e seven",
    ));
    assert!(refused.contains("1,100 keys") && refused.contains("--headroom"), "{refused}");
    assert_eq!(planned("keys --headroom 0"), 1_000);
    assert_eq!(planned("keys --headroom 50%"), 1_500);
    assert_eq!(planned("keys --keys 1000"), 1_000);
    assert_eq!(planned("few"), 7);
    // From day to day.
    scratch.ok("build keys -q -o all.eqb");
    for day in 0..5 {
        scratch.write("day", lines(&format!("day{day}-"), 500 + 10 * day));
        scratch.ok("build day -q -o day.eqb");
        scratch.ok("merge all.eqb day.eqb -q -o all.eqb");
        assert_eq!(scratch.ok("query all.eqb -c keys day"), format!("{}\n", 1_500 + 10 * day));
    }
}

#[test]
fn a_filter_of_too_little_memory_needs_force() {
    let scratch = Scratch::new("force");
    scratch.write("keys", lines("key", 100_000));
    let output = scratch.run("build keys --memory 1kB -o set.eqb");
    let error = error_of(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        error.contains("yes to 100.0 % of absent keys") && error.contains("--force"),
        "{error}"
    );
    assert!(!scratch.path("set.eqb").exists());
    scratch.ok("build keys -q --memory 1kB --force -o set.eqb");
}

#[test]
fn threads_do_not_change_the_filter() {
    let scratch = Scratch::new("threads");
    scratch.write("keys", lines("key", 50_000));
    scratch.ok("build keys -q -o set.eqb");
    let expected = scratch.read("set.eqb");
    for threads in [1, 2, 3, 7, 256] {
        scratch.ok(&format!("build keys -q --threads {threads} -o set.eqb"));
        assert!(scratch.read("set.eqb") == expected, "{threads}");
    }
    scratch.ok("add set.eqb keys -q --threads 3");
    for wrong in ["0", "257", "many"] {
        let output = scratch.run(&format!("build keys --threads {wrong} -o set.eqb"));
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

/// On a terminal that `script` makes.
#[cfg(unix)]
#[test]
fn every_long_step_shows_progress() {
    let scratch = Scratch::new("progress");
    scratch.write("keys", lines("key", 400_000));
    for (arguments, steps) in [
        ("build keys -o set.eqb", &["counting", "planning", "building", "writing"][..]),
        ("add set.eqb keys", &["reading", "changing", "writing"]),
        ("verify set.eqb", &["verifying"]),
        ("query set.eqb keys -c", &["reading", "asking"]),
        ("merge set.eqb set.eqb -o set.eqb", &["reading", "merging", "writing"]),
        ("info set.eqb", &["reading", "computing the rate"]),
    ] {
        let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_equibloom"));
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).env("TERM", "xterm");
        let Ok(output) = script.current_dir(scratch.path("")).output() else {
            eprintln!("skipped: there is no `script`");
            return;
        };
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        for step in steps {
            assert!(shown.contains(step), "{arguments}: `{step}` is missing in {shown}");
        }
    }
}
