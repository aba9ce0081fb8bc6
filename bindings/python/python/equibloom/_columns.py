"""Columns and answers of other libraries: what is shorter in Python than in Rust. Called by the compiled part."""

import numpy


class _Stream:
    """An Arrow stream without the library that it came from, so that its answers come back as they are."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __arrow_c_stream__(self, requested_schema=None):
        return self._capsule


def from_pandas(column):
    """A series or an index as a NumPy array, or as an Arrow stream where it has a type of pandas' own."""
    import pandas

    if isinstance(column, pandas.DataFrame):
        raise TypeError("a DataFrame is not a column of keys: choose one of its columns")
    if isinstance(column, pandas.MultiIndex):
        raise TypeError("a MultiIndex has several columns: choose one with get_level_values()")
    if not isinstance(column, (pandas.Series, pandas.Index)):
        column = pandas.Series(column)
    if isinstance(column.dtype, numpy.dtype):
        return column.to_numpy()
    if isinstance(column, pandas.Index):
        column = column.to_series()
    try:
        return _Stream(column.__arrow_c_stream__())
    except (AttributeError, ImportError):
        # Without pyarrow, or before pandas 2.2.
        return column.to_numpy(dtype=object)


def like_pandas(column, answers):
    """Answers as a series: of plain booleans, or of nullable ones where the column has nulls."""
    import pandas

    is_null = None
    if hasattr(answers, "to_numpy"):
        valid = answers.valid()
        answers = answers.to_numpy()
        is_null = None if valid is None else ~valid
    elif column.hasnans if hasattr(column, "hasnans") else False:
        is_null = numpy.asarray(column.isna())
    if is_null is not None and is_null.any():
        answers = pandas.array(answers, dtype="boolean")
        answers[is_null] = pandas.NA
    if isinstance(column, pandas.Series):
        return pandas.Series(answers, index=column.index, name=column.name)
    return answers


def like_arrow(column, answers):
    """Answers as an array of the library that the column is from; of any other, as an object with the Arrow interface."""
    library = type(column).__module__.split(".")[0]
    if library == "pyarrow":
        import pyarrow

        array = pyarrow.array(answers)
        return array if isinstance(column, pyarrow.Array) else pyarrow.chunked_array([array])
    if library == "polars":
        import polars

        return polars.Series(answers).alias(getattr(column, "name", ""))
    if library == "nanoarrow":
        import nanoarrow

        return nanoarrow.Array(answers)
    return answers


def mask_like(array, answers):
    """Answers with the mask of a masked array."""
    return numpy.ma.MaskedArray(answers, mask=numpy.ma.getmaskarray(array))
