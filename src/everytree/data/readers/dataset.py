"""A data set as read from a file: columns of equal length, and what the file said about them.

It needs nothing but numpy; ``to_pandas``, ``to_polars`` and ``to_arrow`` hand it on where those are
installed.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everytree.common.arguments import refused
from everytree.common.text import show, show_many
from everytree.data.column import Column, nominal_column
from everytree.data.readers import convert
from everytree.data.readers.cells import TypeSpec, build_column
from everytree.data.recipes.recipe import Recipes
from everytree.data.recipes.recognise import Treated
from everytree.errors import DataError, Step, Wording

__all__ = ["Dataset", "kept_positions", "unknown_column"]


def unknown_column(
    name: object, names: Sequence[str], role: str = "column", parameter: str | None = None
) -> DataError:
    """The error for a name that is no column: with the nearest names, or with all of them.

    ``parameter`` is the argument that gave the name, if it was one.
    """
    close = difflib.get_close_matches(name, names, n=3) if isinstance(name, str) else []
    hint = f"did you mean {show_many(close)}?" if close else f"the columns are {show_many(names)}"
    message = Wording("there is no ", role, f" {show(name)}; {hint}")
    return DataError(message, code="unknown-column", parameter=parameter, value=name, expected="a column")


def kept_positions(
    names: Sequence[str], columns: Sequence[str] | None, target: str | None, types: Mapping[str, TypeSpec]
) -> list[int]:
    """Check the names a caller gave; the positions of the columns to read, the target always among them.

    >>> kept_positions(["a", "b", "c"], ["b"], "a", {})
    [0, 1]
    """
    if isinstance(columns, str):
        expected = f"a list of names, such as [{show(columns)}]"
        raise refused(
            DataError,
            "columns",
            columns,
            expected,
            says=f" is a text; expected {expected}",
            shown=show(columns),
        )
    known = set(names)
    typed = Wording("column (", Step("column-types", "named in types"), ")")
    for role, wanted, parameter in (("column", columns or (), "columns"), (typed, types, "types")):
        for name in wanted:
            if name not in known:
                raise unknown_column(name, names, role, parameter)
    if target is not None and target not in known:
        raise unknown_column(target, names, "target column", "target")
    if columns is None:
        return list(range(len(names)))
    kept = {*columns, target}
    return [position for position, name in enumerate(names) if name in kept]


@dataclass(frozen=True, eq=False, slots=True)
class Dataset:
    """Named columns of equal length; a value that is never changed in place.

    ``target`` is the column to predict, if one was named; ``weights`` has one weight per row where the file
    gives them; ``relation`` is the file's own name for the table; ``notes`` are remarks of the reader worth
    showing. ``recipes`` say how columns were made of those of the file, and ``treated`` tells it to people.

    >>> age = Column("age", "numeric", np.array([63.0, 37.0]))
    >>> sick = Column("sick", "nominal", np.array(["yes", "no"], dtype=object), ("no", "yes"))
    >>> data = Dataset({"age": age, "sick": sick}, relation="heart")
    >>> data
    Dataset('heart', 2 rows, 2 columns: 1 numeric, 1 nominal)
    >>> features, y = data.split("sick")
    >>> features.names, y
    (('age',), array(['yes', 'no'], dtype=object))
    """

    columns: dict[str, Column]
    relation: str | None = None
    weights: NDArray[np.float64] | None = None
    target: str | None = None
    notes: tuple[str, ...] = field(default=())
    recipes: Recipes = field(default=())
    treated: tuple[Treated, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.columns:
            raise DataError("a data set needs at least one column")
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) != 1:
            raise DataError(f"the columns differ in length: {lengths}; expected one value per row in each")
        for name, column in self.columns.items():
            if name != column.name:
                raise DataError(f"column {show(column.name)} is stored under the name {show(name)}")
        if self.weights is not None:
            self._check_weights(self.weights)
        if self.target is not None and self.target not in self.columns:
            raise unknown_column(self.target, self.names, "target column", "target")

    def _check_weights(self, weights: NDArray[np.float64]) -> None:
        if weights.shape != (self.n_rows,):
            raise DataError(f"weights have shape {weights.shape}; expected ({self.n_rows},), one per row")
        if not (np.isfinite(weights) & (weights >= 0)).all():
            raise DataError("weights hold a negative or non-finite value; expected numbers ≥ 0")

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self.columns)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())))

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.n_rows, len(self.columns)

    def drop(self, *names: str) -> Dataset:
        """The data set without the named columns."""
        for name in names:
            self[name]
        kept = {name: column for name, column in self.columns.items() if name not in names}
        if not kept:
            raise DataError("dropping every column leaves no data set; keep at least one")
        return replace(self, columns=kept, target=None if self.target in names else self.target)

    def select(self, *names: str) -> Dataset:
        """The data set with only the named columns, in the order given."""
        kept = {name: self[name] for name in names}
        return replace(self, columns=kept, target=self.target if self.target in kept else None)

    def take(self, rows: ArrayLike) -> Dataset:
        """The data set with only the given rows: a boolean mask, or row numbers in the wanted order."""
        index = np.asarray(rows)
        if index.size == 0 and index.dtype != np.bool_:
            index = index.astype(np.int64)
        if index.ndim != 1 or index.dtype.kind not in "biu":
            raise DataError(f"take got {show(rows)}; expected a boolean mask or a list of row numbers")
        if index.dtype == np.bool_ and len(index) != self.n_rows:
            raise DataError(f"the mask has {len(index)} entries; expected {self.n_rows}, one per row")
        if index.dtype != np.bool_ and index.size:
            low, high = int(index.min()), int(index.max())
            if low < -self.n_rows or high >= self.n_rows:
                raise DataError(f"take got row numbers {low} to {high}; there are {self.n_rows} rows")
        columns = {name: column.take(index) for name, column in self.columns.items()}
        return replace(self, columns=columns, weights=None if self.weights is None else self.weights[index])

    def drop_missing(self, *names: str) -> Dataset:
        """The rows where none of the named columns (by default: of all columns) is missing."""
        keep = np.ones(self.n_rows, dtype=np.bool_)
        for name in names or self.names:
            keep &= ~self[name].missing
        return self.take(keep)

    def with_types(self, types: Mapping[str, TypeSpec]) -> Dataset:
        """The data set with some columns read as another kind, or as nominal with a given domain.

        >>> zip_code = Column("zip", "numeric", np.array([2139.0, np.nan]))
        >>> Dataset({"zip": zip_code}).with_types({"zip": "nominal"})["zip"].values
        array(['2139', None], dtype=object)
        """
        columns = dict(self.columns)
        for name, spec in types.items():
            columns[name] = _retyped(self[name], spec)
        return replace(self, columns=columns)

    def split(self, target: str | None = None) -> tuple[Dataset, NDArray[Any]]:
        """Part the features from the target: ``(features, y)``.

        y holds texts for a nominal target, booleans for a boolean one, and integers (or floats, if any
        value is not whole) for a numeric one. A missing target is an error: nothing can be learned from
        such a row.
        """
        name = self.target if target is None else target
        if name is None:
            raise DataError(
                f"name the column to predict: split(target); the columns are {show_many(self.names)}"
            )
        if name not in self.columns:
            raise unknown_column(name, self.names, "target column", "target")
        if len(self.columns) == 1:
            raise DataError(f"{show(name)} is the only column; there is nothing to predict it from")
        column = self.columns[name]
        unlabelled = np.flatnonzero(column.missing)
        if unlabelled.size:
            raise DataError(
                f"the target {show(name)} is missing in {unlabelled.size} of {self.n_rows} rows "
                f"(first: row {unlabelled[0]}, counted from 0); leave them out with "
                f"drop_missing({show(name)})"
            )
        return self.drop(name), _labels(column)

    def to_pandas(self) -> Any:
        """A pandas DataFrame; declared nominal domains become categoricals."""
        return convert.to_pandas(self.columns)

    def to_polars(self) -> Any:
        """A polars DataFrame; declared nominal domains become enums."""
        return convert.to_polars(self.columns)

    def to_arrow(self) -> Any:
        """A pyarrow Table; declared nominal domains become dictionaries."""
        return convert.to_arrow(self.columns)

    def __getitem__(self, name: str) -> Column:
        try:
            return self.columns[name]
        except (KeyError, TypeError):
            raise unknown_column(name, self.names) from None

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return self.n_rows

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dataset):
            return NotImplemented
        if self.names != other.names or self.columns != other.columns or self.target != other.target:
            return False
        if self.weights is None or other.weights is None:
            return self.weights is other.weights
        return np.array_equal(self.weights, other.weights)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kinds = [column.kind for column in self.columns.values()]
        counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        name = "" if self.relation is None else f"{show(self.relation)}, "
        return f"Dataset({name}{self.n_rows} rows, {len(kinds)} columns: {counts})"


def _labels(column: Column) -> NDArray[Any]:
    if column.kind == "boolean":
        return column.values.astype(np.bool_)
    values = column.values
    whole = (
        values.dtype == np.float64 and (np.abs(values) < 2.0**53).all() and (values == np.trunc(values)).all()
    )
    return values.astype(np.int64) if whole else values.copy()


def _retyped(column: Column, spec: TypeSpec) -> Column:
    """Write the values as text and read them again as what ``spec`` says."""
    cells = nominal_column(column.name, [_as_text(value) for value in column.values.tolist()])
    return build_column(cells, spec, lambda row: f"row {row}, counted from 0")


def _as_text(value: object) -> str | None:
    """The text of one value; whole numbers are written without a fraction.

    >>> _as_text(3.0), _as_text(0.1), _as_text(float("nan")), _as_text(True)
    ('3', '0.1', None, 'true')
    """
    if value is None or value != value:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return str(value)
