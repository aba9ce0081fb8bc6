//! Help, completions and manual pages.

use crate::scratch::Scratch;

const COMMANDS: [&str; 11] = [
    "build",
    "query",
    "add",
    "remove",
    "merge",
    "info",
    "verify",
    "index",
    "completions",
    "man",
    "install-extras",
];

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
    for name in scratch.names_in("pages/man1") {
        let page = String::from_utf8(scratch.read(&format!("pages/man1/{name}"))).unwrap();
        assert!(page.contains("Exit status: 0"), "{name}: {page}");
    }
    scratch.write("file", "");
    assert_eq!(scratch.run("man file").status.code(), Some(2));
}

#[test]
fn extras_are_installed_where_shells_and_man_look() {
    let scratch = Scratch::new("extras");
    let mut command = scratch.command("install-extras");
    let output = command.env("HOME", scratch.path("home")).output().unwrap();
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    let pages = scratch.names_in("home/.local/share/man/man1");
    assert!(pages.contains(&"equibloom-build.1".to_owned()), "{pages:?}");
    assert!(pages.len() > 16);
    for path in [
        "bash-completion/completions/equibloom",
        "zsh/site-functions/_equibloom",
        "fish/vendor_completions.d/equibloom.fish",
    ] {
        let script = String::from_utf8(scratch.read(&format!("home/.local/share/{path}"))).unwrap();
        assert!(COMMANDS.iter().all(|command| script.contains(command)), "{path}");
        assert!(printed.contains(path), "{printed}");
    }
    scratch.ok("install-extras prefix");
    assert!(scratch.path("prefix/share/man/man1/equibloom.1").exists());
    scratch.write("file", "");
    assert_eq!(scratch.run("install-extras file").status.code(), Some(2));
}
