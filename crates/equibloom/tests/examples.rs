//! The examples run.
#![cfg(all(feature = "planner", feature = "file"))]

#[path = "../examples/join_filter.rs"]
#[allow(dead_code, reason = "its `main` reads arguments")]
mod join_filter;
#[path = "../examples/users.rs"]
mod users;

#[test]
fn a_join_filter_keeps_every_row_that_joins() {
    join_filter::join(20_000).unwrap();
}

#[test]
fn types_of_ones_own_are_keys() {
    users::main().unwrap();
}
