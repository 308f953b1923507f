"""One column of a data set: a name, a kind, and one value per row.

    kind        values                                   missing
    numeric     float64 (int64 where float64 would       nan
                merge different integers)
    nominal     object, of str                           None
    boolean     object, of bool                          None

``categories`` is the declared domain in its declared order, or None where the source declares none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everytree.errors import DataError

__all__ = ["KINDS", "Column", "Kind", "TypeSpec", "show", "show_many"]

Kind: TypeAlias = Literal["numeric", "nominal", "boolean"]
KINDS: tuple[Kind, ...] = ("numeric", "nominal", "boolean")

# What a caller may say about a column: its kind, or the ordered domain of a nominal one.
TypeSpec: TypeAlias = str | Sequence[str]


def show(value: object, limit: int = 60) -> str:
    """Quote a value for a message, cut short so that a broken file cannot flood the screen.

    >>> show("a" * 100, limit=8)
    "'aaaaaaaa…'"
    """
    if isinstance(value, str) and len(value) > limit:
        return repr(value[:limit] + "…")
    text = repr(value)
    return text if len(text) <= 2 * limit else text[: 2 * limit] + "…"


def show_many(values: Iterable[object], limit: int = 12) -> str:
    """List values for a message: at most ``limit`` of them, then how many more there are.

    >>> show_many(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    items = list(values)
    text = ", ".join(show(item) for item in items[:limit])
    return text if len(items) <= limit else f"{text} and {len(items) - limit} more"


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """A named column of one kind; its values are read-only.

    >>> thal = Column("thal", "nominal", np.array(["normal", None], dtype=object), ("normal", "fixed"))
    >>> thal.n_missing, thal.categories
    (1, ('normal', 'fixed'))
    """

    name: str
    kind: Kind
    values: NDArray[Any]
    categories: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise DataError(f"column {show(self.name)} has kind {show(self.kind)}; expected one of {KINDS}")
        if not isinstance(self.values, np.ndarray) or self.values.ndim != 1:
            raise DataError(f"column {show(self.name)} needs a one-dimensional numpy array of values")
        allowed = ("float64", "int64") if self.kind == "numeric" else ("object",)
        if self.values.dtype.name not in allowed:
            raise DataError(
                f"{self.kind} column {show(self.name)} has dtype {self.values.dtype}; "
                f"expected {' or '.join(allowed)}"
            )
        if self.kind != "numeric":
            self._check_objects()
        elif self.categories is not None:
            raise DataError(f"numeric column {show(self.name)} cannot have categories")
        values = self.values.view()
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    def _check_objects(self) -> None:
        """Every value is a str (nominal) or a bool (boolean), from the declared domain if there is one."""
        wanted: type = str if self.kind == "nominal" else bool
        found = set(self.values.tolist()) - {None}
        wrong = next((value for value in found if not isinstance(value, wanted)), None)
        if wrong is not None:
            raise DataError(
                f"{self.kind} column {show(self.name)} holds {show(wrong)}; expected {wanted.__name__} or "
                "None"
            )
        if self.categories is None:
            return
        if self.kind == "boolean":
            raise DataError(f"boolean column {show(self.name)} cannot have categories")
        if len(set(self.categories)) != len(self.categories):
            raise DataError(f"the categories of column {show(self.name)} repeat a value: {self.categories}")
        outside = sorted(found - set(self.categories))
        if outside:
            raise DataError(
                f"column {show(self.name)} holds {show(outside[0])}; "
                f"expected one of its categories: {show_many(self.categories)}"
            )

    @property
    def missing(self) -> NDArray[np.bool_]:
        """A mask of the rows where the value is missing."""
        if self.kind == "numeric":
            return np.asarray(self.values != self.values, dtype=np.bool_)  # only nan differs from itself
        return np.fromiter((value is None for value in self.values), dtype=np.bool_, count=len(self.values))

    @property
    def n_missing(self) -> int:
        """How many values are missing."""
        return int(self.missing.sum())

    def take(self, rows: NDArray[Any]) -> Column:
        """The same column with only the given rows (a mask or row numbers)."""
        return Column(self.name, self.kind, self.values[rows], self.categories)

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Column):
            return NotImplemented
        same_type = (
            self.name == other.name and self.kind == other.kind and self.categories == other.categories
        )
        numeric = self.kind == "numeric"
        return same_type and np.array_equal(self.values, other.values, equal_nan=numeric)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        domain = "" if self.categories is None else f", categories=({show_many(self.categories, 5)})"
        return f"Column({show(self.name)}, {self.kind!r}, {len(self)} rows, {self.n_missing} missing{domain})"
