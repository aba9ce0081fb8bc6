"""Which columns of Spark are keys, and of which kind (docs/keys.md)."""

from __future__ import annotations

import pyarrow
from pyspark.sql import Column, DataFrame, types
from pyspark.sql import functions as sf

from .. import KeyTypeError

# Columns of one family are equal in Spark exactly if their keys have the same bytes.
_FAMILIES: dict[type[types.DataType], str] = {
    types.ByteType: "integer",
    types.ShortType: "integer",
    types.IntegerType: "integer",
    types.LongType: "integer",
    types.BooleanType: "boolean",
    types.DateType: "date",
    types.TimestampType: "timestamp",
    types.TimestampNTZType: "timestamp_ntz",
    types.StringType: "string",
    types.VarcharType: "string",
    types.CharType: "char",
    types.BinaryType: "binary",
}
_OF_BYTES = ("string", "char", "binary")
_CURES: dict[type[types.DataType], str] = {
    types.FloatType: "equal floats may have different bytes: cast it to an integer or a string",
    types.DoubleType: "equal floats may have different bytes: cast it to an integer or a string",
    types.DecimalType: "equal decimals may have different bytes: cast it to an integer or a string",
}


def keys_of(df: DataFrame, column: str | Column) -> tuple[DataFrame, str]:
    """The column alone, named "key", and its family. Other types than those of docs/keys.md are refused."""
    keys = df.select(column)
    (field,) = keys.schema.fields
    return keys.toDF("key"), family_of(field)


def family_of(field: types.StructField) -> str:
    """The family of a column, refused if it cannot be one of keys."""
    kind = type(field.dataType)
    family = _FAMILIES.get(kind)
    if family is None:
        cure = _CURES.get(kind, "keys are integers, booleans, dates, timestamps, strings and binaries")
        raise KeyTypeError(f"the column {field.name} is {field.dataType.simpleString()}: {cure}")
    # Spark reads char(n) as strings, and says so only here.
    if str((field.metadata or {}).get("__CHAR_VARCHAR_TYPE_STRING", "")).startswith("char"):
        return "char"
    return family


def is_binary_collated(field: types.StructField) -> bool:
    """Whether strings of the column are equal only if their bytes are."""
    return getattr(field.dataType, "collation", "UTF8_BINARY") == "UTF8_BINARY"


def kind_of(family: str) -> str:
    """The kind of keys in a filter of such columns."""
    return "bytes" if family in _OF_BYTES else "integer"


def shard_of(key: Column, family: str, shards: int) -> Column:
    """The shard of a key: a hash that depends on the key only, whatever the width of its column."""
    if family == "integer":
        key = key.cast("bigint")
    elif family in _OF_BYTES:
        # A string and its bytes are one key, whatever the collation.
        key = key.cast("binary")
    return sf.pmod(sf.xxhash64(key), sf.lit(shards).cast("bigint")).cast("int")


def check_family(found: pyarrow.DataType, family: str) -> None:
    """Refuses a column of another family, whose equal keys could be in other shards."""
    is_type = pyarrow.types
    if family in _OF_BYTES:
        fits = is_type.is_string(found) or is_type.is_binary(found)
        fits = fits or is_type.is_large_string(found) or is_type.is_large_binary(found)
    elif family == "integer":
        fits = is_type.is_integer(found)
    elif family == "boolean":
        fits = is_type.is_boolean(found)
    elif family == "date":
        fits = is_type.is_date(found)
    else:
        fits = is_type.is_timestamp(found) and (found.tz is not None) == (family == "timestamp")
    if not fits:
        raise KeyTypeError(f"the filter is of {family} columns, and was asked for {found}: cast the column")
