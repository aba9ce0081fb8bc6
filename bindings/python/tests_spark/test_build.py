"""A filter built by Spark is the one that one process would have built, whatever the partitions and the column's type."""

import datetime
import decimal
import warnings

import numpy
import pytest
from equibloom import Filter, KeyTypeError
from equibloom.spark import ShardedFilter, build_filter, contains
from equibloom.spark._plan import FilterPlan
from pyspark.sql import functions as sf

KEYS = 50_000


def local(keys, rate, column, kind="integer"):
    """The filter that one process builds."""
    members = FilterPlan.of(keys, rate, 0, kind).empty()
    members.update(column)
    return members


@pytest.mark.parametrize("partitions", [1, 3, 40])
def test_the_bytes_do_not_depend_on_the_partitions(spark, partitions):
    frame = spark.range(0, KEYS, numPartitions=partitions)
    expected = local(KEYS, 0.001, numpy.arange(KEYS)).to_bytes()
    assert build_filter(frame, "id", rate=0.001, keys=KEYS).to_bytes() == expected


@pytest.mark.parametrize("rate", [0.3, 0.03, 1e-6])
@pytest.mark.parametrize("keys", [1, 700, KEYS])
def test_every_plan_is_of_fingerprints_and_holds_its_rate(keys, rate):
    members = local(keys, rate, numpy.arange(keys))
    shuffled = numpy.random.default_rng(1).permutation(keys)
    assert members.to_bytes() == local(keys, rate, shuffled).to_bytes()
    # Parts that overlap are merged into the same.
    halves = local(keys, rate, numpy.arange(keys * 2 // 3)) | local(keys, rate, numpy.arange(keys // 3, keys))
    assert halves.to_bytes() == members.to_bytes()
    absent = members.contains(numpy.arange(keys, keys + 200_000)).sum()
    assert absent <= 200_000 * rate + 4 * (200_000 * rate) ** 0.5 + 1


def test_rows_that_come_twice_in_any_order_change_nothing(spark):
    frame = spark.range(0, KEYS, numPartitions=4)
    frame = frame.union(frame.where("id % 3 = 0")).repartition(9, sf.rand(5))
    expected = local(KEYS, 0.001, numpy.arange(KEYS)).to_bytes()
    assert build_filter(frame, "id", rate=0.001, keys=KEYS).to_bytes() == expected


def test_keys_are_counted_if_their_number_is_not_given(spark):
    frame = spark.range(0, KEYS, numPartitions=3)
    members = build_filter(frame.union(frame), "id", rate=0.01)
    assert KEYS <= members.capacity < 1.13 * KEYS
    assert members.to_bytes() == build_filter(frame.repartition(5), "id", rate=0.01).to_bytes()


@pytest.mark.parametrize("most", [128 << 20, 1 << 16])
def test_more_keys_than_said_are_counted_and_the_rate_is_kept(spark, most):
    frame = spark.range(0, 150_000, numPartitions=4)
    with pytest.warns(UserWarning, match="keys is 30000, and there are more"):
        members = build_filter(frame, "id", rate=0.01, keys=30_000, max_driver_bytes=most)
    assert members.capacity >= 150_000 and members.rate <= 0.01
    found = spark.range(0, 350_000).where(contains(members, "id"))
    assert found.where("id < 150000").count() == 150_000
    assert found.where("id >= 150000").count() <= 2000 + 4 * 2000**0.5


def test_no_rows_make_an_empty_filter(spark):
    members = build_filter(spark.range(0), "id", keys=10)
    assert not members and members.kind == "integer"
    nulls = spark.range(5).select(sf.lit(None).cast("string").alias("name"))
    assert not build_filter(nulls, "name")
    # Spark knows that this one has none, and starts no task.
    assert not build_filter(spark.createDataFrame([], "name string"), "name", keys=10)


COLUMNS = {
    "tinyint": ("cast(id % 100 as tinyint)", list(range(100))),
    "smallint": ("cast(id as smallint)", list(range(200))),
    "int": ("cast(id - 100 as int)", list(range(-100, 100))),
    "bigint": ("id * 10000000000", [key * 10**10 for key in range(200)]),
    "boolean": ("id > 1000", [False]),
    "date": ("date_add(date'1969-12-01', cast(id as int))", [datetime.date(1969, 12, 1) + datetime.timedelta(day) for day in range(200)]),
    "timestamp": (
        "timestamp_micros(id * 1000003)",
        [datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(microseconds=key * 1000003) for key in range(200)],
    ),
    "timestamp_ntz": (
        "timestamp_ntz'1969-12-31 00:00:00' + make_dt_interval(cast(id as int))",
        [datetime.datetime(1969, 12, 31) + datetime.timedelta(key) for key in range(200)],
    ),
    "string": ("concat('käse ', id)", [f"käse {key}" for key in range(200)]),
    "binary": ("cast(concat('käse ', id) as binary)", [f"käse {key}".encode() for key in range(200)]),
}


@pytest.mark.parametrize("most", [128 << 20, 1 << 16], ids=["one", "shards"])
def test_keys_are_those_of_docs_keys_md(spark, most):
    """Every type that Spark has of keys, in one frame: the filter has the keys of Python, and answers Spark."""
    frame = spark.range(0, 200, numPartitions=2)
    frame = frame.select(*(sf.expr(text).alias(name) for name, (text, _) in COLUMNS.items()))
    frame = frame.union(frame.select(*(sf.lit(None).cast(kind).alias(name) for name, kind in frame.dtypes)).limit(1)).cache()
    # So many keys are planned that there are shards.
    keys = 10_000 if most > 1 << 16 else 100_000
    answers, filters = [], {}
    for name, (_, values) in COLUMNS.items():
        members = filters[name] = build_filter(frame, name, rate=1e-6, keys=keys, max_driver_bytes=most)
        assert isinstance(members, ShardedFilter) == (most == 1 << 16)
        if isinstance(members, Filter):
            expected = local(keys, 1e-6, values, members.kind)
            assert members.to_bytes() == expected.to_bytes(), name
        answers.append(contains(members, name).alias(name))
    found = frame.select(*answers).groupBy(*COLUMNS).count().collect()
    rows = {tuple(row)[:-1]: row["count"] for row in found}
    # All are found, and nulls stay null.
    assert rows == {(True,) * len(COLUMNS): 200, (None,) * len(COLUMNS): 1}
    # The width of an integer does not matter, nor whether a text is one.
    others = [
        contains(filters["smallint"], frame["bigint"] / 10**10 * 1).alias("fails"),
        contains(filters["smallint"], frame["tinyint"].cast("bigint")),
        contains(filters["string"], frame["binary"]),
        contains(filters["binary"], frame["string"]),
    ]
    assert set(frame.dropna().select(*others[1:]).distinct().collect()) == {(True, True, True)}
    with pytest.raises(Exception, match="floating|double|float"):
        frame.select(others[0]).collect()
    frame.unpersist()


REFUSED = {
    "double": "equal floats",
    "float": "equal floats",
    "decimal(10,2)": "equal decimals",
    "array<int>": "keys are integers",
    "struct<a:int>": "keys are integers",
    "interval day to second": "keys are integers",
}


@pytest.mark.parametrize("kind", REFUSED)
def test_columns_that_are_no_keys_are_refused_by_name(spark, kind):
    frame = spark.createDataFrame([], f"price {kind}")
    with pytest.raises(KeyTypeError, match=f"the column price is .*{REFUSED[kind]}"):
        build_filter(frame, "price", keys=10)


@pytest.mark.parametrize("most", [128 << 20, 1 << 16], ids=["one", "shards"])
def test_a_column_of_another_kind_is_refused(spark, most):
    members = build_filter(spark.range(100), "id", rate=1e-6, keys=100_000, max_driver_bytes=most)
    with pytest.raises(Exception, match="KeyTypeError|CAST_INVALID_INPUT"):
        spark.range(5).select(contains(members, sf.expr("concat('x', id)"))).collect()
    with pytest.raises(Exception, match="double|float"):
        spark.range(5).select(contains(members, sf.expr("cast(id as double)"))).collect()


def test_shards_are_small_and_do_not_depend_on_the_partitions(spark):
    most = 1 << 16
    once = build_filter(spark.range(0, KEYS, numPartitions=2), "id", rate=1e-6, keys=KEYS, max_driver_bytes=most)
    again = build_filter(spark.range(0, KEYS).repartition(7, "id"), "id", rate=1e-6, keys=KEYS, max_driver_bytes=most)
    assert once.shards == again.shards > 2 and once.rate <= 1e-6
    for number in range(once.shards):
        members = once.shard(number)
        assert members.nbytes <= most and members.to_bytes() == again.shard(number).to_bytes()
        # Each has about its share of the keys.
        assert abs(len(members) - KEYS / once.shards) < 6 * (KEYS / once.shards) ** 0.5
    # Stored and absent keys in turn, so that answers on the rows of other keys are seen.
    asked = sf.expr(f"if(id % 2 = 0, id div 2, {KEYS} + id)")
    rows = spark.range(0, 2 * KEYS).select((asked < KEYS).alias("stored"), asked.alias("key"))
    answers = rows.select("stored", contains(once, "key").alias("found"))
    counts = {(row.stored, row.found): row["count"] for row in answers.groupBy("stored", "found").count().collect()}
    assert (True, False) not in counts and counts[True, True] == KEYS and counts.get((False, True), 0) < 10
    with pytest.raises(IndexError, match=f"there are {once.shards}"):
        once.shard(once.shards)


def test_impossible_requirements_are_refused_before_any_job(spark):
    for wrong in [{"rate": 0}, {"rate": 2.0}, {"max_driver_bytes": 5}, {"keys": 0}]:
        with pytest.raises(ValueError):
            build_filter(spark.range(5), "id", **{"keys": 10, **wrong})


class Counted:
    """A filter that writes the number of each process that unpickles it. It is pickled as code, because workers cannot import this."""

    def __init__(self, members, log):
        self.members, self.log = members, log

    def __reduce__(self):
        code = "(print(__import__('os').getpid(), file=open(log, 'a')), members)[1]"
        return eval, (code, {"members": self.members, "log": str(self.log)})


def test_a_worker_unpickles_the_filter_once(spark, tmp_path):
    members = build_filter(spark.range(1000), "id", keys=1000, rate=1e-6)
    frame = spark.range(0, 200_000, numPartitions=8)
    column = contains(Counted(members, tmp_path / "log"), "id")
    assert frame.where(column).count() >= 1000
    assert frame.where(column & (sf.col("id") % 2 == 0)).count() >= 500
    processes = (tmp_path / "log").read_text().split()
    assert len(processes) == len(set(processes)) > 0


def test_decimals_and_floats_of_python_are_no_keys_either():
    """The same kinds are refused by the package itself."""
    with pytest.raises(KeyTypeError):
        local(10, 0.01, [decimal.Decimal(1)])


def test_enough_keys_are_built_without_a_warning(spark):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        build_filter(spark.range(20_000), "id", keys=20_000)
