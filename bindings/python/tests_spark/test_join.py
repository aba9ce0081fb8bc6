"""A pruned join has the rows of the join, and shuffles few of the others."""

import pytest
from equibloom import KeyTypeError
from equibloom.spark import prune_join
from pyspark.sql import functions as sf
from spark_events import Traffic


@pytest.fixture(scope="module")
def sides(spark):
    visits = spark.range(0, 100_000, numPartitions=4).selectExpr("id % 30000 as customer", "id as visit", "repeat('x', 20) as text")
    visits = visits.union(spark.sql("select null, -1L, 'nobody'"))
    orders = spark.range(0, 600, numPartitions=2).selectExpr("cast(id * 97 as int) as customer", "id as order")
    orders = orders.union(spark.sql("select null, -1L"))
    yield visits.cache(), orders.cache()
    visits.unpersist()
    orders.unpersist()


@pytest.mark.parametrize("most", [128 << 20, 1 << 16], ids=["one", "shards"])
@pytest.mark.parametrize("how", ["inner", "semi"])
@pytest.mark.parametrize("turned", [False, True])
def test_the_rows_are_those_of_the_join(spark, sides, how, turned, most):
    left, right = reversed(sides) if turned else sides
    keys = 600 if most > 1 << 16 else 100_000
    pruned = prune_join(left, right, "customer", how=how, keys=keys, max_driver_bytes=most)
    exact = left.join(right, "customer", how)
    assert pruned.columns == exact.columns
    lost, added = exact.exceptAll(pruned).count(), pruned.exceptAll(exact).count()
    print(f"{how}, {exact.count()} rows: {lost} lost, {added} added")
    assert (lost, added) == (0, 0) and exact.count() > 100


def test_either_side_may_be_called_small(spark, sides):
    visits, orders = sides
    for small in ["left", "right"]:
        assert prune_join(visits, orders, "customer", small=small).count() == visits.join(orders, "customer").count()


def test_several_columns_are_joined_by(spark, sides):
    visits, orders = sides
    orders = orders.withColumn("visit", sf.col("customer").cast("bigint"))
    exact = visits.join(orders, ["customer", "visit"])
    assert prune_join(visits, orders, ["customer", "visit"]).count() == exact.count() > 100


def test_little_is_shuffled(spark, sides):
    visits, orders = sides
    no_broadcast = {"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.shuffle.partitions": "2"}
    old = {name: spark.conf.get(name) for name in no_broadcast}
    for name, value in no_broadcast.items():
        spark.conf.set(name, value)
    try:
        with Traffic(spark) as plain:
            expected = visits.join(orders, "customer").selectExpr("sum(visit)", "count(*)").head()
        with Traffic(spark) as pruned:
            found = prune_join(visits, orders, "customer").selectExpr("sum(visit)", "count(*)").head()
    finally:
        for name, value in old.items():
            spark.conf.set(name, value)
    assert found == expected
    assert pruned.shuffled < plain.shuffled / 4


@pytest.mark.parametrize(
    "left, right",
    [("bigint", "string"), ("date", "timestamp"), ("timestamp", "timestamp_ntz"), ("string", "binary"), ("boolean", "int"), ("double", "double")],
)
def test_columns_that_may_be_equal_with_different_bytes_are_refused(spark, left, right):
    sides = [spark.createDataFrame([], f"key {kind}") for kind in (left, right)]
    with pytest.raises(KeyTypeError, match="the column key is"):
        prune_join(*sides, "key")


def test_padded_and_collated_strings_are_refused(spark):
    plain = spark.createDataFrame([], "key string")
    collated = spark.createDataFrame([], "key string collate UTF8_LCASE")
    with pytest.raises(KeyTypeError, match="different texts are equal"):
        prune_join(collated, collated, "key")
    spark.sql("create table padded (key char(5)) using parquet")
    try:
        with pytest.raises(KeyTypeError, match="char|is string and string"):
            prune_join(spark.table("padded"), plain, "key")
        with pytest.raises(KeyTypeError, match="padded to compare"):
            prune_join(spark.table("padded"), spark.table("padded"), "key")
    finally:
        spark.sql("drop table padded")


def test_other_joins_are_refused(spark, sides):
    with pytest.raises(ValueError, match="keep rows without a partner"):
        prune_join(*sides, "customer", how="left")
    with pytest.raises(ValueError, match="small is 'both'"):
        prune_join(*sides, "customer", small="both")
    with pytest.raises(ValueError, match="on is empty"):
        prune_join(*sides, [])
