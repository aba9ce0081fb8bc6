//! Bad input: an error on standard error with value and cure, status 2, and the output unchanged.

use std::fs;

use crate::scratch::{Scratch, lines};

#[test]
fn bad_input_is_refused_with_the_value_and_the_cure() {
    let scratch = Scratch::new("refusals");
    scratch.write("keys", lines("key", 1_000));
    scratch.write("csv", "id,mail\n1,a\n2,b\n");
    scratch.write("ragged.csv", "id,mail\n1,a\n2\n");
    scratch.write("jsonl", "{\"id\":1}\n{\"ID\":2}\n");
    scratch.write("cut.gz", &gzip_of_keys()[..500]);
    let mut damaged = gzip_of_keys();
    damaged[300] ^= 0xff;
    scratch.write("damaged.gz", damaged);
    let packed = zstd::encode_all(lines("key", 1_000).as_bytes(), 1).unwrap();
    scratch.write("cut.zst", &packed[..packed.len() / 2]);
    fs::create_dir(scratch.path("directory")).unwrap();
    scratch.ok("build keys -q --placement blocked -o set.eqb");
    scratch.ok("build keys -q --placement blocked --keys 1000 -o old.eqb");
    let old = scratch.read("old.eqb");
    let names = scratch.names();

    for (arguments, words) in [
        ("build absent -o old.eqb", &["absent", "could not read", "check its name"][..]),
        ("build keys absent -o old.eqb", &["absent", "No such file"]),
        ("build directory -o old.eqb", &["directory", "give files"]),
        ("build set.eqb -o old.eqb", &["set.eqb", "a filter, not a file of keys"]),
        ("build keys -o nowhere/new.eqb", &["nowhere/new.eqb", "no directory nowhere", "make it"]),
        ("build keys -o directory", &["directory", "name of a file"]),
        ("build keys -o keys", &["keys is a file of keys and the output", "another name"]),
        ("build - - -o old.eqb", &["`-` is given twice"]),
        ("build cut.gz -o old.eqb", &["cut.gz", "too early", "get it again"]),
        ("build damaged.gz -o old.eqb", &["damaged.gz", "get it again"]),
        ("build cut.zst -o old.eqb", &["cut.zst", "get it again"]),
        ("build csv --csv-column name -o old.eqb", &["no column `name`", "id, mail", "1 to 2"]),
        ("build csv --csv-column 3 -o old.eqb", &["no column `3`", "1 to 2"]),
        ("build csv --csv-column 0 -o old.eqb", &["no column `0`", "1 to 2"]),
        ("build csv --csv-column id --no-header -o old.eqb", &["`id`", "a number from 1 to 2"]),
        ("build ragged.csv --csv-column id -o old.eqb", &["ragged.csv, line 3", "1 cells", "2"]),
        ("build jsonl --json-field id -o old.eqb", &["jsonl, line 2", "`id`", "--skip-missing"]),
        (
            "build keys --json-field id -o old.eqb",
            &["keys, line 1", "one JSON object on every line"],
        ),
        ("build keys --json-field a..b -o old.eqb", &["`a..b`", "user.email"]),
        ("build keys --no-header -o old.eqb", &["--no-header", "--csv-column"]),
        ("build keys --skip-missing -o old.eqb", &["--skip-missing", "--json-field"]),
        ("build keys -0 --csv-column 1 -o old.eqb", &["cannot be used with"]),
        ("build keys", &["--output"]),
        ("build keys --keys 0 -o old.eqb", &["--keys is 0", "at least 1"]),
        (
            "build keys --keys 999 --placement blocked --when-full refuse -o old.eqb",
            &["more than the 999", "--when-full"],
        ),
        ("build keys --keys many -o old.eqb", &["many", "such as"]),
        ("build keys --fpr 0 -o old.eqb", &["--fpr", "at least 1e-15"]),
        ("build keys --memory 10 -o old.eqb", &["--memory", "10", "at least"]),
        ("build keys --memory 2kB --fpr 1e-6 -o old.eqb", &["raise rate", "raise memory"]),
        ("build keys --placement best -o old.eqb", &["best", "multi-level"]),
        ("build keys --block brick -o old.eqb", &["brick", "bloom or fingerprint"]),
        ("build keys --when-full explode -o old.eqb", &["explode", "grow", "refuse", "saturate"]),
        ("build keys --when-full grow --memory 9kB -o old.eqb", &["--when-full grow", "--fpr"]),
        ("build keys --when-full grow --fpr 1e-12 -o old.eqb", &["1e-12", "3e-11"]),
        ("build keys --when-full grow --fpr 1% --removable -o old.eqb", &["removed", "refuse"]),
        ("build keys --when-full grow --fpr 1% --placement classical -o old.eqb", &["growth"]),
        ("query absent keys", &["absent", "could not open"]),
        ("query keys keys", &["keys: not a filter file"]),
        ("query directory keys", &["directory"]),
        ("query set.eqb absent", &["absent", "could not read"]),
        ("query set.eqb set.eqb", &["a filter, not a file of keys"]),
        ("query set.eqb cut.gz", &["cut.gz", "too early"]),
        ("add absent keys", &["absent"]),
        ("add keys keys", &["keys: not a filter file"]),
        ("add old.eqb absent", &["absent", "could not read"]),
        ("add old.eqb cut.gz", &["cut.gz", "too early"]),
        ("add old.eqb -e one -e more --when-full refuse", &["1,000 keys", "--when-full saturate"]),
        ("remove old.eqb keys", &["--removable"]),
        ("merge old.eqb absent -o old.eqb", &["absent"]),
        ("merge old.eqb keys -o old.eqb", &["keys: not a filter file"]),
        ("merge old.eqb set.eqb -o nowhere/x", &["no directory nowhere"]),
        ("merge -o old.eqb", &["FILE"]),
        ("info absent", &["absent", "could not open"]),
        ("info csv", &["csv: not a filter file"]),
        ("verify csv", &["csv: not a filter file"]),
        ("verify set.eqb absent", &["absent"]),
    ] {
        let output = scratch.run(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        let status = if arguments == "verify csv" { 1 } else { 2 };
        assert_eq!(output.status.code(), Some(status), "{arguments}: {error}");
        assert!(output.stdout.is_empty() || is_by_and_by(arguments), "{arguments}");
        assert!(
            error.starts_with("error: ") && !error.contains("panicked"),
            "{arguments}: {error}"
        );
        for words in words {
            assert!(error.contains(words), "{arguments}: `{words}` is missing in {error}");
        }
        assert!(scratch.read("old.eqb") == old, "{arguments}");
        assert_eq!(scratch.names(), names, "{arguments}");
    }
}

/// Commands that print before they find an error.
fn is_by_and_by(arguments: &str) -> bool {
    ["query", "verify"].iter().any(|command| arguments.starts_with(command))
}

fn gzip_of_keys() -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(lines("key", 1_000).as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn keys_beyond_the_plan_are_accepted_on_request() {
    let scratch = Scratch::new("saturate");
    scratch.write("keys", lines("key", 3_000));
    for requirements in ["--placement blocked", "--block fingerprint", "--block bloom"] {
        let output = scratch
            .run(&format!("build keys --keys 1000 --when-full saturate {requirements} -o set.eqb"));
        let warning = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{warning}");
        assert!(warning.starts_with("warning: set.eqb: "), "{warning}");
        assert!(warning.contains("planned for 1,000"), "{warning}");
        assert_eq!(scratch.ok("query set.eqb -c keys"), "3000\n");
    }
}

/// The default where the rate is given: then and later, keys beyond the plan go to a part that grows.
#[test]
fn a_filter_of_a_rate_grows() {
    let scratch = Scratch::new("grow");
    scratch.write("keys", lines("key", 3_000));
    scratch.write("more", lines("more", 3_000));
    for requirements in
        ["--fpr 1%", "--fpr 1% --when-full grow --block bloom", "--placement blocked"]
    {
        let output = scratch.run(&format!("build keys --keys 1000 {requirements} -o set.eqb"));
        let warning = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && warning.is_empty(), "{warning}");
        assert_eq!(scratch.ok("query set.eqb -c keys"), "3000\n");
        let output = scratch.run("add set.eqb more");
        let warning = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && warning.is_empty(), "{warning}");
        assert_eq!(scratch.ok("query set.eqb -c keys more"), "6000\n");
        let info = scratch.json("info set.eqb");
        assert!(info["statistics"]["expected_rate"].as_f64().unwrap() < 0.01);
        let grown = info["grown_keys"].as_u64().unwrap();
        assert!((4_900..=5_100).contains(&grown), "{grown}");
        assert!(scratch.ok("info set.eqb").contains("  grown "));
        scratch.ok("verify set.eqb");
        let refused = scratch.run("add set.eqb -e one --when-full refuse");
        assert_eq!(refused.status.code(), Some(2));
    }
    scratch.ok("build keys --keys 3000 --memory 9kB -o fixed.eqb");
    let error =
        String::from_utf8(scratch.run("add fixed.eqb more --when-full grow").stderr).unwrap();
    assert!(error.contains("does not grow") && error.contains("--when-full saturate"), "{error}");
}

#[cfg(unix)]
#[test]
fn unreadable_and_unwritable_paths_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("permissions");
    scratch.write("keys", "a\n");
    fs::set_permissions(scratch.path("keys"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(scratch.path("keys")).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    let output = scratch.run("build keys -o new.eqb");
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("keys: could not read it; check its name and permissions"), "{error}");
    assert_eq!(output.status.code(), Some(2));
}
