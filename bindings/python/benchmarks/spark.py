"""Filters built by Spark and joins that they prune, beside Spark's own, on two executors of this machine.

    target/spark/bin/python bindings/python/benchmarks/spark.py [--keys 1e7] [--rounds 3] [--json FILE]

Spark's own filter is that of `df.stat.bloomFilter` in Scala and Java; Python reaches it through py4j. CPU time is of all processes:
driver, executors, and their Python workers. Both sides are built in turn, after a build of each that is not counted.
"""

import argparse
import json
import pathlib
import statistics
import tempfile
import time

import spark_events
from equibloom.spark import build_filter, contains, prune_join
from spark_events import Traffic, cpu_seconds

# Absent keys that are asked for; of Spark's own filter fewer, each by a call from Python to Java.
ASKED, ASKED_OF_SPARK = 4_000_000, 50_000


def timed(action):
    """The result, seconds of CPU time, seconds."""
    cpu, start = cpu_seconds(), time.monotonic()
    result = action()
    return result, cpu_seconds() - cpu, time.monotonic() - start


def in_turn(rounds, *actions):
    """For each action its last result, and the medians of its CPU time and time."""
    for action in actions:
        action()
    runs = [[timed(action) for action in actions] for _ in range(rounds)]
    columns = zip(*runs)
    return [(runs[-1][0], *(statistics.median(run[part] for run in runs) for part in (1, 2))) for runs in columns]


def filters(spark, keys, rate, rounds):
    """A build of our filter and of Spark's own, and the share of absent keys that each finds."""
    frame = spark.range(0, keys, numPartitions=4).selectExpr("xxhash64(id) as key")
    absent = spark.range(keys, keys + ASKED, numPartitions=4).selectExpr("xxhash64(id) as key")
    own = lambda: frame._jdf.stat().bloomFilter("key", keys, rate)
    ours, theirs = in_turn(rounds, lambda: build_filter(frame, "key", rate=rate, keys=keys), own)
    found = absent.where(contains(ours[0], "key")).count()
    lost = frame.where(~contains(ours[0], "key")).count()
    might_contain = theirs[0].mightContainLong
    few = [row[0] for row in absent.limit(ASKED_OF_SPARK).collect()]
    return {
        "keys": keys,
        "rate": rate,
        "equibloom": {"rate": found / ASKED, "bytes": ours[0].nbytes, "cpu": ours[1], "seconds": ours[2], "lost": lost},
        "spark": {
            "rate": sum(map(might_contain, few)) / len(few),
            "expected rate": theirs[0].expectedFpp(),
            "bytes": theirs[0].bitSize() // 8,
            "cpu": theirs[1],
            "seconds": theirs[2],
        },
    }


def joins(spark, rows, rounds):
    """A join with a hundredth as many rows, each of which has one partner, pruned and plain."""
    large = spark.range(0, rows, numPartitions=8).selectExpr("xxhash64(id) as key", "id as visit", "lpad(id, 20, '0') as text")
    small = spark.range(0, rows // 100, numPartitions=2).selectExpr("xxhash64(id * 100) as key", "id as customer")
    sums = ["count(*)", "sum(visit)", "sum(customer)", "max(text)"]
    pruned = lambda: prune_join(large, small, "key").selectExpr(*sums).head()
    plain = lambda: large.join(small, "key").selectExpr(*sums).head()
    results = {}
    for name, action, (answer, cpu, seconds) in zip(
        ("equibloom", "spark"), (pruned, plain), in_turn(rounds, pruned, plain)
    ):
        with Traffic(spark) as traffic:
            assert action() == answer
        results[name] = {"answer": list(answer), "shuffled": traffic.shuffled, "cpu": cpu, "seconds": seconds}
    assert results["equibloom"]["answer"] == results["spark"]["answer"], "rows were lost"
    return {"rows": rows, "small": rows // 100, **results}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    whole = lambda text: int(float(text))
    parser.add_argument("--keys", type=whole, default=10_000_000)
    parser.add_argument("--rates", default="0.03,0.001")
    parser.add_argument("--join", type=whole, default=20_000_000, help="rows of the larger side")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    chosen = parser.parse_args(arguments)
    path = chosen.json.resolve() if chosen.json else None
    results = {"filters": [], "join": None}
    with tempfile.TemporaryDirectory() as directory:
        # Neither side of the join is to be broadcast.
        spark = spark_events.start(directory, memory=2048, **{"spark.sql.autoBroadcastJoinThreshold": "-1"})
        try:
            print("| keys | asked | filter | measured rate | bytes | CPU time | time |\n|---|---|---|---|---|---|---|")
            for rate in map(float, chosen.rates.split(",")):
                row = filters(spark, chosen.keys, rate, chosen.rounds)
                results["filters"].append(row)
                for name in ("equibloom", "spark"):
                    one = row[name]
                    print(
                        f"| {row['keys']:,} | {rate:.3g} | {name} | {one['rate']:.3g} | {one['bytes']:,} "
                        f"| {one['cpu']:.2f} s | {one['seconds']:.2f} s |",
                        flush=True,
                    )
                print(f"lost: {row['equibloom']['lost']}; CPU time {row['equibloom']['cpu'] / row['spark']['cpu']:.2f} times Spark's")
            row = results["join"] = joins(spark, chosen.join, chosen.rounds)
            print("\n| join | shuffled bytes | CPU time | time |\n|---|---|---|---|")
            for name in ("equibloom", "spark"):
                one = row[name]
                print(f"| {name} | {one['shuffled']:,} | {one['cpu']:.2f} s | {one['seconds']:.2f} s |")
            ours, theirs = row["equibloom"], row["spark"]
            print(", ".join(f"{part} {ours[part] / theirs[part]:.3f}" for part in ("shuffled", "cpu", "seconds")))
        finally:
            spark.stop()
            if path:
                path.write_text(json.dumps(results, indent=1))
    return results


if __name__ == "__main__":
    main()
