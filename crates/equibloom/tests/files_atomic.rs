//! A file is replaced completely or not at all.

#![cfg(feature = "file")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod samples;
mod scratch;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use equibloom::file::FileErrorKind;
use equibloom::{Blocks, Filter, Layout, Parameters};
use samples::samples;
use scratch::{Scratch, open_typed};

/// Tells a test that runs as a child process which directory to use.
const DIRECTORY: &str = "EQUIBLOOM_TEST_DIRECTORY";

fn filter(blocks: u64, key: &str) -> Filter<str> {
    let design = Layout::blocked(Blocks::bloom(512, 8), blocks).into();
    let mut filter = Filter::new(&Parameters { keys: 1_000, seed: 1, design }).unwrap();
    filter.insert(key).unwrap();
    filter
}

/// Accepts this many bytes, in pieces, and then fails.
struct Failing {
    left: usize,
    written: Vec<u8>,
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.left).min(1_000);
        if taken == 0 && !bytes.is_empty() {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        self.left -= taken;
        self.written.extend(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_stream_that_fails_after_any_number_of_bytes_is_an_error() {
    let sample = &samples()[8];
    let (filter, bytes) = (sample.build(), sample.bytes());
    for left in 0..bytes.len() {
        let mut writer = Failing { left, written: Vec::new() };
        let error = filter.write_to(&mut writer).unwrap_err();
        assert!(matches!(error.kind(), FileErrorKind::Io { action: "write", .. }), "{error}");
        assert!(writer.written == bytes[..left]);
    }
    let mut writer = Failing { left: bytes.len(), written: Vec::new() };
    filter.write_to(&mut writer).unwrap();
    assert!(writer.written == bytes);
}

#[test]
fn a_file_is_replaced_and_nothing_else_is_left() {
    let scratch = Scratch::new("replaced");
    let path = scratch.path("filter.eqb");
    for blocks in [5, 1, 9] {
        let filter = filter(blocks, "alice");
        filter.save(&path).unwrap();
        assert!(Filter::load(&path).unwrap() == filter);
        assert_eq!(scratch.files(), ["filter.eqb"]);
    }
}

#[test]
fn a_filter_that_is_open_keeps_the_file_it_opened() {
    let scratch = Scratch::new("open");
    let path = scratch.path("filter.eqb");
    let (old, new) = (filter(50, "alice"), filter(9, "bob"));
    old.save(&path).unwrap();
    let opened: Filter<str> = open_typed(&path).unwrap();
    new.save(&path).unwrap();
    assert!(opened == old && open_typed(&path).unwrap() == new);
    // It can be saved over the file it is mapped from.
    let mut opened: Filter<str> = open_typed(&path).unwrap();
    opened.save(&path).unwrap();
    opened.insert("carol").unwrap();
    opened.save(&path).unwrap();
    assert!(Filter::<str>::load(&path).unwrap().contains("carol"));
}

#[test]
fn paths_that_cannot_be_replaced_are_refused() {
    let scratch = Scratch::new("refused");
    let filter = filter(5, "alice");
    let error = filter.save(scratch.directory()).unwrap_err();
    assert!(matches!(error.kind(), FileErrorKind::NotReplaceable), "{error}");
    let error = filter.save(scratch.path("missing/filter.eqb")).unwrap_err();
    assert!(error.to_string().contains("could not create a file beside"), "{error}");
    assert!(matches!(filter.save("/").unwrap_err().kind(), FileErrorKind::NotReplaceable));
    assert_eq!(scratch.files(), [""; 0]);
    // No temporary file is left in its directory.
    let beside = std::fs::read_dir(scratch.directory().parent().unwrap()).unwrap();
    let name = scratch.directory().file_name().unwrap().to_string_lossy().into_owned();
    let left = beside.filter(|entry| {
        entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(&format!(".{name}"))
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn long_names_and_names_in_the_working_directory_can_be_saved() {
    let scratch = Scratch::new("names");
    let filter = filter(5, "alice");
    let path = scratch.path(&"ü".repeat(120));
    filter.save(&path).unwrap();
    assert!(Filter::load(&path).unwrap() == filter);
    let error = filter.save("").unwrap_err();
    assert!(matches!(error.kind(), FileErrorKind::NotReplaceable), "{error}");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scratch = Scratch::new("permissions");
    let (path, link) = (scratch.path("filter.eqb"), scratch.path("link"));
    filter(5, "alice").save(&path).unwrap();
    symlink("filter.eqb", &link).unwrap();
    for mode in [0o600, 0o640, 0o444] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        filter(7, "bob").save(&link).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(Filter::<str>::load(&path).unwrap().contains("bob"));
    }
    symlink("nowhere", scratch.path("dangling")).unwrap();
    let error = filter(7, "bob").save(scratch.path("dangling")).unwrap_err();
    assert!(error.to_string().contains("could not follow the link"), "{error}");
}

#[test]
fn readers_see_the_old_file_or_the_new_one() {
    let scratch = Scratch::new("readers");
    let path = scratch.path("filter.eqb");
    let filters = [filter(700, "alice"), filter(900, "bob")];
    filters[0].save(&path).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for open in [false, true] {
            let (path, filters, done) = (&path, &filters, &done);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let read = if open { open_typed(path) } else { Filter::load(path) }.unwrap();
                    assert!(filters.contains(&read));
                }
            });
        }
        for filter in filters.iter().cycle().take(300) {
            filter.save(&path).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(scratch.files(), ["filter.eqb"]);
}

/// A command that runs one of the ignored tests below on a directory.
fn child(shell: &str, test: &str, directory: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{shell} exec \"$0\" \"$@\"")]);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--test-threads=1"]);
    command.env(DIRECTORY, directory);
    command
}

/// The directory given by the parent test; `None` without one.
fn directory_of_child() -> Option<PathBuf> {
    std::env::var_os(DIRECTORY).map(PathBuf::from)
}

/// No file may be larger than 100 blocks of 512 bytes, and the signal SIGXFSZ is ignored.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_grow_leaves_the_old_one() {
    let scratch = Scratch::new("limit");
    let child = child("trap '' XFSZ; ulimit -f 100;", "saves_more_than_fits", scratch.directory());
    assert_success(child);
}

/// A file system of 128 KiB, where unprivileged users may mount one.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_file() {
    let scratch = Scratch::new("full");
    let mount = format!("mount -t tmpfs -o size=128k none '{}'", scratch.directory().display());
    let unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"];
    let run = |script: &str| Command::new(unshare[0]).args(&unshare[1..]).arg(script).output();
    if !run(&mount).is_ok_and(|output| output.status.success()) {
        println!("skipped: this system does not let us mount a file system");
        return;
    }
    let mut command = Command::new(unshare[0]);
    command.args(&unshare[1..]).arg(format!("{mount} && exec \"$0\" \"$@\""));
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "saves_more_than_fits", "--ignored", "--test-threads=1"]);
    command.env(DIRECTORY, scratch.directory());
    assert_success(command);
}

fn assert_success(mut command: Command) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "run by others, where there is little room"]
fn saves_more_than_fits() {
    let Some(directory) = directory_of_child() else { return };
    let path = directory.join("filter.eqb");
    let (small, large) = (filter(5, "alice"), filter(10_000, "bob"));
    small.save(&path).unwrap();
    for _ in 0..3 {
        let error = large.save(&path).unwrap_err();
        assert!(matches!(error.kind(), FileErrorKind::Io { action: "write", .. }), "{error}");
        assert!(Filter::load(&path).unwrap() == small);
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);
    }
}
