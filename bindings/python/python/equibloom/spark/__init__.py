"""Filters built and asked by Spark: ``from equibloom.spark import build_filter, contains, prune_join``.

    customers = build_filter(orders, "customer_id", rate=0.001)
    visits.where(contains(customers, "customer_id"))
    prune_join(visits, orders, on="customer_id")

PySpark 4.1 or later, without Spark Connect; Equibloom must be installed where the executors' Python is.
"""

from __future__ import annotations

from ._build import build_filter
from ._index import build_index, index_files
from ._join import prune_join
from ._lookup import contains
from ._sharded import ShardedFilter
from ._scale import Scale, scale

__all__ = ["Scale", "ShardedFilter", "build_filter", "build_index", "contains", "index_files", "prune_join", "scale"]
