"""Generated bad inputs: only exceptions that say what is wrong, no crash, no false negative.

    BAD_INPUTS=100000 pytest tests/test_bad_inputs.py

runs more of them than the usual thousands.
"""

import datetime
import decimal
import os
import random
import threading
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from equibloom import Filter, GrowingFilter, plan

COUNT = int(os.environ.get("BAD_INPUTS", "4000"))
# What a caller has to expect. None of them is a SystemError or a panic.
EXPECTED = (ValueError, TypeError, KeyError, OSError, MemoryError, OverflowError, BufferError)


class Inputs:
    """Arguments of every kind, most of them wrong, from a seed."""

    def __init__(self, seed):
        self.choose = random.Random(seed)
        self.numpy = np.random.default_rng(seed)

    def scalar(self):
        choose = self.choose
        return choose.choice(
            [
                lambda: choose.randrange(-(2**70), 2**70),
                lambda: choose.randrange(-50, 50),
                lambda: choose.choice([0, -1, 2**63, 2**64, -(2**63), -(2**63) - 1, 2**128, 10**400]),
                lambda: choose.choice([0.0, -0.0, 1e300, float("nan"), float("inf"), 0.5]),
                lambda: "".join(chr(choose.randrange(0x110000)) for _ in range(choose.randrange(5))),
                lambda: choose.randbytes(choose.randrange(40)),
                lambda: bytearray(choose.randbytes(3)),
                lambda: memoryview(choose.randbytes(8))[:: choose.choice([1, 2, -1])],
                lambda: choose.choice([None, True, False, ..., NotImplemented, int, len, pd.NA, pd.NaT]),
                lambda: tuple(self.scalar() for _ in range(choose.randrange(3))),
                lambda: choose.choice([decimal.Decimal("1.1"), 1j, uuid.UUID(int=5), {}, [], set(), object()]),
                lambda: choose.choice([datetime.date.max, datetime.datetime.min, datetime.time(1), datetime.timedelta(1)]),
                lambda: np.datetime64(choose.choice(["NaT", "2300", "1970-01-01T00:00:00.000000001", "0001-01-01"])),
                lambda: self.numpy.random(1).astype(choose.choice(["f2", "f8", "i1", "u8", "?", "S3", "U3"]))[0],
            ]
        )()

    def array(self):
        """NumPy arrays of any type, size, stride, order and mask."""
        choose = self.choose
        rows = choose.choice([0, 1, 2, 63, 64, 65, 200])
        kind = choose.choice(
            ["i1", "i2", "<i4", ">i4", "i8", "u1", ">u8", "?", "f2", "f8", "c8", "S0", "S7", "U0", ">U5", "M8[s]",
             "M8[D]", "M8[Y]", "M8[ns]", "M8[as]", "m8[s]", "O", "V5", "i4,f8"]
        )  # fmt: skip
        raw = np.frombuffer(self.numpy.bytes(max(rows, 1) * 64), "u1")
        if kind == "O":
            array = np.empty(rows, object)
            array[:] = [self.scalar() for _ in range(rows)] if choose.random() < 0.7 else [str(row) for row in range(rows)]
        else:
            size = np.dtype(kind).itemsize
            array = np.ndarray(rows, kind, raw[: rows * size].tobytes()) if size else np.zeros(rows, kind)
        array = choose.choice(
            [
                lambda: array,
                lambda: array[::-1],
                lambda: array[:: choose.choice([2, 3, -2])],
                lambda: np.broadcast_to(array[:1], (70,)) if rows else array,
                lambda: array.reshape(1, -1),
                lambda: np.ma.MaskedArray(array, mask=self.numpy.random(rows) < 0.5),
                lambda: array.reshape(-1, 1)[:, 0],
            ]
        )()
        return array

    def arrow(self):
        """Arrow arrays of any type, with nulls everywhere, sliced and damaged as far as their makers let them pass."""
        choose = self.choose
        rows = choose.choice([0, 1, 64, 65, 150])
        numbers = pa.array(self.numpy.integers(0, 100, rows), mask=self.numpy.random(rows) < choose.choice([0, 0.5, 1]))
        kind = choose.choice(
            [pa.int8(), pa.uint64(), pa.string(), pa.large_string(), pa.string_view(), pa.bool_(), pa.float32(),
             pa.float64(), pa.decimal128(20), pa.date32(), pa.timestamp("s"), pa.duration("s"), pa.time32("s"), pa.null()]
        )  # fmt: skip
        array = pa.nulls(rows, kind) if choose.random() < 0.2 else None
        if array is None:
            try:
                array = numbers.cast(pa.int32()).cast(kind) if kind != pa.bool_() else numbers.cast(pa.bool_())
            except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
                array = pa.nulls(rows, kind)
        return choose.choice(
            [
                lambda: array,
                lambda: array[choose.randrange(rows + 1) :],
                lambda: pa.chunked_array([array, array[:1], array[:0]]),
                lambda: array.dictionary_encode() if len(array) and array.type != pa.null() else array,
                lambda: pa.array([[1], None]),
                lambda: pa.table({"a": array}),
                lambda: pa.table({"a": array, "b": array}),
                lambda: pa.DictionaryArray.from_arrays(
                    pa.array(self.numpy.integers(-9, 9, 5).astype("i1")), pa.array(["a", None]), safe=False
                ),
                lambda: pa.Array.from_buffers(
                    pa.string(), 3, [None, pa.py_buffer(np.array([1, -7, 9, 5], "i4").tobytes()), pa.py_buffer(b"abcdef")]
                ),
            ]
        )()

    def pandas(self):
        try:
            return pd.Series(np.ravel(self.array()))
        except (ValueError, TypeError):
            # What pandas itself refuses.
            return pd.Series([1, None], dtype="Int64")

    def column(self):
        choose = self.choose
        return choose.choice(
            [
                self.array,
                self.array,
                self.arrow,
                self.arrow,
                self.scalar,
                lambda: [self.scalar() for _ in range(choose.randrange(4))],
                lambda: (self.scalar() for _ in range(choose.randrange(4))),
                lambda: pl.Series([choose.randrange(99) for _ in range(70)]).cast(choose.choice([pl.Int8, pl.Float32, pl.String, pl.Boolean])),
                self.pandas,
            ]
        )()

    def number(self):
        return self.choose.choice(
            [None, 0, 1, -1, 10, 1_000, 0.01, 1e-9, 0.5, 1.0, 2.0, -0.1, float("nan"), float("inf"), 2**63, 2**64, 10**400, 1e18, "1", b"", [], True]
        )  # fmt: skip


def expected(call, *arguments, **keywords):
    """The result of a call, or None after an exception that says what is wrong."""
    try:
        return call(*arguments, **keywords)
    except EXPECTED as error:
        assert str(error) or isinstance(error, MemoryError), (call, error)
        return None


def step(inputs, seen, data, certain):
    """One bad input, into the filter that holds the keys `certain`."""
    choose = inputs.choose
    action = choose.randrange(12)
    if action == 0:
        expected(seen.add, inputs.scalar())
    elif action == 1:
        expected(seen.__contains__, inputs.scalar())
    elif action == 2:
        expected(seen.update, inputs.column(), threads=choose.choice([None, 1, 2, 0, -1, 10**30, 1.5, "x"]))
    elif action in (3, 4, 5):
        column = inputs.column()
        out = choose.choice([None, None, np.zeros(64, bool), np.zeros(64), np.zeros(128, bool)[::-2], 5])
        expected(seen.contains, column, out=out)
    elif action == 6:
        arguments = {
            name: inputs.number()
            for name in ("keys", "rate", "memory", "bits_per_key", "accesses_miss", "headroom")
            if choose.random() < 0.4
        }
        # No filter of gigabytes.
        planned = expected(plan, **arguments)
        if planned is not None and planned.nbytes < 10**7:
            expected(Filter, **arguments, seed=choose.choice([0, 2**64 - 1, -1, "x"]))
    elif action == 7:
        damaged = bytearray(data)
        for _ in range(choose.randrange(1, 4)):
            damaged[choose.randrange(choose.choice([len(data), 100]))] = choose.randrange(256)
        del damaged[choose.choice([len(data), choose.randrange(len(data))]) :]
        for read in (type(seen).from_bytes, type(seen).from_buffer):
            other = expected(read, damaged)
            if other is not None:
                expected(other.contains, np.arange(100))
                expected(other.update, np.arange(100))
    elif action == 8:
        expected(type(seen).from_bytes, inputs.scalar())
        expected(type(seen).load, inputs.scalar())
    elif action == 9:
        expected(Filter.from_keys, inputs.column(), inputs.choose.choice([0.1, 0, "x"]))
    elif action == 10:
        expected(seen.hash_of, inputs.scalar())
        expected(getattr(seen, choose.choice(["discard", "remove"])), "never inserted")
    else:
        other = choose.choice([seen, seen.copy(), None, 5, Filter(keys=5, rate=0.1), GrowingFilter(), "abc"])
        expected(lambda: seen | other)
        assert (seen == other) in (True, False)
    if choose.random() < 0.1:
        assert seen.contains(certain).all()


@pytest.mark.parametrize("make", [lambda: Filter(keys=5_000, rate=0.01), lambda: GrowingFilter(rate=0.01)])
@pytest.mark.filterwarnings("ignore")
def test_bad_inputs_of_one_thread(make):
    seen = make()
    certain = np.arange(1_000)
    seen.update(certain)
    data = seen.to_bytes()
    inputs = Inputs(22)
    for _ in range(COUNT // 4):
        step(inputs, seen, data, certain)
    assert seen.contains(certain).all()


@pytest.mark.parametrize("make", [lambda: Filter(keys=5_000, rate=0.01), lambda: GrowingFilter(rate=0.01)])
@pytest.mark.filterwarnings("ignore")
def test_bad_inputs_of_eight_threads(make):
    seen, errors = make(), []
    certain = np.array([f"key {number}" for number in range(1_000)])
    seen.update(certain)
    data = seen.to_bytes()

    def work(seed):
        inputs = Inputs(seed)
        try:
            for _ in range(COUNT // 32):
                step(inputs, seen, data, certain)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    assert seen.contains(certain).all()
