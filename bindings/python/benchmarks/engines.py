"""What is compared: one class a package, each with its fastest calls for many keys."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import equibloom


class Engine:
    """A package. Its input is the column or the list of keys, whichever it takes."""

    name = ""
    # Whether it holds the keys themselves.
    exact = False
    # Microseconds per key: one round must do, and more than two million keys only with --slow.
    slow = False

    def input(self, column, keys):
        return keys

    def build(self, keys, count, rate):
        members = self.empty(count, rate)
        members.update(keys)
        return members

    def empty(self, count, rate):
        raise NotImplementedError

    def count(self, members, keys):
        """How many of the keys are found."""
        return sum([key in members for key in keys])

    def scalar(self, keys, rate):
        return self.build(keys, len(keys), rate)


class Equibloom(Engine):
    name = "equibloom"

    def scalar(self, keys, rate):
        return equibloom.Filter.from_keys(keys, rate)

    def input(self, column, keys):
        return column

    def empty(self, count, rate):
        return equibloom.Filter(count, rate)

    def count(self, members, keys):
        answers = members.contains(keys)
        return int(np.count_nonzero(answers)) if isinstance(answers, np.ndarray) else answers.true_count

    def bytes(self, members, keys):
        return members.nbytes


class Abloom(Engine):
    name = "abloom"

    def empty(self, count, rate):
        from abloom import BloomFilter

        return BloomFilter(count, rate)

    def bytes(self, members, keys):
        return members.byte_count


class Rbloom(Engine):
    name = "rbloom"

    def empty(self, count, rate):
        from rbloom import Bloom

        return Bloom(count, rate)

    def bytes(self, members, keys):
        return members.size_in_bits / 8


def stable_hash(key):
    """What rbloom asks for: a signed integer of 128 bits."""
    from xxhash import xxh3_128_intdigest

    data = key.encode() if isinstance(key, str) else key.to_bytes(8, "little", signed=True)
    return xxh3_128_intdigest(data) - (1 << 127)


class RbloomStable(Rbloom):
    name = "rbloom, stable hash"
    slow = True

    def empty(self, count, rate):
        from rbloom import Bloom

        return Bloom(count, rate, stable_hash)


class Fastbloom(Engine):
    name = "fastbloom-rs"

    def empty(self, count, rate):
        from fastbloom_rs import BloomFilter

        return BloomFilter(count, rate)

    def build(self, keys, count, rate):
        members = self.empty(count, rate)
        (members.add_str_batch if isinstance(keys[0], str) else members.add_int_batch)(keys)
        return members

    def count(self, members, keys):
        return sum((members.contains_str_batch if isinstance(keys[0], str) else members.contains_int_batch)(keys))

    def bytes(self, members, keys):
        return len(members.get_bytes())


class PybloomFilter(Engine):
    name = "pybloomfiltermmap3"

    def empty(self, count, rate):
        from pybloomfilter import BloomFilter

        return BloomFilter(count, rate)

    def bytes(self, members, keys):
        return members.num_bits / 8


class PybloomLive(Engine):
    name = "pybloom-live"
    slow = True

    def empty(self, count, rate):
        from pybloom_live import BloomFilter

        return BloomFilter(count, rate)

    def build(self, keys, count, rate):
        members = self.empty(count, rate)
        for key in keys:
            members.add(key)
        return members

    def bytes(self, members, keys):
        return members.num_bits / 8


class Set(Engine):
    name = "set"
    exact = True

    def build(self, keys, count, rate):
        return set(keys)

    def bytes(self, members, keys):
        return sys.getsizeof(members) + sum(map(sys.getsizeof, keys[:1000])) / 1000 * len(keys)


class NumpyIsin(Engine):
    name = "numpy.isin"
    exact = True
    slow = True

    def input(self, column, keys):
        return column if isinstance(column, np.ndarray) else np.array(keys, "S20")

    def build(self, keys, count, rate):
        return keys

    def count(self, members, keys):
        return int(np.isin(keys, members).sum())

    def bytes(self, members, keys):
        return keys.nbytes


class PyarrowIsIn(Engine):
    name = "pyarrow.is_in"
    exact = True

    def input(self, column, keys):
        return pa.array(column)

    def build(self, keys, count, rate):
        return keys

    def count(self, members, keys):
        # The table is built in every call.
        return pc.is_in(keys, value_set=members).true_count

    def bytes(self, members, keys):
        return keys.nbytes


class PolarsIsIn(Engine):
    name = "polars.is_in"
    exact = True

    def input(self, column, keys):
        import polars

        return polars.Series(column)

    def build(self, keys, count, rate):
        return keys.implode()

    def count(self, members, keys):
        return keys.is_in(members).sum()

    def bytes(self, members, keys):
        return keys.estimated_size()


ALL = [
    Equibloom(), Abloom(), Rbloom(), RbloomStable(), Fastbloom(), PybloomFilter(), PybloomLive(), Set(), NumpyIsin(),
    PyarrowIsIn(), PolarsIsIn(),
]  # fmt: skip

# Those with `key in filter`.
SCALARS = [engine for engine in ALL if isinstance(engine, (Equibloom, Abloom, Rbloom, PybloomFilter))]
