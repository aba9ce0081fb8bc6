"""A filter in shards, for keys so many that the driver should not hold the filter."""

from __future__ import annotations

import tempfile
from pathlib import Path

from .. import Filter
from ._plan import FilterPlan


class ShardedFilter:
    """A filter of several, each of the keys of which a hash is its number. Its shards are temporary files of the driver.

    Made by build_filter, asked by contains.
    """

    def __init__(self, plan: FilterPlan, family: str, shards: int):
        self._plan = plan
        self._directory = tempfile.TemporaryDirectory(prefix="equibloom-shards-")
        #: The family of the column of keys: only columns of the same one can be asked for.
        self.family = family
        #: The number of shards.
        self.shards = shards

    def _path(self, number: int) -> Path:
        return Path(self._directory.name) / f"{number}.eqb"

    def store(self, number: int, members: Filter) -> None:
        """Sets a shard."""
        members.save(self._path(number))

    def shard(self, number: int) -> Filter:
        """The filter of a shard."""
        if not 0 <= number < self.shards:
            raise IndexError(f"there is no shard {number}: there are {self.shards}")
        path = self._path(number)
        # Without any key, a shard has not been stored.
        return Filter.load(path) if path.exists() else self._plan.empty()

    @property
    def nbytes(self) -> int:
        """Bytes of all shards."""
        return self._plan.nbytes * self.shards

    @property
    def capacity(self) -> int:
        """For how many keys the shards are planned."""
        return self._plan.keys * self.shards

    @property
    def rate(self) -> float:
        """The false-positive rate with as many keys as planned: that of one shard, because a key asks one."""
        return self._plan.empty().rate

    def __repr__(self) -> str:
        return f"<equibloom.spark.ShardedFilter for {self.capacity} keys, {self.shards} shards of {self._plan.nbytes} bytes>"
