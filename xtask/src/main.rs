//! `cargo xtask test`: installs what a clean Debian machine lacks, then runs every check there is.

#[cfg(test)]
mod errata;
mod machine;
mod readme;
mod step;

use std::process::ExitCode;

use step::{Step, cargo};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => step::run_all(machine::missing_parts().into_iter().chain(checks())),
        _ => {
            eprintln!("usage: cargo xtask test    set the machine up and run every check");
            ExitCode::from(2)
        }
    }
}

/// Every check over the whole workspace, the quick ones first.
fn checks() -> Vec<Step> {
    let mut checks = vec![
        cargo("formatting", "fmt --all --check"),
        cargo("lints", "clippy --workspace --all-targets --all-features -- -D warnings"),
        cargo("core without std", "check -p equibloom --lib --no-default-features"),
        cargo(
            "core without std, with serde",
            "check -p equibloom --lib --no-default-features --features serde",
        ),
        cargo(
            "core with std only",
            "check -p equibloom --lib --no-default-features --features std",
        ),
        cargo("tests", "test --workspace --all-features"),
        cargo("documentation", "doc --workspace --all-features --no-deps")
            .with("RUSTDOCFLAGS", "-D warnings"),
        cargo(
            "benchmarks, small",
            "run --release -p equibloom-benchmarks -- --keys 20000 --rounds 2 --lookups 20000",
        ),
    ];
    checks.extend(readme::commands());
    checks
}
