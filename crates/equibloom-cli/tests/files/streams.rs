//! `-` is standard input or output, wherever a filter or keys are named.

use crate::scratch::{Scratch, lines};

#[test]
fn a_dash_is_standard_output_for_every_command_that_writes() {
    let scratch = Scratch::new("output");
    for name in ["a", "b"] {
        scratch.write(name, lines(name, 2_000));
        scratch.ok(&format!("build {name} -q --keys 4000 --placement blocked -o {name}.eqb"));
    }
    scratch.ok("merge a.eqb b.eqb -q -o both.eqb");
    scratch.write("added.eqb", scratch.read("a.eqb"));
    scratch.ok("add added.eqb b -q");
    for (arguments, input, expected) in [
        ("build a --keys 4000 --placement blocked -o -", &[][..], "a.eqb"),
        ("build --keys 4000 --placement blocked -o -", &scratch.read("a"), "a.eqb"),
        ("merge a.eqb b.eqb -o -", &[], "both.eqb"),
        ("merge - b.eqb -o -", &scratch.read("a.eqb"), "both.eqb"),
        ("add - b", &scratch.read("a.eqb"), "added.eqb"),
    ] {
        let output = scratch.run_with_input(arguments, input);
        let report = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{arguments}: {report}");
        assert!(output.stdout == scratch.read(expected), "{arguments}");
        assert!(report.starts_with("standard output: "), "{arguments}: {report}");
        let quiet = scratch.run_with_input(&format!("{arguments} -q"), input);
        assert!(quiet.stderr.is_empty() && quiet.stdout == output.stdout, "{arguments}");
    }
    assert!(!scratch.names().contains(&"-".to_owned()));
    // Without --keys the hashes wait in the directory for temporary files.
    let output = scratch.run_with_input("build -q --placement blocked -o -", &scratch.read("a"));
    scratch.ok("build a -q --placement blocked -o counted.eqb");
    assert!(output.stdout == scratch.read("counted.eqb"));
}

#[test]
fn a_dash_is_standard_input_for_every_command_that_reads() {
    let scratch = Scratch::new("input");
    scratch.write("keys", lines("key", 500));
    scratch.ok("build keys -q --placement blocked --fpr 1e-9 -o set.eqb");
    let filter = scratch.read("set.eqb");
    let run = |arguments: &str| {
        let output = scratch.run_with_input(arguments, &filter);
        assert!(
            output.stderr.is_empty(),
            "{arguments}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run("query - keys -c"), "500\n");
    assert_eq!(run("query -f - -H -e key7@example.com"), "standard input:key7@example.com\n");
    assert_eq!(run("verify -"), scratch.ok("verify set.eqb").replace("set.eqb", "standard input"));
    assert_eq!(run("info -"), scratch.ok("info set.eqb").replace("set.eqb", "standard input"));

    for (arguments, words) in [
        ("query -", "standard input is the filter"),
        ("query - -", "standard input is the filter"),
        ("query -f - -f - keys", "`-` is given twice"),
        ("add -", "standard input is the filter"),
        ("merge - - -o -", "`-` is given twice"),
    ] {
        let output = scratch.run_with_input(arguments, &filter);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(error.contains(words) && output.stdout.is_empty(), "{arguments}: {error}");
    }
    // One filter, and nothing else.
    let more = [&filter[..], b"x"].concat();
    for (arguments, status) in [("verify -", 2), ("query - keys", 2)] {
        let output = scratch.run_with_input(arguments, &more);
        assert_eq!(output.status.code(), Some(status), "{arguments}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("more bytes follow"));
    }
}

#[cfg(unix)]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    let scratch = Scratch::new("device");
    scratch.write("keys", lines("key", 500));
    scratch.ok("build keys -q -o /dev/null");
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    let output = scratch.run("build keys -q -o /dev/full");
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("/dev/full") && error.contains("No space left"), "{error}");
}
