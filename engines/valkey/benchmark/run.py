"""The module beside a classical filter of the same rate, behind the same commands, and beside sets.

    cargo xtask valkey benchmark [--keys 10000000,50000000] [--server valkey]

The classical filter is a build option of the module, for this comparison only: an item's bits lie anywhere in one
array, a lookup ends at the first unset bit, items are asked one after another, with the same hash. Times are microseconds inside the
server by `INFO commandstats`, as medians of rounds in which the filters take turns; so the client's speed does not count. Only ratios
within one run mean something.
"""

import argparse
import multiprocessing
import socket
import statistics
import sys
import threading
import time
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import servers  # noqa: E402

WIDTH = 12  # digits of an item
ROUND = 200_000  # items of a round of lookups
ROUNDS = 7
TURNS = 50  # of commands beside which a second client waits
SINGLE = {"BF.MEXISTS": "BF.EXISTS", "SMISMEMBER": "SISMEMBER"}


def words(numbers):
    """Bulk strings of numbers: an array of bytes, a row for each."""
    digits = numbers[:, None] // 10 ** numpy.arange(WIDTH - 1, -1, -1)[None, :] % 10
    rows = numpy.empty((len(numbers), WIDTH + 7), dtype=numpy.uint8)
    rows[:, :5] = numpy.frombuffer(f"${WIDTH}\r\n".encode(), dtype=numpy.uint8)
    rows[:, 5 : 5 + WIDTH] = digits + ord("0")
    rows[:, 5 + WIDTH :] = numpy.frombuffer(b"\r\n", dtype=numpy.uint8)
    return rows


def payload(command, key, start, count, at_once):
    """Commands for the items from `start` on, `at_once` each."""
    head = f"*{2 + at_once}\r\n${len(command)}\r\n{command}\r\n${len(key)}\r\n{key}\r\n".encode()
    # Items in a random order, without repetition: multiplied by an odd number, modulo a power of ten.
    numbers = numpy.arange(start, start + count, dtype=numpy.uint64) * numpy.uint64(387_420_489) % numpy.uint64(10**11)
    items = words(numbers).reshape(count // at_once, -1)
    heads = numpy.broadcast_to(numpy.frombuffer(head, dtype=numpy.uint8), (len(items), len(head)))
    return numpy.concatenate([heads, items], axis=1).tobytes()


class Client:
    """Sends whole pipelines and counts replies: nothing is parsed but what is needed."""

    def __init__(self, server):
        self.server = server
        self.socket = socket.create_connection(("127.0.0.1", server.port))
        self.socket.settimeout(60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data, lines):
        """Sends a pipeline and waits for so many lines of replies; returns their bytes."""
        sender = threading.Thread(target=self.socket.sendall, args=(data,))
        sender.start()
        replies = bytearray()
        count = 0
        while count < lines:
            part = self.socket.recv(1 << 20)
            assert part, "the server closed the connection"
            count += part.count(b"\n")
            replies += part
        sender.join()
        assert b"-" not in replies, bytes(replies[:300])
        return replies

    def run(self, command, key, start, count, at_once):
        """Replies of 1, over all items."""
        ones, step = 0, 100_000 // at_once * at_once
        for first in range(start, start + count, step):
            now = min(step, start + count - first)
            # SADD answers with one number.
            lines = now // at_once + (now if at_once > 1 and command != "SADD" else 0)
            replies = self.send(payload(command, key, first, now, at_once), lines)
            ones += replies.count(b":1\r\n")
        return ones


def microseconds(server, command):
    stats = server.client().info("commandstats").items()
    return sum(fields["usec"] for name, fields in stats if name.lower() == f"cmdstat_{command.lower()}")


def measured(server, client, command, key, start, count, at_once):
    """Nanoseconds per item inside the server, and replies of 1."""
    before = microseconds(server, command)
    ones = client.run(command, key, start, count, at_once)
    return 1000 * (microseconds(server, command) - before) / count, ones


class Contestant:
    """A server with one structure."""

    def __init__(self, name, binary, keys, module, reserve, add, ask):
        self.name, self.keys = name, keys
        self.server = servers.Server(binary, module=module, **({"equibloom__memory_limit": 0} if module else {}))
        self.client, self.add, self.ask = Client(self.server), add, ask
        if reserve:
            self.server.client().execute_command(*reserve)

    def fill(self):
        nanoseconds, new = measured(self.server, self.client, self.add, "f", 0, self.keys, 100)
        bits = self.server.client().memory_usage("f", samples=10_000) * 8 / self.keys
        return nanoseconds, new, bits

    def rounds(self):
        """What a round measures: name, first item, items at once."""
        yield "miss, 100 at once", self.keys * 2, 100
        yield "hit, 100 at once", 0, 100
        yield "miss, single", self.keys * 2, 1
        yield "hit, single", 0, 1


def compare(binary, keys):
    plain, classical = servers.MODULE, servers.TARGET / "classical.so"
    rate = 0.01
    contestants = [
        Contestant("planned", binary, keys, plain, ["BF.RESERVE", "f", rate, keys], "BF.MADD", "BF.MEXISTS"),
        Contestant("classical", binary, keys, classical, ["BF.RESERVE", "f", rate, keys, "NONSCALING"], "BF.MADD", "BF.MEXISTS"),
        Contestant("grown from 100", binary, keys, plain, None, "BF.MADD", "BF.MEXISTS"),
        Contestant("set", binary, keys, None, None, "SADD", "SMISMEMBER"),
    ]
    print(f"\n{keys:,} keys at {rate:.0%}")
    print(f"{'':16}{'add, ns':>10}{'bits/key':>10}{'rate':>10}")
    for contestant in contestants:
        nanoseconds, new, bits = contestant.fill()
        _, found = measured(contestant.server, contestant.client, contestant.ask, "f", keys * 3, 1_000_000, 100)
        if contestant.name != "set":
            asked = min(keys, 1_000_000)
            _, kept = measured(contestant.server, contestant.client, contestant.ask, "f", 0, asked, 100)
            assert kept == asked, "an item is lost"
        print(f"{contestant.name:16}{nanoseconds:10.0f}{bits:10.2f}{found / 1e6:10.5f}", flush=True)
    results = {}
    for turn in range(ROUNDS):
        first = turn % len(contestants)
        for contestant in contestants[first:] + contestants[:first]:
            # The others have taken the caches.
            contestant.client.run(contestant.ask, "f", keys * 4, ROUND // 4, 100)
            for name, first, at_once in contestant.rounds():
                first += turn * ROUND % (keys - ROUND)
                command = contestant.ask if at_once > 1 else SINGLE[contestant.ask]
                count = ROUND if at_once > 1 else ROUND // 4
                ns, _ = measured(contestant.server, contestant.client, command, "f", first, count, at_once)
                results.setdefault(name, {}).setdefault(contestant.name, []).append(ns)
    print(f"{'ns per item in the server (classical / this)':50}" + "".join(f"{c.name:>24}" for c in contestants))
    for name, values in results.items():
        medians = {who: statistics.median(ns) for who, ns in values.items()}
        line = "".join(f"{ns:14.0f} ({medians['classical'] / ns:5.2f} x)" for ns in medians.values())
        print(f"{name:50}{line}")
    rates(contestants)
    for contestant in contestants:
        contestant.server.remove()


def rates(contestants):
    """Commands per second as this client sees them, its own time included."""
    print("commands per second seen by one client with pipelines")
    for contestant in contestants:
        line = f"{contestant.name:16}"
        for at_once, count in [(1, 100_000), (100, 1_000_000)]:
            command = contestant.ask if at_once > 1 else SINGLE[contestant.ask]
            data = payload(command, "f", 0, count, at_once)
            start = time.perf_counter()
            contestant.client.send(data, count + (count // at_once if at_once > 1 else 0))
            line += f"{count / at_once / (time.perf_counter() - start):14,.0f} of {at_once}"
        print(line, flush=True)


def ping(server, stop, waits):
    """Sends PING, and then how long each took."""
    client, seen = Client(server), []
    while not stop.is_set():
        start = time.perf_counter()
        client.send(b"PING\r\n", 1)
        seen.append(time.perf_counter() - start)
        time.sleep(0.0005)
    waits.send(seen)


class Pinger:
    """A second client, in a process of its own: it never waits for the first one, only for the server."""

    def __init__(self, server):
        fork = multiprocessing.get_context("fork")
        self.stop = fork.Event()
        self.waits, sender = fork.Pipe(duplex=False)
        self.process = fork.Process(target=ping, args=(server, self.stop, sender), daemon=True)
        self.process.start()

    def finish(self):
        self.stop.set()
        waits = self.waits.recv()
        self.process.join()
        return waits


def report(name, waits):
    waits = sorted(waits)
    p999 = 1e3 * waits[int(len(waits) * 0.999)]
    print(f"{name:44}{p999:9.2f}{1e3 * waits[-1]:9.2f}{len(waits):9}", flush=True)
    return p999


def inside(server):
    """Percentiles of the microseconds inside the server."""
    stats = server.client().info("latencystats").items()
    found = next(percentiles for name, percentiles in stats if name.lower().endswith("bf.madd"))
    return ", ".join(f"{name} {value:,.0f} us" for name, value in found.items())


def pauses(binary, keys):
    """PING beside growth, and beside SET commands of the same size, turn by turn; then saving and a replica."""
    print("\nPING of a second client, in milliseconds: p99.9, longest, number")
    server = servers.Server(
        binary, equibloom__memory_limit=0, latency_tracking_info_percentiles="50 99.9 99.99 100"
    )
    client = Client(server)
    value = "x" * (100 * (WIDTH + 7))
    text = "".join(f"*3\r\n$3\r\nSET\r\n$5\r\nk{{:04}}\r\n${len(value)}\r\n{value}\r\n".format(n) for n in range(50))
    command_bytes = payload("BF.MADD", "f", 0, 5_000, 100)

    def beside(work, *arguments):
        pinger = Pinger(server)
        work(*arguments)
        return pinger.finish()

    def add(name, first, count):
        for start in range(first, first + count, 5_000):
            client.send(payload("BF.MADD", name, start, 5_000, 100), 5_050)

    def repeat(pipeline, replies, seconds):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            client.send(pipeline, replies)

    line = "*3\r\n$3\r\nSET\r\n$12\r\n{:012}\r\n$1\r\nx\r\n"
    single = "".join(line.format(number) for number in range(5_000)).encode()
    print(f"pipelines of 50 commands; BF.MADD of 100 items: {len(command_bytes) // 50} bytes, SET: {len(text) // 50}")
    server.client().execute_command("BF.RESERVE", "p", 0.01, keys)
    of_sets, of_items, of_planned, of_growth = waits = [], [], [], []
    # They take turns of the same length, so that what else the machine does meets all.
    for turn in range(TURNS):
        first, count = keys // TURNS * turn, keys // TURNS
        start = time.perf_counter()
        of_growth += beside(add, "f", first, count)
        seconds = time.perf_counter() - start
        of_planned += beside(add, "p", first, count)
        of_sets += beside(repeat, text.encode(), 50, seconds)
        of_items += beside(repeat, single, 5_000, seconds)
    names = ["SET", "SET of one item", "BF.MADD into a planned filter", f"growth from 100 to {keys:,}"]
    of_sets, of_items, of_planned, of_growth = map(report, names, waits)
    print(f"growth / SET of the same bytes {of_growth / of_sets:.2f}, SET of the same items {of_growth / of_items:.2f}, "
          f"a planned filter {of_growth / of_planned:.2f}")
    grown = keys
    for at_once in (100, 1_000):
        server.client().config_resetstat()
        client.send(payload("BF.MADD", "f", grown, keys // 10, at_once), keys // 10 + keys // 10 // at_once)
        grown += keys // 10
        print(f"inside the server, growing by BF.MADD of {at_once:5}: {inside(server)}", flush=True)

    def save():
        server.client().bgsave()
        while server.client().info("persistence")["rdb_bgsave_in_progress"]:
            grow_a_little()

    def grow_a_little():
        nonlocal grown
        client.send(payload("BF.MADD", "f", grown, 5_000, 100), 5_050)
        grown += 5_000

    report("growth beside BGSAVE", beside(save))
    replica = servers.Server(binary)

    def replicate():
        replica.client().replicaof("127.0.0.1", server.port)
        while replica.client().info("replication")["master_link_status"] != "up":
            grow_a_little()

    report("growth beside a replica's first copy", beside(replicate))
    for one in (server, replica):
        one.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", default="10000000,50000000")
    parser.add_argument("--server", default="valkey", choices=sorted(servers.BINARIES))
    parser.add_argument("--pauses", type=int, help="only the pauses, up to so many keys")
    arguments = parser.parse_args()
    binary = servers.BINARIES[arguments.server]
    if arguments.pauses:
        return pauses(binary, arguments.pauses)
    sizes = [int(keys) for keys in arguments.keys.split(",")]
    for keys in sizes:
        compare(binary, keys)
    pauses(binary, sizes[-1])


if __name__ == "__main__":
    main()
