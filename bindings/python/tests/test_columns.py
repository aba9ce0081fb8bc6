"""Columns of every kind, each against the keys one by one: the same hashes, nulls left out."""

import datetime
import uuid

import duckdb
import nanoarrow
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from equibloom import Filter, KeyTypeError, KeyValueError

ROWS = 5_000
RATE = 1e-9
RANDOM = np.random.default_rng(22)
NUMBERS = RANDOM.integers(-100, 100, ROWS)
TEXTS = [f"{number} is not so short" if number % 3 else f"ü{number}" for number in NUMBERS]
NULLS = RANDOM.random(ROWS) < 0.3


def with_nulls(values):
    return [None if is_null else value for value, is_null in zip(values, NULLS)]


def days(numbers):
    return [datetime.date(1970, 1, 1) + datetime.timedelta(int(number)) for number in numbers]


def moments(numbers):
    return [datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=int(number)) for number in numbers]


def numpy_columns():
    for name in ("int8", "int16", "int32", "int64"):
        yield name, NUMBERS.astype(name), NUMBERS.tolist()
    for name in ("uint8", "uint16", "uint32", "uint64"):
        yield name, np.abs(NUMBERS).astype(name), np.abs(NUMBERS).tolist()
    yield "bool", NUMBERS > 0, (NUMBERS > 0).tolist()
    yield "big-endian", NUMBERS.astype(">i4"), NUMBERS.tolist()
    yield "every third", np.repeat(NUMBERS, 3)[::3], NUMBERS.tolist()
    yield "reversed", NUMBERS[::-1], NUMBERS[::-1].tolist()
    yield "a column of a matrix", np.stack([NUMBERS, NUMBERS], axis=1)[:, 1], NUMBERS.tolist()
    yield "a field", np.array(list(zip(NUMBERS, NUMBERS)), "i1,i8")["f1"], NUMBERS.tolist()
    yield "S", np.array([text.encode() for text in TEXTS]), [text.encode() for text in TEXTS]
    yield "U", np.array(TEXTS), TEXTS
    yield "big-endian U", np.array(TEXTS).astype(">U25"), TEXTS
    yield "objects", np.array(TEXTS, object), TEXTS
    yield "objects with None", np.array(with_nulls(TEXTS), object), with_nulls(TEXTS)
    yield "days", np.array(days(NUMBERS), "M8[D]"), days(NUMBERS)
    for unit in ("s", "ms", "us", "ns"):
        yield unit, np.array(moments(NUMBERS), f"M8[{unit}]"), moments(NUMBERS)
    yield "NaT", np.array(with_nulls(moments(NUMBERS)), "M8[us]"), with_nulls(moments(NUMBERS))
    yield "read-only", np.frombuffer(NUMBERS.tobytes(), NUMBERS.dtype), NUMBERS.tolist()
    yield "none", NUMBERS[:0], []
    yield "empty texts", np.array(["", ""]), ["", ""]
    if hasattr(np.dtypes, "StringDType"):
        yield "StringDType", np.array(TEXTS, np.dtypes.StringDType()), TEXTS


def arrow_columns():
    integers = with_nulls(NUMBERS.tolist())
    for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64()):
        yield str(kind), pa.array(integers, kind), integers
    unsigned = with_nulls(np.abs(NUMBERS).tolist())
    for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()):
        yield str(kind), pa.array(unsigned, kind), unsigned
    truths = with_nulls((NUMBERS > 0).tolist())
    yield "bool", pa.array(truths), truths
    texts = with_nulls(TEXTS)
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        yield str(kind), pa.array(texts, kind), texts
    data = with_nulls([text.encode() for text in TEXTS])
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        yield str(kind), pa.array(data, kind), data
    eight = with_nulls([f"{number:8}".encode() for number in NUMBERS])
    yield "fixed", pa.array(eight, pa.binary(8)), eight
    ids = with_nulls([uuid.UUID(int=int(number) + 100) for number in NUMBERS])
    storage = pa.array([None if value is None else value.bytes for value in ids], pa.binary(16))
    yield "uuid", pa.ExtensionArray.from_storage(pa.uuid(), storage), ids
    yield "date32", pa.array(with_nulls(days(NUMBERS)), pa.date32()), with_nulls(days(NUMBERS))
    yield "date64", pa.array(with_nulls(days(NUMBERS)), pa.date64()), with_nulls(days(NUMBERS))
    for unit in ("s", "ms", "us", "ns"):
        times = with_nulls(moments(NUMBERS))
        yield f"timestamp {unit}", pa.array(times, pa.timestamp(unit)), times
    yield "zone", pa.array(times, pa.timestamp("us", "Europe/Vienna")), times
    yield "dictionary", pa.array(texts).dictionary_encode(), texts
    indices = [None if text is None else 1 for text in texts]
    values = pa.DictionaryArray.from_arrays(pa.array(indices, pa.uint16()), pa.array([None, "b"]))
    yield "dictionary with null", values, with_nulls(["b"] * ROWS)
    yield "null", pa.nulls(50), [None] * 50
    yield "none", pa.array([], pa.string()), []
    yield "without nulls", pa.array(TEXTS), TEXTS
    yield "sliced", pa.array(texts)[13:-5], texts[13:-5]
    yield "sliced bool", pa.array(truths)[3:-5], truths[3:-5]
    yield "sliced views", pa.array(texts, pa.string_view())[3:-5], texts[3:-5]
    yield "sliced dictionary", pa.array(texts).dictionary_encode()[7:], texts[7:]
    chunked = pa.chunked_array([texts[:5], [], texts[5:77], texts[77:1000], texts[1000:]], pa.string())
    yield "chunked", chunked, texts


def other_columns():
    texts, integers = with_nulls(TEXTS), with_nulls(NUMBERS.tolist())
    yield "polars text", pl.Series("a", texts), texts
    yield "polars integers", pl.Series("a", integers, pl.Int32), integers
    yield "polars category", pl.Series("a", texts, pl.Categorical), texts
    yield "polars dates", pl.Series("a", with_nulls(days(NUMBERS))), with_nulls(days(NUMBERS))
    yield "polars times", pl.Series("a", with_nulls(moments(NUMBERS))), with_nulls(moments(NUMBERS))
    yield "polars truths", pl.Series("a", with_nulls((NUMBERS > 0).tolist())), with_nulls((NUMBERS > 0).tolist())
    index = np.arange(ROWS) * 7
    yield "pandas integers", pd.Series(NUMBERS, index, name="a"), NUMBERS.tolist()
    yield "pandas text", pd.Series(texts, index, name="a"), texts
    yield "pandas objects", pd.Series(texts, index, dtype=object), texts
    yield "pandas Int64", pd.Series(integers, index, dtype="Int64"), integers
    yield "pandas category", pd.Series(texts, index, dtype="category"), texts
    yield "pandas times", pd.Series(with_nulls(moments(NUMBERS)), index), with_nulls(moments(NUMBERS))
    zoned = pd.Series(moments(NUMBERS)).dt.tz_localize("UTC")
    yield "pandas zone", zoned, moments(NUMBERS)
    yield "pandas arrow", pd.Series(texts, dtype=pd.ArrowDtype(pa.string())), texts
    yield "pandas index", pd.Index(TEXTS), TEXTS
    yield "nanoarrow", nanoarrow.Array(pa.array(texts)), texts
    relation = duckdb.from_arrow(pa.table({"a": pa.array(texts)}))
    yield "duckdb", relation, texts


COLUMNS = [("numpy", *column) for column in numpy_columns()]
COLUMNS += [("arrow", *column) for column in arrow_columns()]
COLUMNS += [("other", *column) for column in other_columns()]


def plain(answers):
    """Answers as a list with None for null."""
    if isinstance(answers, np.ndarray):
        return answers.tolist()
    if isinstance(answers, (pd.Series, pd.api.extensions.ExtensionArray)):
        return [None if answer is pd.NA else bool(answer) for answer in answers]
    if isinstance(answers, pl.Series):
        assert answers.dtype == pl.Boolean
        return answers.to_list()
    if isinstance(answers, nanoarrow.Array):
        return list(answers.iter_py())
    return pa.array(answers).to_pylist() if hasattr(answers, "__arrow_c_array__") else answers.to_pylist()


@pytest.mark.parametrize("library, name, column, keys", COLUMNS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_column_is_its_keys_one_by_one(library, name, column, keys):
    one_by_one = Filter(keys=ROWS, rate=RATE)
    for key in keys:
        if key is not None:
            one_by_one.add(key)
    by_column = Filter(keys=ROWS, rate=RATE)
    assert by_column.update(column) == len(one_by_one)
    assert by_column == one_by_one
    # DuckDB's relations can be read again and again.
    answers = plain(by_column.contains(column))
    null = False if library == "numpy" and "pandas" not in name else None
    assert answers == [null if key is None else True for key in keys]


@pytest.mark.parametrize("library, name, column, keys", COLUMNS, ids=lambda value: value if isinstance(value, str) else "")
def test_absent_keys_of_a_column_are_not_found(library, name, column, keys):
    some = set(keys[::2]) - {None}
    half = Filter(keys=ROWS, rate=RATE)
    half.update(list(some))
    out = np.ones(len(keys), bool)
    if half:
        assert half.contains(column, out=out) is out
        assert out.tolist() == [key in some for key in keys]


@pytest.mark.parametrize("kind", [np.int64, "S9", "U9", "M8[s]", object])
def test_masked_values_are_nulls(kind):
    data = np.arange(200).astype("M8[s]") if kind == "M8[s]" else np.arange(200).astype(kind)
    column = np.ma.MaskedArray(data, mask=np.arange(200) % 2 == 0)
    seen = Filter(keys=1_000, rate=RATE)
    assert seen.update(column) == 100
    answers = seen.contains(column)
    assert isinstance(answers, np.ma.MaskedArray)
    assert (answers.mask == column.mask).all() and answers.compressed().all()
    assert seen.contains(data).tolist() == [number % 2 == 1 for number in range(200)]


def test_answers_are_of_the_columns_kind():
    seen = Filter.from_keys(["a"], rate=RATE)
    assert isinstance(seen.contains(pa.array(["a"])), pa.BooleanArray)
    assert isinstance(seen.contains(pa.chunked_array([["a"]])), pa.ChunkedArray)
    assert isinstance(seen.contains(pl.Series("x", ["a"])), pl.Series)
    series = seen.contains(pd.Series(["a", "b"], index=[3, 9], name="x"))
    assert series.index.tolist() == [3, 9] and series.name == "x" and series.dtype == bool
    assert seen.contains(pl.Series("x", ["a"])).name == "x"
    for column in (["a"], ("a",), {"a"}, {"a": 1}, iter(["a"]), np.array(["a"])):
        answers = seen.contains(column)
        assert isinstance(answers, np.ndarray) and answers.dtype == bool and answers.tolist() == [True]


def test_the_bits_of_many_chunks_follow_each_other():
    random = np.random.default_rng(5)
    column = pa.array(random.integers(0, 2_000, 3_000))
    seen = Filter.from_keys(np.arange(1_000), rate=RATE)
    cuts = [0, *sorted(random.integers(0, 3_000, 60).tolist()), 3_000]
    chunked = pa.chunked_array([column[a:b] for a, b in zip(cuts, cuts[1:])])
    assert seen.contains(chunked).to_pylist() == [key < 1_000 for key in column.to_pylist()]


@pytest.mark.parametrize("threads", [1, 2, 1000])
@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 2_047, 2_048, 2_049, 131_072, 300_001])
def test_the_number_of_threads_changes_nothing(threads, rows):
    column = np.arange(rows)
    seen = Filter(keys=300_001, rate=1e-3)
    one = Filter(keys=300_001, rate=1e-3)
    assert seen.update(column, threads=threads) == one.update(column)
    assert seen == one
    asked = np.arange(rows // 2, rows // 2 + rows)
    assert (seen.contains(asked, threads=threads) == one.contains(asked)).all()
    nulls = pa.array(column, mask=column % 3 == 0)
    seen, one = Filter(keys=300_001, rate=1e-3), Filter(keys=300_001, rate=1e-3)
    assert seen.update(nulls, threads=threads) == one.update(nulls) and seen == one
    assert seen.contains(nulls, threads=threads).equals(one.contains(nulls))


def test_answers_into_an_array_of_ones_own():
    seen = Filter.from_keys(np.arange(100), rate=RATE)
    column = np.arange(50, 150)
    every_second = np.zeros(200, bool)[::2]
    assert seen.contains(column, out=every_second) is every_second
    assert every_second.tolist() == [True] * 50 + [False] * 50
    read_only = np.zeros(100, bool)
    read_only.flags.writeable = False
    for out, error, message in [
        (np.zeros(99, bool), ValueError, "99 elements, and the column 100"),
        (np.zeros(100, "u1"), TypeError, "array of bool"),
        (np.zeros((10, 10), bool), TypeError, "dimensions"),
        (read_only, ValueError, "read-only"),
        ([False] * 100, TypeError, "NumPy array"),
    ]:
        with pytest.raises(error, match=message):
            seen.contains(column, out=out)


@pytest.mark.parametrize(
    "column, message",
    [
        (np.zeros(3), "float64 is no column of keys"),
        (np.zeros(3, np.float16), "float16"),
        (np.zeros(3, complex), "complex128"),
        (np.zeros(3, "m8[s]"), "timedelta64"),
        (np.zeros(3, "M8[M]"), "datetime64"),
        (np.zeros((3, 3), int), "2 dimensions"),
        (np.array(3), "0 dimensions"),
        (np.zeros(3, "i4,i4"), "no column of keys"),
        (np.array([1, "a"], object), "was asked for"),
        (np.array([1.5], object), "float is not a key"),
        ([1, "a"], "was asked for"),
        ([None], "None is not a key"),
        ([float("nan")], "float is not a key"),
        ("abc", "not a column of keys"),
        (b"abc", "not a column of keys"),
        (5, "not iterable"),
        (None, "not iterable"),
        (pa.array([1.5]), "floats is no column of keys"),
        (pa.array([1], pa.decimal128(5)), "decimals"),
        (pa.array([1], pa.time64("us")), "times of day"),
        (pa.array([1], pa.duration("us")), "durations"),
        (pa.array([[1]]), "lists"),
        (pa.array([{"a": 1, "b": 2}]), "table of 2 columns"),
        (pa.table({"a": [1], "b": [2]}), "table of 2 columns"),
        (pd.DataFrame({"a": [1]}), "choose one of its columns"),
        (pd.Series([1.5]), "float64"),
        (pl.Series([1.5]), "floats"),
        (pl.DataFrame({"a": [1], "b": [2]}), "table of 2 columns"),
        (pl.col("a"), "eb.isin"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_column_of_keys_is_refused_by_name(column, message):
    for name in ("update", "contains"):
        seen = Filter(keys=10, rate=0.01)
        with pytest.raises(TypeError, match=message):
            if name == "update":
                seen.update(column)
            else:
                seen.add("b") if message == "was asked for" else None
                seen.contains(column)


def test_a_table_of_one_column_is_that_column():
    for table in (pa.table({"a": [1, 2]}), pl.DataFrame({"a": [1, 2]}), duckdb.sql("select 1 as a union all select 2")):
        assert sorted(Filter(keys=10, rate=RATE).update(table) for _ in range(1)) == [2]


def test_timestamps_beyond_64_bits_are_refused():
    for column in (np.array(["2300-01-01"], "M8[s]"), pa.array([10**12], pa.timestamp("s"))):
        for ask in (Filter(keys=10, rate=0.1).update, Filter(keys=10, rate=0.1).contains):
            with pytest.raises(KeyValueError, match="row 0: a timestamp is .* from 1677 to 2262"):
                ask(column)


def test_a_null_that_hides_a_bad_value_is_skipped():
    times = pa.Array.from_buffers(
        pa.timestamp("s"), 2, [pa.py_buffer(b"\x02"), pa.py_buffer(np.array([10**18, 5]).tobytes())]
    )
    seen = Filter(keys=10, rate=RATE)
    assert seen.update(times) == 1 and seen.contains(times).to_pylist() == [None, True]


def test_text_with_half_a_surrogate_pair_is_refused():
    with pytest.raises(KeyValueError, match="no UTF-8"):
        Filter(keys=10, rate=0.1).update(np.array(["a\ud800"]))


def test_a_damaged_array_is_refused():
    ends_before = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 3, 1], "i4").tobytes()), pa.py_buffer(b"abc")]
    )
    dictionary = pa.DictionaryArray.from_arrays(
        pa.Array.from_buffers(pa.int8(), 2, [None, pa.py_buffer(b"\x00\x05")]), pa.array(["a"]), safe=False
    )
    for column in (ends_before, dictionary):
        with pytest.raises(ValueError, match="damaged"):
            Filter(keys=10, rate=0.1).update(column)


def test_an_arrow_stream_is_read_once():
    stream = pa.chunked_array([["a"], ["b"]]).__arrow_c_stream__()

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return stream

    seen = Filter(keys=10, rate=RATE)
    assert seen.update(Stream()) == 2
    with pytest.raises(ValueError):
        seen.update(Stream())


def test_an_error_of_a_stream_is_passed_on():
    def batches():
        yield pa.record_batch({"a": [1, 2]})
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches())
    with pytest.raises(ValueError, match="the disk is gone"):
        Filter(keys=10, rate=0.1).update(reader)


def test_polars_frames_stay_lazy():
    import equibloom.polars  # noqa: F401

    seen = Filter.from_keys([1, 2, 3], rate=RATE)
    frame = pl.LazyFrame({"id": [1, None, 7]})
    answers = frame.with_columns(found=pl.col("id").eb.isin(seen)).collect()
    assert answers["found"].to_list() == [True, None, False]
    assert frame.filter(pl.col("id").eb.isin(seen)).collect()["id"].to_list() == [1]
    assert answers["id"].eb.isin(seen).to_list() == [True, None, False]
    with pytest.raises(TypeError, match="a filter"):
        pl.col("id").eb.isin([1])


def test_duckdb_asks_a_filter():
    import equibloom.duckdb

    seen = Filter.from_keys([f"user {number}" for number in range(100)], rate=RATE)
    with duckdb.connect() as connection:
        equibloom.duckdb.register(connection, "is_known", seen)
        query = "select count(*) from (select 'user ' || i as u from range(1000) t(i)) where is_known(u)"
        assert connection.sql(query).fetchall() == [(100,)]
        assert connection.sql("select is_known(null)").fetchall() == [(None,)]
        numbers = Filter.from_keys(range(10), rate=RATE)
        equibloom.duckdb.register(connection, "is_small", numbers)
        rows = connection.sql("select is_small(i) from range(8, 12) t(i)").fetchall()
        assert rows == [(True,), (True,), (False,), (False,)]
        with pytest.raises(ValueError, match="kind"):
            equibloom.duckdb.register(connection, "nothing", Filter(keys=10, rate=0.1))


def test_unknown_kinds_of_an_empty_column_decide_nothing():
    seen = Filter(keys=10, rate=0.1)
    seen.update(np.array([], int), pa.nulls(3), [], np.array([None, None], object))
    assert seen.kind is None and not seen
    with pytest.raises(KeyTypeError):
        seen.update(np.array([], float))
