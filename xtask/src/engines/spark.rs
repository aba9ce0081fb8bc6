//! `equibloom.spark`, in `bindings/python`: an environment with PySpark, and tests with two executors.

use crate::python;
use crate::step::{Step, shell};

/// Spark 4 needs Java 17 or later.
const JAVA: &str = "\
    as_root=$([ \"$(id -u)\" = 0 ] || echo sudo)
    java -version || {
        $as_root apt-get update
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes \
            --no-install-recommends openjdk-17-jre-headless
    }";

/// The benchmark finds lost rows and wrong answers; a small one runs here.
const TESTS: &str = "\
    cd bindings/python && python=$PWD/../../target/spark/bin/python &&
    $python -m pytest --quiet -p no:cacheprovider tests_spark &&
    $python benchmarks/spark.py --keys 1e5 --rates 0.01 --join 1e5 --rounds 1";

pub(super) fn checks() -> Vec<Step> {
    let mut steps = python::beside("spark");
    steps.push(shell("spark: Java", JAVA));
    steps.push(shell("spark: tests with two executors", TESTS));
    steps
}
