//! Real data: Debian's word list and its list of packages.

use std::fs;
use std::process::Command;

use crate::answers::agree;
use crate::scratch::Scratch;

/// Every other line is a member; all are looked up.
fn every_other_line(name: &str, text: &str, requirements: &str) {
    let scratch = Scratch::new(name);
    let members: String = text.split_inclusive('\n').step_by(2).collect();
    agree(&scratch, &members, text, requirements);
}

#[test]
fn words_are_found_and_few_others() {
    let path = "/usr/share/dict/american-english-huge";
    let Ok(words) = fs::read_to_string(path) else {
        eprintln!("skipped: there is no {path}: install wamerican-huge (`cargo xtask test` does)");
        return;
    };
    assert!(words.lines().count() > 300_000);
    assert!(words.lines().any(|word| !word.is_ascii()), "with accents");
    every_other_line("words", &words, "--fpr 1%");
}

/// Names, versions, addresses, empty lines, lines of ten thousand characters, many repeated.
#[test]
fn lines_of_the_package_list_are_found_and_few_others() {
    let output = Command::new("apt-cache").arg("dumpavail").output();
    let Some(list) = output.ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    else {
        eprintln!("skipped: there is no apt-cache");
        return;
    };
    let end = list.match_indices("\n\n").nth(20_000).map_or(list.len(), |(end, _)| end + 1);
    let list = &list[..end];
    if list.lines().count() < 10_000 {
        eprintln!("skipped: apt knows no packages: run `apt-get update`");
        return;
    }
    assert!(list.contains("\n\n") && list.contains('@'));
    every_other_line("packages", list, "--fpr 0.5%");
}
