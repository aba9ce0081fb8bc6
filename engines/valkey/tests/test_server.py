"""The module as a citizen of the server."""

import os
import re
import subprocess
import time

import pytest
import redis
import servers


def fill(client, name, count=5000, *options):
    client.execute_command("EB.INSERT", name, *options, "ITEMS", *range(count))


FILTERS = {
    "small": [],
    "planned": ["CAPACITY", 10_000, "ERROR", 0.001],
    "outgrown": ["CAPACITY", 2_000],
    "fixed": ["CAPACITY", 6_000, "NONSCALING"],
    "removable": ["REMOVABLE"],
    "seeded": ["SEED", 12345],
}


def fill_all(client):
    for name, options in FILTERS.items():
        fill(client, name, 5000, *options)
    return dumps(client)


def dumps(client):
    return {name: client.dump(name) for name in sorted(client.keys())}


def test_the_server_has_every_function_that_the_module_asks_for(binary):
    source = (servers.ROOT / "engines/valkey/src/ffi/api.rs").read_text()
    required = source.split("required {")[-1].split("optional {")[0]
    names = re.findall(r"^        (\w+): unsafe", required, re.MULTILINE)
    assert len(names) > 40
    program = open(binary, "rb").read()
    for name in names:
        assert f"RedisModule_{name}\0".encode() in program, name


def test_rdb_keeps_every_filter(binary):
    server = servers.Server(binary)
    before = fill_all(server.client())
    server.client().save()
    server.stop()
    server.start()
    assert dumps(server.client()) == before
    server.remove()


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_aof_keeps_every_filter(binary, preamble):
    server = servers.Server(binary, appendonly="yes", aof_use_rdb_preamble=preamble)
    client = server.client()
    before = fill_all(client)
    server.stop()
    server.start()
    assert dumps(server.client()) == before, "commands"
    client = server.client()
    client.bgrewriteaof()
    while client.info("persistence")["aof_rewrite_in_progress"] or client.info("persistence")["aof_rewrite_scheduled"]:
        time.sleep(0.05)
    client.execute_command("EB.ADD", "small", "after")
    after = dumps(client)
    server.stop()
    server.start()
    assert dumps(server.client()) == after, "rewritten"
    server.remove()


def connect(primary, **options):
    replica = servers.Server(primary.binary, **options)
    replica.client().replicaof("127.0.0.1", primary.port)
    wait_for(lambda: replica.client().info("replication")["master_link_status"] == "up")
    return replica


def wait_for(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def synchronised(primary, replica):
    wanted = primary.client().info("replication")["master_repl_offset"]
    wait_for(lambda: replica.client().info("replication")["slave_repl_offset"] >= wanted)


def test_a_replica_with_other_options_has_the_same_filters(binary):
    primary = servers.Server(binary)
    client = primary.client()
    fill(client, "before", 3000)
    replica = connect(primary, equibloom__capacity=5000, equibloom__error_rate=0.2, equibloom__seed=9,
                      equibloom__expansion=4, equibloom__memory_limit="100kb")
    fill_all(client)
    fill(client, "above the replica's limit", 100, "CAPACITY", 1_000_000)
    client.execute_command("EB.RESERVE", "full", 0.01, 50, "NONSCALING")
    client.execute_command("EB.MADD", "full", *range(60))
    client.execute_command("EB.MREMOVE", "removable", *range(100))
    client.execute_command("EB.MERGE", "merged", "planned", "small", "outgrown")
    client.execute_command("EB.INSERT", "mortal", "EX", 1000, "ITEMS", "a")
    client.execute_command("EVAL", "return redis.call('EB.MADD', KEYS[1], 'x', 'y')", 1, "scripted")
    pipe = client.pipeline(transaction=True)
    pipe.execute_command("EB.ADD", "in transaction", "a").execute_command("EB.ADD", "in transaction", "b").execute()
    synchronised(primary, replica)
    assert dumps(replica.client()) == dumps(client)
    assert 0 < replica.client().ttl("mortal") <= 1000
    assert abs(replica.client().pexpiretime("mortal") - client.pexpiretime("mortal")) == 0
    primary.remove()
    replica.remove()


def test_copies_and_restored_filters_are_independent(client):
    before = fill_all(client)
    for name in FILTERS:
        assert client.copy(name, f"{name} copy")
        client.restore(f"{name} restored", 0, client.dump(name))
        assert client.dump(f"{name} copy") == client.dump(f"{name} restored") == before[name.encode()]
        assert client.execute_command("EB.ADD", name, "new") in (1, True)
        assert client.dump(f"{name} copy") == before[name.encode()]
    assert client.execute_command("DEBUG", "DIGEST-VALUE", "small copy") == client.execute_command(
        "DEBUG", "DIGEST-VALUE", "small restored")


def test_memory_is_the_servers_and_is_given_back(client):
    # Those of the test before may be freed in the background.
    wait_for(lambda: client.info("everything")["equibloom_filters"] == 0)
    empty = client.info("memory")["used_memory"]
    client.execute_command("EB.RESERVE", "f", 0.01, 10_000_000)
    usage, used = client.memory_usage("f"), client.info("memory")["used_memory"] - empty
    assert 11_000_000 < usage < 13_125_000 and abs(used - usage) < usage / 10
    assert client.info("everything")["equibloom_filters"] == 1
    client.flushall(asynchronous=True)
    wait_for(lambda: client.info("memory")["used_memory"] < empty + 1_000_000)
    assert client.info("everything")["equibloom_filters"] == 0
    fill(client, "grown", 100_000)
    usage, used = client.memory_usage("grown"), client.info("memory")["used_memory"] - empty
    print(f"grown: {usage * 8 / 100_000:.1f} bits per key by MEMORY USAGE, {used * 8 / 100_000:.1f} by used_memory")
    client.unlink("grown")
    freed = client.info("memory")["lazyfreed_objects"]
    client.execute_command("EB.RESERVE", "large", 0.01, 10_000_000)
    client.unlink("large")
    wait_for(lambda: client.info("memory")["lazyfreed_objects"] == freed + 1)


def test_reservations_beyond_the_limits_are_refused(client):
    def refused(*words):
        with pytest.raises(redis.ResponseError) as error:
            client.execute_command(*words)
        return str(error.value)

    used = client.info("memory")["used_memory"]
    for options in ([], ["NONSCALING"], ["REMOVABLE"]):
        assert "equibloom.memory-limit is 134217728" in refused("EB.RESERVE", "f", 1e-9, 1 << 30, *options)
    _, head = client.execute_command("EB.INSERT", "g", "ITEMS", 1), client.execute_command("EB.SCANDUMP", "g", 0)[1]
    client.delete("g")
    client.config_set("maxmemory", used + 20_000_000)
    try:
        assert "maxmemory" in refused("EB.RESERVE", "f", 0.01, 50_000_000)
        assert "maxmemory" in refused("EB.RESERVE", "f", 0.01, 30_000_000, "REMOVABLE")
        assert "maxmemory" in refused("EB.LOADCHUNK", "f", 1, head[:8] + (100_000_000).to_bytes(8, "little"))
        client.config_set("maxmemory-policy", "allkeys-lru")
        assert "maxmemory" in refused("EB.RESERVE", "f", 0.01, 80_000_000)
    finally:
        client.config_set("maxmemory", 0)
        client.config_set("maxmemory-policy", "noeviction")
    assert client.dbsize() == 0 and client.info("memory")["used_memory"] < used + 3_000_000

    client.config_set("equibloom.memory-limit", "64kb")
    try:
        replies = []
        for start in range(0, 100_000, 1000):
            replies += client.execute_command("EB.MADD", "f", *range(start, start + 1000))
        refusals = [reply for reply in replies if isinstance(reply, Exception)]
        assert refusals and "equibloom.memory-limit" in str(refusals[0])
        assert client.memory_usage("f") < 2 * 65536
        kept = [item for item, reply in enumerate(replies) if not isinstance(reply, Exception)]
        assert all(client.execute_command("EB.MEXISTS", "f", *kept[:5000]))
    finally:
        client.config_set("equibloom.memory-limit", "128mb")


def test_options_are_checked(client):
    for name, value in [("error-rate", "2"), ("error-rate", "x"), ("capacity", 0), ("expansion", 99999),
                        ("directory", "/etc"), ("prefix", "XX")]:
        with pytest.raises(redis.ResponseError):
            client.config_set(f"equibloom.{name}", value)
    client.config_set("equibloom.error-rate", "0.25")
    client.config_set("equibloom.capacity", 5000)
    client.execute_command("BF.ADD", "f", 1)
    info = client.execute_command("EB.INFO", "f")
    info = as_map(info)
    assert (info[b"Promised rate"], info[b"Capacity"]) in [(0.25, 5000), (b"0.25", 5000)]
    client.config_set("equibloom.error-rate", "0.01")
    client.config_set("equibloom.capacity", 100)


def test_another_prefix_and_none(binary):
    other = servers.Server(binary, equibloom__prefix="XF").client()
    assert other.execute_command("XF.ADD", "f", 1) and other.execute_command("EB.EXISTS", "f", 1)
    none = servers.Server(binary, equibloom__prefix="").client()
    for client, command in [(other, "BF.ADD"), (none, "BF.ADD")]:
        with pytest.raises(redis.ResponseError, match="unknown command"):
            client.execute_command(command, "f", 1)


def test_files_come_and_go_only_in_the_configured_directory(binary, tmp_path):
    server = servers.Server(binary, equibloom__directory=tmp_path)
    client = server.client()
    fill_all(client)
    for name in FILTERS:
        names = client.execute_command("EB.DUMP", name, f"{name}.eqb")
        assert client.execute_command("EB.LOAD", f"{name} loaded", *names) == b"OK"
        replies = client.execute_command("EB.MEXISTS", f"{name} loaded", *range(5000))
        assert replies == client.execute_command("EB.MEXISTS", name, *range(5000)) and all(replies)
        assert client.execute_command("EB.CARD", f"{name} loaded") == client.execute_command("EB.CARD", name)
    assert len(list(tmp_path.iterdir())) == len(FILTERS) + 1
    for start in range(10_000, 40_000, 1_000):
        client.execute_command("EB.MADD", "planned loaded", *range(start, start + 1_000))
    info = as_map(client.execute_command("EB.INFO", "planned loaded"))
    assert float(info[b"Expected rate"]) <= float(info[b"Promised rate"]) < 0.0011
    (tmp_path / "damaged.eqb").write_bytes((tmp_path / "small.eqb").read_bytes()[:-1])
    os.mkfifo(tmp_path / "pipe")
    for bad in ["../small.eqb", "/etc/passwd", ".", "..", "", ".hidden", "a/b", "missing", "damaged.eqb", "pipe"]:
        with pytest.raises(redis.ResponseError):
            client.execute_command("EB.LOAD", "bad", bad)
        if bad not in ("missing", "damaged.eqb", "pipe"):
            with pytest.raises(redis.ResponseError):
                client.execute_command("EB.DUMP", "small", bad)
    replica = connect(server)
    client.execute_command("EB.LOAD", "from file", "planned.eqb")
    synchronised(server, replica)
    assert dumps(replica.client()) == dumps(client)
    nowhere = servers.Server(binary).client()
    nowhere.execute_command("EB.ADD", "f", 1)
    with pytest.raises(redis.ResponseError, match="equibloom.directory"):
        nowhere.execute_command("EB.DUMP", "f", "x")


def test_clients_are_told_about_keys_and_events(client, shared_server):
    raw = client.connection_pool.get_connection()
    for words, keys in [(["EB.MERGE", "a", "b", "c"], [b"a", b"b", b"c"]), (["BF.ADD", "k", "v"], [b"k"]),
                        (["BF.INSERT", "k", "ITEMS", "v"], [b"k"])]:
        raw.send_command("COMMAND", "GETKEYS", *words)
        assert raw.read_response() == keys
    client.connection_pool.release(raw)
    client.config_set("notify-keyspace-events", "KEA")
    with shared_server.client() as listener:
        events = listener.pubsub()
        events.psubscribe("__keyevent@0__:bloom.*")
        client.execute_command("BF.RESERVE", "k", 0.01, 100)
        client.execute_command("BF.ADD", "k", "v")
        client.execute_command("BF.ADD", "k", "v")
        seen = []
        deadline = time.monotonic() + 5
        while len(seen) < 2 and time.monotonic() < deadline:
            message = events.get_message(ignore_subscribe_messages=True, timeout=0.2)
            if message:
                seen.append(message["channel"].split(b":")[1])
        assert seen == [b"bloom.reserve", b"bloom.add"] and not events.get_message(timeout=0.2)
    with shared_server.client() as other:
        pipe = client.pipeline()
        pipe.watch("k")
        other.execute_command("BF.ADD", "k", "changed")
        pipe.multi()
        pipe.ping()
        with pytest.raises(redis.WatchError):
            pipe.execute()


def test_the_server_knows_what_commands_do_to_keys(client):
    assert b"nondeterministic_output" in raw_info(client, "BF.INFO")[TIPS]
    for name, expected in [("BF.MEXISTS", [{b"RO", b"access"}]), ("EB.MADD", [{b"RW", b"access", b"update"}]),
                           ("EB.MERGE", [{b"RW", b"access", b"update"}, {b"RO", b"access"}]), ("EB.PLAN", [])]:
        assert [set(as_map(keys)[b"flags"]) for keys in raw_info(client, name)[KEYS]] == expected


# Where they stand in what `COMMAND INFO` says.
TIPS, KEYS = 7, 8


def as_map(reply):
    return reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2]))


def raw_info(client, name):
    """What `COMMAND INFO` says of a command, as it is sent."""
    connection = client.connection_pool.get_connection()
    connection.send_command("COMMAND", "INFO", name)
    info = connection.read_response()[0]
    client.connection_pool.release(connection)
    return info


# A module with a command of its own, BF.ADD.
OTHER_MODULE = """
typedef int (*get)(const char *, void **);
static int (*reply)(void *, long long);
static int add(void *context, void **words, int count) { return reply(context, 77); }
int RedisModule_OnLoad(void *context, void **words, int count) {
    void (*attributes)(void *, const char *, int, int);
    int (*create)(void *, const char *, int (*)(void *, void **, int), const char *, int, int, int);
    get api = *(get *)context;
    api("RedisModule_SetModuleAttribs", (void **)&attributes);
    api("RedisModule_CreateCommand", (void **)&create);
    api("RedisModule_ReplyWithLongLong", (void **)&reply);
    attributes(context, "other", 1, 1);
    return create(context, "bf.add", add, "write", 1, 1, 1);
}
"""


def test_beside_a_module_with_the_same_commands_only_ours_are_added(binary, tmp_path):
    (tmp_path / "other.c").write_text(OTHER_MODULE)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "other.so", tmp_path / "other.c"], check=True)
    server = servers.Server(binary, module=tmp_path / "other.so")
    client = server.client()
    client.module_load(str(servers.MODULE))
    assert client.execute_command("BF.ADD", "f", 1) == 77
    assert client.execute_command("EB.ADD", "f", 1) == 1 and client.execute_command("EB.EXISTS", "f", 1) == 1
    assert "use EB.*" in server.log.read_text()
    server.remove()


def test_acl_categories_tell_readers_from_writers(client, shared_server):
    if client.info("server")["redis_version"].startswith("7.0."):
        pytest.skip("Redis 7.0 has no ACL categories for modules: name the commands there")
    client.acl_setuser("reader", enabled=True, nopass=True, keys=["*"], categories=["+@read"], reset=True)
    client.execute_command("BF.ADD", "k", "v")
    with shared_server.client(username="reader", password="x") as reader:
        assert reader.execute_command("BF.EXISTS", "k", "v")
        # Valkey 8.0 takes no new categories.
        assert client.acl_cat("bloom") or client.info("server").get("valkey_version", "").startswith("8.0.")
        for words in [("BF.ADD", "k", "w"), ("EB.MERGE", "x", "k"), ("BF.LOADCHUNK", "x", 1, "y"), ("EB.DUMP", "k", "file")]:
            with pytest.raises(redis.exceptions.NoPermissionError):
                reader.execute_command(*words)
