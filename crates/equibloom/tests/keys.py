"""Writes docs/keys.json from docs/keys.md alone, with the reference implementation of XXH3.

    pip install xxhash; python3 crates/equibloom/tests/keys.py > docs/keys.json
"""

import datetime
import ipaddress
import json
import uuid

import xxhash

SEED = 0x0123456789ABCDEF
EPOCH = datetime.datetime(1970, 1, 1)


def days(text):
    return (datetime.date.fromisoformat(text) - EPOCH.date()).days


def nanoseconds(text):
    seconds, _, fraction = text.removesuffix("Z").partition(".")
    since = datetime.datetime.fromisoformat(seconds) - EPOCH
    return (since.days * 86_400 + since.seconds) * 10**9 + int(fraction.ljust(9, "0"))


def integer(value):
    return (value % 2**64).to_bytes(8, "little")


def composite(elements):
    parts = [key_bytes(element["type"], element["value"]) for element in elements]
    return b"".join(len(part).to_bytes(8, "little") + part for part in parts)


TYPES = {
    "bytes": ("bytes", bytes.fromhex),
    "text": ("bytes", str.encode),
    "char": ("bytes", str.encode),
    "uuid": ("bytes", lambda text: uuid.UUID(text).bytes),
    "ip": ("bytes", lambda text: ipaddress.ip_address(text).packed),
    "integer": ("integer", lambda text: integer(int(text))),
    "bool": ("integer", integer),
    "date": ("integer", lambda text: integer(days(text))),
    "timestamp": ("integer", lambda text: integer(nanoseconds(text))),
    "wide-integer": ("wide-integer", lambda text: (int(text) % 2**128).to_bytes(16, "little")),
    "tuple": ("composite", composite),
    "option": ("composite", lambda value: composite([value] if value else [])),
}


def key_bytes(kind, value):
    return TYPES[kind][1](value)


def of(kind, *values):
    return [{"type": kind, "value": value} for value in values]


A, B, AB, NONE, ONE = (of("text", text)[0] for text in ("a", "b", "ab", "", "1"))
NUMBER = of("integer", "1")[0]
KEYS = [
    *of("bytes", "", "00", "ff00ff", bytes(range(256)).hex()),
    *of("text", "", "a", "abc", "alice@example.com", "5", "Ærøskøbing 東京 🦀", "café", "cafe\u0301"),
    *of("text", "two\nlines", "x" * 300),
    *of("char", "a", "é", "🦀"),
    *of("uuid", "00112233-4455-6677-8899-aabbccddeeff", "00000000-0000-0000-0000-000000000000"),
    *of("ip", "192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"),
    *of("integer", "0", "1", "5", "-1", "127", "-128", "255", "256", "-32768", "65535", "2147483647", "-2147483648"),
    *of("integer", "4294967295", str(2**63 - 1), str(-(2**63)), str(2**63), str(2**64 - 1)),
    *of("bool", False, True),
    *of("date", "1970-01-01", "1969-12-31", "2024-02-29"),
    *of("timestamp", "1970-01-01T00:00:00.0Z", "1969-12-31T23:59:59.999Z", "2024-02-29T12:34:56.789Z"),
    *of("timestamp", "2024-02-29T12:34:56.789012Z", "2024-02-29T12:34:56.789012345Z"),
    *of("wide-integer", "0", "5", "-1", str(2**127 - 1), str(2**128 - 1)),
    *of("tuple", [A, B], [AB, NONE], [A], [NUMBER, A], [NUMBER, NUMBER], [ONE, NUMBER]),
    *of("tuple", [{"type": "tuple", "value": [A, B]}, NUMBER], of("text", "y" * 200, "z" * 200)),
    *of("tuple", of("integer", *map(str, range(20)))),
    *of("option", None, A, NUMBER),
]


def vector(key):
    name, value = key["type"], key["value"]
    contents = key_bytes(name, value)
    vector = {"type": name, "value": value}
    if name in ("date", "timestamp"):
        vector["integer"] = str(int.from_bytes(contents, "little", signed=True))
    hashes = [xxhash.xxh3_128(contents, seed=seed).hexdigest() for seed in (0, SEED)]
    return vector | {"kind": TYPES[name][0], "bytes": contents.hex(), "hashes": hashes}


vectors = ",\n    ".join(json.dumps(vector(key)) for key in KEYS)
print(f'{{\n  "hash": "xxh3-128",\n  "seeds": ["{0:016x}", "{SEED:016x}"],\n  "keys": [\n    {vectors}\n  ]\n}}')
