//! Files keep owner and permissions, and read-only ones are not replaced.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use crate::scratch::Scratch;

/// Every command that replaces `set.eqb`.
const COMMANDS: [&str; 4] = [
    "add set.eqb -e dave",
    "remove set.eqb -e alice",
    "build keys -o set.eqb --removable",
    "merge set.eqb other.eqb -o set.eqb",
];

fn prepare(scratch: &Scratch) {
    scratch.write("keys", "alice\nbob\n");
    scratch.write("others", "carol\n");
    scratch.ok("build keys -q --keys 100 --removable -o set.eqb");
    scratch.ok("build others -q --keys 100 --removable -o other.eqb");
}

#[test]
fn a_read_only_file_is_refused() {
    let scratch = Scratch::new("read-only");
    prepare(&scratch);
    fs::set_permissions(scratch.path("set.eqb"), fs::Permissions::from_mode(0o444)).unwrap();
    let old = scratch.read("set.eqb");
    for command in COMMANDS {
        let output = scratch.run(command);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(error.contains("set.eqb: it is read-only: make it writable"), "{command}: {error}");
        assert!(scratch.read("set.eqb") == old, "{command}");
    }
    assert_eq!(scratch.ok("query set.eqb -c -e alice"), "1\n");
}

#[test]
fn permissions_owner_and_links_are_kept() {
    let scratch = Scratch::new("owner");
    for command in COMMANDS {
        prepare(&scratch);
        let path = scratch.path("set.eqb");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        // Only root may give files away.
        let is_given = chown(&path, Some(4321), Some(1234)).is_ok();
        let old = fs::metadata(&path).unwrap();
        let contents = scratch.read("set.eqb");
        scratch.ok(&format!("{command} -q"));
        let new = fs::metadata(&path).unwrap();
        assert!(scratch.read("set.eqb") != contents, "{command} changes nothing");
        assert_eq!(new.mode() & 0o7777, 0o640, "{command}");
        assert_eq!((new.uid(), new.gid()), (old.uid(), old.gid()), "{command}");
        if !is_given {
            eprintln!("owner not tested: this user may not give files away");
        }
        let _ = chown(&path, Some(0), Some(0));
    }
    // A link stays one.
    prepare(&scratch);
    std::os::unix::fs::symlink("set.eqb", scratch.path("link.eqb")).unwrap();
    scratch.ok("add link.eqb -q -e erin");
    assert!(scratch.path("link.eqb").is_symlink());
    assert_eq!(scratch.ok("query set.eqb -c -e erin"), "1\n");
    // A new file has the permissions of any new file.
    scratch.write("plain", "");
    scratch.ok("build keys -q -o new.eqb");
    let mode = |name: &str| fs::metadata(scratch.path(name)).unwrap().mode();
    assert_eq!(mode("new.eqb"), mode("plain"));
}

#[test]
fn an_owner_that_cannot_be_kept_is_an_error() {
    let scratch = Scratch::new("foreign");
    prepare(&scratch);
    let path = scratch.path("set.eqb");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(scratch.path(""), fs::Permissions::from_mode(0o777)).unwrap();
    // As another user, who may write to the file and its directory.
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=4321", "--regid=1234", "--clear-groups"]);
    command.arg(env!("CARGO_BIN_EXE_equibloom")).current_dir(scratch.path(""));
    let old = scratch.read("set.eqb");
    let Ok(output) = command.args(["add", "set.eqb", "-e", "x"]).output() else {
        eprintln!("skipped: there is no setpriv");
        return;
    };
    let error = String::from_utf8(output.stderr).unwrap();
    if error.contains("setpriv") || error.contains("Permission denied") {
        eprintln!("skipped: {error}");
        return;
    }
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("could not keep the owner"), "{error}");
    assert!(scratch.read("set.eqb") == old);
    assert!(!scratch.names().iter().any(|name| name.contains("tmp")), "{:?}", scratch.names());
}
