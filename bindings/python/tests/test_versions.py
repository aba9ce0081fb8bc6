"""A pickle is the same in every version of Python. Those in samples/ were made by Python 3.9: `python tests/test_versions.py`."""

import pathlib
import pickle
import sys

import numpy as np
import pytest

from equibloom import Filter, GrowingFilter

SAMPLES = pathlib.Path(__file__).parent / "samples"
KEYS = [f"key {number}" for number in range(2_000)]
ABSENT = [f"no key {number}" for number in range(20_000)]
# How many of the absent keys are found: with these hashes, on every machine.
FOUND = {"planned": 162, "growing": 3}


def planned():
    return Filter.from_keys(KEYS, rate=0.01, seed=22)


def growing():
    seen = GrowingFilter(rate=0.01, seed=22)
    seen.update(KEYS)
    return seen


def sample(make, protocol):
    return SAMPLES / f"{make.__name__}-protocol-{protocol}.pickle"


each = pytest.mark.parametrize("make, protocol", [(make, protocol) for make in (planned, growing) for protocol in (2, 5)])


@each
def test_a_pickle_of_another_version_gives_the_same_answers(make, protocol):
    seen = pickle.loads(sample(make, protocol).read_bytes())
    assert seen == make() and seen.kind == "bytes" and seen.seed == 22
    assert seen.contains(KEYS).all() and all(key in seen for key in KEYS)
    assert np.count_nonzero(seen.contains(ABSENT)) == FOUND[make.__name__]


@each
def test_other_versions_read_what_this_one_writes(make, protocol):
    assert pickle.dumps(make(), protocol) == sample(make, protocol).read_bytes()


if __name__ == "__main__":
    for make in (planned, growing):
        print(make.__name__, np.count_nonzero(make().contains(ABSENT)), sys.version)
        for protocol in (2, 5):
            sample(make, protocol).write_bytes(pickle.dumps(make(), protocol))
