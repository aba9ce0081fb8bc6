"""Queries of Parquet files by real engines, compared with an exact answer, with every fault that an index may meet."""

import collections
import datetime
import decimal
import doctest
import os
import pathlib
import shutil
import time
import uuid
import warnings

import datafusion
import duckdb
import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import equibloom.lake
from equibloom import Index
from equibloom.lake import IndexWarning

ENGINES = ["pyarrow", "polars", "duckdb", "datafusion"]


def rows(answer):
    """What an engine has found, as pairs in order."""
    if isinstance(answer, polars.LazyFrame):
        table = answer.collect().to_arrow()
    elif isinstance(answer, duckdb.DuckDBPyRelation):
        table = answer.to_arrow_table()
    elif isinstance(answer, datafusion.DataFrame):
        table = answer.to_arrow_table()
    else:
        table = answer.to_table()
    return sorted(zip(table["id"].to_pylist(), table["row"].to_pylist()))


class Lake:
    """A directory of files, all of their rows, and the index beside it."""

    def __init__(self, directory):
        self.path, self.index = directory / "lake", directory / "lake.eqx"
        self.path.mkdir()
        self.rows = {}

    def write(self, name, ids, type=None):
        table = pa.table({"id": pa.array(ids, type), "row": [f"{name}:{row}" for row in range(len(ids))]})
        pq.write_table(table, self.path / name, row_group_size=500)
        self.rows[name] = list(zip(table["id"].to_pylist(), table["row"].to_pylist()))

    def remove(self, name):
        (self.path / name).unlink()
        del self.rows[name]

    def build(self, **options):
        return Index.build(self.path, "id", self.index, **options)

    def exact(self, keys):
        keys = set(keys)
        return sorted(row for rows in self.rows.values() for row in rows if row[0] in keys)


@pytest.fixture
def lake(tmp_path):
    lake = Lake(tmp_path)
    random = np.random.default_rng(1)
    for number in range(20):
        lake.write(f"{number:02}.parquet", (random.integers(0, 2**40, 1_500) * 2).tolist())
    return lake


def some_keys(lake, step=400):
    """Keys of every file, and as many that no file has."""
    keys = [id for rows in lake.rows.values() for id, _ in rows[::step]]
    return keys + [key + 1 for key in keys]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("row_groups", [False, True])
def test_an_engine_finds_the_rows_of_an_exact_answer(lake, engine, row_groups):
    index = lake.build(row_groups=row_groups)
    keys = some_keys(lake)
    opened = 0
    for key in keys[::7]:
        opened += len(equibloom.lake.files(index, "id", key))
        assert rows(equibloom.lake.scan(index, "id", key, engine=engine)) == lake.exact([key])
    assert opened < 1.5 * len(keys[::7])
    # Few keys are compared, many are joined with; NumPy, polars and plain lists.
    for few in (keys[:5] + [None], np.array(keys), polars.Series(keys), iter(keys[:200])):
        exact = lake.exact(keys if hasattr(few, "dtype") else keys[: 5 if isinstance(few, list) else 200])
        assert rows(equibloom.lake.scan(index, "id", few, engine=engine)) == exact
    # No file has them.
    assert equibloom.lake.files(index, "id", []) == []
    missing = next(key for key in keys[len(keys) // 2 :] if not equibloom.lake.files(index, "id", key))
    for nothing in ([], [None], missing):
        assert rows(equibloom.lake.scan(index, "id", nothing, engine=engine)) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_names_are_no_patterns(tmp_path, engine):
    lake = Lake(tmp_path)
    names = ["a[1].parquet", "a1.parquet", "b*.parquet", "bc.parquet", "c?.pq", "d é%20#.parquet", "{e}.parquet"]
    for number, name in enumerate(names):
        lake.write(name, [number * 7, number * 7 + 1_000_000, 5])
    index = lake.build()
    for number in range(len(names)):
        assert rows(equibloom.lake.scan(index, "id", number * 7, engine=engine)) == lake.exact([number * 7])
    assert len(lake.exact([5])) == 7
    assert rows(equibloom.lake.scan(index, "id", 5, engine=engine)) == lake.exact([5])


def faults(lake):
    """Every fault: a name, and the index and the options that a user has then."""
    index = lake.build()
    whole = lake.index.read_bytes()
    keys = some_keys(lake)
    yield "none", index, {}
    lake.write("new.parquet", keys[:20])
    yield "a new file", index, {}
    time.sleep(0.03)
    lake.write("03.parquet", keys[5:30])
    yield "a changed file", index, {}
    # Of the same size, and with its old time.
    path = lake.path / "04.parquet"
    old, status = lake.rows["04.parquet"], path.stat()
    lake.write("04.parquet", [id + 1 for id, _ in old])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    yield "a changed file with its old time", index, {}
    lake.remove("05.parquet")
    yield "a removed file", index, {}
    os.rename(lake.path / "06.parquet", lake.path / "renamed.parquet")
    lake.rows["renamed.parquet"] = lake.rows.pop("06.parquet")
    yield "a renamed file", index, {}
    shutil.copy(lake.path / "07.parquet", lake.path / "copy.parquet")
    lake.rows["copy.parquet"] = lake.rows["07.parquet"]
    yield "a copied file", index, {}
    yield "an index asked by its path", lake.index, {}
    yield "a lake that is named", index, {"lake": lake.path}
    part = Index.build(lake.path / "0*.parquet", "id", lake.index.with_suffix(".part-eqx"))
    yield "an index of a part of the lake", part, {"lake": lake.path}
    index = lake.build()
    yield "an index that was built again", index, {}
    lake.write("new2.parquet", keys[30:50])
    index.update()
    yield "an index that was updated", index, {}
    moved = lake.path.with_name("moved")
    lake.path.rename(moved)
    lake.path = moved
    yield "a lake that was moved", index, {"lake": moved}
    yield "a missing index", lake.index.with_name("missing.eqx"), {"lake": moved}
    random = np.random.default_rng(4)
    for number in range(12):
        # Damaged filters, and damaged tables.
        place = int(random.integers(0, len(whole))) if number < 8 else len(whole) - 1 - int(random.integers(0, 1_000))
        damaged = lake.index.with_name(f"damaged{number}.eqx")
        damaged.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        yield "a damaged index", damaged, {"lake": moved}
    for number, length in enumerate((0, 10, len(whole) // 2, len(whole) - 1)):
        damaged = lake.index.with_name(f"torn{number}.eqx")
        damaged.write_bytes(whole[:length])
        yield "a torn index", damaged, {"lake": moved}
    index = Index.build(moved, "id", lake.index)
    lake.write("float.parquet", [0.5])
    lake.rows["float.parquet"] = []
    yield "a file with another type", index, {"only": ["duckdb"]}


def test_no_fault_loses_a_row(lake, capsys):
    """Every engine answers after every fault as an exact search of all rows does."""
    counts, lost = collections.Counter(), 0
    for number, (fault, index, options) in enumerate(faults(lake)):
        keys = some_keys(lake, 300)
        for engine in options.pop("only", ENGINES):
            with warnings.catch_warnings(record=True):
                warnings.simplefilter("always")
                for asked in ([keys[number]], keys):
                    found = rows(equibloom.lake.scan(index, "id", asked, engine=engine, **options))
                    exact = lake.exact(asked)
                    counts[fault] += len(exact)
                    lost += len(set(exact) - set(found))
                    assert found == exact, f"{fault}, {engine}: {len(found)} rows of {len(exact)}, {lost} lost"
    with capsys.disabled():
        total = sum(counts.values())
        print(f"\n{len(counts)} kinds of faults × {len(ENGINES)} engines: {total:,} rows looked up, {lost} lost")
    assert len(counts) == 17 and min(count for fault, count in counts.items() if "type" not in fault) > 50


def test_without_an_index_or_a_lake_an_error_is_raised(lake):
    with pytest.raises(FileNotFoundError):
        equibloom.lake.files(lake.index, "id", 5)
    with pytest.warns(IndexWarning, match="could not be opened"):
        assert len(equibloom.lake.files(lake.index, "id", 5, lake=lake.path)) == 20
    index = lake.build()
    for name in list(lake.rows):
        lake.remove(name)
    assert equibloom.lake.files(index, "id", 5) == []
    with pytest.raises(FileNotFoundError):
        equibloom.lake.scan(index, "id", 5)
    with pytest.raises(ValueError, match="spark"):
        equibloom.lake.scan(index, "id", 5, engine="spark")


MOMENT = datetime.datetime(2024, 5, 1)
# What engines may take as equal, although the bytes of the keys differ: keys, their type, and the column's values and type.
UNLIKE = {
    "a date, of timestamps": (MOMENT.date(), None, MOMENT, pa.timestamp("us")),
    "a timestamp, of dates": (MOMENT, None, MOMENT.date(), pa.date32()),
    "microseconds, of timestamps": (1_714_521_600_000_000, None, MOMENT, pa.timestamp("us")),
    "days, of dates": (19_844, None, MOMENT.date(), pa.date32()),
    "a time zone, of timestamps without": (MOMENT.replace(tzinfo=datetime.timezone.utc), None, MOMENT, pa.timestamp("us")),
    "text, of integers": ("5", None, 5, pa.int64()),
    "integers, of text": (5, None, "5", pa.string()),
    "a float, of integers": (5.0, None, 5, pa.int64()),
    "an integer, of floats": (5, None, 5.0, pa.float64()),
    "a decimal, of integers": (decimal.Decimal(5), None, 5, pa.int64()),
    "a boolean, of integers": (True, None, 1, pa.int64()),
    "an integer, of booleans": (1, None, True, pa.bool_()),
    "text, of UUIDs": (str(uuid.UUID(int=5)), None, uuid.UUID(int=5).bytes, pa.uuid()),
    "text, of bytes": ("abc", None, b"abc", pa.binary()),
}


@pytest.mark.parametrize("what", UNLIKE)
def test_keys_of_another_type_lead_to_all_files(what, tmp_path):
    key, type, value, column_type = UNLIKE[what]
    lake = Lake(tmp_path)
    for number in range(3):
        values = [value] if number == 1 else [None]
        pq.write_table(pa.table({"id": pa.array(values, column_type)}), lake.path / f"{number}.parquet")
    index = lake.build()
    with pytest.warns(IndexWarning, match="keys of type"):
        assert len(equibloom.lake.files(index, "id", key)) == 3


LIKE = {
    "narrow integers": (pa.array([5], pa.int8()), 5, pa.int64()),
    "wide integers": ([2**63 + 5], 2**63 + 5, pa.uint64()),
    "text": (["ü"], "ü", pa.large_string()),
    "dictionaries": (pa.array(["ü"]).dictionary_encode(), "ü", pa.dictionary(pa.int32(), pa.string())),
    "bytes": ([b"abc"], b"abc", pa.binary(3)),
    "UUIDs": (uuid.UUID(int=5), uuid.UUID(int=5).bytes, pa.uuid()),
    "dates": (MOMENT.date(), MOMENT.date(), pa.date32()),
    "timestamps": (np.array(["2024-05-01"], "M8[ns]"), MOMENT, pa.timestamp("ms")),
    "time zones": (MOMENT.replace(tzinfo=datetime.timezone.utc), MOMENT, pa.timestamp("us", "Europe/Vienna")),
    "booleans": (True, True, pa.bool_()),
}


@pytest.mark.parametrize("what", LIKE)
def test_keys_of_the_same_type_lead_to_their_file(what, tmp_path, recwarn):
    keys, value, column_type = LIKE[what]
    lake = Lake(tmp_path)
    for number in range(3):
        values = pa.array([value if number == 1 else None], column_type if "dict" not in what else pa.string())
        pq.write_table(pa.table({"id": values.cast(column_type) if "dict" in what else values}), lake.path / f"{number}.parquet")
    index = lake.build()
    found = equibloom.lake.files(index, "id", keys)
    assert [pathlib.Path(file).name for file in found] == ["1.parquet"]
    assert not [warning for warning in recwarn if warning.category is IndexWarning]


def test_unknown_columns_lead_to_all_files(lake):
    index = lake.build()
    with pytest.warns(IndexWarning, match="no file has"):
        assert len(equibloom.lake.files(index, "nothing", 5)) == 20
    # In the files, but not in the index.
    assert len(equibloom.lake.files(index, "row", "00.parquet:3")) == 20
    assert len(rows(equibloom.lake.scan(index, "row", "00.parquet:3"))) == 1


def test_the_examples_are_right():
    result = doctest.testmod(equibloom.lake)
    assert result.attempted > 5 and not result.failed
