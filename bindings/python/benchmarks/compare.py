"""Equibloom beside other packages: one run, turn by turn, the same keys, the same false-positive rate as measured.

    python benchmarks/compare.py --keys 1e6 1e7 --rates 0.01 0.001 0.0001 --json run.json --picture run.png

Every filter is first tuned on fewer keys, until its measured rate is the one asked for. Then the filters take turns, and
medians of the processor time per key are printed. Filters without columns get a list of Python objects that was made
before. Ratios within one run are what counts: machines differ.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import platform
import statistics
import sys
import time

import numpy as np
import pyarrow as pa

import engines

TUNED_WITH = 100_000
MOST_FOR_SLOW = 2_000_000
TIMES = ("build", "misses", "hits")


def keys_of(kind: str, count: int, first: int):
    """Keys as an array, and as a list: distinct, and scattered like hashes."""
    numbers = np.arange(first, first + count, dtype=np.uint64) * np.uint64(0x9E37_79B9_7F4A_7C15)
    if kind == "int64":
        column = numbers.view(np.int64)
        return column, column.tolist()
    texts = [f"{number:020d}" for number in numbers.tolist()]
    return pa.array(texts), texts


def tuned(engine, kind: str, rate: float) -> float:
    """The rate to ask the engine for, so that about `rate` is measured."""
    if engine.exact:
        return rate
    # So many that about a hundred of them are found.
    lookups = int(min(max(100 / rate, 4 * TUNED_WITH), 10 * TUNED_WITH))
    present, absent = keys_of(kind, TUNED_WITH, 0), keys_of(kind, lookups, 10**9)
    asked = rate
    for _ in range(6):
        members = engine.build(engine.input(*present), TUNED_WITH, asked)
        found = max(engine.count(members, engine.input(*absent)), 1)
        measured = found / lookups
        # As close as so few can tell.
        if abs(math.log(measured / rate)) < max(0.05, found**-0.5):
            break
        asked = min(max(asked * rate / measured, rate / 30), min(rate * 30, 0.5))
    return asked


def processor_seconds(run):
    """The result of a call, and the processor time that it took in all threads."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    result = run()
    seconds = time.process_time() - start
    gc.enable()
    return result, seconds


def compare(kind: str, count: int, rate: float, names: list[str], rounds: int, with_slow: bool):
    """A row of results for each engine, with the times of all rounds."""
    chosen = [engine for engine in engines.ALL if engine.name in names]
    if count > MOST_FOR_SLOW and not with_slow:
        chosen = [engine for engine in chosen if not engine.slow]
    asked = {engine.name: tuned(engine, kind, rate) for engine in chosen}
    present, absent = keys_of(kind, count, 0), keys_of(kind, count, 10**10)
    rows = {
        engine.name: {"engine": engine.name, "kind": kind, "keys": count, "rate": rate, "exact": engine.exact}
        | {f"{what}_rounds": [] for what in TIMES}
        for engine in chosen
    }
    for turn in range(rounds):
        # Another one begins each time.
        first = turn % max(len(chosen), 1)
        for engine in chosen[first:] + chosen[:first]:
            if turn > 0 and engine.slow:
                continue
            row = rows[engine.name]
            inside, outside = engine.input(*present), engine.input(*absent)
            members, seconds = processor_seconds(lambda: engine.build(inside, count, asked[engine.name]))
            row["build_rounds"].append(seconds)
            found, seconds = processor_seconds(lambda: engine.count(members, outside))
            row["misses_rounds"].append(seconds)
            hits, seconds = processor_seconds(lambda: engine.count(members, inside))
            row["hits_rounds"].append(seconds)
            assert hits == count, f"{engine.name} lost {count - hits} keys"
            row |= {"bytes_per_key": engine.bytes(members, inside) / count, "measured_rate": found / count}
            del members
    for row in rows.values():
        row |= {f"{what}_ns": 1e9 * statistics.median(row[f"{what}_rounds"]) / count for what in TIMES}
    return list(rows.values())


def verdict(rows) -> list[str]:
    """Ours beside the best Bloom package in each respect, as sentences."""
    ours = next((row for row in rows if row["engine"] == "equibloom"), None)
    others = [row for row in rows if row is not ours and not row["exact"]]
    if ours is None or not others:
        return []
    where = f"{ours['keys']:,} keys of {ours['kind']} at {ours['rate']:g}"
    sentences = []
    for what in TIMES:
        fastest = min(others, key=lambda row: row[f"{what}_ns"])
        # Round by round: what else the machine does slows both.
        ratios = [theirs / mine for theirs, mine in zip(fastest[f"{what}_rounds"], ours[f"{what}_rounds"])]
        sentences.append(f"{where}: {what} {statistics.median(ratios):.2f} x as fast as {fastest['engine']}, the fastest")
    fastest = min(others, key=lambda row: row["misses_ns"])
    for name, row in (("the fastest", fastest), ("the smallest", min(others, key=lambda row: row["bytes_per_key"]))):
        ratio = ours["bytes_per_key"] / row["bytes_per_key"]
        sentences.append(
            f"{where}: {ratio:.2f} of the bytes of {row['engine']}, {name}"
            f" (measured rates {ours['measured_rate']:.3g} and {row['measured_rate']:.3g})"
        )
    return sentences


def scalars(count: int, names: list[str], rounds: int):
    """`key in filter` in a loop of Python, less the loop itself; and the constructor of a small filter."""
    rows = []
    for kind in ("int64", "text"):
        (_, present), (_, absent) = keys_of(kind, count, 0), keys_of(kind, count, 10**10)
        times: dict[str, dict[str, list[float]]] = {}
        chosen = [engine for engine in engines.SCALARS if engine.name in names]
        built = {engine.name: engine.scalar(present, 0.01) for engine in chosen}
        for _ in range(rounds):
            _, empty = processor_seconds(lambda: sum(1 for key in absent if key is None))
            for engine in chosen:
                members = built[engine.name]
                for what, keys in (("misses", absent), ("hits", present)):
                    _, seconds = processor_seconds(lambda: sum(1 for key in keys if key in members))
                    times.setdefault(engine.name, {}).setdefault(what, []).append(seconds - empty)
                _, seconds = processor_seconds(lambda: [engine.empty(1_000, 0.01) for _ in range(300)])
                times[engine.name].setdefault("constructor", []).append(seconds)
        for name, taken in times.items():
            row = {"engine": name, "kind": kind, "keys": count}
            row |= {f"{what}_ns": 1e9 * statistics.median(taken[what]) / count for what in ("misses", "hits")}
            rows.append(row | {"constructor_ns": 1e9 * statistics.median(taken["constructor"]) / 300})
    return rows


def scalar_verdict(rows) -> list[str]:
    """Ours beside abloom, as sentences."""
    sentences = []
    for kind in ("int64", "text"):
        of_kind = {row["engine"]: row for row in rows if row["kind"] == kind}
        ours, theirs = of_kind.get("equibloom"), of_kind.get("abloom")
        if ours and theirs:
            ratios = ", ".join(f"{what} {ours[f'{what}_ns'] / theirs[f'{what}_ns']:.2f}" for what in ("misses", "hits", "constructor"))
            sentences.append(f"one by one, {kind}: time of equibloom by that of abloom: {ratios}")
    return sentences


def threads(count: int, rounds: int):
    """How much faster two threads are than one: our lookups, and plain arithmetic, by the clock."""
    import threading

    import equibloom

    column = keys_of("int64", count, 0)[0]
    absent = keys_of("int64", count, 10**10)[0]
    seen = equibloom.Filter.from_keys(column, rate=0.01)
    out = np.empty(count, bool)
    numbers = np.random.default_rng(1).random(2_000_000)

    def arithmetic(workers):
        def work():
            for _ in range(12 // workers):
                np.sqrt(np.sin(numbers) ** 2 + 1)

        running = [threading.Thread(target=work) for _ in range(workers)]
        [worker.start() for worker in running]
        [worker.join() for worker in running]

    def clock(run):
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    ratios: dict[str, list[float]] = {"lookups": [], "arithmetic": []}
    for _ in range(rounds):
        ratios["arithmetic"].append(clock(lambda: arithmetic(1)) / clock(lambda: arithmetic(2)))
        one, two = (clock(lambda: seen.contains(absent, out=out, threads=number)) for number in (1, 2))
        ratios["lookups"].append(one / two)
    return {name: {"median": statistics.median(values), "best": max(values)} for name, values in ratios.items()}


def table(rows, columns):
    """Rows as a table of Markdown."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        cells = [f"{row[column]:.4g}" if isinstance(row[column], float) else str(row[column]) for column in columns]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def picture(rows, path):
    """Time per miss against bytes per key: a panel for each rate, kind and number of keys. Exact sets are in all of them."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    across = sorted({(row["kind"], row["keys"]) for row in rows})
    down = sorted({row["rate"] for row in rows}, reverse=True)
    figure, axes = pyplot.subplots(len(down), len(across), figsize=(5 * len(across), 4 * len(down)), squeeze=False)
    for panels, rate in zip(axes, down):
        for axis, (kind, keys) in zip(panels, across):
            for row in rows:
                if (row["kind"], row["keys"]) == (kind, keys) and (row["exact"] or row["rate"] == rate):
                    color = "C3" if row["engine"] == "equibloom" else "C7" if row["exact"] else "C0"
                    axis.scatter(row["bytes_per_key"], row["misses_ns"], color=color)
                    axis.annotate(row["engine"], (row["bytes_per_key"], row["misses_ns"]), fontsize=8)
            axis.set(xscale="log", yscale="log", xlabel="bytes per key", ylabel="processor time per miss, ns")
            axis.set_title(f"{keys:,} {kind}, rate {rate:g}")
    figure.tight_layout()
    figure.savefig(path)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=float, nargs="+", default=[1e6])
    parser.add_argument("--rates", type=float, nargs="+", default=[0.01])
    parser.add_argument("--kinds", nargs="+", default=["int64", "text"], choices=["int64", "text"])
    parser.add_argument("--engines", nargs="+", default=[engine.name for engine in engines.ALL])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slow", action="store_true", help="slow packages with more than two million keys, too")
    parser.add_argument("--scalars", type=float, default=1e6, help="keys that are looked up one by one; 0 for none")
    parser.add_argument("--threads", type=float, default=1e7, help="keys that one and two threads look up; 0 for none")
    parser.add_argument("--json", help="write all results to this file")
    parser.add_argument("--picture", help="draw them into this file")
    options = parser.parse_args(arguments)
    results = {"machine": {"python": sys.version.split()[0], "processor": platform.machine(), "cores": os.cpu_count()}}
    rows = results["columns"] = []
    columns = ["engine", "kind", "keys", "rate", "measured_rate", "bytes_per_key", "build_ns", "misses_ns", "hits_ns"]
    for kind in options.kinds:
        for count in options.keys:
            names = options.engines
            for rate in options.rates:
                new = compare(kind, int(count), rate, names, options.rounds, options.slow)
                print(table(new, columns), *verdict(new), sep="\n", end="\n\n", flush=True)
                rows += new
                # An exact set has no rate: once is enough.
                names = [engine.name for engine in engines.ALL if engine.name in names and not engine.exact]
    if options.scalars:
        results["scalars"] = scalars(int(options.scalars), options.engines, options.rounds)
        print(table(results["scalars"], ["engine", "kind", "keys", "misses_ns", "hits_ns", "constructor_ns"]))
        print(*scalar_verdict(results["scalars"]), sep="\n", end="\n\n", flush=True)
    if options.threads:
        results["threads"] = threads(int(options.threads), options.rounds)
        print("two threads beside one:", json.dumps(results["threads"]))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    if options.picture:
        picture(rows, options.picture)
    return results


if __name__ == "__main__":
    main()
