"""Membership filters: columns in, answers out, one file for every language.

A filter is an approximate set: it has every key that was inserted, and seldom one that was not.

>>> import numpy
>>> from equibloom import Filter
>>> customers = Filter.from_keys(numpy.arange(100_000), rate=0.001)
>>> 99_999 in customers
True
>>> customers.contains(numpy.array([1, 2, -3]))
array([ True,  True, False])
"""

from ._equibloom import (
    Filter,
    FilterFileError,
    FilterMergeError,
    GrowingFilter,
    Index,
    IndexDraft,
    IndexFileError,
    KeyTypeError,
    KeyValueError,
    Plan,
    RequirementsError,
    __version__,
    plan,
)

__all__ = [
    "Filter",
    "FilterFileError",
    "FilterMergeError",
    "GrowingFilter",
    "Index",
    "IndexDraft",
    "IndexFileError",
    "KeyTypeError",
    "KeyValueError",
    "Plan",
    "RequirementsError",
    "__version__",
    "plan",
]
