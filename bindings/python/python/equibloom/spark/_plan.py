"""One plan for all partial filters, made by the driver."""

from __future__ import annotations

import math
from dataclasses import dataclass

import equibloom
from equibloom import Filter

# Below, filters of Bloom blocks are smaller than those of fingerprints. What fingerprints fill depends on the set of keys only;
# Bloom filters also count the inserts, which depends on their order. 13 KB are little enough to plan for.
_LEAST_KEYS = 10_000
_HIGHEST_RATE = 0.023


@dataclass(frozen=True)
class FilterPlan:
    """How to make an empty filter, the same one in every process."""

    keys: int
    rate: float
    seed: int
    kind: str
    nbytes: int
    version: str

    @classmethod
    def of(cls, keys: int, rate: float, seed: int, kind: str) -> FilterPlan:
        """The plan for keys and a rate: always one of fingerprint blocks, whose bytes do not depend on any order."""
        # Refused as the user wrote it.
        equibloom.plan(keys=keys, rate=rate)
        keys, rate = max(keys, _LEAST_KEYS), min(rate, _HIGHEST_RATE)
        nbytes = equibloom.plan(keys=keys, rate=rate).nbytes
        return cls(keys, rate, seed, kind, nbytes, equibloom.__version__)

    def shards(self, most_bytes: int) -> int:
        """Into how many filters of at most so many bytes the keys must be divided."""
        shards = -(-self.nbytes // most_bytes)
        while shards > 1 and self.shard(shards).nbytes > most_bytes:
            shards += 1
        return shards

    def shard(self, shards: int) -> FilterPlan:
        """The plan of one of so many shards: the hash gives each about as many keys, within six standard deviations."""
        mean = self.keys / shards
        return self.of(math.ceil(mean + 6 * math.sqrt(mean)), self.rate, self.seed, self.kind)

    def empty(self) -> Filter:
        """An empty filter of this plan."""
        members = Filter(keys=self.keys, rate=self.rate, seed=self.seed, kind=self.kind)
        if (members.nbytes, equibloom.__version__) != (self.nbytes, self.version):
            raise RuntimeError(
                f"the driver has Equibloom {self.version} and plans {self.nbytes} bytes, this executor has "
                f"{equibloom.__version__} and plans {members.nbytes}: install the same version everywhere"
            )
        return members

    def holds(self, members: Filter) -> bool:
        """Whether the filter has no more keys than planned."""
        return members.capacity == self.keys and not members.is_over_capacity
