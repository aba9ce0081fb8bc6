//! `query -f A -f B`: several filters at once, and grep's options.

use std::collections::HashSet;

use crate::scratch::{Scratch, lines};

fn three_days(scratch: &Scratch) {
    for (day, keys) in [("mon", "alice\nbob\n"), ("tue", "bob\ncarol\n"), ("wed", "dave\n")] {
        scratch.write(day, keys);
        scratch.ok(&format!("build {day} -q --fpr 1e-9 --placement blocked -o {day}.eqb"));
    }
}

#[test]
fn several_filters_say_which_holds_a_record() {
    let scratch = Scratch::new("several");
    three_days(&scratch);
    scratch.write("keys", "bob\neve\nalice\n");
    scratch.write("csv", "n,key\n1,bob\n2,eve\n3,\"dave\"\n");
    scratch.write("jsonl", "{\"key\": \"b\\u006fb\"}\n{\"key\":\"eve\"}");
    let days = "-f mon.eqb -f tue.eqb -f wed.eqb";
    for (arguments, printed, status) in [
        (format!("{days} keys"), "mon.eqb:bob\ntue.eqb:bob\nmon.eqb:alice\n", 0),
        (format!("keys {days} -n"), "mon.eqb:1:bob\ntue.eqb:1:bob\nmon.eqb:3:alice\n", 0),
        (format!("{days} --no-filename keys"), "bob\nalice\n", 0),
        (format!("{days} --no-filename -v keys"), "eve\n", 0),
        (format!("{days} -v -e bob"), "wed.eqb:bob\n", 0),
        (format!("{days} -v -e eve -m 1"), "mon.eqb:eve\ntue.eqb:eve\nwed.eqb:eve\n", 0),
        (format!("{days} -l keys"), "mon.eqb\ntue.eqb\n", 0),
        (format!("{days} -L keys"), "wed.eqb\n", 0),
        (format!("{days} -l -e eve"), "", 1),
        (format!("{days} -L -e eve"), "mon.eqb\ntue.eqb\nwed.eqb\n", 0),
        (format!("{days} -c keys"), "mon.eqb:2\ntue.eqb:1\nwed.eqb:0\n", 0),
        (format!("{days} -c --no-filename keys"), "2\n", 0),
        (format!("{days} -q keys"), "", 0),
        (format!("{days} -q -e eve"), "", 1),
        (format!("{days} -m 1 keys"), "mon.eqb:bob\ntue.eqb:bob\n", 0),
        (format!("{days} csv --csv-column key -o --no-filename"), "bob\ndave\n", 0),
        (
            format!("{days} csv --csv-column key"),
            "mon.eqb:1,bob\ntue.eqb:1,bob\nwed.eqb:3,dave\n",
            0,
        ),
        ("mon.eqb -H keys".to_owned(), "mon.eqb:bob\nmon.eqb:alice\n", 0),
        ("mon.eqb -n keys keys".to_owned(), "1:bob\n3:alice\n1:bob\n3:alice\n", 0),
        ("mon.eqb -n -v keys".to_owned(), "2:eve\n", 0),
        ("mon.eqb -m 0 keys".to_owned(), "", 1),
        ("mon.eqb -m 0 -q keys".to_owned(), "", 1),
        ("mon.eqb -m 1 -c keys".to_owned(), "1\n", 0),
        ("mon.eqb -n csv --csv-column key".to_owned(), "2:1,bob\n", 0),
        ("mon.eqb -o jsonl --json-field key".to_owned(), "bob\n", 0),
        ("mon.eqb -l -e bob".to_owned(), "mon.eqb\n", 0),
    ] {
        let output = scratch.run(&format!("query {arguments}"));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), printed, "{arguments}");
        assert_eq!(output.status.code(), Some(status), "{arguments}");
        assert!(output.stderr.is_empty(), "{arguments}");
    }
    let numbers = scratch.json(&format!("query {days} keys"));
    assert_eq!((&numbers["keys"], &numbers["selected"]), (&3.into(), &2.into()));
    assert_eq!(numbers["filters"][1], serde_json::json!({"file": "tue.eqb", "selected": 1}));
}

/// Against exact sets, over many batches.
#[test]
fn many_records_and_limits_agree_with_sets() {
    let scratch = Scratch::new("many");
    let (first, second) = (lines("first", 30_000), lines("second", 30_000));
    scratch.write("a", &first);
    scratch.write("b", format!("{second}{}", &first[..first.len() / 2]));
    for name in ["a", "b"] {
        scratch.ok(&format!("build {name} -q --fpr 1e-12 -o {name}.eqb"));
    }
    let queries = lines("none", 20_000) + &second + &lines("other", 20_000) + &first;
    scratch.write("queries", &queries);
    let sets = ["a", "b"].map(|name| String::from_utf8(scratch.read(name)).unwrap());
    let sets = sets.each_ref().map(|text| text.lines().collect::<HashSet<_>>());
    for limit in [1, 63, 64, 65, 29_999, 45_000, 1_000_000] {
        let holders = |query: &str| {
            let holds = |(set, name): (&HashSet<&str>, _)| set.contains(query).then_some(name);
            sets.iter().zip(["a.eqb", "b.eqb"]).filter_map(holds).collect::<Vec<_>>()
        };
        let held = queries.lines().filter(|query| !holders(query).is_empty()).take(limit);
        let expected: String = held
            .flat_map(|query| {
                holders(query).into_iter().map(move |name| format!("{name}:{query}\n"))
            })
            .collect();
        let found = scratch.ok(&format!("query -f a.eqb -f b.eqb queries -m {limit}"));
        assert!(found == expected, "{limit}");
        let counts = scratch.ok(&format!("query -f a.eqb -f b.eqb queries -c -m {limit}"));
        let count = |name| expected.lines().filter(|line| line.starts_with(name)).count();
        assert_eq!(counts, format!("a.eqb:{}\nb.eqb:{}\n", count("a.eqb:"), count("b.eqb:")));
    }
}

#[test]
fn filters_that_hash_differently_are_not_asked_together() {
    let scratch = Scratch::new("apart");
    scratch.write("keys", "1\n2\n");
    scratch.ok("build keys -q -o a.eqb");
    for (flags, words) in [("--seed 5", "seed 5"), ("--type int", "holds integers")] {
        scratch.ok(&format!("build keys -q {flags} -o b.eqb"));
        let output = scratch.run("query -f a.eqb -f b.eqb keys");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(error.contains("b.eqb") && error.contains(words), "{error}");
    }
}

#[test]
fn verify_goes_on_to_the_next_file() {
    let scratch = Scratch::new("verify");
    scratch.write("keys", lines("key", 100));
    scratch.ok("build keys -q -o a.eqb");
    let mut damaged = scratch.read("a.eqb");
    *damaged.last_mut().unwrap() ^= 1;
    scratch.write("damaged.eqb", &damaged);
    for (files, whole, errors, status) in [
        ("a.eqb a.eqb", 2, 0, 0),
        ("damaged.eqb a.eqb keys a.eqb", 2, 2, 1),
        ("absent a.eqb damaged.eqb", 1, 2, 2),
    ] {
        let output = scratch.run(&format!("verify {files}"));
        let printed = String::from_utf8(output.stdout).unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(printed.matches("a.eqb: whole").count(), whole, "{files}: {printed}");
        assert_eq!(error.matches("error: ").count(), errors, "{files}: {error}");
        assert_eq!(output.status.code(), Some(status), "{files}");
        let json = scratch.run(&format!("verify {files} --json")).stdout;
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let failed = json.as_array().unwrap().iter().filter(|file| file["error"].is_string());
        assert_eq!(failed.count(), errors, "{json}");
    }
}
