//! The library has few dependencies.

use std::collections::BTreeSet;
use std::process::Command;

/// Including the library's own packages.
const MOST_PACKAGES: usize = 10;

#[test]
fn the_library_with_planner_and_files_needs_at_most_ten_packages() {
    let arguments = "tree -p equibloom --edges normal --prefix none --format {p}";
    let output = Command::new(env!("CARGO")).args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    // The first word of a line is the package; a package may have several lines.
    let packages: BTreeSet<&str> =
        tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(packages.contains("equibloom-theory") && packages.contains("memmap2"), "{packages:?}");
    assert!(
        packages.len() <= MOST_PACKAGES,
        "{} packages, at most {MOST_PACKAGES} should be: {packages:?}; make the new ones optional",
        packages.len()
    );
}
