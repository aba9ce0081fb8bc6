"""The test vectors of docs/keys.json, as keys of Python."""

import datetime
import ipaddress
import json
import pathlib
import uuid

import numpy

DOCUMENT = json.loads(
    (pathlib.Path(__file__).parents[3] / "docs" / "keys.json").read_text(encoding="utf-8")
)
SEEDS = [int(seed, 16) for seed in DOCUMENT["seeds"]]
VECTORS = DOCUMENT["keys"]


def key(vector):
    """The key of a vector, or None where Python has no such value."""
    kind, value = vector["type"], vector["value"]
    if kind == "bytes":
        return bytes.fromhex(value)
    if kind in ("text", "char"):
        return value
    if kind in ("integer", "wide-integer"):
        return int(value)
    if kind == "bool":
        return value
    if kind == "uuid":
        return uuid.UUID(value)
    if kind == "ip":
        return ipaddress.ip_address(value)
    if kind == "date":
        return datetime.date.fromisoformat(value)
    if kind == "timestamp":
        # A datetime of Python has microseconds.
        return numpy.datetime64(value.rstrip("Z"), "ns")
    if kind == "tuple":
        return tuple(key(element) for element in value)
    if kind == "option":
        return () if value is None else (key(value),)
    raise ValueError(f"a new type of keys: {kind}")
