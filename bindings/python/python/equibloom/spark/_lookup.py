"""Filters in expressions of Spark."""

from __future__ import annotations

import numpy
import pyarrow
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf

from .. import Filter, GrowingFilter
from ._keys import check_family, shard_of
from ._sharded import ShardedFilter


def contains(members: Filter | GrowingFilter | ShardedFilter, column: str | Column) -> Column:
    """Whether each key of a column may be in the filter; null for null.

        visits.where(contains(customers, "customer_id"))

    The filter is broadcast, and each Python worker of the executors holds it in memory once, with all its shards. A column of another
    kind than the filter's keys is refused (KeyTypeError, when it is asked).
    """
    spark = SparkSession.active()
    keys = sf.col(column) if isinstance(column, str) else column
    broadcast = spark.sparkContext.broadcast
    if not isinstance(members, ShardedFilter):
        return _in_one(broadcast(members))(keys)
    # One by one: the driver holds one shard at a time.
    shards = [broadcast(members.shard(number)) for number in range(members.shards)]
    return _in_shards(shards, members.family)(keys, shard_of(keys, members.family, members.shards))


def _in_one(members):
    @sf.arrow_udf("boolean")  # type: ignore[call-overload]
    def may_contain(keys: pyarrow.Array) -> pyarrow.Array:
        # Unpickled by the first batch of a worker only.
        return members.value.contains(keys)

    return may_contain


def _in_shards(shards, family: str):
    @sf.arrow_udf("boolean")  # type: ignore[call-overload]
    def may_contain(keys: pyarrow.Array, numbers: pyarrow.Array) -> pyarrow.Array:
        check_family(keys.type, family)
        numbers = numbers.to_numpy(zero_copy_only=False)
        # The rows of each shard in turn; the answers go back to where their keys were.
        rows = numpy.argsort(numbers, kind="stable")
        starts = numpy.searchsorted(numbers, numpy.arange(len(shards) + 1), sorter=rows)
        sorted_keys = keys.take(pyarrow.array(rows))
        answers = [
            shards[number].value.contains(sorted_keys[start:end])
            for number, (start, end) in enumerate(zip(starts, starts[1:]))
            if start < end
        ]
        if not answers:
            return pyarrow.array([], pyarrow.bool_())
        places = numpy.empty_like(rows)
        places[rows] = numpy.arange(len(rows))
        return pyarrow.concat_arrays(answers).take(pyarrow.array(places))

    return may_contain
