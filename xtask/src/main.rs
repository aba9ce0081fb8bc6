//! `cargo xtask test`: installs the tools that a clean Debian machine lacks, then runs every check.
//!
//! `cargo xtask test --engines`: also those of the engines, which need servers and frameworks.
//!
//! `cargo xtask valkey`: a Valkey server with the module of `engines/valkey`; `cargo xtask valkey benchmark` measures it.
//!
//! `cargo xtask frontier`: writes the planner's table of the best blocks for each size.
//!
//! `cargo xtask api`: writes the listings of the libraries' public items.
//!
//! `cargo xtask compare <revision>`: measures this library and that of another revision side by side.

mod compare;
mod engines;
#[cfg(test)]
mod errata;
mod machine;
#[cfg(test)]
mod packages;
mod processors;
mod publishing;
mod python;
mod readme;
mod sanitizer;
mod step;

use std::process::ExitCode;

use step::{Step, cargo, shell};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => step::run_all(machine::missing_parts().into_iter().chain(checks())),
        ["test", "--engines"] => {
            let checks = checks().into_iter().chain(engines::engines());
            step::run_all(machine::missing_parts().into_iter().chain(checks))
        }
        ["test", part] => {
            let checks = checks().into_iter().chain(engines::engines());
            let checks = checks.filter(|check| check.name.contains(part));
            step::run_all(machine::missing_parts().into_iter().chain(checks))
        }
        ["valkey"] => engines::valkey::run(),
        ["valkey", "benchmark", ref arguments @ ..] => engines::valkey::benchmark(arguments),
        ["frontier"] => step::run_all([shell("frontier", FRONTIER)]),
        ["api"] => step::run_all([publishing::list_api()]),
        ["compare", revision, ref arguments @ ..] if !revision.starts_with('-') => {
            compare::run(revision, arguments)
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

const USAGE: &str = "\
usage: cargo xtask test [PART]
           set up the machine and run every check, or those with PART in their names
       cargo xtask test --engines
           run every check, then those of the engines, which need servers and frameworks
       cargo xtask valkey
           start a Valkey server with the module of engines/valkey, on loopback
       cargo xtask valkey benchmark [--keys N,…] [--pauses N] [--server valkey|redis]
           measure it beside a classical filter behind the same commands, and beside sets
       cargo xtask frontier
           write the planner's table of the best blocks for each size
       cargo xtask api
           write the listings of the libraries' public items
       cargo xtask compare <revision> [--quick] [--keys N,…] [--bits-per-key B,…] [--rounds N] …
           measure this library and that revision's turn by turn; --help shows all options";

/// Written beside, then moved: the program is built with the table that it replaces.
const FRONTIER: &str = "\
    rows=crates/equibloom-theory/src/planner/frontier/rows.rs &&
    cargo run --release -p equibloom-theory --example frontier > $rows.new && mv $rows.new $rows";

/// Every filter, operation and kind of report, with few keys; the answers are checked.
const BENCHMARKS: &str = "\
    directory=$(mktemp -d) && trap 'rm -r \"$directory\"' EXIT &&
    cargo run --release -p equibloom-benchmarks -- --keys 2000,20000 --bits-per-key 12,16 \
        --rounds 2 --lookups 20000 --json \"$directory/run.json\" --html \"$directory/run.html\" &&
    test -s \"$directory/run.json\" && test -s \"$directory/run.html\"";

/// Every check over the whole workspace, the quick ones first.
fn checks() -> Vec<Step> {
    let mut checks = vec![
        cargo("formatting", "fmt --all --check"),
        cargo("lints", "clippy --workspace --all-targets --all-features -- -D warnings"),
        cargo("layout without std", "check -p equibloom-layout --lib"),
        cargo("core without std", "check -p equibloom --lib --no-default-features"),
        cargo(
            "core without std, with serde",
            "check -p equibloom --lib --no-default-features --features serde",
        ),
        cargo(
            "core and its tests with std only",
            "check -p equibloom --lib --tests --no-default-features --features std",
        ),
        cargo(
            "core with files only",
            "clippy -p equibloom --lib --no-default-features --features file -- -D warnings",
        ),
        cargo(
            "tables without std, with serde",
            "check -p equibloom-tables --lib --no-default-features --features serde",
        ),
        cargo("tables with std only", "clippy -p equibloom-tables --all-targets -- -D warnings"),
        cargo(
            "theory without the papers' model",
            "clippy -p equibloom-theory --all-targets -- -D warnings",
        ),
        cargo("index without Parquet", "clippy -p equibloom-index --lib -- -D warnings"),
        cargo("command without Parquet", "check -p equibloom-cli --no-default-features"),
        cargo("tests", "test --workspace --all-features"),
        // In its own target directory, so that the rest is not rebuilt.
        cargo(
            "shared filters, under every interleaving",
            "test --release --target-dir target/loom -p equibloom --lib \
             --no-default-features --features planner models",
        )
        .with("RUSTFLAGS", "--cfg loom"),
        cargo("documentation", "doc --workspace --all-features --no-deps")
            .with("RUSTDOCFLAGS", "-D warnings"),
    ];
    checks.extend(processors::checks());
    checks.extend(sanitizer::checks());
    checks.push(shell("benchmarks, small", BENCHMARKS));
    checks.push(cargo(
        "instructions of the hot paths",
        "run --release -p equibloom-benchmarks --bin instructions",
    ));
    checks.extend(publishing::checks());
    checks.extend(python::checks());
    checks.extend(readme::commands());
    checks
}
