"""Point queries over a lake of Parquet files: with our index, with Parquet's own Bloom filters, and without any.

    python benchmarks/lake.py

Random keys; missing ones are odd, and within the range of every file. All ways run in one process, turn by turn; processor time of
all threads is counted. The index gets no more bits per key than Parquet's filters.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

import datafusion
import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import equibloom.lake
from equibloom import Index


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--keys", type=int, default=50_000, help="keys per file")
    parser.add_argument("--queries", type=int, default=20, help="hits and misses of a round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--lookups", type=int, default=20_000, help="keys by which opened files are counted")
    parser.add_argument("--only-count", action="store_true", help="count the opened files, and ask no engine")
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def write(directory, files, keys):
    """Writes the lake; returns the bits per key of Parquet's filters."""
    bits = []
    for number in range(files):
        ids = np.random.default_rng(number).integers(0, 2**61, keys) * 2
        table = pa.table({"id": ids, "value": np.arange(keys) / 7})
        path = directory / f"{number:04}.parquet"
        pq.write_table(table, path, row_group_size=keys, bloom_filter_options={"id": {"ndv": keys, "fpp": 0.01}})
        column = pq.read_metadata(path).row_group(0).column(0)
        length = getattr(column, "bloom_filter_length", None)
        bits.append(8 * length / keys if length else None)
    return bits[0]


def datafusion_ways(directory, index):
    def context(filters):
        config = datafusion.SessionConfig().set("datafusion.execution.parquet.bloom_filter_on_read", filters)
        context = datafusion.SessionContext(config)
        context.register_parquet("lake", str(directory))
        return context

    with_filters, without, ours = context("true"), context("false"), datafusion.SessionContext()

    def own(context, key):
        return context.sql(f"select * from lake where id = {key}").to_arrow_table().num_rows

    return {
        "no filters": lambda key: own(without, key),
        "Parquet's filters": lambda key: own(with_filters, key),
        "index": lambda key: (
            equibloom.lake.scan(index, "id", key, engine="datafusion", context=ours).to_arrow_table().num_rows
        ),
        "index, unchecked": lambda key: (
            equibloom.lake.scan(index, "id", key, engine="datafusion", context=ours, check=False).to_arrow_table().num_rows
        ),
    }


def duckdb_ways(directory, index):
    connection = duckdb.connect()

    def own(key):
        return len(connection.execute(f"select * from '{directory}/*.parquet' where id = {key}").fetchall())

    return {
        "Parquet's filters": own,
        "index": lambda key: len(equibloom.lake.scan(index, "id", key, engine="duckdb", context=connection).fetchall()),
        "index, unchecked": lambda key: len(
            equibloom.lake.scan(index, "id", key, engine="duckdb", context=connection, check=False).fetchall()
        ),
    }


def measure(ways, hits, misses, rounds):
    """Milliseconds of processor time per query: for each way, of hits and of misses, one number per round."""
    times = {way: ([], []) for way in ways}
    for number in range(rounds + 1):
        for way, query in ways.items():
            for kind, keys, found in ((0, hits, 1), (1, misses, 0)):
                begin = time.process_time()
                for key in keys:
                    if query(key) != found:
                        sys.exit(f"{way} found another number of rows than {found} for {key}")
                spent = 1e3 * (time.process_time() - begin) / len(keys)
                # The first round fills caches.
                if number:
                    times[way][kind].append(spent)
    return times


def shown(times):
    return f"{statistics.median(times):.2f} ({min(times):.2f} to {max(times):.2f})"


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as directory:
        lake = pathlib.Path(directory) / "lake"
        lake.mkdir()
        parquet_bits = write(lake, options.files, options.keys)
        path = pathlib.Path(directory) / "lake.eqx"
        result = {"files": options.files, "keys": options.keys, "parquet_bits_per_key": parquet_bits, "engines": {}}
        print(f"{options.files} files of {options.keys:,} keys; Parquet's filters: {parquet_bits and round(parquet_bits, 1)} bits per key\n")
        print("| asked | bits per key | opened per hit | opened per miss |\n|---|---|---|---|")
        random = np.random.default_rng(12345)
        for false_files in (0.1, 0.2, 0.5, 1.0, 2.0):
            index = Index.build(lake, "id", path, false_files=false_files)
            bits = index.info()["columns"]["id"]["bits_per_key"]
            per_file = max(options.lookups // options.files, 1)
            columns = [pq.read_table(file, columns=["id"])["id"].to_numpy() for file in lake.iterdir()]
            hits = np.concatenate([random.choice(column, per_file) for column in columns])
            hits = random.permutation(hits).tolist()
            misses = (random.integers(0, 2**61, options.lookups) * 2 + 1).tolist()
            opened = [sum(map(len, index.find("id", keys, check=False))) / len(keys) for keys in (hits, misses)]
            print(f"| {false_files} | {bits:.1f} | {opened[0]:.3f} | {opened[1]:.3f} |")
            result.setdefault("indexes", []).append([false_files, bits, *opened])
            if options.only_count or parquet_bits is None or bits <= parquet_bits:
                break
        if not options.only_count:
            hits, misses = hits[: options.queries], misses[: options.queries]
            print(f"\nmilliseconds of processor time per query, at {bits:.1f} bits per key of the index")
            print("\n| engine | way | hit | miss | ÷ Parquet's filters |\n|---|---|---|---|---|")
            for engine, ways in (("DataFusion", datafusion_ways), ("DuckDB", duckdb_ways)):
                times = measure(ways(lake, index), hits, misses, options.rounds)
                base = times["Parquet's filters"]
                for way, pair in times.items():
                    ratios = [statistics.median([a / b for a, b in zip(mine, own)]) for mine, own in zip(pair, base)]
                    print(f"| {engine} | {way} | {shown(pair[0])} | {shown(pair[1])} | {ratios[0]:.2f}, {ratios[1]:.2f} |")
                result["engines"][engine] = times
        if options.json:
            options.json.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
