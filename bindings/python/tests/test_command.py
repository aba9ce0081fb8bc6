"""Files go from here to the command and back, with the keys of docs/keys.json. EQUIBLOOM names the command."""

import os
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import vectors

from equibloom import Filter

COMMAND = os.environ.get("EQUIBLOOM")
pytestmark = pytest.mark.skipif(not COMMAND, reason="EQUIBLOOM does not name the command")
RATE = 1e-9


def run(*arguments, status=0, **keywords):
    result = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, check=False, **keywords)
    assert result.returncode == status, result.stderr.decode()
    return result.stdout


def columns():
    """Columns of Parquet of the test vectors, one of each type that Parquet has."""
    for names, kind in [
        (("bytes",), pa.binary()),
        (("text", "char"), pa.string()),
        (("uuid",), pa.binary(16)),
        (("bool",), pa.bool_()),
        (("date",), pa.date32()),
        (("timestamp",), pa.timestamp("ns")),
    ]:
        keys = [vectors.key(vector) for vector in vectors.VECTORS if vector["type"] in names]
        if names == ("uuid",):
            keys = [key.bytes for key in keys]
        yield names[0], keys, pa.array(keys, kind)
    integers = [int(vector["value"]) for vector in vectors.VECTORS if vector["type"] == "integer"]
    for name, kind, values in [
        ("int64", pa.int64(), [value for value in integers if value < 2**63]),
        ("uint64", pa.uint64(), [value for value in integers if value >= 0]),
        ("int8", pa.int8(), [value for value in integers if -128 <= value < 128]),
    ]:
        yield name, values, pa.array(values, kind)


@pytest.mark.parametrize("seed", vectors.SEEDS)
@pytest.mark.parametrize("name, keys, column", list(columns()), ids=lambda value: value if isinstance(value, str) else "")
def test_the_vectors_in_both_directions(name, keys, column, seed, tmp_path):
    table = tmp_path / "keys.parquet"
    # The command skips empty keys unless it is told otherwise.
    keys, column = zip(*[(key, item) for key, item in zip(keys, column) if key not in ("", b"")])
    column = pa.array([item.as_py() if name != "timestamp" else item.value for item in column], column[0].type)
    pq.write_table(pa.table({"key": column}), table)
    theirs, ours = tmp_path / "theirs.eqb", tmp_path / "ours.eqb"
    run("build", table, "--parquet-column", "key", "--keys", 100, "--fpr", RATE, "--seed", seed, "-o", theirs)
    seen = Filter(keys=100, rate=RATE, seed=seed)
    seen.update(column)

    # Theirs is read here.
    read = Filter.load(theirs)
    assert read.contains(column).to_pylist() == [True] * len(keys) and all(key in read for key in keys)
    assert read.kind == seen.kind and read == seen and Filter.open(theirs) == seen

    # Ours is read there.
    seen.save(ours)
    assert run("query", ours, table, "--parquet-column", "key", "-c").split() == [str(len(keys)).encode()]
    empty = Filter(keys=100, rate=RATE, seed=seed, kind=seen.kind)
    empty.save(ours)
    assert run("query", ours, table, "--parquet-column", "key", "-c", status=1).split() == [b"0"]


def test_lines_of_text_and_integers(tmp_path):
    numbers = [int(vector["value"]) for vector in vectors.VECTORS if vector["type"] == "integer"]
    lines = "\n".join(map(str, numbers)).encode()
    for kind, key in (("int", int), ("text", str)):
        theirs, ours = tmp_path / "theirs.eqb", tmp_path / "ours.eqb"
        run("build", "--type", kind, "--keys", 100, "--fpr", RATE, "-o", theirs, input=lines)
        seen = Filter(keys=100, rate=RATE)
        seen.update([key(number) for number in numbers])
        assert Filter.load(theirs) == seen
        assert theirs.read_bytes() == seen.to_bytes()
        seen.save(ours)
        assert run("query", ours, input=lines).split() == lines.split()
        run("verify", ours)
        run("info", ours)


def test_a_hundred_thousand_keys_give_the_same_bytes(tmp_path):
    column = np.random.default_rng(6).integers(-(2**63), 2**63, 100_000)
    pq.write_table(pa.table({"key": column}), tmp_path / "keys.parquet")
    run("build", tmp_path / "keys.parquet", "--parquet-column", "key", "--keys", 100_000, "--fpr", 0.001, "-o", tmp_path / "theirs.eqb")
    seen = Filter(keys=100_000, rate=0.001)
    seen.update(column, threads=2)
    assert (tmp_path / "theirs.eqb").read_bytes() == seen.to_bytes()
    assert Filter.load(tmp_path / "theirs.eqb").contains(column).all()


def test_filters_of_the_command_are_added_to_and_united(tmp_path):
    theirs = tmp_path / "theirs.eqb"
    run("build", "--keys", 100, "--fpr", RATE, "-o", theirs, input=b"alice\nbob\n")
    seen = Filter.load(theirs)
    seen.add("carol")
    seen |= Filter.from_keys(["dave"], capacity=100, rate=RATE)
    seen.save(theirs)
    assert run("query", theirs, input=b"alice\nbob\ncarol\ndave\neve\n").split() == [b"alice", b"bob", b"carol", b"dave"]
