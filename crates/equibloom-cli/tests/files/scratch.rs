//! A temporary directory, and the command run in it.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// An empty directory of this name below Cargo's own.
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("files-{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Names of all files in the directory, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        self.names_in("")
    }

    pub(crate) fn names_in(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(directory)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// `equibloom` with these arguments, split at spaces.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equibloom"));
        command.current_dir(&self.0).args(arguments.split_whitespace()).stdin(Stdio::null());
        // Verified files are remembered there.
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// A run that must succeed; returns its output.
    pub(crate) fn ok(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments}: {:?} {error}", output.status);
        assert!(error.is_empty(), "{arguments}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same with `--json`.
    pub(crate) fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.ok(&format!("{arguments} --json"))).unwrap()
    }

    /// A run with this standard input.
    pub(crate) fn run_with_input(&self, arguments: &str, input: &[u8]) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // A command that needs no more input may close the pipe.
                let _ = pipe.write_all(input);
            });
            child.wait_with_output().unwrap()
        })
    }

    pub(crate) fn create(&self, name: &str) -> File {
        File::create(self.path(name)).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// `count` distinct keys, one per line.
pub(crate) fn lines(prefix: &str, count: usize) -> String {
    (0..count).map(|number| format!("{prefix}{number}@example.com\n")).collect()
}
