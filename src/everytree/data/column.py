"""One column, wherever it came from: a name, a kind, and one entry per row.

    kind        data                                     values, for a person
    numeric     float64, int64 or uint64                 the numbers; nan where missing
    nominal     int32: places among ``labels``           the labels; None where missing
    boolean     uint8: 0 or 1                            False or True; None where missing
    empty       nothing, of no kind that anyone told     nan

Arrays, data frames, readers and batches all end as columns; everything after them asks ``data``, ``labels`` and
``mask``. Distinct labels are looked at once, however many rows have them, and repeated text costs four bytes a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everytree.common.text import show, show_many
from everytree.errors import DataError

__all__ = ["KINDS", "Codes", "Column", "Kind", "coded", "nominal_column"]

Kind: TypeAlias = Literal["numeric", "nominal", "boolean", "empty"]
KINDS: tuple[Kind, ...] = ("numeric", "nominal", "boolean")

_BOOLEANS = np.array([False, True, None], dtype=object)


class Codes(dict[Any, int]):
    """Gives each new value the next code.

    >>> codes = Codes()
    >>> [codes[value] for value in "abca"]
    [0, 1, 2, 0]
    """

    def __missing__(self, value: Any) -> int:
        code = self[value] = len(self)
        return code


def coded(items: Iterable[Any], gone: Any = None) -> tuple[NDArray[np.int32], list[Any]]:
    """A code for each item, −1 for ``gone``; and the distinct items in the order in which they come.

    >>> codes, labels = coded(["b", None, "a", "b"])
    >>> codes.tolist(), labels
    ([0, -1, 1, 0], ['b', 'a'])
    """
    seen = Codes({gone: 0})
    codes = np.fromiter(map(seen.__getitem__, items), dtype=np.int32)
    codes -= 1
    return codes, list(seen)[1:]


@dataclass(frozen=True, eq=False, slots=True, init=False, repr=False)
class Column:
    """A named column of one kind, which is never changed in place.

    ``categories`` are the declared values of a nominal column in their order, or None where none are declared;
    ``labels`` those that ``data`` are places among, some of which may not occur. ``mask`` tells where a value is
    missing, and is None where none is; ``data`` is arbitrary there (−1 of a nominal column).

    >>> thal = Column("thal", "nominal", np.array(["normal", None], dtype=object), ("normal", "fixed"))
    >>> thal.n_missing, thal.categories, thal.data.tolist(), thal.labels
    (1, ('normal', 'fixed'), [0, -1], ('normal',))
    """

    name: str
    kind: Kind
    data: NDArray[Any]
    mask: NDArray[np.bool_] | None
    labels: tuple[Any, ...]
    categories: tuple[Any, ...] | None

    def __init__(
        self, name: str, kind: Kind, values: NDArray[Any], categories: tuple[str, ...] | None = None
    ) -> None:
        if kind not in KINDS:
            raise DataError(f"column {show(name)} has kind {show(kind)}; expected one of {KINDS}")
        if not isinstance(values, np.ndarray) or values.ndim != 1:
            raise DataError(f"column {show(name)} needs a one-dimensional numpy array of values")
        allowed = ("float64", "int64") if kind == "numeric" else ("object",)
        if values.dtype.name not in allowed:
            raise DataError(
                f"{kind} column {show(name)} has dtype {values.dtype}; expected {' or '.join(allowed)}"
            )
        if categories is not None and kind != "nominal":
            raise DataError(f"{kind} column {show(name)} cannot have categories")
        if kind == "numeric":
            mask = np.isnan(values) if values.dtype.kind == "f" else None
            self._set(name, kind, values, mask)
            return
        codes, labels = coded(values.tolist())
        _check_labels(name, kind, labels, categories)
        if kind == "nominal":
            self._set(name, kind, codes, codes < 0, labels, categories)
        else:
            self._set(name, kind, np.array([*labels, False], dtype=np.uint8)[codes], codes < 0)

    @classmethod
    def of(
        cls,
        name: str,
        kind: Kind,
        data: NDArray[Any],
        mask: NDArray[np.bool_] | None = None,
        labels: Sequence[Any] = (),
        categories: tuple[Any, ...] | None = None,
    ) -> Column:
        """A column of what it holds; nothing is checked."""
        made = cls.__new__(cls)
        made._set(name, kind, data, mask, labels, categories)
        return made

    def _set(
        self,
        name: str,
        kind: Kind,
        data: NDArray[Any],
        mask: NDArray[np.bool_] | None = None,
        labels: Sequence[Any] = (),
        categories: tuple[Any, ...] | None = None,
    ) -> None:
        fields = {
            "name": name,
            "kind": kind,
            "data": _read_only(data),
            "mask": mask if mask is not None and mask.any() else None,
            "labels": tuple(labels),
            "categories": categories,
        }
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    @property
    def is_empty(self) -> bool:
        """Whether no row has a value."""
        return self.kind == "empty" or (self.mask is not None and bool(self.mask.all()))

    @property
    def values(self) -> NDArray[Any]:
        """One value per row: numbers with nan where missing, or objects with None; read-only."""
        if self.kind == "nominal":
            return _read_only(_objects([*self.labels, None])[self.data])
        if self.kind == "boolean":
            return _read_only(
                _BOOLEANS[self.data if self.mask is None else np.where(self.mask, 2, self.data)]
            )
        if self.mask is None:
            return self.data
        numbers = self.data.astype(np.float64)
        numbers[self.mask] = np.nan
        return _read_only(numbers)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """A mask of the rows where the value is missing."""
        return np.zeros(len(self), dtype=np.bool_) if self.mask is None else self.mask

    @property
    def n_missing(self) -> int:
        """How many values are missing."""
        return 0 if self.mask is None else int(np.count_nonzero(self.mask))

    def present(self) -> NDArray[Any]:
        """The ``data`` of the rows that have a value."""
        return self.data if self.mask is None else self.data[~self.mask]

    def occurring(self) -> list[Any]:
        """The labels of a nominal column that some row has."""
        rows = np.bincount(self.present(), minlength=len(self.labels))
        return [label for label, count in zip(self.labels, rows.tolist(), strict=True) if count]

    def first(self) -> Any:
        """The first value of a nominal column that is not missing."""
        return self.labels[self.present()[0]]

    def codes_in(self, places: Mapping[Any, int], other: int) -> NDArray[np.int32]:
        """The place of each value of a nominal column; ``other`` for values that have none, and missing ones.

        >>> Column("size", "nominal", np.array(["m", "s", None], dtype=object)).codes_in({"s": 0, "m": 1}, -2).tolist()
        [1, 0, -2]
        """
        table = np.array([*(places.get(label, other) for label in self.labels), other], dtype=np.int32)
        codes: NDArray[np.int32] = table[self.data]
        return codes

    def as_nominal(self) -> Column:
        """The same column with its numbers, or its booleans, as labels."""
        if self.kind in ("nominal", "empty"):
            return self
        items = self.data.astype(bool).tolist() if self.kind == "boolean" else self.data.tolist()
        return nominal_column(self.name, items, self.mask)

    def take(self, rows: NDArray[Any]) -> Column:
        """The same column with only the given rows (a mask or row numbers)."""
        mask = None if self.mask is None else self.mask[rows]
        return Column.of(self.name, self.kind, self.data[rows], mask, self.labels, self.categories)

    def __len__(self) -> int:
        return len(self.data)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Column):
            return NotImplemented
        same_type = (
            self.name == other.name and self.kind == other.kind and self.categories == other.categories
        )
        numeric = self.kind in ("numeric", "empty")
        return same_type and np.array_equal(self.values, other.values, equal_nan=numeric)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        domain = "" if self.categories is None else f", categories=({show_many(self.categories, 5)})"
        return f"Column({show(self.name)}, {self.kind!r}, {len(self)} rows, {self.n_missing} missing{domain})"


def nominal_column(
    name: str,
    items: Sequence[Any],
    mask: NDArray[np.bool_] | None = None,
    categories: tuple[Any, ...] | None = None,
) -> Column:
    """A nominal column of Python objects; None, or where the mask says so, is missing.

    >>> nominal_column("size", ["s", "m"], np.array([False, True]))
    Column('size', 'nominal', 2 rows, 1 missing)
    """
    known = (
        items if mask is None else [None if gone else x for x, gone in zip(items, mask.tolist(), strict=True)]
    )
    codes, labels = coded(known)
    return Column.of(name, "nominal", codes, codes < 0, labels, categories)


def without_blanks(column: Column) -> Column:
    """The same texts without blanks around them; declared categories stay as they are.

    >>> without_blanks(nominal_column("region", ["East ", "East", " West"])).labels
    ('East', 'West')
    """
    if column.kind != "nominal" or column.categories is not None:
        return column
    texts = [label.strip() if isinstance(label, str) else label for label in column.labels]
    if texts == list(column.labels):
        return column
    places, labels = coded(texts)
    return Column.of(column.name, "nominal", np.append(places, -1)[column.data], column.mask, labels)


def _check_labels(name: str, kind: Kind, labels: list[Any], categories: tuple[Any, ...] | None) -> None:
    """Every value is a str (nominal) or a bool (boolean), from the declared domain if there is one."""
    wanted: type = str if kind == "nominal" else bool
    wrong = next((value for value in labels if not isinstance(value, wanted)), None)
    if wrong is not None:
        raise DataError(f"{kind} column {show(name)} holds {show(wrong)}; expected {wanted.__name__} or None")
    if categories is None:
        return
    if len(set(categories)) != len(categories):
        raise DataError(f"the categories of column {show(name)} repeat a value: {categories}")
    outside = sorted(set(labels) - set(categories))
    if outside:
        raise DataError(
            f"column {show(name)} holds {show(outside[0])}; expected one of its categories: {show_many(categories)}"
        )


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
