"""One Spark for all tests: two executors of one core, in processes of their own."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "benchmarks"))

import spark_events


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    # Executors that are killed are started again, and are not kept out of later tests.
    session = spark_events.start(tmp_path_factory.mktemp("spark"), **{"spark.excludeOnFailure.enabled": "false"})
    yield session
    session.stop()
