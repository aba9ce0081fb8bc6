//! These tests call every public function of the library.

use std::path::Path;

const SOURCES: &str = concat!(
    include_str!("main.rs"),
    include_str!("arguments.rs"),
    include_str!("calls.rs"),
    include_str!("parts.rs"),
);

/// Functions that the language calls: for `{}` and `{:?}`, `==`, `*`, `?`, `parse` and `collect`.
const IMPLIED: [&str; 7] = ["fmt", "eq", "deref", "deref_mut", "from", "from_str", "from_iter"];
/// Functions that other tests call: `serde_json` (files.rs), and lookups for the observers.
const ELSEWHERE: [&str; 5] =
    ["serialize", "deserialize", "source", "block_read", "overflow_probed"];

#[test]
fn every_public_function_is_called() {
    let listings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api");
    // The package is tested without the repository, too.
    if !listings.exists() {
        return;
    }
    let mut missing = Vec::new();
    for package in ["equibloom", "equibloom-layout"] {
        let listing = std::fs::read_to_string(listings.join(format!("{package}.txt"))).unwrap();
        for line in listing.lines().filter(|line| !line.contains("::placement::")) {
            let Some((_, function)) = line.split_once(" fn ") else { continue };
            let path = without_generics(function);
            let name = path.rsplit("::").next().unwrap_or("");
            let is_exempt = name.is_empty() || IMPLIED.contains(&name) || ELSEWHERE.contains(&name);
            if !is_exempt && !is_called(name) {
                missing.push(path);
            }
        }
    }
    assert!(missing.is_empty(), "not called: {missing:#?}");
}

/// Whether the tests call a function of that name, or pass it.
fn is_called(name: &str) -> bool {
    let calls = [format!(".{name}("), format!("::{name}("), format!("::{name})")];
    let passed = [format!("::{name},"), format!("::{name}]")];
    calls.iter().chain(&passed).any(|call| SOURCES.contains(call))
}

/// The path of a function, up to its arguments.
fn without_generics(function: &str) -> String {
    let mut depth = 0;
    let mut path = String::new();
    for letter in function.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            '(' if depth == 0 => break,
            _ if depth == 0 => path.push(letter),
            _ => {}
        }
    }
    path
}
