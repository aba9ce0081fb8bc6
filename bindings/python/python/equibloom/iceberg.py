"""Tables of Apache Iceberg, by pyiceberg: a scan reads only the data files that may hold the keys of its filter.

>>> import tempfile, pyarrow
>>> from pyiceberg.catalog.sql import SqlCatalog
>>> import equibloom.iceberg
>>> warehouse = tempfile.mkdtemp()
>>> catalog = SqlCatalog("example", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=f"file://{warehouse}")
>>> catalog.create_namespace("shop")
>>> orders = catalog.create_table("shop.orders", pyarrow.schema([("id", pyarrow.int64()), ("name", pyarrow.string())]))
>>> for first in range(3):
...     ids = list(range(first, 10_000, 3))
...     orders.append(pyarrow.table({"id": ids, "name": [f"order {id}" for id in ids]}))
>>> equibloom.iceberg.build(orders, ["id"])
<equibloom.iceberg.TableIndex of 3 files>
>>> scan = equibloom.iceberg.prune(orders.scan("id = 298"))
>>> len(list(scan.plan_files())), scan.to_arrow().to_pylist()
(1, [{'id': 298, 'name': 'order 298'}])

The index is a file beside the table's metadata. It knows data files, which never change, by path and size, and columns by their
Iceberg ids: renamed columns stay indexed, a column that is dropped and added again is another one. `update` reads what
appends and compactions have added and drops what they have removed. Deleted rows are left to the scan, which reads their delete files.

No row is lost: a data file that the index does not know is read, and if the index is missing, damaged or of another table, all are.
"""

from __future__ import annotations

import copy
import warnings

from pyiceberg.conversions import from_bytes
from pyiceberg.expressions import (
    AlwaysTrue,
    And,
    BoundEqualTo,
    BoundIn,
    BoundReference,
    Or,
)
from pyiceberg.expressions.visitors import bind, rewrite_not
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.schema import Schema
from pyiceberg.table import FileScanTask
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    FixedType,
    IntegerType,
    LongType,
    StringType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    UUIDType,
)

from . import Index, IndexDraft
from .lake import IndexWarning

__all__ = ["TableIndex", "build", "open", "prune", "update"]

# What the keys of a type are, and how many of the index's units one of Iceberg's has. A column may change its type only
# within one kind without its keys changing.
_KINDS = {
    IntegerType: ("integer", 1),
    LongType: ("integer", 1),
    BooleanType: ("boolean", 1),
    DateType: ("date", 1),
    TimestampType: ("timestamp", 1_000),
    TimestampNanoType: ("timestamp", 1),
    TimestamptzType: ("timestamptz", 1_000),
    TimestamptzNanoType: ("timestamptz", 1),
    StringType: ("text", None),
    BinaryType: ("bytes", None),
    FixedType: ("bytes", None),
    UUIDType: ("uuid", None),
}


class TableIndex:
    """The index of a table, or the reason why there is none."""

    def __init__(self, index: Index | None, reason: str | None = None):
        self._index = index
        self._files = index.files if index else {}
        #: Why the index cannot be asked; None if it can.
        self.reason = reason

    @property
    def index(self) -> Index | None:
        """The index itself: its files are the paths of data files, its columns Iceberg's ids with the kind of the keys."""
        return self._index

    @property
    def snapshot_id(self) -> int | None:
        """The snapshot whose files are indexed."""
        return int(self._index.roots[1].split(":")[1]) if self._index else None

    def __len__(self) -> int:
        return len(self._files)

    def __repr__(self) -> str:
        if self._index is None:
            return f"<equibloom.iceberg.TableIndex, none: {self.reason}>"
        return f"<equibloom.iceberg.TableIndex of {len(self)} files>"

    def _reads(self, task: FileScanTask, found: set[str]) -> bool:
        """Whether a task has to be read, if the index has found these files."""
        path = task.file.file_path
        return path in found or self._files.get(path) != task.file.file_size_in_bytes


def _place(metadata, path):
    return path or f"{metadata.location}/metadata/equibloom.eqx"


def _label(field) -> str | None:
    kind = _KINDS.get(type(field.field_type))
    return kind and f"{field.field_id}:{kind[0]}"


def _owner(metadata) -> str:
    return f"iceberg:{metadata.table_uuid}"


def open(table, *, path: str | None = None) -> TableIndex:
    """Opens the index of a table, or of the table of a scan. It never raises: without an index, scans read all files.

    ``path`` is where the index is, if not beside the table's metadata.
    """
    metadata = table.table_metadata if hasattr(table, "table_metadata") else table.metadata
    try:
        with table.io.new_input(_place(metadata, path)).open() as file:
            index = Index.from_bytes(file.read())
        owner = index.roots[:1]
    except Exception as error:  # Whatever a store raises, nothing may be pruned.
        return TableIndex(None, f"{type(error).__name__}: {error}")
    if owner != [_owner(metadata)]:
        return TableIndex(None, f"it is the index of {owner}, and the table is {_owner(metadata)}: build it again")
    return TableIndex(index)


def build(table, columns: list[str], *, false_files: float = 0.1, seed: int = 0, path: str | None = None) -> TableIndex:
    """Builds the index of the data files of a table's current snapshot.

    Parameters
    ----------
    columns : list of str
        Columns of the top level, of integers, text, bytes, UUIDs, dates, timestamps or booleans.
    false_files : float
        How many files a query for a missing key may open in vain, on average. The bits per key follow.
    """
    names = [columns] if isinstance(columns, str) else list(columns)
    fields = [table.schema().find_field(name) for name in names]
    top = {field.field_id for field in table.schema().fields}
    for name, field in zip(names, fields):
        if field.field_id not in top or _label(field) is None:
            raise ValueError(
                f"the column {name!r} is a {field.field_type} and cannot have keys: give one of the top level, of integers, "
                "text, bytes, UUIDs, dates, timestamps or booleans"
            )
    return _write(table, [_label(field) for field in fields], None, false_files, seed, path)


def update(table, *, path: str | None = None) -> TableIndex:
    """Brings the index of a table to its current snapshot: reads data files that are new, and drops those that are gone.

    Raises ValueError if there is no index, or none that can be read: build it then.
    """
    old = open(table, path=path)
    if old.index is None:
        raise ValueError(f"the index cannot be updated: {old.reason}; build it")
    info = old.index.info()
    return _write(table, old.index.columns, old.index, info["asked_false_files"], info["seed"], path)


def _write(table, labels, old, false_files, seed, path):
    snapshot = table.current_snapshot()
    roots = [_owner(table.metadata), f"snapshot:{snapshot.snapshot_id if snapshot else -1}"]
    draft = IndexDraft(labels, false_files=false_files, seed=seed, roots=roots)
    by_label = {_label(field): field for field in table.schema().fields}
    fields = [by_label.get(label) for label in labels]
    # A file is there once, however many tasks read it.
    files = {task.file.file_path: task.file for task in table.scan().plan_files()}
    new = [
        file
        for file in files.values()
        if old is None or not draft.keep(old, file.file_path, file.file_size_in_bytes)
    ]
    rates = [draft.rate(label, [_bounds(file, field) for file in new]) for label, field in zip(labels, fields)]
    for file in new:
        try:
            keys = _read(table, file, fields)
            draft.add(file.file_path, file.file_size_in_bytes, keys, rates)
        except Exception as error:  # A file that cannot be indexed is read for every key.
            draft.add_unknown(file.file_path, file.file_size_in_bytes, f"{type(error).__name__}: {error}")
    data = draft.to_bytes()
    with table.io.new_output(_place(table.metadata, path)).create(overwrite=True) as output:
        output.write(data)
    return TableIndex(Index.from_bytes(data))


def _bounds(file, field):
    """The smallest and the largest key by the table's metadata: a hint, for the size of filters."""
    if field is None:
        return None
    bounds = [(bounds or {}).get(field.field_id) for bounds in (file.lower_bounds, file.upper_bounds)]
    if None in bounds:
        return None
    try:
        bounds = [from_bytes(field.field_type, bound) for bound in bounds]
    except (TypeError, ValueError):
        return None
    unit = _KINDS[type(field.field_type)][1]
    return tuple(bound if unit is None else bound * unit for bound in bounds)


def _read(table, file, fields):
    """The columns of a data file as pyiceberg reads them, with ids, defaults and promotions, and with deleted rows."""
    if None in fields:
        raise ValueError("the table does not have all columns of the index: build it again")
    schema = Schema(*(field.model_copy(update={"required": False}) for field in fields))
    rows = ArrowScan(table.metadata, table.io, schema, AlwaysTrue()).to_table([FileScanTask(file)])
    return [rows.column(field.name) for field in fields]


def prune(scan, index: TableIndex | None = None):
    """A scan that reads only data files which may hold rows of its filter, by ``=`` and ``in`` within ``and`` and ``or``.

    It is a scan like the one given: ``plan_files``, ``to_arrow``, ``to_polars``, ``count`` and the rest read fewer files. Without
    an index the table's own is opened, which is faster done once by :func:`open`.
    """
    pruned = copy.copy(scan)
    plan = scan.plan_files

    def plan_files():
        nonlocal index
        if index is None:
            index = open(scan)
        tasks = list(plan())
        found = _found(scan, index)
        return tasks if found is None else [task for task in tasks if index._reads(task, found)]

    # Everything that a scan reads, it asks its own plan for.
    pruned.plan_files = plan_files
    return pruned


def _found(scan, index: TableIndex) -> set[str] | None:
    """The files of the index that may hold rows of the filter; None for all files."""
    reason = index.reason
    if reason is None and index.index.roots[:1] != [_owner(scan.table_metadata)]:
        reason = "it is the index of another table"
    if reason is None:
        try:
            bound = bind(scan.table_metadata.schema(), rewrite_not(scan.row_filter), scan.case_sensitive)
            return _ask(bound, index.index)
        except Exception as error:  # Never prune on error.
            reason = f"{type(error).__name__}: {error}"
    warnings.warn(f"the index cannot be asked: {reason}; all files are read", IndexWarning, stacklevel=4)
    return None


def _ask(expression, index: Index) -> set[str] | None:
    if isinstance(expression, (And, Or)):
        left, right = _ask(expression.left, index), _ask(expression.right, index)
        if isinstance(expression, Or):
            return None if left is None or right is None else left | right
        if left is None or right is None:
            return right if left is None else left
        return left & right
    if not isinstance(expression, (BoundEqualTo, BoundIn)) or not isinstance(expression.term, BoundReference):
        return None
    field = expression.term.ref().field
    label = _label(field)
    if label not in index.columns:
        return None
    literals = expression.literals if isinstance(expression, BoundIn) else [expression.literal]
    unit = _KINDS[type(field.field_type)][1]
    keys = [literal.value if unit is None else int(literal.value) * unit for literal in literals]
    return set(index.find_any(label, [key.bytes if hasattr(key, "bytes") else key for key in keys], check=False))
