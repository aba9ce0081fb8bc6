//! The Python package: its lints, its wheel in an environment of its own, and its tests.

use crate::step::{Step, shell};

/// Makes an environment with the packages that are known to work together, once for each list of them.
fn environment(list: &str, environment: &str) -> String {
    format!(
        "cmp --silent {list} {environment}/installed.txt || {{
            python3 -m venv --clear {environment} &&
            {environment}/bin/pip install --quiet --disable-pip-version-check --requirement {list} &&
            cp {list} {environment}/installed.txt; }}"
    )
}

/// Built beside the library, so that neither waits for the other; installed as users install it.
const WHEEL: &str = "\
    environment=$PWD/target/python && rm -rf target/wheels &&
    VIRTUAL_ENV=$environment PATH=$environment/bin:$PATH CARGO_TARGET_DIR=target/python-build \
        maturin build --quiet --release --locked --manifest-path bindings/python/Cargo.toml --out target/wheels &&
    $environment/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/*.whl";

/// The command takes part: files go from one to the other.
const TESTS: &str = "\
    cargo build --quiet --release -p equibloom-cli && cd bindings/python &&
    EQUIBLOOM=$PWD/../../target/release/equibloom ../../target/python/bin/python -m pytest --quiet";

/// Other versions of Python on this machine, if there are any, and one without the interpreter's lock.
const VERSIONS: &str = "\
    target/python/bin/python bindings/python/tests/other_versions.py target/wheels/*.whl target";

pub(crate) fn checks() -> Vec<Step> {
    let lints = "\
        cd bindings/python && export CARGO_TARGET_DIR=../../target/python-lints &&
        cargo fmt --check && cargo clippy --quiet --locked -- -D warnings";
    let mut steps = wheel();
    steps.insert(1, shell("Python: lints", lints));
    steps.push(shell("Python: tests", TESTS));
    steps.push(shell("Python: other versions", VERSIONS));
    steps
}

/// Builds the wheel; little is left to do if nothing has changed.
fn wheel() -> Vec<Step> {
    let packages = environment("bindings/python/requirements-test.txt", "target/python");
    vec![shell("Python: environment", &packages), shell("Python: wheel", WHEEL)]
}

/// The wheel in an environment with an engine, for the tests of both in `tests_<engine>`.
pub(crate) fn beside(engine: &str) -> Vec<Step> {
    let home = format!("target/{engine}");
    let packages = environment(&format!("bindings/python/tests_{engine}/requirements.txt"), &home);
    let install = format!(
        "{home}/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall \
         target/wheels/*.whl"
    );
    let mut steps = wheel();
    steps.extend([shell("packages", &packages), shell("wheel installed", &install)]);
    for step in &mut steps {
        // `cargo xtask test <engine>` runs all of them.
        step.name = format!("{engine}: {}", step.name);
    }
    steps
}
