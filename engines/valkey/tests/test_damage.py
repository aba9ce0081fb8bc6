"""Damaged payloads are errors: no crash, no growth of memory."""

import random
import struct
from pathlib import Path

import pytest
import redis

ROUNDS = 2_000


def crc64(data, crc=0):
    """The server's checksum of a DUMP (Jones), so that damage goes past it."""
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc


def table():
    entries = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x95AC9329AC4BC9B5 if byte & 1 else 0)
        entries.append(byte)
    return entries


TABLE = table()


def resealed(body):
    return body + struct.pack("<Q", crc64(body))


def damage(data, source):
    """One to three random changes; never the same bytes again."""
    original, data = data, bytearray(data)
    for _ in range(source.randrange(1, 4)):
        at = source.randrange(len(data))
        match source.randrange(5):
            case 0:
                data[at] ^= 1 << source.randrange(8)
            case 1:
                data[at] = source.choice([0, 1, 0x7F, 0x80, 0xFF])
            case 2:
                del data[at : at + source.randrange(1, 64)]
            case 3:
                data[at:at] = source.randbytes(source.randrange(1, 16))
            case 4:
                data = data[: max(at, 1)]
        data = data or bytearray(1)
    return bytes(data) if data != original else damage(original, source)


def seeds(client):
    for name, options in [("small", []), ("planned", ["CAPACITY", 1000]), ("outgrown", ["CAPACITY", 1000]),
                          ("removable", ["REMOVABLE"]), ("fixed", ["NONSCALING", "CAPACITY", 200])]:
        client.execute_command("EB.INSERT", name, *options, "ITEMS", *range(1200 if name == "outgrown" else 150))
    return [b"small", b"planned", b"outgrown", b"removable", b"fixed"]


def test_a_payload_that_is_unchanged_is_accepted(client):
    for name in seeds(client):
        payload = client.dump(name)
        assert resealed(payload[:-8]) == payload
        client.restore(name + b" again", 0, payload)


@pytest.fixture
def bounded(shared_server):
    """Fails if the server has needed much more memory, if only for a moment."""
    status = Path(f"/proc/{shared_server.process.pid}/status")
    megabytes = lambda field: int(status.read_text().split(f"{field}:")[1].split()[0]) / 1024
    status.with_name("clear_refs").write_text("5")  # The highest size is the present one.
    before = megabytes("VmHWM")
    yield
    assert megabytes("VmHWM") < before + 16


def test_damaged_payloads_of_restore_are_errors(client, bounded, report):
    source = random.Random(24)
    names = seeds(client)
    payloads = [client.dump(name)[:-8] for name in names]
    before, accepted = client.info("memory")["used_memory"], 0
    for _ in range(ROUNDS):
        body = source.choice(payloads)
        try:
            client.restore("damaged", 0, resealed(damage(body[:-2], source) + body[-2:]), replace=True)
        except redis.ResponseError:
            continue
        accepted += 1
        assert client.dump("damaged")[:-8] in payloads
        use(client, "damaged", source)
    client.delete("damaged")
    report(f"{accepted} of {ROUNDS} damaged payloads were accepted by RESTORE, and used")
    # What is accepted has the same bytes in another form: the server has several for a length.
    assert accepted < ROUNDS / 50
    assert client.info("memory")["used_memory"] < before + 4_000_000
    for name in names:
        assert all(client.execute_command("EB.MEXISTS", name, *range(150)))


def use(client, name, source):
    """What was accepted must not harm, whatever it says."""
    client.execute_command("EB.MEXISTS", name, *range(100))
    client.execute_command("EB.MADD", name, *[source.random() for _ in range(100)])
    client.execute_command("EB.INFO", name)


def test_damaged_chunks_are_errors(client, bounded, report):
    source = random.Random(42)
    names = seeds(client)
    dumped = {}
    for name in names:
        position, dumped[name] = 0, []
        while True:
            position, chunk = client.execute_command("EB.SCANDUMP", name, position)
            if position == 0:
                break
            dumped[name].append(chunk)
    before, accepted = client.info("memory")["used_memory"], 0
    for _ in range(ROUNDS):
        chunks = list(dumped[source.choice(names)])
        index = source.randrange(len(chunks))
        chunks[index] = damage(chunks[index], source)
        client.delete("damaged")
        position = 1
        try:
            for index, chunk in enumerate(chunks):
                position += len(chunk) if index > 0 else 0
                client.execute_command("EB.LOADCHUNK", "damaged", position, chunk)
            use(client, "damaged", source)
            accepted += 1
        except redis.ResponseError:
            pass
    client.delete("damaged")
    report(f"{accepted} of {ROUNDS} damaged chunks were accepted, and used")
    assert accepted < ROUNDS / 50
    assert client.info("memory")["used_memory"] < before + 4_000_000


def test_an_announcement_of_more_than_the_limit_is_refused(client):
    client.execute_command("EB.ADD", "f", 1)
    _, head = client.execute_command("EB.SCANDUMP", "f", 0)
    used = client.info("memory")["used_memory"]
    for total in [1 << 28, 1 << 40, (1 << 64) - 1]:
        try:
            client.execute_command("EB.LOADCHUNK", "huge", 1, head[:8] + struct.pack("<Q", total))
            raise AssertionError("accepted")
        except redis.ResponseError as error:
            assert "memory-limit" in str(error)
    assert client.info("memory")["used_memory"] < used + 1_000_000
