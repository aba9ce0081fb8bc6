"""A primary and a replica under random commands, with restarts and kills: what was acknowledged is never lost."""

import itertools
import random
import threading
import time

import pytest
import redis
from test_server import as_map, connect, dumps, synchronised, wait_for
import servers

SECONDS = 30
FILTERS = {
    b"small": [],
    b"planned": ["CAPACITY", 20_000],
    b"large": ["CAPACITY", 200_000, "ERROR", 0.001],
    b"fixed": ["CAPACITY", 5_000, "NONSCALING"],
    b"removable": ["REMOVABLE"],
    b"removable fixed": ["REMOVABLE", "NONSCALING", "CAPACITY", 5_000],
}


class Oracle:
    """Exact sets of what was acknowledged."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.items = {name: set() for name in FILTERS}
        self.commands = self.next = 0

    def step(self, client):
        name = self.random.choice(list(FILTERS))
        options = ["EB.INSERT", name, *FILTERS[name], "ITEMS"]
        kept = self.items[name]
        self.commands += 1
        match self.random.randrange(12):
            case 0 if name.startswith(b"removable") and kept:
                gone = self.random.sample(sorted(kept), min(20, len(kept)))
                # Before the reply it is unknown whether they are gone.
                kept.difference_update(gone)
                assert all(client.execute_command("EB.MREMOVE", name, *gone))
            case 1:
                client.copy(name, b"copy of " + name, replace=True)
            case 2:
                client.execute_command("EB.MERGE", "merged", *self.mergeable(client))
            case 3:
                if client.exists(name):
                    client.restore("restored", 0, client.dump(name), replace=True)
            case 4:
                client.execute_command("EB.ADD", f"short {self.next % 50}", self.next)
                client.expire(f"short {self.next % 50}", 1)
            case _:
                items = list(range(self.next, self.next + self.random.choice([1, 10, 200])))
                self.next += len(items)
                replies = client.execute_command(*options, *items)
                kept.update(item for item, reply in zip(items, replies) if not isinstance(reply, Exception))

    def mergeable(self, client):
        names = [name for name in (b"small", b"planned") if client.exists(name)]
        return names or [self.seeded(client)]

    def seeded(self, client):
        client.execute_command("EB.INSERT", "small", "ITEMS", "first")
        return b"small"

    def count(self):
        return sum(map(len, self.items.values()))

    def check(self, client):
        """Number of acknowledged items that are lost: 0."""
        lost = 0
        for name, kept in self.items.items():
            kept = sorted(kept)
            for start in range(0, len(kept), 2000):
                lost += client.execute_command("EB.MEXISTS", name, *kept[start : start + 2000]).count(0)
        assert lost == 0
        return self.count()


@pytest.mark.parametrize("kind", sorted(servers.BINARIES))
def test_primary_and_replica_stay_equal_and_lose_nothing(kind, report):
    binary = servers.BINARIES[kind]
    primary = servers.Server(binary, appendonly="yes", appendfsync="always", equibloom__seed=3)
    replica = connect(primary, equibloom__capacity=999)
    oracle, faults, checked = Oracle(1), 0, 0
    deadline = time.monotonic() + SECONDS
    actions = random.Random(2)
    while time.monotonic() < deadline:
        stop = time.monotonic() + SECONDS / 10
        client = primary.client()
        while time.monotonic() < stop:
            oracle.step(client)
        faults += 1
        match faults % 5:
            case 1:
                # A restart from the AOF.
                primary.stop()
                primary.start()
            case 2:
                # A kill while commands are under way: the one without a reply may be done or not.
                killer = threading.Timer(0.2, primary.process.kill)
                killer.start()
                with pytest.raises(redis.ConnectionError):
                    while True:
                        oracle.step(client)
                killer.join()
                primary.process.wait()
                primary.start()
            case 3:
                # The AOF as commands, then a restart.
                client.config_set("aof-use-rdb-preamble", actions.choice(["yes", "no"]))
                client.bgrewriteaof()
                progress = ("aof_rewrite_in_progress", "aof_rewrite_scheduled")
                wait_for(lambda: not any(client.info("persistence")[field] for field in progress))
                primary.kill()
                primary.start()
            case 4:
                # A restart of the replica, which takes everything again.
                replica.kill()
                replica.start()
                replica.client().replicaof("127.0.0.1", primary.port)
            case 0:
                # A restart from the RDB alone.
                client.save()
                primary.options["appendonly"] = "no"
                primary.stop()
                primary.start()
                primary.client().config_set("appendonly", "yes")
                wait_for(lambda: not primary.client().info("persistence")["aof_rewrite_in_progress"])
                primary.options["appendonly"] = "yes"
        checked += oracle.check(primary.client())
    wait_for(lambda: replica.client().info("replication")["master_link_status"] == "up")
    for key in primary.client().scan_iter("short*"):
        primary.client().delete(key)
    synchronised(primary, replica)
    checked += oracle.check(replica.client())
    # A replica deletes what has expired when its primary says so.
    alive = lambda server: {name: dump for name, dump in dumps(server.client()).items() if not name.startswith(b"short")}
    assert alive(replica) == alive(primary)
    report(f"{kind}: {oracle.commands} commands, {oracle.count()} items, {faults} faults, {checked} checks, 0 lost")
    assert faults >= 5 and oracle.count() > 1000
    primary.remove()
    replica.remove()


def state_of_migration(client):
    job = as_map(client.execute_command("CLUSTER", "GETSLOTMIGRATIONS")[0])
    return job[b"state"] if job[b"state"] in (b"success", b"failed", b"canceled") else b"busy"


@pytest.mark.parametrize("kind", sorted(servers.BINARIES))
def test_slots_move_while_items_are_added(kind, report):
    nodes = servers.cluster(servers.BINARIES[kind])
    cluster = redis.RedisCluster(host="127.0.0.1", port=nodes[0].port)
    names = [f"filter {number}" for number in range(60)]
    items = {name: [] for name in names}
    clients = {server.port: server.client() for server in nodes}
    ids = {port: client.execute_command("CLUSTER", "MYID").decode() for port, client in clients.items()}
    source, target = nodes[0], nodes[1]
    moved, number, adding = 0, 0, itertools.cycle(names)
    slots = sorted({cluster.keyslot(name) for name in names})
    owned = [slot for slot in slots if slot < 16384 // 3]

    def add(count):
        nonlocal number
        for _ in range(count):
            name = next(adding)
            added = list(range(number, number + 20))
            replies = cluster.execute_command("BF.MADD", name, *added)
            items[name] += [item for item, reply in zip(added, replies) if not isinstance(reply, Exception)]
            number += len(added)

    add(300)
    for slot in owned:
        clients[target.port].execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source.port])
        clients[source.port].execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target.port])
        add(5)
        while keys := clients[source.port].execute_command("CLUSTER", "GETKEYSINSLOT", slot, 1):
            clients[source.port].execute_command("MIGRATE", "127.0.0.1", target.port, keys[0], 0, 10_000)
            moved += 1
            add(2)
        for client in (clients[target.port], clients[source.port]):
            client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", ids[target.port])
        add(5)
    atomically = 0
    if b"MIGRATESLOTS" in b"".join(clients[target.port].execute_command("CLUSTER", "HELP")):
        # Valkey 9 moves slots as a whole: back to where they were. What was accepted once is not refused.
        clients[source.port].config_set("equibloom.memory-limit", "1kb")
        ranges = [bound for slot in owned for bound in (slot, slot)]
        moving = ["CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", *ranges, "NODE", ids[source.port]]
        clients[target.port].execute_command(*moving)
        wait_for(lambda: add(5) or state_of_migration(clients[target.port]) != b"busy")
        assert state_of_migration(clients[target.port]) == b"success"
        atomically = len(clients[source.port].keys("filter *"))
        assert atomically == moved
        clients[source.port].config_set("equibloom.memory-limit", "128mb")
        add(100)
    lost = sum(cluster.execute_command("BF.MEXISTS", name, *items[name]).count(0) for name in names if items[name])
    count = sum(map(len, items.values()))
    report(f"{kind}: {moved} filters in {len(owned)} slots moved, {atomically} of them back at once, {count} items added meanwhile, {lost} lost")
    assert lost == 0 and moved >= 10
    for server in nodes:
        server.remove()
