//! Lakes of Parquet files and tables of Iceberg, by the Python package with the engines that read them.

use crate::python;
use crate::step::{Step, shell};

/// All engines fit into one environment; it is made again when the list of packages changes.
const ENVIRONMENT: &str = "\
    list=bindings/python/requirements-lake.txt && environment=target/lake && {
        cmp --silent $list $environment/installed.txt || {
            python3 -m venv --clear $environment &&
            $environment/bin/pip install --quiet --disable-pip-version-check --requirement $list &&
            cp $list $environment/installed.txt; }; }";

/// The wheel that the tests of the Python package have built.
const PACKAGE: &str = "\
    target/lake/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/*.whl";

/// The benchmark compares what it measures with what is expected; a small one runs here.
const TESTS: &str = "\
    cd bindings/python &&
    ../../target/lake/bin/python -m pytest --quiet -p no:cacheprovider tests_lake &&
    ../../target/lake/bin/python benchmarks/lake.py --files 20 --keys 2000 --queries 3 --rounds 1";

pub(super) fn checks() -> Vec<Step> {
    let mut steps = python::wheel();
    steps.extend([
        shell("lake: environment", ENVIRONMENT),
        shell("lake: package", PACKAGE),
        shell("lake: tests with engines", TESTS),
    ]);
    steps
}
