//! A full disk: an error, and the old file is unchanged.

#![cfg(unix)]

use std::process::{Command, Output};

use crate::scratch::{Scratch, lines};

/// Every command that writes, over a filter of 20 kB, without room for one of 2 MB.
const COMMANDS: [&str; 4] = [
    "build keys -q --placement blocked --bits-per-key 1600 -o disk/set.eqb",
    "build - -q --placement blocked --bits-per-key 1600 -o disk/set.eqb",
    "merge -q large.eqb large.eqb --when-full saturate -o disk/set.eqb",
    "add -q disk/large.eqb keys --when-full saturate",
];

fn prepare(scratch: &Scratch) {
    std::fs::create_dir(scratch.path("disk")).unwrap();
    scratch.write("keys", lines("key", 20_000));
    scratch.write("few", lines("few", 1_000));
    scratch.ok("build few -q --placement blocked -o small.eqb");
    scratch.ok("build few -q --placement blocked --keys 20000 --bits-per-key 1600 -o large.eqb");
}

fn shell(scratch: &Scratch, words: &[&str], script: &str) -> Output {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(script).current_dir(scratch.path(""));
    command.env("EQUIBLOOM", env!("CARGO_BIN_EXE_equibloom")).output().unwrap()
}

#[test]
fn a_full_file_system_keeps_the_old_file() {
    let scratch = Scratch::new("full-disk");
    prepare(&scratch);
    // A private file system in a private namespace.
    let namespace = ["unshare", "--map-root-user", "--mount", "sh", "-c"];
    let mount = "mount -t tmpfs -o size=5m tmpfs disk";
    let tried = Command::new("unshare").arg("--version").output();
    if tried.is_err() || !shell(&scratch, &namespace, mount).status.success() {
        eprintln!("skipped: this user may not mount a file system; see the test with a limit");
        return;
    }
    for command in COMMANDS {
        let script = format!(
            "{mount} && cp small.eqb disk/set.eqb && cp large.eqb disk/large.eqb || exit 99
             \"$EQUIBLOOM\" {command} < keys
             status=$?
             cmp small.eqb disk/set.eqb && cmp large.eqb disk/large.eqb && [ $(ls -A disk | wc -l) = 2 ] || exit 98
             exit $status"
        );
        let output = shell(&scratch, &namespace, &script);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}: {error}");
        assert!(error.contains("No space left"), "{command}: {error}");
    }
}

#[test]
fn a_file_size_limit_keeps_the_old_file() {
    let scratch = Scratch::new("file-limit");
    prepare(&scratch);
    for command in COMMANDS {
        let script = format!(
            "cp small.eqb disk/set.eqb && cp large.eqb disk/large.eqb || exit 99
             trap '' XFSZ
             (ulimit -f 100; \"$EQUIBLOOM\" {command} < keys)
             status=$?
             cmp small.eqb disk/set.eqb && cmp large.eqb disk/large.eqb && [ $(ls -A disk | wc -l) = 2 ] || exit 98
             exit $status"
        );
        let output = shell(&scratch, &["sh", "-c"], &script);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}: {error}");
        assert!(error.contains("File too large"), "{command}: {error}");
    }
}
