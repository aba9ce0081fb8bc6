//! Distinct e-mail addresses, in any number: the slides' example.

use std::fmt::Write;

const GIVEN: [&str; 16] = [
    "ada",
    "alan",
    "barbara",
    "burton",
    "claude",
    "donald",
    "edsger",
    "emmy",
    "grace",
    "hedy",
    "john",
    "katherine",
    "leslie",
    "margaret",
    "radia",
    "sophie",
];
const FAMILY: [&str; 16] = [
    "bloom", "chen", "diaz", "eriksson", "fischer", "garcia", "haddad", "ivanova", "jansen", "kim",
    "lopez", "moreau", "nguyen", "okafor", "patel", "rossi",
];
const DOMAIN: [&str; 8] = [
    "example.com",
    "example.net",
    "example.org",
    "mail.example",
    "post.example",
    "uni.example",
    "shop.example",
    "lab.example",
];

/// Writes address number `index` into `address`. Different numbers give different addresses.
pub(super) fn write_address(index: u64, address: &mut String) {
    let pick = |names: &[&'static str], shift: u32| names[(index >> shift) as usize % names.len()];
    address.clear();
    // Writing to a string cannot fail.
    let _ = write!(
        address,
        "{}.{}{}@{}",
        pick(&GIVEN, 0),
        pick(&FAMILY, 4),
        index >> 11,
        pick(&DOMAIN, 8)
    );
}

#[cfg(test)]
mod tests;
