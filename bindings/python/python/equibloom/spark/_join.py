"""Joins of which the larger side is filtered first."""

from __future__ import annotations

from pyspark.sql import DataFrame

from .. import KeyTypeError
from ._build import build_filter
from ._keys import family_of, is_binary_collated
from ._lookup import contains

_HOW = {"inner": "inner", "semi": "left_semi", "left_semi": "left_semi", "leftsemi": "left_semi"}


def prune_join(
    left: DataFrame,
    right: DataFrame,
    on: str | list[str],
    *,
    how: str = "inner",
    small: str | None = None,
    rate: float = 0.01,
    keys: int | None = None,
    max_driver_bytes: int = 128 << 20,
) -> DataFrame:
    """``left.join(right, on, how)`` with fewer rows to shuffle: those of the larger side whose key the smaller side certainly has
    not are dropped where they are read.

        prune_join(visits, orders.where("amount > 1000"), on="customer_id")

    Worthwhile if most rows of the larger side have no partner and the smaller side is too large to be broadcast. A filter of the
    smaller side is built at once, so that side is read again by the join: cache what is expensive.

    Parameters
    ----------
    on : str or list of str
        The columns that both sides have and that must be equal. Of several, the filter is of the first.
    how : str
        "inner" or "semi" (the rows of left with a partner). Others keep rows without a partner.
    small : str
        Which side is small: "left" or "right". Without it the side that Spark estimates to have fewer bytes.
    rate, keys, max_driver_bytes
        See build_filter.
    """
    kind = _HOW.get(how)
    if kind is None:
        raise ValueError(f"how is {how!r}: give 'inner' or 'semi'; other joins keep rows without a partner")
    if small not in (None, "left", "right"):
        raise ValueError(f"small is {small!r}: give 'left' or 'right', or leave it out")
    names = [on] if isinstance(on, str) else list(on)
    if not names:
        raise ValueError("on is empty: give the names of the columns that must be equal")
    key = names[0]
    _check_same_bytes(left, right, key)
    if small is None:
        small = "left" if _estimated_bytes(left) < _estimated_bytes(right) else "right"
    source = right if small == "right" else left
    members = build_filter(source, key, rate=rate, keys=keys, max_driver_bytes=max_driver_bytes)
    if small == "right":
        left = left.where(contains(members, left[key]))
    else:
        right = right.where(contains(members, right[key]))
    return left.join(right, names, kind)


def _check_same_bytes(left: DataFrame, right: DataFrame, key: str) -> None:
    """Refuses columns that Spark may find equal although their keys have different bytes: their rows would be lost."""
    fields = [side.select(key).schema.fields[0] for side in (left, right)]
    families = [family_of(field) for field in fields]
    types = " and ".join(field.dataType.simpleString() for field in fields)
    if families[0] != families[1]:
        raise KeyTypeError(f"the column {key} is {types}: cast one of them, so that both have one type")
    if "char" in families:
        raise KeyTypeError(f"the column {key} is char(n), which is padded to compare: cast it to string")
    if not all(map(is_binary_collated, fields)):
        raise KeyTypeError(f"the column {key} is {types}, of which different texts are equal: collate it as UTF8_BINARY")


def _estimated_bytes(df: DataFrame) -> int:
    size = df._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()
    return int(str(size))
