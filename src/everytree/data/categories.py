"""From columns to categories: each attribute becomes one column of codes 0, 1, …, for trees with multiway splits.

    nominal    one code per declared value (or, where none are declared, per value seen), in that order
    boolean    False, True
    numeric    one code per bin: x <= cut_1, cut_1 < x <= cut_2, …, cut_k < x
    missing    where asked for, the last code

A code of −1 stands for what was not there in training: a new value, or a missing one where none was missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from everytree.common.reading import looked
from everytree.data.column import Column
from everytree.data.cut_rules import CutRules
from everytree.data.cuts import number_text, places_among
from everytree.data.encoding import as_trained
from everytree.data.example_weights import ExampleWeights
from everytree.data.facts import facts_of
from everytree.data.frames import Frame
from everytree.data.mdl import mdl_cuts_of
from everytree.errors import DataError

__all__ = ["Categories", "Categorizer"]

DEFAULT_BINS = 5


@dataclass(frozen=True, slots=True)
class Categories:
    """The categories of one attribute: its values, or its bins between ``cuts``; ``missing`` is then the last code.

    What ``Encoding`` is for tests, this is for branches: made of the facts about a column, and kept by a tree.

    >>> age = Categories("age", None, (40, 54.5), missing=True)
    >>> age.n_values, [age.text(code) for code in range(age.n_values)]
    (4, ['age <= 40', '40 < age <= 54.5', 'age > 54.5', 'age is missing'])
    >>> thal = Categories("thal", ("fixed", "normal"), ())
    >>> thal.text(1)
    'thal == normal'
    """

    name: str
    values: tuple[Any, ...] | None  # None: numeric
    cuts: tuple[float | int, ...]
    missing: bool = False
    fill: Any = None  # what a missing value is replaced by; None: nothing

    @property
    def n_values(self) -> int:
        """The number of codes."""
        own = len(self.cuts) + 1 if self.values is None else len(self.values)
        return own + self.missing

    def text(self, code: int) -> str:
        """One category, for a person."""
        if self.missing and code == self.n_values - 1:
            return f"{self.name} is missing"
        if self.values is not None:
            return f"{self.name} == {number_text(self.values[code])}"
        if not self.cuts:
            return f"{self.name} is any number"
        low = None if code == 0 else number_text(self.cuts[code - 1])
        high = None if code == len(self.cuts) else number_text(self.cuts[code])
        if low is None:
            return f"{self.name} <= {high}"
        return f"{self.name} > {low}" if high is None else f"{low} < {self.name} <= {high}"

    def code(self, column: Column) -> npt.NDArray[np.int32]:
        """The codes of a column."""
        gone = self.place_of_missing()
        if column.is_empty:
            return np.full(len(column), gone, dtype=np.int32)
        if self.values is None:
            codes = places_among(column.data, self.cuts)
        else:
            places = {value: code for code, value in enumerate(self.values)}
            codes = as_trained(column, self.values).codes_in(places, -1)
        if column.mask is not None:
            codes[column.mask] = gone
        return codes

    def place_of_missing(self) -> int:
        """The code of a missing value, −1 for none."""
        if self.fill is None:
            return self.n_values - 1 if self.missing else -1
        if self.values is not None:
            return self.values.index(self.fill)
        return int(places_among(np.array([self.fill]), self.cuts)[0])


class Categorizer:
    """Turns the columns of a frame into categories; the parameters mean what they mean in ``Binarizer``.

    ``bins`` may also be "mdl" (here, or for one column in a dict): the cuts of Fayyad and Irani, chosen by the classes.
    """

    categories_: list[Categories]

    def __init__(
        self,
        bins: int | str | Mapping[Any, Any] = DEFAULT_BINS,
        missing: str = "category",
        nominal: Sequence[str | int] | None = None,
        max_categories: int = 256,
    ) -> None:
        self._rules = CutRules(
            bins,
            missing,
            nominal=nominal,
            max_categories=max_categories,
            words=("all", "mdl"),
            default=DEFAULT_BINS,
        )

    def fit(
        self, frame: Frame, y: npt.NDArray[np.intp], n_classes: int, weights: ExampleWeights | None
    ) -> Self:
        """Choose the categories; rows of weight zero are gone already."""
        self._rules.check()
        self._rules.check_missing(frame)
        coded, asked = self._rules.coded_columns(frame), self._rules.bins_of(frame)
        self.categories_ = [
            self._choose(column.as_nominal() if j in coded else column, asked[j], (y, n_classes), weights)
            for j, column in enumerate(looked(frame.columns))
        ]
        return self

    def restore(self, categories: list[Categories]) -> Self:
        """Take categories that were chosen before, as if fitted."""
        self._rules.check()
        self.categories_ = categories
        return self

    def transform(self, frame: Frame) -> npt.NDArray[np.int32]:
        """Codes of shape (n_rows, n_columns), column by column in memory."""
        self._rules.check_missing(frame)
        out = np.empty((frame.n_rows, len(self.categories_)), dtype=np.int32, order="F")
        for j, (column, categories) in enumerate(looked(zip(frame.columns, self.categories_, strict=True))):
            if categories.values is None:
                column = as_trained(column, None)
            out[:, j] = categories.code(column)
        return out

    def _choose(
        self,
        column: Column,
        bins: Any,
        target: tuple[npt.NDArray[np.intp], int],
        weights: ExampleWeights | None,
    ) -> Categories:
        nominal = column.kind in ("nominal", "boolean")
        most = self._rules.max_categories if nominal else None
        counts = None if weights is None else weights.counts
        facts = facts_of(column.as_nominal() if nominal else column, counts, most)
        if facts.kind == "empty":  # nothing but missing values: one category, whatever is done about them
            return Categories(facts.name, (), (), missing=True)
        fill = facts.fill() if self._rules.missing == "impute" else None
        own = facts.absent > 0 and fill is None
        if nominal:
            return Categories(facts.name, self._declared(column, facts.values), (), own, fill)
        if isinstance(bins, str) and bins == "mdl":
            cuts = mdl_cuts_of(column, fill, *target, None if weights is None else weights.examples)
        elif isinstance(bins, str | int | np.integer) and facts.filled(fill).values.size == 1:
            cuts = []  # a constant: one bin
        else:
            cuts = facts.cuts_for(bins, fill)
        return Categories(facts.name, None, tuple(cuts), own, fill)

    def _declared(self, column: Column, seen: list[Any]) -> tuple[Any, ...]:
        """Every declared value, also those that do not occur."""
        if column.kind == "boolean":
            return (False, True)
        if column.categories is None:
            return tuple(seen)
        if len(column.categories) > self._rules.max_categories:
            raise DataError(
                f"nominal column {column.name!r} declares {len(column.categories)} values, more than max_categories="
                f"{self._rules.max_categories}; remove unused categories, group rare ones, or raise max_categories"
            )
        return column.categories
