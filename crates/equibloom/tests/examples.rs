//! The examples run.
#![cfg(all(feature = "planner", feature = "file"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

#[path = "../examples/join_filter.rs"]
#[allow(dead_code, reason = "its `main` reads arguments")]
mod join_filter;
mod scratch;
#[path = "../examples/seen_urls.rs"]
#[allow(dead_code, reason = "its `main` writes elsewhere")]
mod seen_urls;
#[path = "../examples/users.rs"]
mod users;

#[test]
fn a_join_filter_keeps_every_row_that_joins() {
    join_filter::join(20_000).unwrap();
}

#[test]
fn seen_urls_are_saved_while_threads_find_more() {
    let scratch = scratch::Scratch::new("seen-urls");
    seen_urls::crawl(&scratch.path("urls.eqg"), 8_000).unwrap();
}

#[test]
fn types_of_ones_own_are_keys() {
    users::main().unwrap();
}
