"""Data that stay where they are: any frame that narwhals knows, asked by aggregation only.

polars, DuckDB, PySpark, Ibis, Dask, pyarrow and pandas (by way of Arrow) all become a ``LazyData``, which knows the
kind of each column and answers four questions, each of them one query of the engine:

    facts     of every column: how many values, the least, the greatest, whether all are 0 or 1
    values    the distinct values of a column with their counts
    ranges    the number of examples in ranges of values, in order
    groups    the counts of all combinations of expressions: the GROUP BY that makes a table

Counts are sums of 64-bit ones: engines count rows in 32 bits (polars) or in 128 (DuckDB), and those are cast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from everytree.common.arguments import refused
from everytree.data.column import Kind
from everytree.data.cut_rules import chosen_columns
from everytree.data.cuts import distinct_numbers
from everytree.data.facts import ColumnFacts
from everytree.data.frames import CONVERT_TIME, named_columns
from everytree.data.opened import opened
from everytree.data.quantiles import Ranges
from everytree.errors import DataError, LimitReached

__all__ = ["LazyColumn", "LazyData", "N", "Y", "column_names", "one_message", "one_where"]

PIECE = 40  # columns whose facts are asked for in one query: SQL texts have limits
BUCKETS = 4096  # ranges per query
CONVERT = "convert it to numbers, text or booleans first"
PART = 2**31  # of a large weight
LARGEST = 2.0**62  # more examples than this in all are refused: sums of 64 bits wrap around silently
BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001))))  # all that str.strip() takes away
INTERRUPTED = "Query interrupted"  # DuckDB's RuntimeError at Ctrl-C, in place of a KeyboardInterrupt
N, Y, V = "et_n", "et_y", "et_v"  # unlike any column: Ibis confuses a new name with an old one


@dataclass(frozen=True)
class LazyColumn:
    """A column inside an engine, a type beside ``Column`` because its rows stay there: what queries need of it.

    ``key`` is its name in queries, ``categories`` the order of its values if one is declared.
    """

    name: str
    kind: Kind
    key: str
    numbers: str = "float64"  # their type, exact: float64, int64 or uint64
    categories: tuple[Any, ...] | None = None


class LazyData:
    """Columns, a target and whole weights in an engine.

    ``nominal`` are columns of numbers that are codes. Rows of weight 0 are left out.
    """

    def __init__(
        self,
        frame: Any,
        target: str,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        nominal: Sequence[str | int] | None = None,
    ) -> None:
        source = _answered(lambda: opened(frame, target))
        lazy, own = source.lazy, source.columns
        types = _answered(lazy.collect_schema)
        schema = {name: types[actual] for name, actual in own.items()}
        names = list(schema)
        if columns is not None and isinstance(columns, str):
            raise refused(DataError, "columns", columns, f"a list of names, for example [{columns!r}]")
        chosen = (
            [name for name in names if name not in (target, weight)] if columns is None else list(columns)
        )
        for what, name in (("target", target), ("weight", weight), *(("columns", name) for name in chosen)):
            if name is not None and name not in names:
                raise refused(
                    DataError, what, name, says=f" is no column of the frame; it has {_some(names)}"
                )
        if target in chosen or weight in chosen or target == weight:
            raise DataError("a column is named twice among columns, target and weight; name each once")
        if len(set(chosen)) < len(chosen):
            raise refused(DataError, "columns", chosen, says=" names a column twice")
        coded = chosen_columns(nominal, named_columns(chosen, tuple(chosen)), "nominal")
        self.names = tuple(chosen)
        self.columns: list[LazyColumn] = []
        kept: list[nw.Expr] = []
        bare = _bare_by_pattern if lazy.implementation.is_ibis() else _bare
        for j, name in enumerate(chosen):
            value, dtype, order = nw.col(own[name]), schema[name], source.declared.get(name)
            if name in source.booleans:
                column, expression = LazyColumn(name, "boolean", f"et_c{j}", "int64"), value
            else:
                column, expression = _column(name, value, dtype, f"et_c{j}", j in coded, order, bare)
            if column.kind == "empty" and _any_value(lazy, value):
                raise DataError(f"column {name!r} holds values of a type that is not known here; {CONVERT}")
            self.columns.append(column)
            kept.append(expression.alias(column.key))
        kept.append(_label(nw.col(own[target]), schema[target]).alias(Y))
        if weight is None:
            kept.append(nw.lit(1, nw.Int64).alias(N))
            self._data = lazy.select(*kept)
        else:
            if not schema[weight].is_numeric():
                raise refused(
                    DataError,
                    "weight",
                    weight,
                    says=f" is a column of {schema[weight]}; expected whole numbers",
                )
            times = nw.col(own[weight])
            self._check_weights(lazy, weight, times, schema[weight])
            kept.append(times.cast(nw.Int64).alias(N))
            self._data = lazy.filter(times > 0).select(*kept)
        self._target = target

    def drop_unlabelled(self) -> None:
        """Leave out the rows without a label."""
        self._data = self._data.filter(~nw.col(Y).is_null())

    def _check_weights(self, lazy: Any, weight: str, column: nw.Expr, dtype: Any) -> None:
        queries = [one_where(column.is_null()).sum().cast(nw.Int64).alias("gone")]
        if dtype.is_integer():  # no float sees the last digits of these, and Arrow refuses to try
            queries += [
                column.count().cast(nw.Int64).alias("rows"),
                column.min().alias("low"),
                column.max().alias("high"),
                (column // PART).sum().cast(nw.Int64).alias("parts"),
            ]
        else:
            plain = column.cast(nw.Float64)
            whole = (plain == plain.floor()) & (plain.abs() < LARGEST)
            queries += [
                one_where(~whole).sum().cast(nw.Int64).alias("broken"),
                plain.min().alias("low"),
                plain.sum().alias("sum"),
            ]
        found = collected(lazy.select(*queries)).to_pylist()[0]
        if found["gone"]:
            raise refused(
                DataError,
                "weight",
                weight,
                says=f" is missing in {found['gone']} rows; give every row a number",
            )
        if found.get("broken") or (found["low"] is not None and not found["low"] >= 0):
            raise refused(
                DataError,
                "weight",
                weight,
                says=" must hold whole numbers of at least 0; scale and round them, 0 leaves a row out",
            )
        if dtype.is_integer():
            rows, most = int(found["rows"] or 0), int(found["high"] or 0)
            total = min(rows * most, (int(found["parts"] or 0) + rows) * PART)  # or a little less
        else:
            total = found["sum"] or 0
        if not total < LARGEST:
            raise refused(
                DataError, "weight", weight, says=f" adds up to {total:.4g}, more than 2**62; divide it"
            )

    # --- the four questions

    def facts(self) -> tuple[int, list[ColumnFacts]]:
        """The number of examples, and what one query tells of each column; infinity is refused."""
        total, found = 0, list[ColumnFacts]()
        for start in range(0, max(1, len(self.columns)), PIECE):
            queries = [nw.col(N).sum().cast(nw.Int64).alias("total")]
            piece = self.columns[start : start + PIECE]
            for column in piece:
                key, value = column.key, nw.col(column.key)
                queries.append(
                    nw.when(~value.is_null())
                    .then(nw.col(N))
                    .otherwise(nw.lit(0, nw.Int64))
                    .sum()
                    .cast(nw.Int64)
                    .alias(f"p{key}")
                )
                if column.kind == "numeric":
                    other = (value != 0) & (value != 1)
                    queries += [
                        value.min().alias(f"l{key}"),
                        value.max().alias(f"h{key}"),
                        one_where(other).sum().cast(nw.Int64).alias(f"o{key}"),
                    ]
            row = collected(self._data.select(*queries)).to_pylist()[0]
            total = int(row["total"] or 0)
            for column in piece:
                present = int(row[f"p{column.key}"] or 0)
                low, high = row.get(f"l{column.key}"), row.get(f"h{column.key}")
                if high is not None and (high == np.inf or low == -np.inf):
                    raise DataError(
                        f"column {column.name!r} holds infinity (inf); replace it by a finite number, or by null and "
                        "choose how to treat missing values"
                    )
                only_01 = column.kind == "boolean" or not row.get(f"o{column.key}")
                found.append(_first_facts(column, present, total - present, only_01, low, high))
        return total, found

    def values(self, column: LazyColumn, most: int) -> tuple[list[Any], list[int]]:
        """The distinct values of a column with their counts, in no order; at most ``most`` + 1 of them."""
        return self._values(column.key, most)

    def labels(self, most: int) -> tuple[list[Any], int]:
        """The distinct labels, in no order, and how many examples have none; at most ``most`` + 1 labels."""
        values, counts = self._values(Y, most, missing=True)
        gone = sum(n for value, n in zip(values, counts, strict=True) if value is None)
        return [value for value in values if value is not None], gone

    def _values(self, key: str, most: int, missing: bool = False) -> tuple[list[Any], list[int]]:
        data = self._data if missing else self._data.filter(~nw.col(key).is_null())
        found = collected(_counted(data.select(nw.col(key).alias(V), N), [V]).head(most + 1))
        return found.column(V).to_pylist(), found.column(N).to_pylist()

    def ranges(self, column: LazyColumn, low: Any, high: Any, plain: bool) -> Ranges:
        """Examples in ranges of values between ``low`` and ``high``; ``plain``: one range per value."""
        value = nw.col(column.key)
        inside = (value >= low) & (value <= high)
        data = self._data.filter(inside).select(value.alias(V), N)
        dtype, whole = column.numbers, column.numbers != "float64"
        span = (high - low) // BUCKETS + 1 if whole else float(high) * 0.5 - float(low) * 0.5
        if plain or not BUCKETS / max(span, 5e-324) < np.inf:  # values too near for ranges are few
            found = collected(_counted(data, [V]))
            points, counts = distinct_numbers(
                _numbers(found.column(V), dtype), _numbers(found.column(N), np.int64)
            )
            return Ranges(points, points, counts)
        # Any function of the value that does not decrease would do, so the rounding of an engine does not matter.
        if whole:
            bucket = nw.col(V) // span
        else:
            bucket = ((nw.col(V) * 0.5 - float(low) * 0.5) * (BUCKETS / span)).floor().cast(nw.Int64)
        grouped = (
            data.with_columns(bucket.alias("b"))
            .group_by("b")
            .agg(nw.col(V).min().alias("l"), nw.col(V).max().alias("h"), nw.col(N).sum().alias(N))
            .with_columns(nw.col(N).cast(nw.Int64))
        )
        found = collected(grouped)
        order = np.argsort(_numbers(found.column("l"), dtype), kind="stable")
        return Ranges(
            _numbers(found.column("l"), dtype)[order],
            _numbers(found.column("h"), dtype)[order],
            _numbers(found.column(N), np.int64)[order],
        )

    def groups(self, keys: Sequence[nw.Expr], most: int) -> Any:
        """The counts of all combinations of the keys ``k0``, ``k1``, … and the label, as an Arrow table."""
        named = [key.alias(f"k{j}") for j, key in enumerate(keys)]
        data = self._data.select(*named, Y, N)
        found = collected(_counted(data, [*(f"k{j}" for j in range(len(keys))), Y]).head(most + 1))
        if found.num_rows > most:
            raise LimitReached(
                f"the data have more than {most} different rows, which is what the memory limit allows; use fewer "
                "bins or fewer columns, or raise memory_limit",
                "memory",
            )
        return found


def _first_facts(
    column: LazyColumn, present: int, absent: int, only_01: bool, low: Any, high: Any
) -> ColumnFacts:
    if present == 0:
        return ColumnFacts(column.name, "empty", absent=absent)
    if column.kind == "nominal":
        return ColumnFacts(
            column.name, "nominal", absent=absent, categories=column.categories, present=present
        )
    values = np.array([0, 1]) if only_01 else ()
    extremes = (0, 1) if column.kind == "boolean" else (low, high)
    return ColumnFacts(column.name, "numeric", values, absent=absent, present=present, extremes=extremes)


def one_where(condition: nw.Expr) -> nw.Expr:
    """1 where the condition holds, else 0, also where it is not known."""
    return nw.when(condition).then(nw.lit(1, nw.Int64)).otherwise(nw.lit(0, nw.Int64))


def column_names(frame: Any) -> list[str]:
    """The names of the columns of a frame of any engine."""
    return list(_answered(lambda: opened(frame)).columns)


def collected(lazy: Any) -> Any:
    """Run a query; its result as an Arrow table."""
    return _answered(lambda: lazy.collect(backend="pyarrow").to_native())


@contextmanager
def one_message() -> Iterator[None]:
    """What Arrow raises, where it computes at once and not when it is asked, as the same kind of message."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.split(".")[0] not in ("pyarrow", "narwhals"):
            raise
        raise _message(error) from error


def _message(error: Exception) -> DataError:
    text = " ".join(str(error).split())[:300]
    return DataError(f"the engine could not answer ({type(error).__name__}): {text}")


def _answered(ask: Callable[[], Any]) -> Any:
    """What an engine answers; whatever it raises becomes one message."""
    try:
        return ask()
    except (DataError, MemoryError, ModuleNotFoundError):
        raise
    except Exception as error:  # each engine has its own kinds
        if isinstance(error, RuntimeError) and str(error) == INTERRUPTED:
            raise KeyboardInterrupt from error
        raise _message(error) from error


def _counted(data: Any, keys: list[str]) -> Any:
    grouped = data.group_by(*keys).agg(nw.col(N).sum().alias(N))
    return grouped.with_columns(nw.col(N).cast(nw.Int64))


def _numbers(column: Any, dtype: Any) -> npt.NDArray[Any]:
    return np.asarray(column.to_numpy()).astype(dtype, copy=False)


def _any_value(lazy: Any, value: nw.Expr) -> bool:
    found = collected(lazy.select(one_where(~value.is_null()).sum().alias(N)))
    return bool(found.column(N).to_pylist()[0])


def _bare(text: nw.Expr) -> nw.Expr:
    """Texts without blanks around them, as ``frames.read_columns`` has them."""
    return text.str.strip_chars(BLANKS)


def _bare_by_pattern(text: nw.Expr) -> nw.Expr:
    """The same for Ibis, which strips no characters of one's own choice."""
    blank = f"[{re.escape(BLANKS)}]+"
    return text.str.replace_all(f"^{blank}|{blank}$", "")


def _column(
    name: str,
    value: nw.Expr,
    dtype: Any,
    key: str,
    coded: bool,
    declared: tuple[Any, ...] | None,
    bare: Callable[[nw.Expr], nw.Expr],
) -> tuple[LazyColumn, nw.Expr]:
    """A column and the expression that reads it: a number, 0/1, or a value; NaN is null."""
    if dtype in (nw.Datetime, nw.Date, nw.Duration, nw.Time):
        raise DataError(f"column {name!r} holds dates or times ({dtype}); {CONVERT_TIME}")
    if dtype == nw.Unknown and declared is None:
        return LazyColumn(name, "empty", key), nw.lit(None, nw.String)
    if dtype in (nw.Categorical, nw.Enum):
        order = tuple(getattr(dtype, "categories", None) or ()) if dtype == nw.Enum else None
        text = value.cast(nw.String)
        return LazyColumn(name, "nominal", key, categories=order), text if order else bare(text)
    if dtype == nw.String:
        return LazyColumn(name, "nominal", key, categories=declared), value if declared else bare(value)
    if dtype == nw.Boolean:
        if coded or declared is not None:
            return LazyColumn(name, "nominal", key, categories=declared), value
        return LazyColumn(name, "boolean", key, "int64"), value.cast(nw.Int64)
    if not dtype.is_numeric():
        raise DataError(
            f"column {name!r} holds {dtype} values; expected numbers, text, booleans or categories"
        )
    if dtype == nw.UInt64:
        numbers, number = "uint64", value
    elif dtype.is_integer():
        numbers, number = "int64", value if dtype == nw.Int64 else value.cast(nw.Int64)
    else:
        plain = value.cast(nw.Float64)
        numbers, number = "float64", nw.when(~plain.is_nan()).then(plain)
    if coded or declared is not None:
        return LazyColumn(name, "nominal", key, numbers, declared), number
    return LazyColumn(name, "numeric", key, numbers), number


def _label(value: nw.Expr, dtype: Any) -> nw.Expr:
    if dtype in (nw.Categorical, nw.Enum):
        return value.cast(nw.String)
    if dtype.is_float() or dtype.is_decimal():
        plain = value.cast(nw.Float64)
        return nw.when(~plain.is_nan()).then(plain)
    return value


def _some(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown + (f", … {len(names)} in all" if len(names) > most else "")
