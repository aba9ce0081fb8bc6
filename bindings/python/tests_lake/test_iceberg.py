"""Scans of Iceberg tables with an index, compared with scans without, through everything that happens to a table."""

import collections
import datetime
import doctest
import uuid
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import And, EqualTo, GreaterThan, In, Not, NotEqualTo, NotIn, Or, StartsWith
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.table import FileScanTask
from pyiceberg.types import LongType

import equibloom.iceberg as iceberg
from equibloom.lake import IndexWarning


@pytest.fixture
def catalog(tmp_path):
    catalog = SqlCatalog("tests", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse")
    catalog.create_namespace("shop")
    yield catalog
    catalog.close()


def some_rows(seed, count=300):
    ids = np.random.default_rng(seed).integers(0, 2**40, count) * 2
    return pa.table({"id": ids, "name": [f"{seed}:{row % 50}" for row in range(count)]})


@pytest.fixture
def table(catalog):
    table = catalog.create_table("shop.orders", some_rows(0).schema)
    for seed in range(6):
        table.append(some_rows(seed))
    return table


def found(scan):
    return sorted(map(tuple, (row.values() for row in scan.to_arrow().to_pylist())), key=repr)


def ids(table, step=40, column="id"):
    return table.scan(selected_fields=(column,)).to_arrow()[column].drop_null().to_pylist()[::step]


def tasks(scan):
    return len(list(scan.plan_files()))


def test_a_scan_reads_the_files_of_its_keys(table):
    index = iceberg.build(table, ["id", "name"])
    assert len(index) == 6 and index.snapshot_id == table.current_snapshot().snapshot_id and index.reason is None
    read = 0
    for id in ids(table):
        scan = table.scan(EqualTo("id", id))
        pruned = iceberg.prune(scan, index)
        assert found(pruned) == found(scan) and pruned.count() == scan.count() == 1
        read += tasks(pruned)
    assert read < 1.5 * len(ids(table))
    misses = [id + 1 for id in ids(table, 5)]
    assert sum(tasks(iceberg.prune(table.scan(EqualTo("id", id)), index)) for id in misses) < 0.3 * len(misses)
    # The table's own index; one scan does not change another.
    scan = table.scan(f"id = {ids(table)[0]}")
    assert tasks(iceberg.prune(scan)) < 6 and tasks(scan) >= tasks(iceberg.prune(scan))
    assert found(iceberg.prune(table.scan("name = '3:7'"))) == found(table.scan("name = '3:7'"))


def test_filters_are_pruned_by_what_they_say(table):
    index = iceberg.build(table, ["id", "name"])
    one, two = (table.scan(f"name = '{name}'").to_arrow()["id"][0].as_py() for name in ("1:7", "4:7"))
    for filter, most in (
        (In("id", [one, two]), 3),
        (Or(EqualTo("id", one), EqualTo("name", "4:7")), 3),
        (And(EqualTo("id", one), EqualTo("name", "1:7")), 1),
        (And(EqualTo("id", one), EqualTo("name", "4:7")), 1),
        (And(EqualTo("id", one), GreaterThan("id", 0)), 2),
        (Not(NotEqualTo("id", one)), 2),
        (Not(NotIn("id", [one, two])), 3),
        # These say nothing about keys.
        (Or(EqualTo("id", one), GreaterThan("id", 2**39)), 6),
        (NotEqualTo("id", one), 6),
        (StartsWith("name", "1:"), 6),
        (GreaterThan("id", 2**39), 6),
        (Not(EqualTo("id", one)), 6),
    ):
        scan = table.scan(filter)
        pruned = iceberg.prune(scan, index)
        assert found(pruned) == found(scan), filter
        assert tasks(pruned) <= most, filter


def changes(catalog, table):
    """What happens to a table: a name, and the table then."""
    yield "none", table
    table.append(some_rows(10))
    yield "an append", table
    iceberg.update(table)
    yield "an append, updated", table
    gone = ids(table, 7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table.delete(In("id", gone[:100]))
    yield "deletes, by writing files anew", table
    iceberg.update(table)
    yield "deletes, updated", table
    table.overwrite(some_rows(11))
    yield "an overwrite", table
    iceberg.update(table)
    yield "an overwrite, updated", table
    for seed in range(20, 25):
        table.append(some_rows(seed, 100))
    iceberg.update(table)
    table.overwrite(table.scan().to_arrow())
    yield "a compaction", table
    iceberg.update(table)
    yield "a compaction, updated", table
    with table.update_schema() as schema:
        schema.rename_column("id", "number")
    with table.update_schema() as schema:
        schema.add_column("id", LongType())
    rows = some_rows(30)
    table.append(pa.table({"number": rows["id"], "name": rows["name"], "id": rows["id"]}))
    yield "another column of the old name", table
    iceberg.update(table)
    yield "another column of the old name, updated", table
    with table.update_schema() as schema:
        schema.delete_column("id")
    with table.update_schema() as schema:
        schema.rename_column("number", "id")
    yield "a column that is renamed back", table


def test_no_change_of_a_table_loses_a_row(catalog, table, capsys):
    iceberg.build(table, "id")
    counts, lost = collections.Counter(), 0
    for change, table in changes(catalog, table):
        index = iceberg.open(table)
        assert index.reason is None
        for column in {"id", "number"} & set(table.schema().column_names):
            for id in ids(table, 45, column):
                scan = table.scan(EqualTo(column, id))
                exact, pruned = found(scan), found(iceberg.prune(scan, index))
                counts[change] += len(exact)
                lost += len(set(exact) - set(pruned))
                assert pruned == exact, f"{change}: {column} = {id}"
    with capsys.disabled():
        print(f"\n{len(counts)} changes of a table: {sum(counts.values()):,} rows looked up, {lost} lost")
    assert len(counts) == 12 and min(counts.values()) > 5


def test_an_update_reads_only_new_files(table, monkeypatch):
    iceberg.build(table, "id")
    read = []
    monkeypatch.setattr(iceberg, "_read", lambda table, file, fields, real=iceberg._read: read.append(file) or real(table, file, fields))
    iceberg.update(table)
    assert not read
    table.append(some_rows(7))
    index = iceberg.update(table)
    assert len(read) == 1 and len(index) == 7 and index.snapshot_id == table.current_snapshot().snapshot_id
    table.overwrite(some_rows(8))
    assert len(iceberg.update(table)) == 1 and len(read) == 2
    # In an older snapshot the files are unknown, and read.
    past = table.history()[2].snapshot_id
    for id in ids(table)[:3] + [int(some_rows(1)["id"][0].as_py())]:
        scan = table.scan(EqualTo("id", id), snapshot_id=past)
        assert found(iceberg.prune(scan)) == found(scan)
    assert len(found(iceberg.prune(table.scan(EqualTo("id", some_rows(1)["id"][0].as_py()), snapshot_id=past)))) == 1


def test_deleted_rows_are_left_to_the_scan(table, tmp_path):
    """pyiceberg writes no delete files: one is put into the plan as if another engine had written it."""
    index = iceberg.build(table, "id")
    task = list(table.scan().plan_files())[2]
    deleted, kept = (table.scan().to_arrow()["id"].to_pylist()[600 + row] for row in (0, 1))
    path = f"{tmp_path}/deletes.parquet"
    pq.write_table(pa.table({"file_path": [task.file.file_path], "pos": [0]}), path)
    deletes = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES, file_path=f"file://{path}", file_format=FileFormat.PARQUET
    )
    for id, rows in ((deleted, 0), (kept, 1)):
        scan = table.scan(EqualTo("id", id))
        assert len(found(scan)) == 1
        plan = scan.plan_files()
        mine = [FileScanTask(one.file, {deletes} if one.file.file_path == task.file.file_path else None) for one in plan]
        scan.plan_files = lambda: mine
        pruned = iceberg.prune(scan, index)
        # The index knows all rows of a file, and its task keeps its deletes.
        assert [one.delete_files for one in pruned.plan_files() if one.file == task.file] == [{deletes}]
        assert len(found(pruned)) == len(found(scan)) == rows


def damage(catalog, table, path):
    whole = path.read_bytes()
    path.unlink()
    yield "missing"
    random = np.random.default_rng(1)
    for _ in range(10):
        place = int(random.integers(0, len(whole)))
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        yield "damaged"
    for length in (0, 30, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        yield "torn"
    other = catalog.create_table("shop.other", table.schema())
    other.append(some_rows(50))
    iceberg.build(other, "id")
    path.write_bytes(table.io.new_input(f"{other.location()}/metadata/equibloom.eqx").open().read())
    yield "of another table"


def test_a_missing_or_damaged_index_loses_no_row(catalog, table, capsys):
    import pathlib

    iceberg.build(table, "id")
    path = pathlib.Path(table.location().removeprefix("file://")) / "metadata" / "equibloom.eqx"
    counts, lost = collections.Counter(), 0
    for fault in damage(catalog, table, path):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for id in ids(table, 150):
                scan = table.scan(EqualTo("id", id))
                exact, pruned = found(scan), found(iceberg.prune(scan))
                counts[fault] += len(exact)
                lost += len(set(exact) - set(pruned))
                assert pruned == exact, fault
            if fault != "damaged":
                assert {warning.category for warning in told} == {IndexWarning}, fault
    with capsys.disabled():
        print(f"\n{len(counts)} faults of an index: {sum(counts.values())} rows looked up, {lost} lost")
    assert len(counts) == 4
    with pytest.raises(ValueError, match="build it"):
        iceberg.update(table)
    assert "none" in repr(iceberg.open(table))
    # An index of another table that is given.
    other = iceberg.build(catalog.load_table("shop.other"), "id")
    with pytest.warns(IndexWarning, match="another table"):
        assert tasks(iceberg.prune(table.scan(EqualTo("id", ids(table)[0])), other)) == tasks(
            table.scan(EqualTo("id", ids(table)[0]))
        )


def test_an_error_of_the_index_prunes_nothing(table, monkeypatch):
    index = iceberg.build(table, "id")

    def fail(*arguments):
        raise RuntimeError("no reason")

    monkeypatch.setattr(iceberg, "_ask", fail)
    scan = table.scan(EqualTo("id", ids(table)[0]))
    with pytest.warns(IndexWarning, match="no reason"):
        assert found(iceberg.prune(scan, index)) == found(scan)


MOMENT = datetime.datetime(2024, 5, 1, 12, 0, 0, 1)
KINDS = {
    "int": (pa.int32(), [-5, 7], -5),
    "long": (pa.int64(), [-5, 2**62], 2**62),
    "string": (pa.string(), ["", "ü" * 200], "ü" * 200),
    "binary": (pa.binary(), [b"", b"\0\xff"], b"\0\xff"),
    "fixed": (pa.binary(3), [b"abc"], b"abc"),
    "uuid": (pa.uuid(), [uuid.UUID(int=5).bytes], uuid.UUID(int=5)),
    "boolean": (pa.bool_(), [True], True),
    "date": (pa.date32(), [datetime.date(1969, 1, 2)], "1969-01-02"),
    "timestamp": (pa.timestamp("us"), [MOMENT], MOMENT.isoformat()),
    "timestamptz": (pa.timestamp("us", "UTC"), [MOMENT], MOMENT.isoformat() + "+00:00"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_every_kind_are_indexed(kind, catalog):
    type, values, key = KINDS[kind]
    rows = pa.table({"id": pa.array([*values, None], type), "row": range(len(values) + 1)})
    table = catalog.create_table("shop.kinds", rows.schema)
    table.append(rows)
    table.append(pa.table({"id": pa.nulls(9, type), "row": range(9)}))
    index = iceberg.build(table, ["id"])
    scan = table.scan(EqualTo("id", key))
    kept = [task.file.file_path for task in iceberg.prune(scan, index).plan_files()]
    assert kept == [task.file.file_path for task in table.scan().plan_files() if task.file.record_count == len(rows)]
    # Arrow compares no UUIDs.
    if kind != "uuid":
        assert len(found(scan)) == 1 and found(iceberg.prune(scan, index)) == found(scan)
    assert not index.index.unknown(index.index.columns[0])
    assert index.index.info()["columns"][index.index.columns[0]]["empty"] == 1


def test_promoted_columns_are_found(catalog):
    rows = pa.table({"id": pa.array([-5, 7], pa.int32())})
    table = catalog.create_table("shop.promoted", rows.schema)
    table.append(rows)
    iceberg.build(table, "id")
    with table.update_schema() as schema:
        schema.update_column("id", LongType())
    table.append(pa.table({"id": [2**40]}))
    for round in range(2):
        for id in (-5, 7, 2**40):
            scan = table.scan(EqualTo("id", id))
            assert len(found(scan)) == 1 and found(iceberg.prune(scan)) == found(scan)
        assert len(iceberg.update(table)) == 2
    # Literals beyond the type of the column.
    assert found(iceberg.prune(table.scan(EqualTo("id", 2**70)))) == []


@pytest.mark.parametrize("type", [pa.float64(), pa.decimal128(9, 2), pa.list_(pa.int64()), pa.time64("us")])
def test_columns_without_keys_are_refused(type, catalog):
    table = catalog.create_table("shop.refused", pa.schema([("id", type)]))
    with pytest.raises(ValueError, match="cannot have keys"):
        iceberg.build(table, ["id"])
    with pytest.raises(ValueError):
        iceberg.build(table, ["nothing"])


def test_an_empty_table_has_an_index(catalog):
    table = catalog.create_table("shop.empty", some_rows(0).schema)
    assert len(iceberg.build(table, "id")) == 0
    assert found(iceberg.prune(table.scan("id = 5"))) == []
    table.append(some_rows(0))
    id = ids(table)[0]
    assert len(found(iceberg.prune(table.scan(EqualTo("id", id))))) == 1


def test_the_examples_are_right():
    result = doctest.testmod(iceberg)
    assert result.attempted > 5 and not result.failed
