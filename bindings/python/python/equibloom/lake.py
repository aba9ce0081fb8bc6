"""A lake of Parquet files, of which a query opens only those that may hold its keys.

>>> import pathlib, tempfile, pyarrow, pyarrow.parquet
>>> import equibloom.lake
>>> directory = pathlib.Path(tempfile.mkdtemp())
>>> (directory / "lake").mkdir()
>>> for number in range(3):
...     table = pyarrow.table({"id": [number, number + 10], "name": [f"a{number}", f"b{number}"]})
...     pyarrow.parquet.write_table(table, directory / "lake" / f"{number}.parquet")
>>> index = equibloom.Index.build(directory / "lake", "id", directory / "lake.eqx")
>>> [pathlib.Path(file).name for file in equibloom.lake.files(index, "id", 11)]
['1.parquet']
>>> equibloom.lake.scan(index, "id", [11, 2]).to_table().to_pylist()
[{'id': 11, 'name': 'b1'}, {'id': 2, 'name': 'a2'}]

No row is lost. A file that is new or has changed is read; if the index is missing or damaged, or cannot speak for keys of this
type, all files are, with a warning.
"""

from __future__ import annotations

import functools
import os
import pathlib
import uuid
import warnings

import pyarrow
import pyarrow.compute
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet

from . import Index, IndexFileError, KeyTypeError, KeyValueError

__all__ = ["IndexWarning", "files", "scan"]

# Above so many keys an engine joins with them instead of comparing with each.
_MANY = 100


class IndexWarning(UserWarning):
    """An index that could not be asked, so that all files are read."""


def files(index, column: str, keys, *, lake=None, check: bool = True) -> list[str]:
    """The files that may hold rows with any of the keys.

    Parameters
    ----------
    index : Index or path
        With a path, the index is opened for this call.
    column : str
        The column that is compared with the keys.
    keys : key or column
        One key, or an iterable, an array or a series of them. Nulls equal nothing.
    lake : path or list of paths
        The files, directories or patterns that are asked; those of the index if nothing is said. It is what is read if the index
        cannot be opened.
    check : bool
        Whether files are compared with those that were indexed, by size and time. Say False for lakes whose files never change.
    """
    paths, _ = _places(index, column, _keys(keys), lake, check)
    return list(paths)


def scan(index, column: str, keys, *, engine: str = "pyarrow", lake=None, check: bool = True, context=None, **options):
    """The rows with any of the keys, by an engine that is given the files of :func:`files`.

    Returns a dataset of pyarrow, a LazyFrame of polars, a relation of DuckDB or a DataFrame of DataFusion: nothing is read yet,
    and more can be asked.

    Parameters
    ----------
    engine : str
        "pyarrow", "polars", "duckdb" or "datafusion".
    context
        The connection of DuckDB or the SessionContext of DataFusion; a new one if nothing is said.
    options
        Passed on to ``pyarrow.dataset.dataset``, ``polars.scan_parquet``, ``duckdb.read_parquet`` or
        ``SessionContext.read_parquet``.
    """
    read = _ENGINES.get(engine)
    if read is None:
        raise ValueError(f"engine is {engine!r}: give one of {', '.join(_ENGINES)}")
    keys = _keys(keys)
    paths, everything = _places(index, column, keys, lake, check)
    if not everything:
        raise FileNotFoundError("there is no Parquet file in the lake: build the index again, or give lake=")
    # Without a file the columns would not be known.
    is_empty = not paths
    paths = paths or {everything[0]: None}
    return read(paths, column, keys, is_empty, context, options)


def _keys(keys) -> pyarrow.Array:
    """Keys as an array without nulls."""
    if isinstance(keys, (pyarrow.Array, pyarrow.ChunkedArray)):
        array = keys
    elif isinstance(keys, (str, bytes, uuid.UUID)) or not hasattr(keys, "__iter__"):
        return _keys([keys])
    elif hasattr(keys, "to_arrow"):
        array = keys.to_arrow()
    else:
        keys = keys if isinstance(keys, list) or hasattr(keys, "dtype") else list(keys)
        try:
            array = pyarrow.array(keys)
        except OverflowError:
            array = pyarrow.array(keys, pyarrow.uint64())
    if isinstance(array, pyarrow.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pyarrow.ChunkedArray):  # Without any chunk.
        array = pyarrow.array([], array.type)
    if pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array.drop_null()


def _places(index, column, keys, lake, check):
    """The files that are read, with their row groups if not all, and the files that there are."""
    try:
        if not isinstance(index, Index):
            index = Index.open(index)
    except (OSError, IndexFileError) as error:
        if lake is None:
            raise
        return _all(f"the index could not be opened: {error}", Index.list(lake))
    everything = Index.list(index.roots if lake is None else lake) if check or lake is not None else list(index.files)
    if not everything:
        return {}, everything
    if len(keys) == 0:
        return {}, everything
    reason = _unfit(keys.type, everything, column)
    if reason:
        return _all(reason, everything)
    if isinstance(keys, pyarrow.ExtensionArray):
        keys = keys.storage
    try:
        found = index.find_any(column, keys, check=check, lake=lake)
    except (KeyTypeError, KeyValueError) as error:
        return _all(str(error), everything)
    if not index.row_groups:
        return dict.fromkeys(found), everything
    paths: dict = {}
    for path, row_group in found:
        paths.setdefault(path, []).append(row_group)
    return {path: None if None in groups else groups for path, groups in paths.items()}, everything


def _all(reason, everything):
    warnings.warn(f"{reason}; all {len(everything)} files are read", IndexWarning, stacklevel=4)
    return dict.fromkeys(everything), everything


def _unfit(type, everything, column):
    """Why an index does not know which keys equal the values of a column; None if it does.

    An engine may compare a date with a timestamp, or text with a UUID. The bytes of these differ.
    """
    for path in everything:
        try:
            status = os.stat(path)
            schema = _schema(path, status.st_size, status.st_mtime_ns)
        except (OSError, pyarrow.ArrowException):
            # Is found by the engine, which reads it: the index does not know it.
            continue
        if "." in column and column not in schema.names:
            return f"{column!r} is in a structure"
        place = schema.get_field_index(column)
        if place < 0:
            continue
        kind, own = _kind(type), _kind(schema.field(place).type)
        return None if kind is not None and kind == own else f"keys of type {type} for a column of type {schema.field(place).type}"
    return f"no file has a column {column!r}"


@functools.lru_cache(maxsize=256)
def _schema(path, size, time):
    return pyarrow.parquet.read_schema(path)


def _kind(type):
    """Types of one kind are equal if their keys are; None for types that are no keys."""
    is_a = pyarrow.types
    if is_a.is_dictionary(type):
        return _kind(type.value_type)
    if is_a.is_integer(type):
        return "integer"
    if is_a.is_boolean(type):
        return "boolean"
    if is_a.is_string(type) or is_a.is_large_string(type) or is_a.is_string_view(type):
        return "text"
    if is_a.is_binary(type) or is_a.is_large_binary(type) or is_a.is_binary_view(type) or is_a.is_fixed_size_binary(type):
        return "bytes"
    if is_a.is_date(type):
        return "date"
    if is_a.is_timestamp(type):
        return "timestamp" if type.tz is None else "timestamp with a time zone"
    if isinstance(type, pyarrow.BaseExtensionType) and type.extension_name == "arrow.uuid":
        return "uuid"
    return None


def _pyarrow(paths, column, keys, is_empty, context, options):
    if options or not any(paths.values()):
        dataset = pyarrow.dataset.dataset(list(paths), format="parquet", **options)
    else:
        parquet, filesystem = pyarrow.dataset.ParquetFileFormat(), pyarrow.fs.LocalFileSystem()
        fragments = [parquet.make_fragment(path, filesystem, row_groups=groups) for path, groups in paths.items()]
        dataset = pyarrow.dataset.FileSystemDataset(fragments, fragments[0].physical_schema, parquet, filesystem)
    return dataset.filter(pyarrow.compute.field(column).isin(keys) if not is_empty else pyarrow.compute.scalar(False))


def _polars(paths, column, keys, is_empty, context, options):
    import polars

    # Names are not patterns.
    frame = polars.scan_parquet(list(paths), glob=False, **options)
    if is_empty:
        return frame.head(0)
    return frame.filter(polars.col(column).is_in(polars.Series(keys).implode()))


def _duckdb(paths, column, keys, is_empty, context, options):
    import duckdb

    connection = duckdb.connect() if context is None else context
    # Names are not patterns.
    names = ["".join(f"[{letter}]" if letter in "*?[" else letter for letter in path) for path in paths]
    relation = connection.read_parquet(names, **options)
    if is_empty:
        return relation.limit(0)
    if len(keys) > _MANY:
        keys = connection.from_arrow(pyarrow.table({column: keys})).distinct()
        return relation.join(keys, '"' + column.replace('"', '""') + '"', how="semi")
    return relation.filter(duckdb.ColumnExpression(column).isin(*(duckdb.ConstantExpression(key) for key in keys.to_pylist())))


def _datafusion(paths, column, keys, is_empty, context, options):
    import datafusion

    context = datafusion.SessionContext() if context is None else context
    frame = None
    for path in paths:
        # The name in an address is not a pattern.
        address, extension = pathlib.Path(path).as_uri(), os.path.splitext(path)[1]
        part = context.read_parquet(address, file_extension=extension, **options)
        frame = part if frame is None else frame.union(part)
    if is_empty:
        return frame.limit(0)
    place = datafusion.col('"' + column.replace('"', '""') + '"')
    if len(keys) > _MANY:
        keys = context.from_arrow(pyarrow.table({column: keys})).distinct()
        return frame.join(keys, on=column, how="semi")
    return frame.filter(datafusion.functions.in_list(place, [datafusion.lit(key) for key in keys]))


_ENGINES = {"pyarrow": _pyarrow, "polars": _polars, "duckdb": _duckdb, "datafusion": _datafusion}
