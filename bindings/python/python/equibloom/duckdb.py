"""Filters as functions of DuckDB."""

from __future__ import annotations

from duckdb.func import ARROW

from . import Filter

_TYPES = {"integer": "BIGINT", "bytes": "VARCHAR"}


def register(connection, name: str, members: Filter, *, type: str | None = None, threads: int = 1) -> None:
    """Makes a function ``name(key)`` of a connection that says whether a key may be in the filter; null for null.

    The type of its argument is BIGINT or VARCHAR by the filter's kind, unless ``type`` says otherwise, for example
    "BLOB", "UUID", "DATE" or "TIMESTAMP".

    >>> import duckdb, equibloom.duckdb
    >>> seen = equibloom.Filter.from_keys(range(10), rate=1e-6)
    >>> connection = duckdb.connect()
    >>> equibloom.duckdb.register(connection, "is_known", seen)
    >>> connection.sql("select count(*) from range(100) t(id) where is_known(id)").fetchall()
    [(10,)]
    """
    if type is None:
        type = _TYPES.get(members.kind)
        if type is None:
            raise ValueError(
                f"the kind of the filter's keys is {members.kind}, which does not say the type of the argument: give type="
            )
    connection.create_function(
        name, lambda column: members.contains(column, threads=threads), [type], "BOOLEAN", type=ARROW
    )
