"""The commands, with a set as oracle where there are many items."""

import random
import shlex

import pytest
import redis
import servers


def refuses(client, *words, match):
    with pytest.raises(redis.ResponseError, match=match):
        client.execute_command(*words)


def fields(reply):
    """A map, which RESP2 sends as a flat array."""
    return reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2]))


def ints(replies):
    return [int(reply) for reply in replies]


@pytest.mark.parametrize("prefix", ["BF", "EB"])
def test_items_are_added_once_and_found(client, prefix):
    run = lambda name, *words: client.execute_command(f"{prefix}.{name}", *words)
    assert run("RESERVE", "bloom", 0.01, 1000) == b"OK"
    assert run("RESERVE", "expanding", 0.01, 1000, "EXPANSION", 1) == b"OK"
    assert run("RESERVE", "fixed", 0.01, 1000, "NONSCALING") == b"OK"
    assert run("ADD", "bloom", "foo") == 1
    assert run("ADD", "bloom", "foo") == 0
    assert ints(run("MADD", "bloom", "foo", "bar", "bar")) == [0, 1, 0]
    assert ints(run("MEXISTS", "bloom", "foo", "bar", "none")) == [1, 1, 0]
    assert run("EXISTS", "bloom", "foo") == 1
    assert run("CARD", "bloom") == 2
    assert run("EXISTS", "missing", "foo") == 0
    assert ints(run("MEXISTS", "missing", "foo", "bar")) == [0, 0]
    assert run("CARD", "missing") == 0
    assert ints(run("INSERT", "new", "CAPACITY", 5000, "ERROR", 0.001, "ITEMS", "a", "b")) == [1, 1]


def test_replies_follow_the_protocol(shared_server):
    for protocol, booleans, kind in [(2, int, list), (3, bool, dict)]:
        with shared_server.client(protocol=protocol, decode_responses=True, legacy_responses=False) as client:
            client.flushall()
            # As the server sends it: the client's own callbacks are for BF.*.
            assert type(client.execute_command("EB.ADD", "a", "x")) is booleans
            assert [type(reply) for reply in client.execute_command("EB.MEXISTS", "a", "x", "y")] == [booleans] * 2
            info = client.execute_command("EB.INFO", "a")
            assert type(info) is kind
            items = client.execute_command("EB.INFO", "a", "ITEMS")
            assert items == ([1] if protocol == 2 else {"Number of items inserted": 1})


def test_errors_say_what_other_modules_say(client):
    client.execute_command("BF.RESERVE", "taken", 0.01, 100)
    client.set("text", "value")
    for words, match in [
        (["BF.RESERVE", "k", "x", 100], "^bad error rate"),
        (["BF.RESERVE", "k", "nan", 100], "^bad error rate"),
        (["BF.RESERVE", "k", 1, 100], r"^error rate must be in the range \(0.000000, 1.000000\)"),
        (["BF.RESERVE", "k", 0.1, "x"], "^bad capacity"),
        (["BF.RESERVE", "k", 0.1, 0], r"^capacity must be in the range \[1, 1073741824\]"),
        (["BF.RESERVE", "k", 0.1, 2**31], r"^capacity must be in the range"),
        (["BF.RESERVE", "k", 0.1, 10, "EXPANSION"], "^no expansion"),
        (["BF.RESERVE", "k", 0.1, 10, "EXPANSION", "x"], "^bad expansion"),
        (["BF.RESERVE", "k", 0.1, 10, "EXPANSION", 32769], r"^expansion must be in the range \[0, 32768\]"),
        (["BF.RESERVE", "k", 0.1, 10, "EXPANSION", 2, "NONSCALING"], "^Nonscaling filters cannot expand"),
        (["BF.RESERVE", "taken", 0.1, 10], "^item exists"),
        (["BF.RESERVE", "k", 0.1, 10, "ITEMS", "a"], "^unknown argument received"),
        (["BF.INSERT", "k", "CAPACITY", 0, "ITEMS", "a"], "^Bad capacity"),
        (["BF.INSERT", "k", "ERROR", 1, "ITEMS", "a"], "^Bad error rate"),
        (["BF.INSERT", "k", "EXPANSION", -1, "ITEMS", "a"], "^Bad expansion"),
        (["BF.INSERT", "k", "EXPANSION"], "^wrong number of arguments"),
        (["BF.INSERT", "k", "WHAT", "ITEMS", "a"], "^Unknown argument received"),
        (["BF.LOADCHUNK", "k", 20, "a"], "^not found"),
        (["BF.INSERT", "k", "NOCREATE", "ITEMS", "a"], "^not found"),
        (["BF.INSERT", "k", "ITEMS"], "^wrong number of arguments"),
        (["BF.INFO", "k"], "^not found"),
        (["BF.INFO", "taken", "WHAT"], "^Invalid information value"),
        (["BF.ADD", "text", "a"], "^WRONGTYPE|wrong kind of value"),
        (["BF.ADD", "k"], "^wrong number of arguments"),
        (["EB.RESERVE", "k", 0.1, 10, "EX", 0], "^invalid expire time"),
        (["EB.RESERVE", "k", 0.1, 10, "PLAN", "{"], "^bad plan"),
        (["EB.RESERVE", "k", 1e-300, 100], "rate"),
    ]:
        refuses(client, *words, match=match)
    assert client.exists("k") == 0


def test_a_full_filter_that_does_not_scale_answers_up_to_the_first_item_it_refuses(client):
    client.execute_command("BF.INSERT", "fixed", "ERROR", 0.001, "CAPACITY", 50, "EXPANSION", 2, "NONSCALING", "ITEMS", 0)
    *added, error = client.execute_command("BF.MADD", "fixed", *range(60))
    assert len(added) < 60 and str(error) == "non scaling filter is full"
    assert client.execute_command("BF.CARD", "fixed") == sum(map(int, added)) + 1 == 50
    assert fields(client.execute_command("EB.INFO", "fixed"))[b"Expansion rate"] is None
    refuses(client, "BF.ADD", "fixed", "another", match="^non scaling filter is full")
    assert client.execute_command("BF.ADD", "fixed", 0) == 0
    assert ints(client.execute_command("BF.MADD", "fixed", 0, 1)) == [0, 0]


@pytest.mark.parametrize("options", [[], ["NONSCALING"], ["EXPANSION", 4]])
@pytest.mark.parametrize("capacity", [100, 30_000])
def test_no_item_is_forgotten_and_the_rate_is_kept(client, options, capacity):
    rate, oracle, random_items = 0.01, set(), random.Random(1)
    client.execute_command("BF.RESERVE", "f", rate, capacity, *options)
    keys = capacity if options == ["NONSCALING"] else 100_000
    while len(oracle) < keys:
        items = [random_items.randrange(10**12) for _ in range(min(1000, keys - len(oracle)))]
        client.execute_command("BF.MADD", "f", *items)
        oracle.update(items)
    items = list(oracle)
    for start in range(0, len(items), 1000):
        assert all(client.execute_command("BF.MEXISTS", "f", *items[start : start + 1000]))
    absent = [f"absent {number}" for number in range(100_000)]
    found = sum(sum(ints(client.execute_command("BF.MEXISTS", "f", *absent[start : start + 1000])))
                for start in range(0, len(absent), 1000))
    # Four standard deviations of a binomial distribution.
    assert found <= len(absent) * rate + 4 * (len(absent) * rate) ** 0.5
    assert 0 < float(fields(client.execute_command("EB.INFO", "f"))[b"Expected rate"]) <= rate


def test_removable_filters_forget_what_is_removed(client):
    for options in [[], ["NONSCALING"]]:
        client.flushall()
        client.execute_command("EB.RESERVE", "f", 0.0001, 2000, "REMOVABLE", *options)
        client.execute_command("EB.MADD", "f", *range(1000))
        assert client.execute_command("EB.ADD", "f", 5) == 0
        assert client.execute_command("EB.REMOVE", "f", 5) == 1
        assert client.execute_command("EB.EXISTS", "f", 5) == 1
        assert ints(client.execute_command("EB.MREMOVE", "f", *range(0, 500), "absent")) == [1] * 500 + [0]
        assert ints(client.execute_command("EB.MEXISTS", "f", *range(500, 1000))) == [1] * 500
        assert sum(ints(client.execute_command("EB.MEXISTS", "f", *range(500)))) < 5
        assert client.execute_command("EB.CARD", "f") == 500
    client.execute_command("EB.ADD", "plain", 1)
    refuses(client, "EB.REMOVE", "plain", 1, match="REMOVABLE")
    refuses(client, "EB.REMOVE", "missing", 1, match="not found")


def test_filters_of_different_plans_merge(client):
    client.execute_command("EB.RESERVE", "a", 0.01, 10_000)
    client.execute_command("EB.RESERVE", "b", 0.001, 50_000)
    for name, start, end in [("a", 0, 15_000), ("b", 20_000, 30_000), ("c", 40_000, 40_500)]:
        for first in range(start, end, 500):
            client.execute_command("EB.MADD", name, *range(first, first + 500))
    assert client.execute_command("EB.MERGE", "all", "a", "b", "c") == b"OK"
    assert client.execute_command("EB.MERGE", "a", "b", "c", "a") == b"OK"
    for name in ["all", "a"]:
        for start, end in [(0, 15_000), (20_000, 30_000), (40_000, 40_500)]:
            for first in range(start, end, 500):
                assert all(client.execute_command("EB.MEXISTS", name, *range(first, first + 500)))
    client.execute_command("EB.MADD", "a", *range(10**6, 10**6 + 20))
    assert all(client.execute_command("EB.MEXISTS", "a", *range(10**6, 10**6 + 20)))
    client.execute_command("EB.RESERVE", "other", 0.01, 1000, "SEED", 7)
    before = client.dump("a")
    refuses(client, "EB.MERGE", "a", "b", "other", match="seeds differ: 0 and 7")
    refuses(client, "EB.MERGE", "a", "b", "missing", match="not found")
    assert client.dump("a") == before


def test_a_plan_costs_what_it_says(client):
    for name, options in [("removable", ["REMOVABLE"]), ("small", [])]:
        capacity = 100_000 if options else 500
        plan = fields(client.execute_command("EB.PLAN", 0.01, capacity, *options))
        assert client.exists(name) == 0 and b"Plan" not in plan and float(plan[b"Promised rate"]) == 0.01
        client.execute_command("EB.RESERVE", name, 0.01, capacity, *options)
        assert plan[b"Bytes"] <= client.memory_usage(name) < plan[b"Bytes"] + 1000
    # Other blocks would be searched for seconds.
    for rate in (0.3, 0.05, 1e-6):
        assert fields(client.execute_command("EB.PLAN", rate, 10_000))[b"Kind"] == b"fingerprint"
    plan = fields(client.execute_command("EB.PLAN", 0.01, 100_000))
    assert client.exists("f") == 0
    client.execute_command("EB.RESERVE", "f", 0.01, 100_000, "PLAN", plan[b"Plan"])
    client.execute_command("EB.RESERVE", "g", 0.01, 100_000)
    assert client.dump("f") == client.dump("g")
    usage = client.memory_usage("f")
    assert plan[b"Bytes"] <= usage < plan[b"Bytes"] + 1000
    assert float(plan[b"Bits per key"]) < 10.5 and float(plan[b"Expected rate"]) <= 0.01


def test_filters_expire_as_they_were_created(client):
    client.execute_command("EB.RESERVE", "f", 0.01, 100, "EX", 100)
    client.execute_command("EB.INSERT", "g", "EX", 200, "ITEMS", "a")
    client.execute_command("EB.INSERT", "g", "EX", 5, "ITEMS", "b")
    assert 0 < client.ttl("f") <= 100 < client.ttl("g") <= 200
    client.execute_command("EB.MERGE", "f", "g")
    (_, head), (end, chunk) = (client.execute_command("EB.SCANDUMP", "g", position) for position in (0, 1))
    client.execute_command("EB.LOADCHUNK", "loaded", 1, head)
    client.expire("loaded", 100)
    client.execute_command("EB.LOADCHUNK", "loaded", end, chunk)
    assert client.execute_command("EB.EXISTS", "loaded", "a")
    assert 0 < client.ttl("f") <= 100 and 0 < client.ttl("loaded") <= 100


def test_chunks_load_what_was_dumped(client):
    # The first has two chunks of bytes.
    for name, words in [("planned", [0.01, 20_000_000]), ("grown", [0.01, 100])]:
        client.execute_command("BF.RESERVE", name, *words)
        for start in range(0, 20_000, 1000):
            client.execute_command("BF.MADD", name, *range(start, start + 1000))
        position, chunks = 0, []
        while True:
            position, chunk = client.execute_command("BF.SCANDUMP", name, position)
            if position == 0:
                break
            chunks.append((position, chunk))
        copy = f"{name} copy"
        for position, chunk in chunks[:-1]:
            client.execute_command("BF.LOADCHUNK", copy, position, chunk)
        refuses(client, "BF.EXISTS", copy, 1, match="being loaded")
        refuses(client, "BF.LOADCHUNK", copy, 77, b"x", match="invalid offset - no link found")
        # A filter that is half loaded is saved, too.
        client.restore("half", 0, client.dump(copy), replace=True)
        for key in [copy, "half"]:
            client.execute_command("BF.LOADCHUNK", key, *chunks[-1])
            assert client.dump(key) == client.dump(name)
    refuses(client, "BF.LOADCHUNK", "planned", 1, chunks[0][1], match="received bad data: the key exists")
    refuses(client, "BF.LOADCHUNK", "new", 1, b"nothing", match="received bad data")
    refuses(client, "BF.SCANDUMP", "missing", 0, match="not found")


def test_the_commands_of_the_readme_run(client, shared_server):
    readme = (servers.ROOT / "engines/valkey/README.md").read_text().splitlines()
    lines = [line.strip() for line in readme if line.startswith("    valkey-cli") and "--cluster" not in line]
    replies = [client.execute_command(*[word for word in shlex.split(line)[1:] if word != "-c"]) for line in lines
               if "tuesday" not in line]
    assert len(replies) == 4 and replies[0] == b"OK" and ints(replies[1]) == [1, 1] and ints(replies[2]) == [1, 0]
    client.execute_command("BF.ADD", "visitors:{2026}:tuesday", "bob")
    merge = next(line for line in lines if "EB.MERGE" in line)
    assert client.execute_command(*shlex.split(merge)[2:]) == b"OK"
    client.delete("visitors")
    filters = shared_server.client().bf()
    python = [line.strip() for line in readme if line.startswith("    filters.")]
    exec("\n".join(python), {"filters": filters})
    assert filters.exists("visitors", "bob")
