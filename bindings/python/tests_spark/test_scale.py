"""The model of docs/scale.md against what one and two executors measure: bytes counted by Spark, memory by the kernel."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
KEYS, RATE = 2_000_000, 0.001
# As much as the rest of the process may change while the filter is fetched.
NOISE = 24 << 20


def measure(spark, partitions, most, merged):
    """Builds a filter of random keys, and counts."""
    from equibloom.spark import _build, build_filter
    from spark_events import Traffic

    _build._FAN_IN_BYTES = merged
    frame = spark.range(0, KEYS, numPartitions=partitions).selectExpr("xxhash64(id) as key")
    build_filter(frame.limit(1000), "key", rate=RATE, keys=KEYS, max_driver_bytes=most)
    with Traffic(spark) as traffic:
        memory = memory_now()
        members = build_filter(frame, "key", rate=RATE, keys=KEYS, max_driver_bytes=most)
        memory = memory_most() - memory
    return {
        "shuffled": [size for _, size in sorted(traffic.stages.items()) if size > 10_000],
        "remote": traffic.remote,
        "local": traffic.local,
        "results": traffic.results,
        "memory": memory,
        "filter": members.nbytes,
        "shards": getattr(members, "shards", 1),
    }


def memory_now():
    """Resident bytes, from which the most that are held is counted anew."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return memory_most()


def memory_most():
    with open("/proc/self/status") as file:
        (line,) = (line for line in file if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


# Partitions, max_driver_bytes, and what a task may merge: a filter of 3 MB stands for large ones in a deep tree.
CASES = {"tree": (5, 128 << 20, 256 << 20), "deep": (20, 128 << 20, 8 << 20), "shards": (5, 1 << 19, 256 << 20)}


def model_of(case, executors):
    from equibloom.spark import _build, scale

    partitions, most, _build._FAN_IN_BYTES = CASES[case]
    return scale(KEYS, RATE, executors=executors, partials=partitions, max_driver_bytes=most)


@pytest.fixture(autouse=True)
def usual_merging():
    from equibloom.spark import _build

    usual = _build._FAN_IN_BYTES
    yield
    _build._FAN_IN_BYTES = usual


@pytest.fixture(scope="module")
def measured(spark):
    """By executors and case; one executor in a process of its own, because a process has one Spark."""
    alone = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=False)
    assert alone.returncode == 0, alone.stderr
    two = {name: measure(spark, *case) for name, case in CASES.items()}
    return {1: json.loads(alone.stdout), 2: two}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("executors", [1, 2])
def test_the_model_says_what_is_measured(measured, executors, case):
    found = measured[executors][case]
    model = model_of(case, executors)
    print(f"{executors} executors, {case}: {found}\n{model}")
    assert (found["filter"], found["shards"]) == (model.filter, model.shards)
    assert (model.shards > 1, model.depth) == (case == "shards", {"tree": 1, "deep": 4, "shards": 0}[case])
    assert len(found["shuffled"]) == len(model.shuffled)
    for bytes_found, bytes_expected in zip(found["shuffled"], model.shuffled):
        assert abs(bytes_found / bytes_expected - 1) < 0.1
    # All that was written was read, with nothing from elsewhere if there is no elsewhere.
    moved = found["remote"] + found["local"]
    assert abs(moved / sum(found["shuffled"]) - 1) < 0.05
    share = found["remote"] / moved
    if executors == 1:
        assert share == 0
    else:
        # Half on average; which executor runs a task is chance.
        assert 0.05 < share < 0.95
    # The driver receives the filter once.
    assert 0 <= found["results"] / model.received - 1 < 0.1
    assert found["memory"] <= model.driver_memory + NOISE


def test_ten_billion_keys_on_a_thousand_executors():
    """docs/scale.md prints these."""
    from equibloom.spark import scale

    model = scale(10**10, 0.01, executors=1000, max_driver_bytes=16 << 20)
    text = (HERE.parents[2] / "docs" / "scale.md").read_text()
    for value in (model.shards, model.filter, *model.shuffled, model.network, model.driver_memory, model.task_memory):
        assert f"{value:,}" in text, value
    tree = scale(10**10, 0.01, executors=1000, max_driver_bytes=1 << 40)
    assert f"{tree.depth} levels" in text and f"{tree.network:,}" in text and f"{tree.task_memory:,}" in text
    # Shuffling the keys moves less than merging partial filters of all of them.
    assert model.network < tree.network / 5


if __name__ == "__main__":
    import tempfile

    sys.path.insert(0, str(HERE.parent / "benchmarks"))
    import spark_events

    with tempfile.TemporaryDirectory() as directory:
        alone = spark_events.start(directory, executors=1)
        print(json.dumps({name: measure(alone, *case) for name, case in CASES.items()}))
        alone.stop()
        os.chdir("/")
