//! Help, completions and manual pages.

use crate::scratch::Scratch;

const COMMANDS: [&str; 9] =
    ["build", "query", "add", "remove", "merge", "info", "verify", "completions", "man"];

#[test]
fn every_help_has_an_example_that_names_its_command() {
    let scratch = Scratch::new("help");
    for command in COMMANDS {
        let help = scratch.ok(&format!("{command} --help"));
        assert!(help.contains("Example"), "{help}");
        assert!(help.contains(&format!("equibloom {command} ")), "{help}");
    }
}

#[test]
fn completions_know_every_command() {
    let scratch = Scratch::new("completions");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = scratch.ok(&format!("completions {shell}"));
        for command in COMMANDS {
            assert!(script.contains(command), "{command} is missing for {shell}");
        }
    }
    let output = scratch.run("completions cmd");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn every_command_has_a_manual_page() {
    let scratch = Scratch::new("man");
    scratch.ok("man pages/man1");
    for command in COMMANDS {
        let page = scratch.read(&format!("pages/man1/equibloom-{command}.1"));
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains("xample"), "{page}");
    }
    scratch.write("file", "");
    assert_eq!(scratch.run("man file").status.code(), Some(2));
}
