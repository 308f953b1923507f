"""Facts about a column: all that its tests, its categories or its fill are made of, wherever the rows are.

    arrays and frames  →  ``facts_of``          batches  →  ``Tally``          engines  →  ``counting``
                                  ↘                ↓               ↙
                                            ColumnFacts
                                  ↙                ↓               ↘
    tests  ←  ``encoding.encode``     categories  ←  ``Categorizer``     fills  ←  ``ColumnReader``

A numeric column has its distinct values in order with their counts, or, where these stay in an engine or were in
earlier batches, the cuts chosen there, or the fine codes from which states choose theirs (``fine_codes``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from everytree.data.column import Column
from everytree.data.cuts import Bins, distinct_numbers, insert_value, mean_of
from everytree.data.fine_codes import FineCodes, codes_of_values
from everytree.data.shortened import choose_cuts
from everytree.errors import DataError

__all__ = ["ColumnFacts", "check_categories", "facts_of", "in_order", "is_01", "ordered"]

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """The distinct values of a column in order, how many examples have each, and how many have none.

    ``values`` is an array (numeric; 0/1 for booleans) or a list (nominal), and ``categories`` the order of these where
    one was declared. Of a numeric column whose values are not here ``cuts`` (or ``fine`` codes) and ``known_mean`` are
    known, or only its ``extremes``, the least and the greatest number. An engine tells little at first, a batch is not
    the last one: more is then filled in.

    >>> age = ColumnFacts("age", "numeric", np.array([20, 40, 90]), np.array([1, 1, 2]), absent=1)
    >>> age.fill(), age.cuts_for(2, None)
    (60.0, [65.0])
    """

    name: str
    kind: Literal["numeric", "nominal", "empty"]
    values: Any = ()
    counts: Any = ()
    absent: int = 0
    cuts: Sequence[float | int] | None = None
    known_mean: float | int | None = None
    categories: tuple[Any, ...] | None = None
    present: int = 0  # examples with a value
    extremes: tuple[Any, Any] | None = None
    fine: FineCodes | None = None

    @property
    def only_01(self) -> bool:
        """Whether a numeric column holds 0 and 1 only."""
        return self.kind == "numeric" and len(self.values) > 0 and is_01(self.values)

    def mode(self) -> Any:
        """The most frequent value, the first of several."""
        return self.values[int(np.argmax(self.counts))]

    def mean(self) -> float | int:
        """The mean of a numeric column."""
        return mean_of(self.values, self.counts) if self.known_mean is None else self.known_mean

    def fill(self) -> Any:
        """What stands for a missing value: the mean of numbers, else the mode; of 0 and 1 a mean would be a third."""
        if self.kind == "nominal":
            return self.mode()
        return self.mode().item() if self.only_01 else self.mean()

    def filled(self, fill: float | int | None) -> ColumnFacts:
        """A numeric column with ``fill`` in place of what is missing; None leaves it missing."""
        if fill is None or not self.absent:
            return self
        values, counts = insert_value(self.values, self.counts, fill, self.absent)
        return replace(self, values=values, counts=counts, absent=0)

    def cuts_for(self, bins: Bins, fill: float | int | None) -> list[float | int]:
        """The cuts of a numeric column, where ``fill`` stands for missing values, if anything does."""
        if self.cuts is not None:
            return list(self.cuts)
        whole = self.filled(fill)
        return choose_cuts(whole.values, whole.counts, bins)

    def fine_for(self, bins: Bins, fill: float | int | None) -> FineCodes:
        """The fine codes of a numeric column, where ``fill`` stands for missing values, if anything does."""
        if self.fine is not None:
            return self.fine
        whole = self.filled(fill)
        return codes_of_values(self.name, whole.values, whole.counts, bins)


def facts_of(column: Column, weights: Counts | None = None, max_categories: int | None = None) -> ColumnFacts:
    """The facts of a column in memory; weights, above zero, count as repetitions."""
    if column.is_empty:
        return ColumnFacts(column.name, "empty")
    data, mask, absent = column.present(), column.mask, 0
    if mask is not None:
        absent = int(np.count_nonzero(mask) if weights is None else weights[mask].sum())
        weights = None if weights is None else weights[~mask]
    present = data.size if weights is None else int(weights.sum())
    if column.kind != "nominal":
        values, counts = distinct_numbers(data, weights)
        return ColumnFacts(column.name, "numeric", values, counts, absent, present=present)
    counts = np.bincount(data, minlength=len(column.labels)).astype(np.int64)
    place = {label: j for j, label in enumerate(column.labels) if counts[j]}
    check_categories(column.name, len(place), f"{data.size} rows", max_categories)
    if weights is not None:
        counts = np.zeros(len(column.labels), dtype=np.int64)
        np.add.at(counts, data, weights)
    order = ordered(place, column.categories)
    counts = counts[[place[value] for value in order]]
    return ColumnFacts(
        column.name, "nominal", order, counts, absent, categories=column.categories, present=present
    )


def is_01(values: npt.NDArray[Any]) -> bool:
    """Whether numbers, none of them missing, are 0 and 1 only."""
    return bool(((values == 0) | (values == 1)).all())


def ordered(values: Iterable[Any], declared: Sequence[Any] | None) -> list[Any]:
    """Values that occur, in the order in which they were declared, or else sorted."""
    if declared is None:
        return in_order(values)
    seen = set(values)
    return [value for value in declared if value in seen]


def in_order(values: Iterable[Any]) -> list[Any]:
    """Values sorted, also where they are of several types."""
    listed = list(values)
    try:
        return sorted(listed)
    except TypeError:  # categories of several types
        return sorted(listed, key=lambda value: (type(value).__name__, str(value)))


def check_categories(name: str, n_values: int, where: str, most: int | None) -> None:
    """Refuse a nominal column with too many values."""
    if most is not None and n_values > most:
        raise DataError(
            f"nominal column {name!r} has {n_values} different values in {where}, "
            f"more than max_categories={most}; drop it if it is an identifier, group "
            "rare values, convert it to numbers if it holds numbers as text, or raise max_categories; "
            "everytree.read(X) does the first three by itself"
        )
