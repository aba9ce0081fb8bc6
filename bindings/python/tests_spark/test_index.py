"""An index built by Spark is the one that one process builds, and loses no row."""

import pathlib
import shutil
from urllib.parse import unquote

import numpy
import pyarrow
import pyarrow.parquet
import pytest
from equibloom import Index, IndexDraft, KeyTypeError
from equibloom.spark import _index, build_index, index_files
from pyspark.sql import functions as sf

FILES, ROWS = 12, 2_000


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    """Files of random integers, texts and floats, with nulls."""
    path = tmp_path_factory.mktemp("lake") / "a lake, 100%"
    rows = spark.range(0, FILES * ROWS, numPartitions=FILES).select(
        sf.expr("if(id % 50 = 0, null, xxhash64(id) div 1000)").alias("key"),
        sf.expr("concat('name ', xxhash64(id, 5))").alias("name"),
        sf.expr("id / 7").alias("share"),
    )
    rows.write.parquet(str(path))
    return path


def test_the_index_is_that_of_one_process(spark, lake, tmp_path):
    frame = spark.read.parquet(str(lake))
    once = build_index(frame, ["key", "name"], tmp_path / "once.eqx")
    draft = IndexDraft(["key", "name"])
    tables = {name: pyarrow.parquet.read_table(path_of(name)) for name in names_of(frame)}
    rates = []
    for column in ("key", "name"):
        keys = [[key for key in table.column(column).to_pylist() if key is not None] for table in tables.values()]
        rates.append(draft.rate(column, [(min(some), max(some)) for some in keys]))
    for name, table in tables.items():
        draft.add(name, path_of(name).stat().st_size, [table.column("key"), table.column("name")], rates)
    assert len(once) == FILES and (tmp_path / "once.eqx").read_bytes() == draft.to_bytes()
    # By the path, and by another number of tasks.
    usual, _index._TASKS_PER_CORE = _index._TASKS_PER_CORE, 1
    try:
        build_index(lake, ["key", "name"], tmp_path / "again.eqx")
    finally:
        _index._TASKS_PER_CORE = usual
    assert (tmp_path / "again.eqx").read_bytes() == (tmp_path / "once.eqx").read_bytes()


def path_of(name):
    assert name.startswith("file:///")
    return pathlib.Path(name.removeprefix("file://"))


def names_of(frame):
    return sorted(map(unquote, frame.inputFiles()))


def test_no_row_is_lost_and_few_files_are_read(spark, lake, tmp_path):
    index = build_index(lake, "key", tmp_path / "lake.eqx", false_files=0.1)
    frame = spark.read.parquet(str(lake)).where("key is not null").cache()
    present = [row[0] for row in frame.select("key").sample(0.01, 3).collect()]
    lost = opened = 0
    for key in present[:60]:
        files = index_files(index, lake, "key", key)
        opened += len(files)
        values = [value for file in files for value in pyarrow.parquet.read_table(path_of(file)).column("key").to_pylist()]
        lost += key not in values
    print(f"{lost} of 60 rows lost, {opened} files opened")
    assert lost == 0 and opened <= 60 * 1.12 + 20
    absent = numpy.random.default_rng(1).integers(-(9 * 10**15), 9 * 10**15, 300)
    opened = sum(len(index_files(index, frame, "key", int(key))) for key in absent[:100])
    assert opened <= 10 + 4 * 10**0.5
    found = spark.read.parquet(*index_files(index, lake, "key", numpy.array(present[:3]))).where(sf.col("key").isin(present[:3]))
    assert found.count() == frame.where(sf.col("key").isin(present[:3])).count()
    frame.unpersist()


def test_what_the_index_does_not_know_is_read(spark, lake, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(lake, copy)
    with pytest.raises(KeyTypeError, match="the column share is double"):
        build_index(copy, ["key", "share"], tmp_path / "copy.eqx")
    index = build_index(copy, "key", tmp_path / "copy.eqx")
    assert len(index.unknown("key")) == 0
    parquet = sorted(copy.glob("*.parquet"))
    new = copy / "new.parquet"
    shutil.copy(parquet[0], new)
    pyarrow.parquet.write_table(pyarrow.table({"key": [5]}), parquet[1])
    for crc in copy.glob(".*.crc"):
        crc.unlink()
    read = {path_of(file) for file in index_files(index, copy, "key", 123_456_789)}
    assert {new, parquet[1]} <= read and len(read) <= 4


def test_a_damaged_file_is_read_for_every_key(spark, tmp_path):
    lake = tmp_path / "lake"
    spark.range(0, 1000, numPartitions=3).write.parquet(str(lake))
    frame = spark.read.parquet(str(lake))
    victim = path_of(names_of(frame)[1])
    victim.write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    other = path_of(names_of(frame)[2])
    pyarrow.parquet.write_table(pyarrow.table({"id": [0.5]}), other)
    index = build_index(frame, "id", tmp_path / "lake.eqx")
    assert {path_of(name) for name, _ in index.unknown("id")} == {victim, other}
    assert {victim, other} == {path_of(file) for file in index_files(index, frame, "id", -5)}
    assert isinstance(index, Index) and len(index) == 3
