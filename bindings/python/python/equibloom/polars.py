"""Filters in expressions of polars: ``import equibloom.polars``, then ``pl.col("id").eb.isin(filter)``."""

import polars

from . import Filter


def _checked(members):
    if not hasattr(members, "contains"):
        raise TypeError(f"isin() was given {type(members).__name__}: give a filter")
    return members


@polars.api.register_expr_namespace("eb")
class ExpressionNamespace:
    """``expression.eb``: what filters add to expressions."""

    def __init__(self, expression: polars.Expr):
        self._expression = expression

    def isin(self, members: Filter, *, threads: int = 1) -> polars.Expr:
        """Whether each key may be in the filter; null for null.

        >>> import polars, equibloom.polars
        >>> seen = equibloom.Filter.from_keys(["alice", "bob"], rate=1e-6)
        >>> frame = polars.DataFrame({"name": ["bob", "eve"]})
        >>> frame.filter(polars.col("name").eb.isin(seen))["name"].to_list()
        ['bob']
        """
        _checked(members)
        return self._expression.map_batches(
            lambda column: members.contains(column, threads=threads),
            return_dtype=polars.Boolean,
            is_elementwise=True,
        )


@polars.api.register_series_namespace("eb")
class SeriesNamespace:
    """``series.eb``: what filters add to series."""

    def __init__(self, series: polars.Series):
        self._series = series

    def isin(self, members: Filter, *, threads: int = 1) -> polars.Series:
        """Whether each key may be in the filter; null for null."""
        return _checked(members).contains(self._series, threads=threads)
