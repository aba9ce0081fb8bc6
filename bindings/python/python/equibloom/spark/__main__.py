"""Prints what a build will move and hold: ``python -m equibloom.spark --keys 1e10 --executors 1000``."""

import argparse

from . import scale


def _main() -> None:
    whole = lambda text: int(float(text))
    parser = argparse.ArgumentParser(prog="python -m equibloom.spark", description="What a build moves and holds.")
    parser.add_argument("--keys", type=whole, required=True)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--executors", type=whole, default=2)
    parser.add_argument("--cores", type=whole, default=1, help="of each executor")
    parser.add_argument("--partials", type=whole)
    parser.add_argument("--max-driver-bytes", type=whole, default=128 << 20)
    found = scale(**vars(parser.parse_args()))
    size = "{:,} bytes".format
    lines = {
        "filter": size(found.filter),
        "shards": found.shards,
        "filters after each step": " → ".join(map(str, found.steps)),
        "levels of merging": found.depth,
        "shuffled": ", ".join(map(size, found.shuffled)),
        "received by the driver": size(found.received),
        "network": size(found.network),
        "memory of a task": size(found.task_memory),
        "memory of the driver": size(found.driver_memory),
        "files of the driver": size(found.driver_files),
        "broadcast by a query": size(found.broadcast),
    }
    for name, value in lines.items():
        print(f"{name:24} {value}")


if __name__ == "__main__":
    _main()
