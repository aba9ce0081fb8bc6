use alloc::string::{String, ToString};
use std::process::Command;
use std::{env, thread};

use super::each_by_a_thread;

/// In a process of its own, which the system gives no thread: their stacks would be too large.
#[test]
fn tasks_are_done_where_no_thread_can_be_had() {
    const INNER: &str = "EQUIBLOOM_WITHOUT_THREADS";
    if env::var_os(INNER).is_some() {
        assert!(thread::Builder::new().spawn(|| ()).is_err());
        let squares = each_by_a_thread((0..9_u64).collect(), |number| number * number);
        assert_eq!(squares, [0, 1, 4, 9, 16, 25, 36, 49, 64]);
        return;
    }
    let name = "raw::threads::tests::tasks_are_done_where_no_thread_can_be_had";
    let mut inner = Command::new(env::current_exe().unwrap());
    inner.args([name, "--exact", "--test-threads=1", "--nocapture"]);
    let output = inner.env(INNER, "1").env("RUST_MIN_STACK", (1_u64 << 60).to_string()).output();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("1 passed"), "{text} {output:?}");
}
