//! A damaged file never answers silently.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::process::{Child, Stdio};

use crate::scratch::{Scratch, lines};

/// A filter of 40 MB, which is mapped, with few keys.
fn large(scratch: &Scratch) {
    scratch.write("keys", lines("key", 100));
    scratch.ok("build keys -q --placement blocked --keys 20000 --bits-per-key 16000 -o large.eqb");
    assert!(scratch.read("large.eqb").len() > 30 << 20);
}

fn damage(scratch: &Scratch, name: &str) {
    let file = fs::OpenOptions::new().write(true).open(scratch.path(name)).unwrap();
    let end = file.metadata().unwrap().len();
    file.write_at(&[0x5a; 64], end / 2).unwrap();
}

/// The line by which a large file is remembered.
fn line_of(scratch: &Scratch, name: &str) -> String {
    let file = fs::metadata(scratch.path(name)).unwrap();
    let (modified, changed) =
        ((file.mtime(), file.mtime_nsec()), (file.ctime(), file.ctime_nsec()));
    format!(
        "{} {} {} {}.{:09} {}.{:09}\n",
        file.dev(),
        file.ino(),
        file.len(),
        modified.0,
        modified.1,
        changed.0,
        changed.1
    )
}

#[test]
fn a_query_verifies_what_it_asks() {
    let scratch = Scratch::new("verifies");
    large(&scratch);
    scratch.ok("build keys -q -o small.eqb");
    for name in ["small.eqb", "large.eqb"] {
        assert_eq!(scratch.ok(&format!("query {name} -c keys")), "100\n");
        damage(&scratch, name);
        for command in
            [format!("query {name} keys"), format!("query -f {name} -e x"), format!("info {name}")]
        {
            let output = scratch.run(&command);
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{command}: {error}");
            assert!(
                error.contains(name) && error.contains("build it again from its keys"),
                "{command}: {error}"
            );
            assert!(output.stdout.is_empty(), "{command}");
        }
    }
    // A small file is read as a whole, and that checks it.
    let unchecked = scratch.run("query large.eqb keys -c --no-verify");
    assert!(unchecked.stderr.is_empty());
    assert_eq!(scratch.run("query small.eqb keys -c --no-verify").status.code(), Some(2));
}

#[test]
fn a_large_file_is_verified_once_until_it_changes() {
    let scratch = Scratch::new("remembered");
    large(&scratch);
    // Files that were just changed are not remembered.
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    scratch.ok("query large.eqb -c keys");
    let remembered = || String::from_utf8(scratch.read("cache/equibloom/verified")).unwrap();
    assert_eq!(remembered(), line_of(&scratch, "large.eqb"));
    scratch.ok("query large.eqb -c keys");
    assert_eq!(remembered(), line_of(&scratch, "large.eqb"));
    // The line is what counts, as this damaged file shows.
    damage(&scratch, "large.eqb");
    assert_eq!(scratch.run("query large.eqb keys").status.code(), Some(2));
    assert!(!remembered().contains(&line_of(&scratch, "large.eqb")));
    scratch.write("cache/equibloom/verified", line_of(&scratch, "large.eqb"));
    assert!(scratch.run("query large.eqb keys").stderr.is_empty());
    fs::File::open(scratch.path("large.eqb"))
        .unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    assert_eq!(scratch.run("query large.eqb keys").status.code(), Some(2));
    // Without a place to remember, everything works.
    large(&scratch);
    let mut command = scratch.command("query large.eqb -c keys");
    let output = command.env("XDG_CACHE_HOME", "/dev/null").output().unwrap();
    assert_eq!(
        (output.status.code(), &output.stdout[..], output.stderr.len()),
        (Some(0), &b"100\n"[..], 0)
    );
}

/// A query that has answered one key and waits for more.
fn waiting(scratch: &Scratch) -> Child {
    let mut command = scratch.command("query large.eqb");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"key1@example.com\n").unwrap();
    let mut answer = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
    assert_eq!(answer, "key1@example.com\n");
    child
}

#[test]
fn a_file_that_is_cut_short_or_written_to_gives_an_error() {
    let scratch = Scratch::new("under-a-reader");
    large(&scratch);
    type Change = fn(&Scratch);
    let changes: [(Change, &str); 2] = [
        (|scratch| scratch.create("large.eqb").set_len(4096).unwrap(), "cut short"),
        (|scratch| damage(scratch, "large.eqb"), "another program wrote to it"),
    ];
    for (change, words) in changes {
        large(&scratch);
        let mut child = waiting(&scratch);
        change(&scratch);
        let _ = child.stdin.take().unwrap().write_all(lines("more", 1_000).as_bytes());
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}: {:?} {error}", output.status);
        assert!(error.starts_with("error: ") && error.contains(words), "{error}");
    }
    // One that is replaced as a whole does no harm.
    large(&scratch);
    let mut child = waiting(&scratch);
    scratch.ok("add large.eqb -q -e new");
    child.stdin.take().unwrap().write_all(b"new\nkey2@example.com\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"key2@example.com\n"[..]));
}
