//! Runs the README's commands unchanged.

use crate::step::{Step, shell};

const README: &str = include_str!("../../README.md");

/// A step for every line in the README's `sh` fences, except `cargo xtask test` itself.
pub(crate) fn commands() -> Vec<Step> {
    let mut in_shell_block = false;
    let mut steps = Vec::new();
    for line in README.lines() {
        if line.starts_with("```") {
            in_shell_block = line == "```sh";
        } else if in_shell_block && !line.trim_start().starts_with('#') && !line.contains("xtask") {
            steps.push(shell(&format!("README: {line}"), line));
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_readme_names_both_set_up_commands() {
        assert!(super::README.contains("\ncargo run --release -- demo\n"));
        assert!(super::README.contains("\ncargo xtask test\n"));
        assert!(!super::commands().is_empty());
    }
}
