//! Tests and fuzzing under AddressSanitizer: the unsafe code reads and writes only what it may.
//!
//! The sanitizer is an unstable option. `RUSTC_BOOTSTRAP` makes the usual compiler take it, so that no second
//! toolchain is needed.

use crate::step::{Step, shell};

/// The tests that reach the unsafe code: blocks, memory, threads, mapped files.
const TESTS: &str = "\
    cargo test -p equibloom --no-default-features --features file --target-dir target/sanitizer \
        --target \"$(rustc --print host-tuple)\" --quiet \
        --lib --test batches --test files --test fuzz";

/// Flags of `cargo fuzz`, which is not needed then. New inputs go to a corpus that is not committed.
const FUZZING: &str = "\
    host=$(rustc --print host-tuple) && cd fuzz &&
    cargo build --release --target \"$host\" &&
    for target in decode layouts merges operations; do
        mkdir -p target/corpus/$target &&
        seeds=$([ $target != decode ] || echo corpus/decode ../crates/equibloom/tests/samples/*/) &&
        target/\"$host\"/release/$target target/corpus/$target $seeds \
            -max_total_time=8 -len_control=0 -rss_limit_mb=1024 -print_funcs=0 || exit 1
    done";

const COVERAGE: &str = "-Zsanitizer=address -Ccodegen-units=1 -Cdebug-assertions --cfg fuzzing \
    -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

pub(crate) fn checks() -> Vec<Step> {
    vec![
        sanitized("unsafe code under AddressSanitizer", TESTS, "-Zsanitizer=address"),
        sanitized("fuzzing, briefly", FUZZING, COVERAGE),
    ]
}

/// A step with these compiler flags. A compiler without the sanitizer's library skips it.
fn sanitized(name: &str, line: &str, flags: &str) -> Step {
    let line = format!(
        "if ! ls \"$(rustc --print target-libdir)\"/librustc*asan.a >/dev/null 2>&1; then
            echo 'skipped: this compiler comes without AddressSanitizer; `rustup` has one with it'
        else
            {line}
        fi"
    );
    shell(name, &line)
        .with("RUSTC_BOOTSTRAP", "1")
        .with("RUSTFLAGS", flags)
        .with("PROPTEST_CASES", "100")
}
