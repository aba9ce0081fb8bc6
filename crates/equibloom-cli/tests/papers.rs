//! The index of the papers names only what exists: items of the code, commands with their flags, tests.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn equibloom(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_equibloom")).args(arguments).output().unwrap();
    assert!(output.status.success(), "equibloom {}", arguments.join(" "));
    String::from_utf8(output.stdout).unwrap()
}

/// The cells of all rows of all tables in a document.
fn rows(document: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let lines = text.lines().filter(|line| line.starts_with("| "));
    let cells =
        |line: &str| line.trim_matches('|').split(" | ").map(|c| c.trim().to_owned()).collect();
    let is_row = |cells: &Vec<String>| !matches!(&cells[0][..], "item" | "#");
    lines.map(cells).filter(is_row).collect()
}

/// Every `letter `file` `name`` of a text: the file has an item of that name.
fn check_names(text: &str, kinds: &[&str]) -> usize {
    let parts: Vec<&str> = text.split('`').collect();
    let mut found = 0;
    for at in (0..parts.len()).filter(|at| at % 2 == 1 && parts[*at].starts_with(['s', 't'])) {
        let folder = match parts[at - 1].trim().chars().last() {
            Some('Y') => "layout",
            Some('E') => "",
            Some('T') => "theory",
            Some('M') => "tables",
            Some('L') => "lab",
            Some('C') => "cli",
            _ => continue,
        };
        let dash = if folder.is_empty() { "" } else { "-" };
        let path = root().join(format!("crates/equibloom{dash}{folder}")).join(parts[at]);
        let code = fs::read_to_string(&path).unwrap_or_else(|_| panic!("no {}", path.display()));
        let Some(name) = parts.get(at + 2) else { panic!("no name after {}", parts[at]) };
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let is_there = kinds.iter().any(|kind| {
            let item = format!("{kind} {name}");
            code.match_indices(&item).any(|(start, _)| ends(&code[start + item.len()..]))
        });
        assert!(is_there, "{} has no {name}", path.display());
        found += 1;
    }
    found
}

#[test]
fn every_row_of_the_index_names_code_a_command_and_a_test_that_exist() {
    let list = equibloom(&["reproduce", "--list"]);
    let figures: Vec<&str> =
        list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let rows = rows("docs/papers.md");
    assert!(rows.len() > 70, "{} rows", rows.len());
    for row in &rows {
        let [item, implementation, command, test] = &row[..] else { panic!("four cells: {row:?}") };
        assert_eq!(check_names(implementation, &["fn", "struct", "enum", "const"]), 1, "{item}");
        assert_eq!(check_names(test, &["fn"]), 1, "{item}");
        let words: Vec<&str> = command.trim_matches('`').split(' ').collect();
        let is_value = |at: usize| at > 0 && words[at - 1].starts_with("--");
        let path: Vec<&str> =
            words.iter().copied().take_while(|word| !word.starts_with("--")).collect();
        let help = equibloom(&[&path[..], &["--help"]].concat());
        for (at, word) in words.iter().enumerate().skip(path.len()) {
            match word.starts_with("--") {
                true => assert!(help.contains(word), "{item}: {word} of {command}"),
                false => assert!(is_value(at), "{item}: {command}"),
            }
        }
        if let Some(at) = words.iter().position(|word| *word == "--figure") {
            assert!(figures.contains(&words[at + 1]), "{item}: {command}");
        }
    }
}

/// Every figure of a paper is in the index.
#[test]
fn every_figure_of_the_papers_is_in_the_index() {
    let index = fs::read_to_string(root().join("docs/papers.md")).unwrap();
    for line in equibloom(&["reproduce", "--list"])
        .lines()
        .filter(|line| !line.contains("Not in the papers"))
    {
        let id = line.split_whitespace().next().unwrap();
        assert!(index.contains(id) || id == "alpha-fig-4", "{id}");
    }
}

#[test]
fn every_erratum_names_tests_that_exist() {
    for row in rows("docs/errata.md") {
        assert!(check_names(row.last().unwrap(), &["fn"]) > 0, "{row:?}");
    }
}
