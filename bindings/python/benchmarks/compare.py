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
    present, absent = keys_of(kind, TUNED_WITH, 0), keys_of(kind, 4 * TUNED_WITH, 10**9)
    asked = rate
    for _ in range(6):
        members = engine.build(engine.input(*present), TUNED_WITH, asked)
        measured = max(engine.count(members, engine.input(*absent)), 1) / (4 * TUNED_WITH)
        if abs(math.log(measured / rate)) < 0.05:
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


def compare(kind: str, count: int, rate: float, names: list[str], rounds: int):
    """A row of results for each engine."""
    chosen = [engine for engine in engines.ALL if engine.name in names and count <= engine.most_keys and kind in engine.kinds]
    asked = {engine.name: tuned(engine, kind, rate) for engine in chosen}
    present, absent = keys_of(kind, count, 0), keys_of(kind, count, 10**10)
    times = {engine.name: {"build": [], "misses": [], "hits": []} for engine in chosen}
    rows = {}
    for turn in range(rounds):
        # Another one begins each time.
        for engine in chosen[turn % len(chosen) :] + chosen[: turn % len(chosen)]:
            inside, outside = engine.input(*present), engine.input(*absent)
            members, seconds = processor_seconds(lambda: engine.build(inside, count, asked[engine.name]))
            times[engine.name]["build"].append(seconds)
            found, seconds = processor_seconds(lambda: engine.count(members, outside))
            times[engine.name]["misses"].append(seconds)
            hits, seconds = processor_seconds(lambda: engine.count(members, inside))
            times[engine.name]["hits"].append(seconds)
            assert hits == count, f"{engine.name} lost {count - hits} keys"
            rows[engine.name] = {"bytes_per_key": engine.bytes(members, inside) / count, "measured_rate": found / count}
            del members
    for name, row in rows.items():
        row |= {"engine": name, "kind": kind, "keys": count, "rate": rate}
        row |= {f"{what}_ns": 1e9 * statistics.median(seconds) / count for what, seconds in times[name].items()}
    return [rows[engine.name] for engine in chosen]


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
    """Time per miss against bytes per key: a panel for each kind and number of keys, at the highest rate."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = sorted({(row["kind"], row["keys"], row["rate"]) for row in rows}, key=str)
    figure, axes = pyplot.subplots(1, len(panels), figsize=(5 * len(panels), 4), squeeze=False)
    for axis, panel in zip(axes[0], panels):
        for row in rows:
            if (row["kind"], row["keys"], row["rate"]) == panel:
                axis.scatter(row["bytes_per_key"], row["misses_ns"], color="C3" if row["engine"] == "equibloom" else "C0")
                axis.annotate(row["engine"], (row["bytes_per_key"], row["misses_ns"]), fontsize=8)
        axis.set(xscale="log", yscale="log", xlabel="bytes per key", ylabel="processor time per miss, ns")
        axis.set_title(f"{panel[1]:,} {panel[0]}, rate {panel[2]:g}")
    figure.tight_layout()
    figure.savefig(path)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=float, nargs="+", default=[1e6])
    parser.add_argument("--rates", type=float, nargs="+", default=[0.01])
    parser.add_argument("--kinds", nargs="+", default=["int64", "text"], choices=["int64", "text"])
    parser.add_argument("--engines", nargs="+", default=[engine.name for engine in engines.ALL])
    parser.add_argument("--rounds", type=int, default=3)
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
            for rate in options.rates:
                new = compare(kind, int(count), rate, options.engines, options.rounds)
                print(table(new, columns), end="\n\n", flush=True)
                rows += new
    if options.scalars:
        results["scalars"] = scalars(int(options.scalars), options.engines, options.rounds)
        print(table(results["scalars"], ["engine", "kind", "keys", "misses_ns", "hits_ns", "constructor_ns"]), end="\n\n")
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
