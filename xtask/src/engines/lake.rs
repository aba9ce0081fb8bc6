//! Lakes of Parquet files and tables of Iceberg, by the Python package with the engines that read them.

use crate::python;
use crate::step::{Step, shell};

/// The benchmark compares what it measures with what is expected; a small one runs here.
const TESTS: &str = "\
    cd bindings/python &&
    ../../target/lake/bin/python -m pytest --quiet -p no:cacheprovider tests_lake &&
    ../../target/lake/bin/python benchmarks/lake.py --files 20 --keys 2000 --queries 3 --rounds 1";

pub(super) fn checks() -> Vec<Step> {
    // All engines fit into one environment.
    let mut steps = python::beside("lake");
    steps.push(shell("lake: tests with engines", TESTS));
    steps
}
