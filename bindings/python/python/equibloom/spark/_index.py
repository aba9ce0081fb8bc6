"""An index of a lake's Parquet files (equibloom.Index), made by Spark: each task reads some of the files."""

from __future__ import annotations

import datetime
import os
import pickle
from collections.abc import Iterable, Iterator
from functools import partial
from urllib.parse import quote, unquote

import pyarrow
import pyarrow.fs
import pyarrow.parquet
from pyspark.sql import DataFrame, SparkSession

from .. import Index, IndexDraft
from ._build import PIECES, in_pieces, put_together, rows_of
from ._keys import keys_of

# Files whose sizes and ranges are found, or that are indexed, at the same time: so many tasks for each core.
_TASKS_PER_CORE = 4
# What the footers of files have as bounds of columns of keys; others are of files that will be read for every key.
_KEYS = (int, str, bytes, datetime.date)


def build_index(
    source: DataFrame | str | os.PathLike | list[str],
    columns: str | list[str],
    path: str | os.PathLike,
    *,
    false_files: float = 0.1,
    seed: int = 0,
) -> Index:
    """Makes an index of Parquet files and writes it to a path of the driver.

        index = build_index("s3://lake/visits", "customer_id", "visits.eqx")
        visits = spark.read.parquet(*index_files(index, "s3://lake/visits", "customer_id", 4711))

    The files are those that a DataFrame reads, or that Spark finds at one or several paths; executors read them by pyarrow. The
    index has the names by which Spark reads them, and does not depend on the number of tasks. It holds for files that never change once they
    are written, as those of Spark and of tables do. A file that cannot be read, or whose column has no keys, is always read by queries.

    Parameters
    ----------
    columns : str or list of str
        The columns of which the index has filters.
    false_files : float
        How many files a query for a missing key may open in vain, on average. The bits per key follow.
    """
    names = [columns] if isinstance(columns, str) else list(columns)
    draft = IndexDraft(names, false_files=false_files, seed=seed)
    frame = _frame(source)
    for name in names:
        keys_of(frame, name)
    files = _files(frame)
    spark = SparkSession.active()
    tasks = max(min(len(files), _TASKS_PER_CORE * spark.sparkContext.defaultParallelism), 1)
    numbers = spark.range(0, len(files), numPartitions=tasks)
    # First the ranges of keys: how low the rate of each filter has to be depends on how many files overlap.
    found = numbers.mapInArrow(partial(_survey, files, names), PIECES).toArrow()
    ranges: dict[str, list] = {name: [] for name in names}
    for _, data in put_together(rows_of(found.to_batches())):
        # Of our own tasks.
        for file in pickle.loads(data or b""):
            for name, bounds in zip(names, file):
                ranges[name].append(bounds)
    rates = [draft.rate(name, ranges[name]) for name in names]
    made = numbers.mapInArrow(partial(_index, files, names, rates, seed), PIECES).toArrow()
    for _, data in put_together(rows_of(made.to_batches())):
        part = Index.from_bytes(data or b"")
        reasons = dict(part.unknown(names[0]))
        for file, size in part.files.items():
            if not draft.keep(part, file, size):
                draft.add_unknown(file, size, reasons.get(file, "its filter is damaged"))
    draft.save(path)
    return Index.open(path)


def index_files(index: Index, source: DataFrame | str | os.PathLike | list[str], column: str, keys) -> list[str]:
    """Of the files that a DataFrame or Spark at a path reads, those that may hold rows with any of the keys.

    Files that the index does not know, or knows with another size, are among them: the driver asks for the size of each file that
    the index excludes.
    """
    known = index.files
    found = set(index.find_any(column, keys, check=False))
    return [file for file in _files(source) if file in found or file not in known or known[file] != _size(file)]


def _frame(source: DataFrame | str | os.PathLike | list[str]) -> DataFrame:
    if isinstance(source, DataFrame):
        return source
    paths = [source] if isinstance(source, (str, os.PathLike)) else source
    return SparkSession.active().read.parquet(*(os.fspath(path) for path in paths))


def _files(source: DataFrame | str | os.PathLike | list[str]) -> list[str]:
    """The files that Spark reads, by the names by which it reads them."""
    # It lists them as URIs, and reads them by names in which a blank is a blank.
    return sorted(map(unquote, _frame(source).inputFiles()))


def _opened(file: str) -> tuple[pyarrow.fs.FileSystem, str]:
    # Hadoop's names of what pyarrow calls s3.
    scheme, separator, rest = file.partition("://")
    scheme = "s3" if scheme in ("s3a", "s3n") else scheme
    return pyarrow.fs.FileSystem.from_uri(scheme + separator + quote(rest, safe="/:@"))


def _size(file: str) -> int:
    """The bytes of a file; -1 if it cannot be told, which is the size of no file."""
    try:
        system, path = _opened(file)
        size = system.get_file_info(path).size
    except (OSError, pyarrow.ArrowException):
        return -1
    return -1 if size is None else size


def _numbers(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[int]:
    for batch in batches:
        yield from batch.column(0).to_pylist()


def _survey(files: list[str], names: list[str], batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """For each file and column the smallest and the largest key by its footer, or None: a hint, for the size of filters."""
    found = []
    for number in _numbers(batches):
        try:
            system, path = _opened(files[number])
            with system.open_input_file(path) as opened:
                footer = pyarrow.parquet.read_metadata(opened)
            found.append([_range(footer, name) for name in names])
        except (OSError, pyarrow.ArrowException):
            found.append([None] * len(names))
    yield from in_pieces(pickle.dumps(found))


def _range(footer: pyarrow.parquet.FileMetaData, name: str) -> tuple | None:
    bounds = []
    for group in map(footer.row_group, range(footer.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            if column.path_in_schema == name:
                if column.statistics is None or not column.statistics.has_min_max:
                    return None
                bounds.append((column.statistics.min, column.statistics.max))
    if not all(isinstance(bound, _KEYS) for both in bounds for bound in both):
        return None
    return (min(low for low, _ in bounds), max(high for _, high in bounds)) if bounds else None


def _index(
    files: list[str], names: list[str], rates: list[float], seed: int, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """An index of some of the files."""
    draft = IndexDraft(names, seed=seed)
    for number in _numbers(batches):
        file = files[number]
        size = _size(file)
        try:
            system, path = _opened(file)
            table = pyarrow.parquet.read_table(path, filesystem=system, columns=names, partitioning=None)
            draft.add(file, size, [table.column(name) for name in names], rates)
        except Exception as error:  # Whatever is wrong with it: a file that cannot be indexed is read for every key.
            draft.add_unknown(file, max(size, 0), f"{type(error).__name__}: {error}")
    yield from in_pieces(draft.to_bytes())
