"""What a build will move and hold, before there is a cluster: ``python -m equibloom.spark --keys 1e10 --executors 1000``.

The filter's size is planned as a build plans it. How far partial filters and rows of keys are compressed in a shuffle is found by a
simulation: a small filter of the same rate, filled to the same share, and rows of random keys are compressed by LZ4 in blocks of 32 KiB,
as Spark compresses what it shuffles. docs/scale.md has the model in words, and what was measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy
import pyarrow

from ._build import _FAN_IN, fan_in
from ._plan import FilterPlan

# Keys of the filter that stands for a large one: how it is compressed depends on the share of the keys in it only.
_SAMPLE = 100_000
_BLOCK = 32 << 10
# Shards reach the driver in pickled rows, in which half of the bytes of a filter, those above 127, take two.
_PICKLED = 1.5
# A filter that arrives is there three times: as it came, put together, and as a filter.
_COPIES = 3


@dataclass(frozen=True)
class Scale:
    """Sizes of a build. All in bytes, unless said otherwise."""

    #: Different keys.
    keys: int
    #: Executors, of one core each if nothing else was said.
    executors: int
    #: The whole filter.
    filter: int
    #: Shards it is divided into, 1 if it is not.
    shards: int
    #: Filters after each step: partials, then those of each level of merging. Of shards there is one step.
    steps: tuple[int, ...]
    #: What each shuffle writes: of a tree the filters of each step but the last, of shards the rows of keys.
    shuffled: tuple[int, ...]
    #: What the driver receives: the filter, of shards in pickled rows.
    received: int
    #: What goes over the network: all shuffles but the part that stays on the same executor, and what the driver receives.
    network: int
    #: What a task holds in memory at most, as filters.
    task_memory: int
    #: What the driver holds in memory at most.
    driver_memory: int
    #: What the driver holds in temporary files.
    driver_files: int
    #: What a query sends: the filter, to every executor.
    broadcast: int

    @property
    def depth(self) -> int:
        """Levels of merging."""
        return len(self.steps) - 1


def scale(
    keys: int,
    rate: float = 0.01,
    *,
    executors: int = 2,
    cores: int = 1,
    partials: int | None = None,
    max_driver_bytes: int = 128 << 20,
) -> Scale:
    """The sizes of ``build_filter(df, column, rate=rate, keys=keys, max_driver_bytes=…)`` for random integers.

    Parameters
    ----------
    cores : int
        Tasks that an executor runs at the same time.
    partials : int
        Partial filters: the partitions of the rows, but at most twice as many as there are cores, and 16. That is the default.
    """
    plan = FilterPlan.of(keys, rate, 0, "integer")
    most = max(2 * executors * cores, _FAN_IN)
    partials = most if partials is None else min(partials, most)
    away = 1 - 1 / executors
    shards = plan.shards(max_driver_bytes)
    if shards > 1:
        part = plan.shard(shards)
        rows = round(keys * _bytes_of_a_row())
        received = round(_PICKLED * part.nbytes * shards)
        return Scale(
            keys=keys,
            executors=executors,
            filter=part.nbytes * shards,
            shards=shards,
            steps=(shards,),
            shuffled=(rows,),
            received=received,
            network=round(rows * away) + received,
            task_memory=2 * part.nbytes,
            driver_memory=_COPIES * part.nbytes,
            driver_files=part.nbytes * shards,
            broadcast=part.nbytes * shards * executors,
        )
    step = fan_in(plan.nbytes)
    steps, shuffled, slots = [partials], [], most
    while slots > 1:
        slots = -(-slots // step)
        shuffled.append(round(steps[-1] * plan.nbytes * _compressed(rate, 1 / steps[-1])))
        steps.append(min(slots, -(-steps[-1] // step)))
    return Scale(
        keys=keys,
        executors=executors,
        filter=plan.nbytes,
        shards=1,
        steps=tuple(steps),
        shuffled=tuple(shuffled),
        received=plan.nbytes,
        network=round(sum(shuffled) * away) + plan.nbytes,
        task_memory=_COPIES * plan.nbytes + min(step, partials) * plan.nbytes,
        driver_memory=_COPIES * plan.nbytes,
        driver_files=0,
        broadcast=plan.nbytes * executors,
    )


def _lz4(data: bytes) -> int:
    """Bytes after Spark's compression: blocks that do not shrink stay as they are."""
    codec = pyarrow.Codec("lz4_raw")
    blocks = (data[start : start + _BLOCK] for start in range(0, len(data), _BLOCK))
    return sum(min(codec.compress(block).size, len(block)) for block in blocks)


def _compressed(rate: float, share: float) -> float:
    """To which part of its bytes a filter with a share of its keys is compressed."""
    sample = FilterPlan.of(_SAMPLE, rate, 0, "integer").empty()
    sample.update(numpy.arange(round(_SAMPLE * share)))
    data = sample.to_bytes()
    return _lz4(data) / len(data)


def _bytes_of_a_row() -> float:
    """Bytes of an integer key in a shuffle: the length of its row, its null bits and its value, compressed."""
    rows = numpy.zeros(_SAMPLE, numpy.dtype([("length", ">i4"), ("nulls", "<i8"), ("key", "<i8")]))
    rows["length"] = 16
    rows["key"] = numpy.random.default_rng(1).integers(-(1 << 63), (1 << 63) - 1, _SAMPLE)
    return _lz4(rows.tobytes()) / _SAMPLE
