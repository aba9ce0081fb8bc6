"""Indexes of Parquet files, compared with what was written to them."""

import datetime
import ipaddress
import os
import pathlib
import subprocess
import sys
import textwrap
import time
import uuid

import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from equibloom import Index, IndexDraft, IndexFileError, KeyTypeError, KeyValueError


def names(files):
    return [pathlib.Path(file).stem for file in files]


def write(path, **columns):
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), path, row_group_size=100)


@pytest.fixture
def lake(tmp_path):
    """Ten files of 200 even numbers, within one range."""
    random = np.random.default_rng(1)
    for number in range(10):
        write(tmp_path / "lake" / f"{number}.parquet", id=random.integers(0, 2**40, 200) * 2)
    return tmp_path / "lake"


def ids(lake, number):
    return pq.read_table(lake / f"{number}.parquet")["id"]


def test_every_key_leads_to_its_file_and_a_missing_one_hardly_anywhere(lake, tmp_path):
    index = Index.build(lake, "id", tmp_path / "x.eqx")
    assert index.report == {"files": 10, "read": 10, "kept": 0, "resumed": 0, "removed": 0, "skipped": []}
    for number in range(10):
        column = ids(lake, number)
        path = str(lake / f"{number}.parquet")
        one_by_one = [index.find("id", key) for key in column.to_pylist()]
        assert all(path in files for files in one_by_one)
        # The same for all kinds of columns.
        for keys in (column, column.to_numpy(), column.to_pylist(), polars.Series(column), iter(column.to_pylist())):
            assert index.find("id", keys) == one_by_one
        assert path in index.find_any("id", column)
    misses = np.random.default_rng(2).integers(0, 2**40, 20_000) * 2 + 1
    opened = sum(len(files) for files in index.find("id", misses))
    # Four standard deviations of a Poisson variable.
    assert 0.02 * 20_000 < opened < 0.1 * 20_000 + 4 * (0.1 * 20_000) ** 0.5
    info = index.info()
    assert info["files"] == len(index) == 10 and info["columns"]["id"]["filters"] == 10
    assert info["columns"]["id"]["keys"] == 2_000 and info["columns"]["id"]["kind"] == "integers"
    assert "10 files, id: 2,000 keys in" in repr(index)


def test_row_groups_are_told(lake, tmp_path):
    index = Index.build([lake], ["id"], tmp_path / "x.eqx", row_groups=True)
    column = ids(lake, 3).to_pylist()
    path = str(lake / "3.parquet")
    assert (path, 0) in index.find("id", column[5]) and (path, 1) in index.find("id", column[150])
    assert {(path, 0), (path, 1)} <= set(index.find_any("id", column))
    write(lake / "new.parquet", id=[1])
    assert index.find("id", 1)[-1] == (str(lake / "new.parquet"), None)


KINDS = {
    "integer": ([-5, 2**40, -(2**63)], [-5, np.int64(-5), np.int8(-5)]),
    "unsigned": (pa.array([2**64 - 1, 7], pa.uint64()), [2**64 - 1, np.uint64(2**64 - 1)]),
    "text": (["", "ü", "long " * 30], ["ü", "ü".encode()]),
    "bytes": (pa.array([b"\0\xff", b"abc"]), [b"\0\xff", bytearray(b"\0\xff"), memoryview(b"\0\xff")]),
    "boolean": ([True], [True, np.True_]),
    "date": ([datetime.date(1969, 5, 1), datetime.date(2024, 1, 1)], [datetime.date(1969, 5, 1), np.datetime64("1969-05-01")]),
    "timestamp": (
        pa.array([datetime.datetime(2024, 1, 1, 12)], pa.timestamp("ms")),
        [datetime.datetime(2024, 1, 1, 12), np.datetime64("2024-01-01T12", "us")],
    ),
    "uuid": (pa.array([uuid.UUID(int=5).bytes], pa.binary(16)), [uuid.UUID(int=5)]),
    "address": (pa.array([ipaddress.ip_address("10.0.0.1").packed]), [ipaddress.ip_address("10.0.0.1")]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_keys_of_every_kind_are_found(kind, tmp_path):
    values, keys = KINDS[kind]
    column = values if isinstance(values, pa.Array) else pa.array(values)
    write(tmp_path / "lake" / "a.parquet", key=column)
    write(tmp_path / "lake" / "b.parquet", key=pa.nulls(2, column.type))
    index = Index.build(tmp_path / "lake", "key", tmp_path / "x.eqx")
    for key in keys:
        assert names(index.find("key", key)) == ["a"], repr(key)
    assert [names(files) for files in index.find("key", column)] == [["a"]] * len(values)
    # Through every layout that Arrow has for them, and NumPy.
    for library in (polars.Series(column), column.to_numpy(zero_copy_only=False)):
        assert [names(files) for files in index.find("key", library)] == [["a"]] * len(values)
    if kind == "text":
        for other in (column.cast(pa.large_string()), column.cast(pa.string_view()), column.to_numpy(False).astype("U")):
            assert [names(files) for files in index.find("key", other)] == [["a"]] * len(values)


def test_nulls_lead_nowhere(lake, tmp_path):
    index = Index.build(lake, "id", tmp_path / "x.eqx")
    write(lake / "new.parquet", id=[1])
    key = ids(lake, 0)[0].as_py()
    for keys in ([None, key], pa.array([None, key]), np.array([None, key], object), polars.Series([None, key])):
        nothing, found = index.find("id", keys)
        assert nothing == [] and "0" in names(found) and "new" in names(found)
    assert index.find_any("id", [None]) == [] and index.find("id", []) == []


def test_new_changed_and_removed_files(lake, tmp_path):
    index = Index.build(lake, "id", tmp_path / "x.eqx")
    key = ids(lake, 4)[0].as_py()
    time.sleep(0.03)
    write(lake / "3.parquet", id=[key])
    write(lake / "new.parquet", id=[key])
    assert set(names(index.find("id", key))) >= {"3", "4", "new"}
    # Among the files of another lake, too.
    assert set(names(index.find("id", key, lake=[lake / "3.parquet", lake / "4.parquet"]))) == {"3", "4"}
    os.remove(lake / "4.parquet")
    assert "4" not in names(index.find("id", key)) and "4" in names(index.find("id", key, check=False))
    counts = []
    report = index.update(threads=2, progress=lambda *pair: counts.append(pair))
    assert (report["read"], report["kept"], report["removed"]) == (2, 8, 1) and index.report == report
    assert counts[-1] == (2, 2)
    assert names(index.find("id", key)) == ["3", "new"] and len(Index.open(index.path)) == 10
    with pytest.raises(ZeroDivisionError):
        index.update(progress=lambda *pair: 1 / 0)


def test_unknown_columns_and_other_kinds_of_keys_lead_everywhere(lake, tmp_path):
    write(lake / "a.parquet", other=[1.5])
    write(lake / "b.parquet", id=[1.5])
    index = Index.build(lake, "id", tmp_path / "x.eqx")
    assert len(index.find("nothing", 5)) == 12 and len(index.find("id", "text")) == 12
    assert [name for name in names(index.find("id", 5)) if name in "ab"] == ["a", "b"]
    assert [(pathlib.Path(file).stem, "column" in reason) for file, reason in index.unknown("id")] == [("a", True), ("b", True)]


@pytest.mark.parametrize(
    "key, error",
    [(1.5, KeyTypeError), (None, KeyTypeError), ((1, 2), KeyTypeError), (2**64, KeyValueError), (np.float64(1), KeyTypeError)],
)
def test_what_is_no_key_is_refused(key, error, lake, tmp_path):
    index = Index.build(lake, "id", tmp_path / "x.eqx")
    with pytest.raises(error):
        index.find("id", key)
    if key is not None:
        with pytest.raises(error):
            index.find("id", [key])
    with pytest.raises(KeyTypeError, match="decode"):
        index.find("id", pa.array(["a"]).dictionary_encode())


def test_damage_is_found_and_harmless(lake, tmp_path):
    path = tmp_path / "x.eqx"
    Index.build(lake, "id", path)
    assert Index.open(path).verify() == []
    whole = path.read_bytes()
    size, random = len(whole), np.random.default_rng(3)
    damaged = unreadable = 0
    for place in random.integers(0, size, 200).tolist():
        # A new file, since the old one may be mapped.
        broken = tmp_path / "broken.eqx"
        broken.unlink(missing_ok=True)
        broken.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            index = Index.open(broken)
        except IndexFileError:
            unreadable += 1
            continue
        damaged += len(index.verify()) > 0
        for number in range(10):
            keys = ids(lake, number)
            assert all(str(lake / f"{number}.parquet") in files for files in index.find("id", keys))
    assert damaged > 10 and unreadable > 10
    for bytes_ in (b"", whole[:50], whole[:-1], b"PAR1" + whole[4:]):
        with pytest.raises(IndexFileError):
            Index.from_bytes(bytes_)
    assert Index.from_bytes(whole).files == Index.open(path).files


def test_errors_name_what_is_wrong(lake, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        Index.open(tmp_path / "nothing.eqx")
    assert caught.value.filename == str(tmp_path / "nothing.eqx")
    with pytest.raises(IndexFileError, match="not an index"):
        Index.open(lake / "0.parquet")
    for arguments, text in (
        ((tmp_path / "nothing", "id"), "no Parquet file"),
        ((lake, []), "no column"),
        ((lake, ["id", "id"]), "twice"),
        ((lake, "id", tmp_path / "x.eqx", 0), "0 files"),
    ):
        with pytest.raises(ValueError, match=text):
            Index.build(*arguments[:2], *(arguments[2:] or [tmp_path / "x.eqx"]))
    with pytest.raises(TypeError):
        Index.build(lake, 5, tmp_path / "x.eqx")
    with pytest.raises(ValueError, match="threads is 0"):
        Index.build(lake, "id", tmp_path / "x.eqx", threads=0)
    with pytest.raises(OSError):
        Index.build(lake, "id", tmp_path / "no" / "directory" / "x.eqx")


def test_drafts_are_indexes_of_other_programs_files(tmp_path):
    draft = IndexDraft(["id", "name"], roots=["table:5"])
    columns = [pa.array([1, -2, None]), pa.array(["a", "b", "c"])]
    assert draft.rate("id", [(1, 2), (1, 2)]) == 0.05
    draft.add("a", 10, columns, [0.001, 0.001])
    draft.add("b", 20, [pa.chunked_array([[7], [9]]), pa.array(["a", None])], [0.001, 0.001])
    draft.add_unknown("c", 30, "because")
    with pytest.raises(ValueError, match="twice"):
        draft.add("a", 10, columns, [0.1, 0.1])
    for arguments in (("d", 1, columns[:1], [0.1]), ("d", 1, columns, [0.1]), ("d", 1, columns, [0, 2])):
        with pytest.raises(ValueError):
            draft.add(*arguments)
    with pytest.raises(KeyTypeError):
        draft.add("d", 1, [[1], ["a"]], [0.1, 0.1])
    with pytest.raises(KeyTypeError):
        draft.add("d", 1, [pa.array([1.5]), pa.array(["a"])], [0.1, 0.1])
    draft.save(tmp_path / "x.eqx")
    index = Index.open(tmp_path / "x.eqx")
    assert index.files == {"a": 10, "b": 20, "c": 30} and index.roots == ["table:5"]
    assert index.find("id", [-2, 7, None], check=False) == [["a", "c"], ["b", "c"], []]
    assert index.find("name", "a", check=False) == ["a", "b", "c"]
    # There is no directory to compare with: it would find nothing there.
    for call in (lambda: index.find("id", 7), lambda: index.find_any("id", [7]), index.update):
        with pytest.raises(ValueError, match="without a check"):
            call()
    later = IndexDraft(["id", "name"])
    assert later.keep(index, "a", 10) and not later.keep(index, "b", 21) and not later.keep(index, "d", 1)
    assert Index.from_bytes(later.to_bytes()).find("id", -2, check=False) == ["a"]
    with pytest.raises(ValueError, match="settings|columns|another index"):
        IndexDraft("id").keep(index, "a", 10)


def test_ctrl_c_ends_a_build_which_goes_on_later(tmp_path):
    """In a process of its own, which a signal reaches between two looks at what has been done."""
    (tmp_path / "lake").mkdir()
    for number in range(2):
        pq.write_table(pa.table({"id": np.arange(3_000_000) * 7 + number}), tmp_path / "lake" / f"{number}.parquet")
    program = f"""
        import os, signal
        from equibloom import Index

        arguments = {str(tmp_path / "lake")!r}, "id", {str(tmp_path / "x.eqx")!r}
        try:
            Index.build(*arguments, threads=1, progress=lambda done, files: os.kill(os.getpid(), signal.SIGINT))
        except KeyboardInterrupt:
            print("interrupted")
    """
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120)
    assert result.stdout == "interrupted\n", result.stdout + result.stderr
    assert not (tmp_path / "x.eqx").exists() and (tmp_path / "x.eqx.part").exists()
    index = Index.build(tmp_path / "lake", "id", tmp_path / "x.eqx")
    assert index.report["read"] + index.report["resumed"] == 2 and not (tmp_path / "x.eqx.part").exists()


def test_a_series_of_pandas_is_a_column(lake, tmp_path):
    import pandas

    index = Index.build(lake, "id", tmp_path / "x.eqx")
    keys = ids(lake, 2).to_pylist()
    wanted = index.find("id", keys)
    for series in (pandas.Series(keys), pandas.Series(keys, dtype="Int64"), pandas.Index(keys)):
        assert index.find("id", series) == wanted
    assert index.find("id", pandas.Series([None, keys[0]], dtype="Int64")) == [[], wanted[0]]
    with pytest.raises(KeyTypeError, match="decode"):
        index.find("id", pandas.Series(["a"], dtype="category"))
