//! Tools that a clean Debian machine with a Rust toolchain may lack.

use std::process::{Command, Stdio};

use crate::processors;
use crate::publishing::{API_COMPILER, API_TOOL, OLDEST};
use crate::step::{Step, shell};

/// Steps that install the missing tools.
pub(crate) fn missing_parts() -> Vec<Step> {
    let mut steps = Vec::new();
    if !works("cargo fmt --version && cargo clippy --version") {
        steps.push(shell("installing rustfmt and clippy", "rustup component add rustfmt clippy"));
    }
    if !works("cc --version") {
        steps.push(debian_packages("gcc libc6-dev"));
    }
    // libFuzzer is C++.
    if !works("c++ --version") {
        steps.push(debian_packages("g++"));
    }
    if !works(&processors::tools()) {
        steps.push(debian_packages(processors::PACKAGES));
    }
    for target in processors::targets() {
        if !works(&format!("test -d \"$(rustc --print target-libdir --target {target})\"")) {
            let line = format!("rustup target add {target}");
            steps.push(shell(&format!("installing Rust for {target}"), &line));
        }
    }
    for toolchain in [OLDEST, API_COMPILER] {
        if !works(&format!("rustc +{toolchain} --version")) {
            // Where there is no way to get one, the checks that need it say so and are skipped.
            let line = format!("rustup toolchain install {toolchain} --profile minimal || true");
            steps.push(shell(&format!("installing Rust {toolchain}"), &line));
        }
    }
    if !works("cargo public-api --version") {
        steps.push(shell(
            "installing cargo-public-api",
            &format!("cargo install --locked --debug {API_TOOL}"),
        ));
    }
    // For the theory's comparison with mpmath, which creates a virtual environment.
    if !works("python3 -c 'import ensurepip, venv'") {
        steps.push(debian_packages("python3 python3-venv"));
    }
    // Counts the instructions of the hot paths.
    if !works("valgrind --version") {
        steps.push(debian_packages("valgrind"));
    }
    // Opens the report of `equibloom reproduce`.
    if !works("chromium --version") {
        steps.push(debian_packages("chromium"));
    }
    // Real keys for the command's tests and the README.
    if !works("test -e /usr/share/dict/american-english-huge") {
        steps.push(debian_packages("wamerican-huge"));
    }
    steps
}

fn works(line: &str) -> bool {
    let mut command = Command::new("sh");
    command.args(["-c", line]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn debian_packages(names: &str) -> Step {
    let sudo = "$([ \"$(id -u)\" = 0 ] || echo sudo)";
    let line = format!(
        "{sudo} apt-get update && {sudo} apt-get install --yes --no-install-recommends {names}"
    );
    shell(&format!("installing {names}"), &line).with("DEBIAN_FRONTEND", "noninteractive")
}
