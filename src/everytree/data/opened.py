"""A frame of any engine, opened: what the engine is asked through, and what it cannot say of its columns itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw

from everytree.errors import DataError

__all__ = ["Opened", "opened"]


@dataclass(frozen=True)
class Opened:
    """A lazy frame; ``columns`` are its own names by those of the user, in order."""

    lazy: nw.LazyFrame[Any]
    columns: dict[str, str]
    declared: dict[str, tuple[Any, ...]] = field(default_factory=dict)  # values of categories in their order
    booleans: frozenset[str] = frozenset()  # columns of 0 and 1 that were booleans


def opened(frame: Any, target: str | None = None) -> Opened:
    """A frame of polars, DuckDB, PySpark, Ibis, Dask, pyarrow or pandas, ready to be asked."""
    native = nw.from_native(frame, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        names = {name: name for name in native.collect_schema().names()}
        if native.implementation.is_dask():
            return _of_dask(frame, native, names, target)
        if native.implementation.is_spark_like():
            return _of_spark(frame, names)
        if native.implementation.is_ibis():  # which has no numbers of 2**63 and more to compare with
            native = native.with_columns(nw.selectors.by_dtype(nw.UInt64).cast(nw.Int64))
        return Opened(native, names)
    if not isinstance(native, nw.DataFrame):
        raise DataError(
            f"a {type(frame).__name__} is no frame; expected a frame of polars, pandas, pyarrow, DuckDB, PySpark, "
            "Ibis or Dask"
        )
    if native.implementation.is_polars():
        return Opened(native.lazy(), {name: name for name in native.columns})
    return _of_arrow(native.to_arrow())


def _of_spark(frame: Any, names: dict[str, str]) -> Opened:
    """Columns by number: dots and backticks mean something in Spark's names of columns."""
    numbered = {name: f"et_column{j}" for j, name in enumerate(names)}
    return Opened(nw.from_native(frame.toDF(*numbered.values())), numbered)


def _of_dask(frame: Any, native: Any, names: dict[str, str], target: str | None) -> Opened:
    """Short integers and booleans as pandas' Int64: casts of Dask know no missing ones. Long ones stay as they are."""
    kinds = {name: kind for name, kind in native.collect_schema().items() if name != target}
    booleans = frozenset(name for name, kind in kinds.items() if kind == nw.Boolean)
    short = [name for name, kind in kinds.items() if kind.is_integer() and kind not in (nw.Int64, nw.UInt64)]
    return Opened(
        nw.from_native(frame.astype(dict.fromkeys([*short, *booleans], "Int64"))), names, booleans=booleans
    )


def _of_arrow(table: Any) -> Opened:
    """An Arrow table with categories as plain values, beside the order in which they were declared."""
    import pyarrow as pa

    table = table.unify_dictionaries()
    declared: dict[str, tuple[Any, ...]] = {}
    for place, (name, kind) in enumerate(zip(table.column_names, table.schema, strict=True)):
        if pa.types.is_dictionary(kind.type):
            column = table.column(place)
            declared[name] = () if column.num_chunks == 0 else tuple(column.chunk(0).dictionary.to_pylist())
            table = table.set_column(place, name, column.cast(kind.type.value_type))
        elif pa.types.is_uint64(kind.type):  # Arrow does not compare these with other numbers
            try:
                table = table.set_column(place, name, table.column(place).cast(pa.int64()))
            except pa.ArrowInvalid as error:
                raise DataError(
                    f"column {name!r} holds whole numbers of 2**63 and more; give the frame to polars or DuckDB first, "
                    "which compare them"
                ) from error
    lazy = nw.from_native(table).lazy()
    return Opened(lazy, {name: name for name in lazy.collect_schema().names()}, declared)
