"""What a key is: the bytes of docs/keys.md."""

import datetime
import decimal
import math
import uuid
import zoneinfo

import numpy as np
import pandas
import pytest
import vectors
import xxhash

from equibloom import Filter, KeyTypeError, KeyValueError

RATE = 1e-9


@pytest.mark.parametrize("seed", vectors.SEEDS)
@pytest.mark.parametrize("vector", vectors.VECTORS, ids=lambda vector: f"{vector['type']}")
def test_every_vector_has_its_hash_and_kind(vector, seed):
    expected = int(vector["hashes"][vectors.SEEDS.index(seed)], 16)
    key = vectors.key(vector)
    seen = Filter(keys=100, rate=RATE, seed=seed, kind=vector["kind"])
    assert seen.hash_of(key) == expected
    assert xxhash.xxh3_128_intdigest(bytes.fromhex(vector["bytes"]), seed) == expected
    assert seen.add(key) and key in seen


def test_the_first_key_decides_the_kind():
    for vector in vectors.VECTORS:
        if vector["kind"] == "wide-integer":
            continue
        seen = Filter(keys=100, rate=RATE)
        assert seen.kind is None
        seen.add(vectors.key(vector))
        assert seen.kind == vector["kind"]


@pytest.mark.parametrize(
    "same",
    [
        [5, True + 4, np.int8(5), np.uint64(5), np.int64(5), np.int16(5)],
        [1, True, np.True_],
        [-1, 2**64 - 1, np.int8(-1), np.uint64(2**64 - 1)],
        ["abc", b"abc", bytearray(b"abc"), memoryview(b"abc"), np.str_("abc"), np.bytes_(b"abc")],
        [datetime.date(2024, 2, 29), 19782, np.datetime64("2024-02-29", "D")],
        [
            datetime.datetime(2024, 2, 29, 12, 34, 56, 789012),
            1709210096789012000,
            np.datetime64("2024-02-29T12:34:56.789012", "us"),
            pandas.Timestamp("2024-02-29T12:34:56.789012"),
            datetime.datetime(2024, 2, 29, 13, 34, 56, 789012, zoneinfo.ZoneInfo("Europe/Vienna")),
            pandas.Timestamp("2024-02-29T12:34:56.789012", tz="UTC"),
        ],
        [pandas.Timestamp("2024-02-29T12:34:56.789012345"), 1709210096789012345],
        [uuid.UUID(int=7), uuid.UUID(int=7).bytes],
    ],
)
def test_different_types_of_one_key(same):
    for stored in same:
        seen = Filter(keys=100, rate=RATE)
        seen.add(stored)
        for key in same:
            assert key in seen, (stored, key)


def test_what_differs():
    pairs = [("5", "05"), (("a", "b"), ("ab", "")), ("é", "e\u0301"), (5, -5), ((1,), (1, 1))]
    for stored, other in pairs:
        seen = Filter(keys=100, rate=RATE)
        seen.add(stored)
        assert other not in seen


@pytest.mark.parametrize(
    "key, message",
    [
        (1.5, "float is not a key"),
        (math.nan, "float is not a key"),
        (np.float32(1), "float32"),
        (decimal.Decimal("1.10"), "Decimal is not a key: equal numbers"),
        (None, "None is not a key"),
        (pandas.NaT, "is not a key"),
        (np.datetime64("NaT", "s"), "is not a key"),
        (datetime.time(12), "time is not a key: use dates"),
        (datetime.timedelta(1), "timedelta is not a key"),
        ([1, 2], "list is not a key"),
        ({1}, "set is not a key"),
        (object(), "object is not a key: give int, str"),
        ((1, 1.5), "float is not a key"),
        ((1, None), "None is not a key"),
        (np.array([1, 2]), "an array is not a key: look it up with contains()"),
        (1j, "complex is not a key"),
    ],
)
def test_what_is_not_a_key_is_refused_by_name(key, message):
    seen = Filter(keys=100, rate=RATE)
    for ask in (seen.add, seen.__contains__):
        with pytest.raises(TypeError, match=message.replace("(", r"\(").replace(")", r"\)")):
            ask(key)
    assert not seen and seen.kind is None


@pytest.mark.parametrize(
    "key",
    [
        2**64,
        -(2**63) - 1,
        10**1000,
        datetime.datetime(2300, 1, 1),
        datetime.datetime(1, 1, 1),
        "half a pair: \ud800",
    ],
)
def test_values_that_have_no_bytes_are_refused(key):
    seen = Filter(keys=100, rate=RATE)
    with pytest.raises(ValueError):
        seen.add(key)
    assert not seen


def test_integers_of_128_bits():
    seen = Filter(keys=100, rate=RATE, kind="wide-integer")
    assert seen.add(2**127) and seen.add(-(2**127) + 1) and seen.add(5)
    assert 2**127 in seen and 6 not in seen
    with pytest.raises(KeyValueError, match="more than 128 bits"):
        seen.add(2**128)
    with pytest.raises(KeyTypeError, match="128-bit integers"):
        seen.update(np.arange(5))


def test_tuples_that_are_nested_without_end_are_refused():
    key = ()
    for _ in range(100_000):
        key = (key,)
    with pytest.raises(KeyValueError, match="flatten"):
        Filter(keys=100, rate=RATE).add(key)


def test_another_kind_than_the_filters_is_refused():
    seen = Filter(keys=100, rate=RATE)
    seen.add("5")
    for ask in (seen.add, seen.__contains__):
        with pytest.raises(KeyTypeError, match=r"holds text or bytes, and was asked for integers: ask with str"):
            ask(5)
    with pytest.raises(KeyTypeError, match="integers"):
        seen.update([1])
    with pytest.raises(KeyTypeError, match="integers"):
        seen.contains(np.array([1]))


def test_a_type_with_an_index_is_an_integer():
    class Id:
        def __index__(self):
            return 5

    seen = Filter(keys=100, rate=RATE)
    seen.add(5)
    assert Id() in seen


def test_an_error_of_a_key_is_passed_on():
    class Broken:
        def __index__(self):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        Filter(keys=100, rate=RATE).add(Broken())
