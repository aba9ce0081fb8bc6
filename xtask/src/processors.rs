//! The library's tests for processors that this machine is not, under qemu: NEON, and big-endian words.
//! And a build for a processor without an operating system.

use crate::step::{Step, cargo, shell};

/// As Rust, qemu and Debian's compilers call them.
const PROCESSORS: [&str; 2] = ["aarch64", "s390x"];

/// 32 bits, no atomic words of 64 bits, no standard library.
const BARE: &str = "thumbv7em-none-eabi";

/// Debian's packages for [`PROCESSORS`].
pub(crate) const PACKAGES: &str = "qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
                                   gcc-s390x-linux-gnu libc6-dev-s390x-cross";

/// Tests that are not run under qemu, and why.
const SKIPPED: [(&str, &str); 7] = [
    ("a_file_larger_than_memory_is_opened_and_queried_at_once", "qemu maps no tebibyte"),
    ("a_file_that_cannot_grow_leaves_the_old_one", "it starts itself, without qemu"),
    ("a_full_disk_leaves_the_old_file", "it starts itself, without qemu"),
    ("tasks_are_done_where_no_thread_can_be_had", "it starts itself, without qemu"),
    (
        "a_combination_is_refused_for_one_reason_or_works",
        "it needs all its cases to see each reason",
    ),
    ("a_published_key_is_found_during_other_inserts", "half a minute; qemu keeps the order of x86"),
    ("the_budget_is_never_overdrawn_and_ends_once", "half a minute"),
];

/// Cases of each property.
const CASES: &str = "20";

/// Rust's names of all targets.
pub(crate) fn targets() -> Vec<String> {
    let under_qemu = PROCESSORS.map(|processor| format!("{processor}-unknown-linux-gnu"));
    under_qemu.into_iter().chain([BARE.to_owned()]).collect()
}

/// A shell command that succeeds if all tools for [`PROCESSORS`] are there.
pub(crate) fn tools() -> String {
    let tools = PROCESSORS.map(|processor| {
        format!("qemu-{processor} --version && {processor}-linux-gnu-gcc --version")
    });
    tools.join(" && ")
}

pub(crate) fn checks() -> Vec<Step> {
    let arguments = format!("build -p equibloom --lib --no-default-features --target {BARE}");
    let mut steps = vec![cargo("core for a machine without an operating system", &arguments)];
    steps.extend(PROCESSORS.map(under_qemu));
    steps
}

/// Without the planner, which is arithmetic that no processor does differently, and slow here.
fn under_qemu(processor: &str) -> Step {
    let skip: String = SKIPPED.iter().map(|(name, _)| format!(" --skip {name}")).collect();
    let reasons: String = SKIPPED
        .iter()
        .map(|(name, reason)| format!("echo 'skipped: {name}: {reason}'; "))
        .collect();
    let line = format!(
        "{reasons} cargo test --release -p equibloom --no-default-features --features file --lib --tests \
         --target {processor}-unknown-linux-gnu --quiet -- {skip}"
    );
    let variable =
        |name| format!("CARGO_TARGET_{}_UNKNOWN_LINUX_GNU_{name}", processor.to_uppercase());
    shell(&format!("the library's tests for {processor}, under qemu"), &line)
        .with(&variable("LINKER"), &format!("{processor}-linux-gnu-gcc"))
        .with(&variable("RUNNER"), &format!("qemu-{processor}"))
        // Programs with shared libraries hang in qemu 7.2 when they start a thread.
        .with(&variable("RUSTFLAGS"), "-C target-feature=+crt-static")
        .with("PROPTEST_CASES", CASES)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// The text of all files below a folder.
    fn sources(folder: &Path) -> String {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let texts = entries.map(|path| {
            if path.is_dir() {
                sources(&path)
            } else {
                fs::read_to_string(path).unwrap_or_default()
            }
        });
        texts.collect()
    }

    #[test]
    fn tests_that_are_skipped_under_qemu_exist() {
        let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/equibloom");
        let sources = sources(&library.join("src")) + &sources(&library.join("tests"));
        for (name, _) in super::SKIPPED {
            assert!(sources.contains(&format!("fn {name}(")), "no test {name}");
        }
    }
}
