//! What is promised once the packages are published: the oldest compiler, packages that build by themselves, and the public API.

use crate::step::{Step, cargo, shell};

/// The packages' `rust-version`. AVX-512 is stable since then.
pub(crate) const OLDEST: &str = "1.89.0";

/// `cargo public-api` reads what the compiler's documentation says as JSON. That is not stable: the two fit each other.
pub(crate) const API_TOOL: &str = "cargo-public-api@0.52.0";
pub(crate) const API_COMPILER: &str = "nightly-2026-05-20";

/// Lists the public items of each library, one per line, in a directory.
const LIST: &str = "\
    for package in equibloom equibloom-layout equibloom-tables equibloom-theory; do
        cargo +$COMPILER public-api -p $package --all-features -sss \
            > \"$directory/$package.txt\" || exit 1
    done";

/// Writes the listings that are checked in.
pub(crate) fn list_api() -> Step {
    shell("public API", &format!("directory=docs/api && {LIST}")).with("COMPILER", API_COMPILER)
}

pub(crate) fn checks() -> Vec<Step> {
    let compare = format!(
        "directory=$(mktemp -d) && trap 'rm -r \"$directory\"' EXIT && {LIST} &&
        {{ diff -r -U1 docs/api \"$directory\" || {{
            echo 'The public API has changed. If that is meant, run `cargo xtask api` and tell it in CHANGELOG.md.'
            exit 1; }}; }}"
    );
    // Libraries only: the command's dependencies ask for newer compilers now and then.
    let oldest = format!(
        "cargo +{OLDEST} check --target-dir target/oldest -p equibloom -p equibloom-layout \
         -p equibloom-tables -p equibloom-theory -p equibloom-index --all-features"
    );
    vec![
        with_compiler(OLDEST, "libraries with the oldest compiler", &oldest),
        with_compiler(API_COMPILER, "public API as listed", &compare)
            .with("COMPILER", API_COMPILER),
        // Also what is not committed: what would be published if it were.
        cargo("packages as published", "publish --dry-run --workspace --allow-dirty --quiet"),
    ]
}

/// A step that a machine without this compiler skips.
fn with_compiler(compiler: &str, name: &str, line: &str) -> Step {
    let line = format!(
        "if ! rustc +{compiler} --version 2>/dev/null; then
            echo 'skipped: Rust {compiler} is not installed, and rustup could not fetch it'
        else
            {line}
        fi"
    );
    shell(name, &line)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    fn sources(directory: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let within = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
        entries.flat_map(within).collect()
    }

    /// Of the library and the descriptions that it takes from the layout crate, without what is for our own crates.
    #[test]
    fn every_public_type_has_an_example() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
        let (mut types, mut bare) = (0, Vec::new());
        for path in
            ["equibloom/src", "equibloom-layout/src"].map(|it| sources(&crates.join(it))).concat()
        {
            if path.components().any(|part| part.as_os_str() == "placement") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let mut has_example = false;
            for line in text.lines() {
                let words: Vec<&str> = line.split([' ', '<', '(', ';', ':']).take(3).collect();
                if let ["pub", "struct" | "enum" | "trait", name] = words[..]
                    // Private: what `file::Mapped` can hold.
                    && name != "Open"
                {
                    types += 1;
                    if !has_example {
                        bare.push(name.to_owned());
                    }
                }
                has_example |= line.starts_with("/// ```");
                has_example &= !line.starts_with('}') && !line.ends_with(';');
            }
        }
        assert!(types > 45 && bare.is_empty(), "{types} types, without an example: {bare:?}");
    }

    #[test]
    fn the_oldest_compiler_is_the_one_that_the_packages_state() {
        let workspace = include_str!("../../Cargo.toml");
        let version = super::OLDEST.trim_end_matches(".0");
        assert!(workspace.contains(&format!("\nrust-version = \"{version}\"\n")));
    }
}
