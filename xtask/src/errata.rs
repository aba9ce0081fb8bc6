//! Every erratum in `docs/errata.md` names the test that shows it. Those tests must exist.

use std::fs;
use std::path::Path;

#[test]
fn every_erratum_names_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let errata = fs::read_to_string(root.join("docs/errata.md")).unwrap();
    let rows: Vec<&str> =
        errata.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| #")).collect();
    assert!(rows.len() >= 11, "the list of DESIGN.md has eleven");
    for row in rows {
        // «E `tests/walks.rs`: `name`»: a crate, a file, a function in it.
        let quoted: Vec<&str> = row.split('`').collect();
        let mut found = 0;
        for (index, file) in quoted.iter().enumerate().filter(|(_, text)| text.ends_with(".rs")) {
            let folder = match quoted[index - 1].trim_end().chars().last() {
                Some('T') => "crates/equibloom-theory",
                Some('E') => "crates/equibloom",
                Some('M') => "crates/equibloom-tables",
                other => panic!("no crate before {file} but {other:?}: {row}"),
            };
            let source = fs::read_to_string(root.join(folder).join(file)).unwrap();
            if quoted.get(index + 1).is_some_and(|between| between.trim() == ":") {
                let function = format!("fn {}(", quoted[index + 2]);
                assert!(source.contains(&function), "no {function} in {folder}/{file}");
            }
            found += 1;
        }
        assert!(found > 0, "no test is named: {row}");
    }
}
