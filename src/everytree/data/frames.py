"""One view of every kind of input: a matrix, a data frame or a data set becomes a list of typed columns.

numpy arrays, lists, pandas, polars, pyarrow (through narwhals) and what the readers of this package return
all end as a ``Frame``. Each column is numeric, boolean or nominal, with a mask of missing entries; missing
are NaN, None, a null of the data frame, and masked entries of a masked array. Nothing else in the package
looks at data frames.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from narwhals.exceptions import DuplicateError
from scipy import sparse

from everytree.common.reading import check_memory, looked
from everytree.common.told import tell
from everytree.data.column import Column, nominal_column, without_blanks
from everytree.data.items import are_dates, hours_or_days, is_missing
from everytree.data.recipes.dates import moment_of
from everytree.data.recipes.recipe import PARTS, DateRecipe, Recipes, apply_recipes, by_source
from everytree.errors import DataError

__all__ = ["Frame", "check_columns", "named_columns", "read_columns", "read_frame"]

CONVERT_TIME = (
    "convert it first, for example to days since a fixed date, or to parts such as year, month and weekday"
)
SOME = 5  # how many names a message lists
OF_COLUMN = 800  # bytes of a column beside its values
CODED = ("CategoricalDtype", "StringDtype")  # types of pandas whose arrays give codes
PLAIN = {
    "b1",
    "f4",
    "f8",
    *(f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)),
}  # numpy's numbers, and bool


@dataclass(frozen=True, slots=True)
class Frame:
    """Typed columns of equal length; ``names`` is None where the input has none (they are then x0, x1, …)."""

    columns: tuple[Column, ...]
    n_rows: int
    names: tuple[str, ...] | None
    recipes: Recipes = ()  # how columns were made of those of a file
    times: tuple[str, ...] = ()  # columns of dates, as texts, that no recipe has made numbers of yet

    @property
    def n_bytes(self) -> int:
        """The bytes of the columns; of texts those that say where they are."""
        return sum(
            column.data.nbytes + (0 if column.mask is None else column.mask.nbytes) for column in self.columns
        )

    def take(self, rows: npt.NDArray[Any]) -> Frame:
        """The same frame for some of the rows (a mask or indices)."""
        n_rows = int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else int(rows.size)
        return Frame(tuple(column.take(rows) for column in self.columns), n_rows, self.names, self.recipes)


def read_frame(X: Any, like: Any = None) -> Frame:
    """Read any supported input into typed columns, or say which column cannot be read, and why.

    Dates become parts that a tree can use: year, month, weekday, hour and age in days. ``like`` is a fitted classifier:
    what it reads by recipes is read so here.

    >>> frame = read_frame([[1.5, "red"], [2.5, None]])
    >>> [(column.name, column.kind) for column in frame.columns]
    [('x0', 'numeric'), ('x1', 'nominal')]
    """
    frame = read_columns(X)
    known: Recipes = tuple(getattr(like, "recipes_", ()))
    if frame.recipes:
        _check_recipes(frame.recipes, known, like)
        return frame
    if {recipe.column for recipe in known} & {column.name for column in frame.columns}:
        return _only_fitted(_made_by(frame, known), like)  # what is read already stays as it is
    return _made_by(frame, _date_recipes(frame)) if frame.times else frame


def _check_recipes(given: Recipes, known: Recipes, like: Any) -> None:
    """Refuse columns that were read otherwise than in training: an age, for example, counts from another day."""
    if like is None:
        return
    mine = by_source(given)
    for recipe in known:
        if recipe.column in mine and mine[recipe.column] != recipe:
            raise DataError(
                f"column {recipe.column!r} was read otherwise than in training; read the file with "
                "everytree.read(file, like=model)"
            )


def _made_by(frame: Frame, recipes: Recipes) -> Frame:
    """Return a frame with the columns that recipes make in place of their sources."""
    made, unread = apply_recipes({column.name: column for column in frame.columns}, recipes)
    for each in unread:
        tell(f"{each}; these are missing")
    columns = tuple(made.values())
    names = None if frame.names is None else tuple(made)
    return Frame(columns, frame.n_rows, names, recipes)


def _only_fitted(frame: Frame, like: Any) -> Frame:
    """Leave out columns that ``everytree.read`` left out in training, such as ids; what is gone is told later."""
    wanted = list(getattr(like, "feature_names_in_", ()))
    by_name = {column.name: column for column in frame.columns}
    if frame.names is None or not wanted or not set(wanted) <= set(by_name):
        return frame
    return Frame(tuple(by_name[name] for name in wanted), frame.n_rows, tuple(wanted), frame.recipes)


def _date_recipes(frame: Frame) -> Recipes:
    """Make the recipes of columns of dates; what cannot be read as a date is refused."""
    recipes = []
    for column in frame.columns:
        if column.name in frame.times:
            moments = [moment for label in column.labels if (moment := moment_of(label)) is not None]
            if not moments:
                raise DataError(
                    f"column {column.name!r} holds no date between the years 1600 and 2200; {CONVERT_TIME}"
                )
            timed = any(moment.hours for moment in moments)
            parts = tuple(part for part in PARTS if timed or part != "hour")
            recipes.append(DateRecipe(column.name, "ymd", max(moment.day for moment in moments), parts))
    return tuple(recipes)


def read_columns(X: Any) -> Frame:
    """Read any supported input into typed columns, dates as texts; ``times`` names those.

    Texts have no blanks around them, as in files: "East " of a frame is "East" of its CSV file.
    """
    if isinstance(X, Frame):
        return X
    frame = _read_columns(X)
    return replace(frame, columns=tuple(map(without_blanks, looked(frame.columns))))


def _read_columns(X: Any) -> Frame:
    if sparse.issparse(X):
        raise DataError(
            "X is a sparse matrix; sparse input is not supported. Use X.toarray(), or a data frame, if it "
            "fits in memory"
        )
    try:
        native = nw.from_native(X, pass_through=True, allow_series=True)
    except DuplicateError as error:
        raise DataError(f"column names must differ, but some occur more than once. {error}") from error
    if isinstance(native, nw.LazyFrame):
        raise DataError("X is a lazy data frame; call .collect() on it first")
    if isinstance(native, nw.Series):
        raise DataError(
            "Expected 2D input, got one column (a series). Reshape your data: use X.to_frame(), or a list "
            "of column names when selecting from a data frame"
        )
    if isinstance(native, nw.DataFrame):
        return _from_narwhals(native)
    columns = getattr(X, "columns", None)
    if not isinstance(columns, Mapping):
        return _from_array(X)
    return replace(_from_dataset(columns), recipes=tuple(getattr(X, "recipes", ())))


def named_columns(columns: Sequence[str], names: tuple[str, ...] | None) -> Frame:
    """A frame of one row that stands for columns of these names, for ``check_columns``."""
    return Frame(tuple(Column.of(name, "numeric", np.zeros(1)) for name in columns), 1, names)


def check_columns(estimator: Any, frame: Frame, *, reset: bool) -> None:
    """Remember (``reset=True``) or verify the number and the names of the columns, as scikit-learn does.

    Sets ``n_features_in_`` and, for named columns, ``feature_names_in_``. The messages begin like
    scikit-learn's, which its estimator checks and other libraries look for.
    """
    n_columns, who = len(frame.columns), type(estimator).__name__
    shape = f"(shape=({frame.n_rows}, {n_columns})) while a minimum of 1 is required"
    if n_columns == 0 and reset:
        raise DataError(f"Found input with 0 feature(s) {shape}.")
    if frame.n_rows == 0:
        raise DataError(f"Found input with 0 sample(s) {shape}.")
    if reset:
        estimator.n_features_in_ = n_columns
        if frame.recipes:
            estimator.recipes_ = frame.recipes
        elif hasattr(estimator, "recipes_"):
            del estimator.recipes_
        if frame.names is not None:
            estimator.feature_names_in_ = np.asarray(frame.names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is not None and frame.names is not None:
        if list(fitted) != list(frame.names):
            raise DataError(_names_differ(list(fitted), list(frame.names)))
    elif fitted is not None:
        tell(f"X does not have valid feature names, but {who} was fitted with feature names")
    elif frame.names is not None:
        tell(f"X has feature names, but {who} was fitted without feature names")
    if n_columns != estimator.n_features_in_:
        raise DataError(
            f"X has {n_columns} features, but {who} is expecting {estimator.n_features_in_} features as "
            "input."
        )


def _names_differ(fitted: list[str], given: list[str]) -> str:
    def some(names: Iterable[str]) -> str:
        listed = sorted(names)
        return "".join(f"- {name}\n" for name in listed[:SOME]) + ("- ...\n" if len(listed) > SOME else "")

    message = "The feature names should match those that were passed during fit.\n"
    if new := set(given) - set(fitted):
        message += "Feature names unseen at fit time:\n" + some(new)
        if set(fitted) < set(given):
            message += (
                "everytree.read(X, like=model) takes the columns of training and leaves out the others.\n"
            )
    if gone := set(fitted) - set(given):
        message += "Feature names seen at fit time, yet now missing:\n" + some(gone)
    if not new and not gone:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


def _check_names(names: list[Any]) -> tuple[str, ...] | None:
    """Column names, if all are strings; None if none is."""
    strings = [isinstance(name, str) for name in names]
    if not any(strings):
        return None
    if not all(strings):
        raise DataError(
            "some column names are strings and some are not: convert all of them to strings, "
            "for example with X.columns = X.columns.astype(str)"
        )
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise DataError(f"column names must differ, but {twice[:SOME]} occur more than once; rename them")
    return tuple(str(name) for name in names)


def _from_array(X: Any) -> Frame:
    mask = np.ma.getmaskarray(X) if isinstance(X, np.ma.MaskedArray) else None
    try:
        array = np.asarray(X)
        if array.dtype.kind in "USV" and not hasattr(X, "dtype"):
            array = np.asarray(X, dtype=object)  # a list of mixed rows: keep its numbers numbers
    except ValueError as error:
        raise DataError(f"X cannot be read as a table: {error}") from error
    if array.ndim != 2:
        raise DataError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data using X.reshape(-1, 1) "
            "if it is one column, or X.reshape(1, -1) if it is one row"
        )
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported: give the real and the imaginary part as two columns")

    check_memory(8 * array.size + OF_COLUMN * array.shape[1], f"{array.shape[1]} columns")

    def read(j: int) -> Column:
        column = _from_values(f"x{j}", np.ascontiguousarray(array[:, j]))
        return _masked(column, mask[:, j]) if mask is not None and mask[:, j].any() else column

    columns = _each(read, zip(range(array.shape[1])))
    times = tuple(column.name for j, column in enumerate(columns) if _holds_dates(array[:, j]))
    return Frame(tuple(columns), int(array.shape[0]), None, times=times)


def _holds_dates(values: npt.NDArray[Any]) -> bool:
    return values.dtype.kind == "M" or (values.dtype.kind == "O" and are_dates(values.tolist()))


def _from_narwhals(frame: nw.DataFrame[Any]) -> Frame:
    names = _check_names(list(frame.columns))
    called = [f"x{j}" for j in range(frame.shape[1])] if names is None else list(names)
    times, objects = list[str](), list[str]()

    def read(name: str, series: Any, values: Any) -> Column:
        if values is not None:
            return _from_pandas(name, values)
        dtype = series.dtype  # made anew at each look
        if dtype == nw.Unknown and series.implementation.is_pandas():
            series = nw.from_native(_known(name, series.to_native()), series_only=True)
            dtype = series.dtype
        column = _from_series(name, series, dtype)
        if dtype in (nw.Datetime, nw.Date):
            times.append(name)
        elif dtype == nw.Object and are_dates(series.to_list()):
            objects.append(name)
        return column

    columns = _each(read, zip(called, *_series_and_arrays(frame), strict=True))
    return Frame(tuple(columns), int(frame.shape[0]), names, times=(*times, *objects))


def _each(read: Callable[..., Column], given: Iterable[tuple[Any, ...]]) -> list[Column]:
    """Read one column after the other; if some cannot be used, one error lists them all."""
    columns, problems = list[Column](), list[DataError]()
    for one in looked(given):
        try:
            columns.append(read(*one))
        except DataError as error:
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        some = "; ".join(map(str, problems[:SOME]))
        more = f"; and {len(problems) - SOME} more" if len(problems) > SOME else ""
        raise DataError(f"{len(problems)} columns cannot be used: {some}{more}")
    return columns


def _known(name: str, series: Any) -> Any:
    """A series of pandas as one of a type that narwhals knows: sparse ones dense, periods as the dates they begin."""
    if hasattr(series, "sparse"):
        return series.sparse.to_dense()
    if str(series.dtype).startswith("period"):
        return series.dt.to_timestamp()
    if isinstance(series.dtype, np.dtype) and not series.dtype.isnative:
        return series.astype(series.dtype.newbyteorder("="))
    if getattr(series.dtype, "kind", "") == "c":
        raise DataError(
            f"column {name!r} holds complex numbers. Complex data not supported: give two columns"
        )
    raise DataError(
        f"column {name!r} holds {series.dtype} values; expected numbers, text, booleans or categories"
    )


def _series_and_arrays(frame: nw.DataFrame[Any]) -> tuple[list[Any], list[Any]]:
    """Return the columns as series, or as arrays: numpy's numbers or booleans, pandas' categories or texts.

    Through narwhals a column of numpy's own types takes 0.2 ms of half a dozen wrappers, which was half of the time to
    fit a small file; its array is the same numbers. Categories are codes already, and need not be made texts first; of
    texts pandas makes the codes, in half the time that it takes to list them.
    """
    if not frame.implementation.is_pandas():
        series = list(frame.iter_columns())
        return series, [None] * len(series)
    native = frame.to_native()
    dtypes = list(native.dtypes)
    plain = [isinstance(dtype, np.dtype) and dtype.isnative and dtype.str[1:] in PLAIN for dtype in dtypes]
    if all(plain) and len(set(dtypes)) == 1:
        return [None] * len(dtypes), list(native.to_numpy().T)
    arrays = [
        each.to_numpy() if it else each.array if type(dtype).__name__ in CODED else None
        for it, dtype, (_, each) in zip(plain, dtypes, native.items(), strict=True)
    ]
    known = all(each is not None for each in arrays)
    return [None] * len(arrays) if known else list(frame.iter_columns()), arrays


def _from_pandas(name: str, values: Any) -> Column:
    if isinstance(values, np.ndarray):
        return _from_plain(name, values)
    return _from_texts(name, values) if hasattr(values.dtype, "storage") else _from_categorical(name, values)


def _from_plain(name: str, values: npt.NDArray[Any]) -> Column:
    """A typed column of numpy's numbers or booleans, as ``_from_series`` makes it."""
    if values.dtype.kind != "f" or not (missing := np.isnan(values)).any():
        return _from_values(name, values)
    if missing.all():
        return Column.of(name, "empty", np.zeros(values.size), missing)
    return _numeric(name, np.where(missing, 0, values), missing)


def _from_texts(name: str, values: Any) -> Column:
    """A nominal column of pandas' texts, as ``_from_series`` makes it."""
    codes, labels = values.factorize()
    codes = np.asarray(codes).astype(np.int32)
    gone = codes < 0
    if gone.size and gone.all():
        return Column.of(name, "empty", np.zeros(codes.size), gone)
    return Column.of(name, "nominal", codes, gone, labels.tolist(), None)


def _from_categorical(name: str, values: Any) -> Column:
    """A nominal column of pandas' categories, as ``_from_series`` makes it: labels in the order in which they come."""
    codes = np.asarray(values.codes).astype(np.int32)
    gone = codes < 0
    if gone.all():
        return Column.of(name, "empty", np.zeros(codes.size), gone)
    declared = values.categories.tolist()
    found, first = np.unique(codes[~gone], return_index=True)
    order = found[np.argsort(first)]
    place = np.full(len(declared) + 1, -1, dtype=np.int32)  # the last for −1
    place[order] = np.arange(order.size)
    return Column.of(
        name, "nominal", place[codes], gone, [declared[k] for k in order.tolist()], tuple(declared)
    )


def _date_texts(name: str, items: list[Any]) -> Column:
    """Dates and datetimes as texts in ISO form, which ``moment_of`` reads."""
    return nominal_column(name, [None if is_missing(item) else item.isoformat()[:19] for item in items])


def _from_series(name: str, series: Any, dtype: Any) -> Column:
    if dtype in (nw.Datetime, nw.Date):
        return _date_texts(name, series.to_list())
    if dtype in (nw.Duration, nw.Time):
        items = [None if is_missing(item) else hours_or_days(item) for item in series.to_list()]
        return _from_objects(name, items)
    missing: npt.NDArray[np.bool_] | None = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if missing is not None and not missing.any():
        missing = None
    if missing is not None and missing.all():
        return Column.of(name, "empty", np.zeros(missing.size), missing)
    if dtype in (nw.Categorical, nw.Enum):
        # The categories of a polars Categorical are in no order anyone declared; those of an Enum are.
        ordered = dtype == nw.Enum or not series.implementation.is_polars()
        declared = tuple(series.cat.get_categories().to_list()) if ordered else None
        return nominal_column(name, series.to_list(), missing, declared)
    if dtype == nw.String:
        return nominal_column(name, series.to_list(), missing)
    if dtype == nw.Boolean:
        filled = series if missing is None else series.fill_null(False)
        return Column.of(name, "boolean", np.asarray(filled.to_numpy()).astype(np.uint8), missing)
    if dtype.is_numeric():
        if dtype in (nw.Int128, nw.UInt128):  # numpy has no such type; the values may still fit in 64 bits
            return _from_objects(name, series.to_list())
        if dtype.is_decimal():
            series = series.cast(nw.Float64)
        filled = series if missing is None else series.fill_null(0)
        return _numeric(name, np.asarray(filled.to_numpy()), missing)
    if dtype == nw.Object:
        return _from_values(name, np.asarray(series.to_numpy(), dtype=object))
    raise DataError(f"column {name!r} holds {dtype} values; expected numbers, text, booleans or categories")


def _from_dataset(columns: Mapping[str, Any]) -> Frame:
    """The columns of a ``Dataset`` of the readers, or of what looks like one: a name, a kind, values, categories."""
    names = _check_names(list(columns))

    def read_one(name: str, column: Any) -> Column:
        return _finite(column) if isinstance(column, Column) else _from_described(name, column)

    read = _each(read_one, columns.items())
    lengths = {len(column) for column in read}
    if len(lengths) > 1:
        raise DataError(f"the columns of the data set differ in length: {sorted(lengths)}")
    return Frame(tuple(read), lengths.pop() if lengths else 0, names)


def _finite(column: Column) -> Column:
    """A column of the readers, which let infinity pass."""
    return _numeric(column.name, column.data, column.mask) if column.kind == "numeric" else column


def _from_described(name: str, column: Any) -> Column:
    if column.kind == "nominal":
        items = np.asarray(column.values, dtype=object).tolist()
        declared = None if column.categories is None else tuple(column.categories)
        return nominal_column(name, items, _mask(items), declared)
    one = _from_values(name, np.asarray(column.values))
    if column.kind == "boolean" and one.kind == "numeric":
        return Column.of(name, "boolean", (one.data != 0).astype(np.uint8), one.mask)
    return one


def _masked(column: Column, gone: npt.NDArray[np.bool_]) -> Column:
    """A column with more values missing."""
    if column.kind == "nominal":
        return nominal_column(column.name, column.values.tolist(), gone, column.categories)
    return Column.of(column.name, column.kind, column.data, column.missing | gone)


def _from_values(name: str, values: npt.NDArray[Any]) -> Column:
    """A typed column from a one-dimensional array of any dtype."""
    kind = values.dtype.kind
    if kind in "iuf":
        return _numeric(name, values, None)
    if kind == "b":
        return Column.of(name, "boolean", values.astype(np.uint8))
    if kind in "UT":
        items = values.tolist()
        return nominal_column(name, items, _mask(items))
    if kind == "M":
        texts = np.datetime_as_string(values.astype("datetime64[s]")).tolist()
        return nominal_column(name, [None if text == "NaT" else text for text in texts])
    if kind == "m":
        days = values / np.timedelta64(1, "D")
        return _numeric(name, days.astype(np.float64), None)
    if kind != "O":
        raise DataError(f"column {name!r} holds {values.dtype} values; expected numbers, text or booleans")
    return _from_objects(name, values.tolist())


def _from_objects(name: str, items: list[Any]) -> Column:
    """A typed column from Python objects, which must all be text, all numbers or all booleans."""
    missing = _mask(items)
    present = (
        items if missing is None else [item for item, gone in zip(items, missing, strict=True) if not gone]
    )
    types = set(map(type, present))
    if not types:
        return Column.of(name, "empty", np.zeros(len(items)), missing)
    if all(issubclass(t, str) for t in types):
        return nominal_column(name, items, missing)
    filled = items if missing is None else [0 if gone else x for x, gone in zip(items, missing, strict=True)]
    if all(issubclass(t, bool | np.bool_) for t in types):
        return Column.of(name, "boolean", np.array(filled, dtype=bool).astype(np.uint8), missing)
    if all(issubclass(t, int | np.integer) for t in types - {bool, np.bool_}):
        return _numeric(name, _whole_numbers(name, filled), missing)
    from decimal import Decimal  # a number, though not registered as Real

    if all(issubclass(t, numbers.Real | Decimal | np.number | np.bool_) for t in types) and not any(
        issubclass(t, np.complexfloating) for t in types
    ):
        return _numeric(name, np.array([float(x) for x in filled]), missing)
    if any(issubclass(t, numbers.Complex) and not issubclass(t, numbers.Real) for t in types):
        raise DataError(
            f"column {name!r} holds complex numbers. Complex data not supported: give two columns"
        )
    if all(issubclass(t, datetime.date) for t in types):
        return _date_texts(name, items)
    if all(issubclass(t, datetime.time | datetime.timedelta) for t in types):
        hours = [np.nan if is_missing(item) else hours_or_days(item) for item in items]
        return _numeric(name, np.array(hours), None)
    if any(t.__name__ in {"datetime", "date", "time", "timedelta", "Timestamp", "Timedelta"} for t in types):
        raise DataError(f"column {name!r} holds dates or times beside other values; {CONVERT_TIME}")
    shown = ", ".join(sorted(t.__name__ for t in types))
    text = next((x for x in present if isinstance(x, str)), None)
    hint = "" if text is None else f" (is {text!r} a sign for a missing value? Replace it by None)"
    raise DataError(
        f"column {name!r} holds values of type {shown}; expected only numbers, only text or only "
        f"booleans{hint}"
    )


def _whole_numbers(name: str, items: list[Any]) -> npt.NDArray[Any]:
    """Python integers as int64, or uint64 where needed, without loss."""
    whole = [int(x) for x in items]
    low, high = min(whole), max(whole)
    if low >= -(2**63) and high < 2**63:
        return np.array(whole, dtype=np.int64)
    if low >= 0 and high < 2**64:
        return np.array(whole, dtype=np.uint64)
    raise DataError(
        f"column {name!r} holds whole numbers beyond 64 bits ({high if high >= 2**63 else low}); convert it "
        "to float, or to text if they are identifiers"
    )


def _numeric(name: str, values: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None) -> Column:
    """Numbers in one of three exact types; NaN counts as missing, infinity is refused."""
    if values.dtype.kind == "u":
        values = values.astype(np.uint64 if values.dtype.itemsize == 8 else np.int64, copy=False)
        return Column.of(name, "numeric", values, missing)
    if values.dtype.kind == "i":
        return Column.of(name, "numeric", values.astype(np.int64, copy=False), missing)
    if values.dtype == object:  # a nullable column of a data frame whose nulls were filled
        return _from_objects(name, values.tolist())
    values = values.astype(np.float64, copy=False)
    finite = np.isfinite(values)
    if not finite.all():
        nan = np.isnan(values)
        infinite = ~finite & ~nan
        if infinite.any():
            raise DataError(
                f"column {name!r} holds infinity ({values[infinite][0]:g}) in {int(infinite.sum())} of "
                f"{values.size} rows, first in row {int(np.argmax(infinite))}; replace it by a finite number, "
                "or by NaN and choose how to treat missing values"
            )
        missing = nan if missing is None else missing | nan
    return Column.of(name, "numeric", values, missing)


def _mask(items: list[Any]) -> npt.NDArray[np.bool_] | None:
    """Where Python objects are missing, or None if nowhere."""
    if not set(map(type, items)) - {str}:
        return None
    mask = np.fromiter(map(is_missing, items), dtype=bool, count=len(items))
    return mask if mask.any() else None
