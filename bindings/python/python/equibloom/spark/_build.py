"""Filters of a column, built where its rows are.

Each task makes a filter of the whole plan from its rows (a partial), and partials are merged in a tree of tasks: the driver
receives one filter. A filter of fingerprints depends on the set of its keys only, so that neither the partitions nor a task that runs
twice change its bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from functools import partial

import numpy
import pyarrow
from pyspark import StorageLevel, TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from .. import Filter
from ._keys import keys_of, kind_of, shard_of
from ._plan import FilterPlan
from ._sharded import ShardedFilter

# The bytes of what a task makes travel in rows of at most so many.
_PIECE = 4 << 20
PIECES = "partial int, piece int, pieces int, data binary"
_SCHEMA = pyarrow.schema(
    [("partial", pyarrow.int32()), ("piece", pyarrow.int32()), ("pieces", pyarrow.int32()), ("data", pyarrow.binary())]
)
# Partials that a task merges: as many as fit into so many bytes, which its batches may have at once.
_FAN_IN, _FAN_IN_BYTES = 16, 256 << 20
# The standard error asked of the approximate count (Spark has 1.7 %), and what is added to it. Half the error takes Spark two seconds
# more to prepare the count.
_COUNT_ERROR, _COUNT_SLACK = 0.02, 0.06


def build_filter(
    df: DataFrame,
    column: str | Column,
    *,
    rate: float = 0.01,
    keys: int | None = None,
    seed: int = 0,
    max_driver_bytes: int = 128 << 20,
) -> Filter | ShardedFilter:
    """A filter of the keys in a column.

        customers = build_filter(orders, "customer_id", rate=0.001, keys=10_000_000)

    The same set of keys gives the same bytes, whatever the partitions. Nulls are skipped; columns of docs/keys.md are keys, others
    raise KeyTypeError.

    Parameters
    ----------
    rate : float
        The largest share of absent keys that may be found all the same.
    keys : int
        How many different keys there are at most. Without it they are counted first, approximately, which reads the column once
        more; so are they if there are more, with a warning.
    seed : int
        The seed of the hash.
    max_driver_bytes : int
        A larger filter is divided by a hash of the keys into shards of at most so many bytes, of which the driver has one at a time in
        memory, and all in temporary files: a ShardedFilter.
    """
    if max_driver_bytes < 1 << 16:
        raise ValueError(f"max_driver_bytes is {max_driver_bytes}: give at least {1 << 16}")
    rows, family = keys_of(df, column)
    wanted = _count(rows) if keys is None else keys
    while True:
        plan = FilterPlan.of(wanted, rate, seed, kind_of(family))
        shards = plan.shards(max_driver_bytes)
        built = _merged(rows, plan) if shards == 1 else _sharded(rows, plan.shard(shards), family, shards)
        if built is not None:
            return built
        # A plan that is too small is not exceeded: what a filter has beyond its plan depends on the order of the keys.
        counted = max(_count(rows), wanted + wanted // 4)
        warnings.warn(f"keys is {wanted}, and there are more: building again for {counted}", stacklevel=2)
        wanted = counted


def _count(rows: DataFrame) -> int:
    """An upper limit of the number of different keys, the same for the same set."""
    counted = rows.agg(sf.approx_count_distinct("key", _COUNT_ERROR)).head()
    return int((counted[0] if counted else 0) * (1 + _COUNT_SLACK)) + 1


def most_partials(df: DataFrame) -> int:
    """How many partials are made at most: twice as many as there are cores, because each is as large as the filter."""
    context = df.sparkSession.sparkContext
    if context.getConf().get("spark.dynamicAllocation.enabled", "false") == "true":
        # There may be few cores now, and many as soon as there are tasks.
        return max(2 * context.defaultParallelism, 256)
    return max(2 * context.defaultParallelism, _FAN_IN)


def fan_in(nbytes: int) -> int:
    """How many partials of so many bytes a task merges."""
    return min(max(_FAN_IN_BYTES // nbytes, 2), _FAN_IN)


def _merged(rows: DataFrame, plan: FilterPlan) -> Filter | None:
    """The filter of all rows; None if there are more keys than planned."""
    count, step = most_partials(rows), fan_in(plan.nbytes)
    partials = rows.coalesce(count).mapInArrow(partial(_insert_rows, plan), PIECES)
    while count > 1:
        count = -(-count // step)
        partials = partials.repartitionById(count, sf.expr(f"partial div {step}").cast("int"))
        partials = partials.mapInArrow(partial(_merge_partials, plan), PIECES)
    filters = list(_filters(partials.toArrow().to_batches()))
    if not filters:
        return plan.empty()
    return filters[0]


def _sharded(rows: DataFrame, plan: FilterPlan, family: str, shards: int) -> ShardedFilter | None:
    """One filter for each shard; None if there are more keys than planned."""
    shard = shard_of(sf.col("key"), family, shards)
    rows = rows.where(sf.col("key").isNotNull()).repartitionById(shards, shard)
    built = rows.mapInArrow(partial(_insert_rows, plan), PIECES)
    # All shards are built at once, and then fetched one by one.
    built.persist(StorageLevel.DISK_ONLY)
    try:
        if built.where("pieces = 0").count() > 0:
            return None
        members = ShardedFilter(plan, family, shards)
        for number, data in put_together(built.toLocalIterator()):
            if data is not None:
                members.store(number, Filter.from_bytes(data))
        return members
    finally:
        built.unpersist()


def _insert_rows(plan: FilterPlan, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """The filter of a partition's keys, in pieces."""
    members = plan.empty()
    for batch in batches:
        # The rest is read all the same: Spark is still sending it.
        if plan.holds(members):
            members.update(batch.column(0))
    yield from _pieces(plan, members)


def _merge_partials(plan: FilterPlan, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """The filter of all keys of several partials, in pieces."""
    merged = None
    too_many = False
    for other in _filters(batches):
        if other is None or too_many:
            too_many = True
        elif merged is None:
            merged = other
        else:
            merged |= other
            too_many = not plan.holds(merged)
    if too_many:
        yield _row(0, 0, None)
    elif merged is not None:
        yield from _pieces(plan, merged)


def _pieces(plan: FilterPlan, members: Filter) -> Iterator[pyarrow.RecordBatch]:
    return in_pieces(members.to_bytes() if plan.holds(members) else None)


def in_pieces(data: bytes | None) -> Iterator[pyarrow.RecordBatch]:
    """What a task has made, as rows of PIECES; None is a row without any."""
    if data is None:
        yield _row(0, 0, None)
        return
    buffer = pyarrow.py_buffer(data)
    pieces = -(-buffer.size // _PIECE)
    for piece in range(pieces):
        yield _row(piece, pieces, buffer.slice(piece * _PIECE, min(_PIECE, buffer.size - piece * _PIECE)))


def _row(piece: int, pieces: int, data: pyarrow.Buffer | None) -> pyarrow.RecordBatch:
    """A piece of this task's filter. No pieces say that there are more keys than planned."""
    context = TaskContext.get()
    numbers = [context.partitionId() if context else 0, piece, pieces]
    size = 0 if data is None else data.size
    # In place: from_buffers copies nothing.
    buffers = [None, pyarrow.py_buffer(numpy.array([0, size], numpy.int32)), data or pyarrow.py_buffer(b"")]
    columns = [pyarrow.array([number], pyarrow.int32()) for number in numbers]
    columns.append(pyarrow.Array.from_buffers(pyarrow.binary(), 1, buffers))
    return pyarrow.RecordBatch.from_arrays(columns, schema=_SCHEMA)


def _filters(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[Filter | None]:
    """The filters of all partials, each as soon as its last piece is there; None for one with more keys than planned."""
    return (None if data is None else Filter.from_bytes(data) for _, data in put_together(rows_of(batches)))


def rows_of(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[tuple]:
    """The rows of PIECES; the data is not copied."""
    for batch in batches:
        numbers = [batch.column(name).to_pylist() for name in ("partial", "piece", "pieces")]
        data = (batch.column("data")[row].as_buffer() for row in range(batch.num_rows))
        yield from zip(*numbers, data)


def put_together(rows: Iterable) -> Iterator[tuple[int, bytes | None]]:
    """The number of each task, and what it has made."""
    waiting: dict[int, list] = {}
    for number, piece, pieces, data in rows:
        if pieces == 0:
            yield number, None
            continue
        parts = waiting.setdefault(number, [None] * pieces)
        parts[piece] = data
        if all(part is not None for part in parts):
            yield number, b"".join(waiting.pop(number))
