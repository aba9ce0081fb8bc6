//! `cargo xtask compare <revision>`: the benchmarks program with another revision's library beside the present
//! one, so that both are measured turn by turn in one process.
//!
//! The revision is checked out under `target/compare`. The program is built there by a manifest of its own,
//! with both libraries as dependencies and the same profile for both.

use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, iter};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub(crate) fn run(revision: &str, arguments: &[&str]) -> ExitCode {
    match prepare(revision).and_then(|program| {
        let mut command = Command::new(program);
        succeed(command.args(["--compare", revision]).args(arguments))
    }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Builds the program; returns its path.
fn prepare(revision: &str) -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let all = root.join("target/compare");
    let commit = git(&root, &["rev-parse", "--verify", &format!("{revision}^{{commit}}")])
        .map_err(|error| format!("no revision is called {revision}; see git log ({error})"))?;
    let name = commit.get(..12).unwrap_or(&commit);
    let directory = all.join(name);
    let checkout = directory.join("checkout");
    check_out(&root, &checkout, &commit)?;
    mark_version(&checkout.join("Cargo.toml"), name)?;
    let own = fs::read_to_string(root.join("benchmarks/Cargo.toml"))?;
    fs::write(directory.join("Cargo.toml"), manifest(&own)?)?;
    // The same versions of all other packages.
    fs::copy(root.join("Cargo.lock"), directory.join("Cargo.lock"))?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = all.join("target");
    let mut build = Command::new(cargo);
    build.args(["rustc", "--release", "--manifest-path"]).arg(directory.join("Cargo.toml"));
    build.arg("--target-dir").arg(&target).args(["--", "--cfg", "other_edition"]);
    build.args(["--check-cfg", "cfg(other_edition, values(none(), \"first\"))"]);
    if !checkout.join("crates/equibloom/src/hash_filter.rs").exists() {
        build.args(["--cfg", "other_edition=\"first\""]);
    }
    succeed(&mut build).map_err(|error| {
        format!(
            "{error}; if {revision} has another interface, benchmarks/src/compare needs an adapter"
        )
    })?;
    Ok(target.join("release").join(PROGRAM).with_extension(std::env::consts::EXE_EXTENSION))
}

/// Makes a worktree of the commit, unless there is one.
fn check_out(root: &Path, checkout: &Path, commit: &str) -> Result<()> {
    // Without a worktree of its own, git would answer for the present one.
    if checkout.join(".git").exists()
        && git(checkout, &["rev-parse", "HEAD"]).is_ok_and(|head| head == commit)
    {
        return Ok(());
    }
    if checkout.exists() {
        fs::remove_dir_all(checkout)?;
    }
    // Forced, because a deleted worktree may still be registered.
    let mut command = Command::new("git");
    command.current_dir(root).args(["worktree", "add", "--quiet", "--force", "--detach"]);
    succeed(command.arg(checkout).arg(commit))
}

/// A lockfile can hold two packages of one name only if their versions differ: adds the commit to the
/// revision's version, as build metadata, which requirements ignore.
fn mark_version(manifest: &Path, commit: &str) -> Result<()> {
    let text = fs::read_to_string(manifest)?;
    let start = text.find("\n[workspace.package]").unwrap_or(text.len());
    let (before, section) = text.split_at(start);
    let key = "\nversion = \"";
    let marked = section.split_once(key).and_then(|(head, version)| {
        let (version, rest) = version.split_once('"')?;
        let version = version.split('+').next()?;
        Some(format!("{before}{head}{key}{version}+{commit}\"{rest}"))
    });
    let marked = marked.ok_or("no version under workspace.package in its Cargo.toml")?;
    Ok(fs::write(manifest, marked)?)
}

const PROGRAM: &str = "equibloom-compare";
/// From `target/compare/<revision>` to the root.
const UP: &str = "../../..";

/// The manifest of the benchmarks, from another directory and with another library.
fn manifest(benchmarks: &str) -> Result<String> {
    let (_, dependencies) =
        benchmarks.split_once("\n[dependencies]\n").ok_or("benchmarks have no dependencies")?;
    let dependencies = dependencies.lines().take_while(|line| !line.starts_with('['));
    let mut other = None;
    let mut lines = Vec::new();
    for line in dependencies {
        let crate_name = line.split(' ').next().unwrap_or_default();
        let path = format!("path = \"{UP}/crates/{crate_name}\"");
        let line = line.replace("path = \"..", &format!("path = \"{UP}"));
        let line = line.replace("workspace = true", &path);
        if let Some(rest) = line.strip_prefix("equibloom = { ") {
            let rest = rest.replace(UP, "checkout");
            other = Some(format!("other = {{ package = \"equibloom\", {rest}"));
        }
        lines.push(line);
    }
    let other = other.ok_or("benchmarks do not depend on equibloom")?;
    let head = format!(
        "# Written by `cargo xtask compare`.\n\
         [workspace]\nexclude = [\"checkout\"]\n\n\
         [package]\nname = \"{PROGRAM}\"\nedition = \"2024\"\n\n\
         [[bin]]\nname = \"{PROGRAM}\"\npath = \"{UP}/benchmarks/src/main.rs\"\n\n\
         [profile.release]\ncodegen-units = 1\n\n\
         [dependencies]"
    );
    Ok(iter::once(head).chain([other]).chain(lines).collect::<Vec<_>>().join("\n") + "\n")
}

/// The output of a git command.
fn git(directory: &Path, arguments: &[impl AsRef<OsStr>]) -> Result<String> {
    let output = Command::new("git").current_dir(directory).args(arguments).output()?;
    if !output.status.success() {
        return Err(format!("git: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn succeed(command: &mut Command) -> Result<()> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{status}: {command:?}").into()),
        Err(error) => Err(format!("could not start {command:?}: {error}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_has_the_benchmarks_dependencies_and_both_libraries() {
        let text = manifest(include_str!("../../benchmarks/Cargo.toml")).unwrap();
        let has = |line: &str| assert!(text.contains(line), "no {line} in\n{text}");
        has("\nequibloom = { path = \"../../../crates/equibloom\", features = [\"file\"");
        has(
            "\nother = { package = \"equibloom\", path = \"checkout/crates/equibloom\", features = [\"file\"",
        );
        has("\nequibloom-lab = { path = \"../../../crates/equibloom-lab\" }");
        has("\nsbbf-rs-safe = \"");
        assert!(!text.contains("workspace = true"), "{text}");
    }

    #[test]
    fn the_version_of_the_workspace_is_marked_once() {
        let path = std::env::temp_dir().join(format!("equibloom-version-{}", std::process::id()));
        let text = "[workspace]\n[workspace.package]\nversion = \"1.2.3\"\n[workspace.dependencies]\nversion = \"9\"\n";
        fs::write(&path, text).unwrap();
        for _ in 0..2 {
            mark_version(&path, "abc").unwrap();
            let marked = fs::read_to_string(&path).unwrap();
            assert_eq!(marked, text.replace("1.2.3", "1.2.3+abc"));
        }
        fs::remove_file(path).unwrap();
    }
}
