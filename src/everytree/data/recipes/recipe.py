"""Recipes: one small class for each way in which the texts of a column become columns to learn from.

    number   the number that the text says                          amount
    truth    true or false                                          paperless
    date     year, month, weekday, hour, age in days                signup year, signup month, …
    time     hours since midnight                                   opened
    words    the text; texts that are not among ``keep`` are one    city
    same     the text; spellings of one class are one               churned
    spelled  the text; spellings of one word are one                region
    cut      the class: between which cuts the number lies          price

A recipe says of one text what it becomes (``values``), or None where it cannot be read: that is then missing. So a
column costs as much as it has different texts. The age of a date counts from the newest date of training.
"""

from __future__ import annotations

import datetime
import itertools
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from everytree.common.reading import looked
from everytree.data.column import Column, Kind, coded
from everytree.data.cuts import number_text
from everytree.data.recipes.dates import hours_of, moment_of
from everytree.data.recipes.forms import NumberForm

__all__ = [
    "OTHER", "PARTS", "CutRecipe", "DateRecipe", "NumberRecipe", "Recipe", "Recipes", "SameRecipe", "SpelledRecipe",
    "TimeRecipe", "TruthRecipe", "Unread", "WordsRecipe", "apply_recipes", "by_source", "texts_of",
]  # fmt: skip

PLAIN = NumberForm()
OTHER = "(other)"
_NUMERIC: Kind = "numeric"
PARTS = ("year", "month", "weekday", "hour", "age in days")


@dataclass(frozen=True)
class Recipe(ABC):
    """What is done with one column of a file; ``absent`` are texts that meant nothing in it when it was found."""

    AS: ClassVar[str]
    column: str
    absent: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    @property
    def made(self) -> tuple[str, ...]:
        """The names of the columns that it makes."""
        return (self.column,)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of the columns that it makes."""
        return ("nominal",)

    @abstractmethod
    def values(self, text: str) -> tuple[Any, ...] | None:
        """Return what a text becomes, a value for each column; None if it cannot be read."""

    def made_of(self, number: float) -> tuple[Any, ...] | None:
        """Return what a number becomes, where the column has numbers already."""
        return self.values(number_text(number))


@dataclass(frozen=True)
class NumberRecipe(Recipe):
    """Numbers as people write them.

    >>> NumberRecipe("amount", NumberForm(".", ",", ("$",))).values("$1,014.39")
    (1014.39,)
    """

    AS = "number"
    form: NumberForm = PLAIN

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return ("numeric",)

    def values(self, text: str) -> tuple[Any, ...] | None:
        found = self.form.number(text)
        return None if found is None else (found,)

    def made_of(self, number: float) -> tuple[Any, ...] | None:
        return (number,) if np.isfinite(number) else None


@dataclass(frozen=True)
class TruthRecipe(Recipe):
    """Truth values in several spellings, in any case of letters.

    >>> TruthRecipe("paperless", ("y", "yes"), ("n", "no")).values("YES")
    (True,)
    """

    AS = "truth"
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return ("boolean",)

    def values(self, text: str) -> tuple[Any, ...] | None:
        word = text.strip().lower()
        if word in (*self.yes, "true"):
            return (True,)
        return (False,) if word in (*self.no, "false") else None


@dataclass(frozen=True)
class DateRecipe(Recipe):
    """Parts of a date that a tree can use; weekdays count from Monday, which is 1.

    >>> recipe = DateRecipe("signup", "dmy", datetime.date(2024, 6, 30).toordinal(), ("month", "age in days"))
    >>> recipe.made, recipe.values("20/06/2024")
    (('signup month', 'signup age in days'), (6, 10))
    """

    AS = "date"
    order: str = "ymd"
    newest: int = 0
    parts: tuple[str, ...] = PARTS

    @property
    def made(self) -> tuple[str, ...]:
        return tuple(f"{self.column} {part}" for part in self.parts)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(_NUMERIC for _ in self.parts)

    def values(self, text: str) -> tuple[Any, ...] | None:
        moment = moment_of(text, self.order)
        if moment is None:
            return None
        day = datetime.date.fromordinal(moment.day)
        found = {
            "year": day.year, "month": day.month, "weekday": day.isoweekday(), "hour": moment.hours,
            "age in days": self.newest - moment.day,
        }  # fmt: skip
        return tuple(found[part] for part in self.parts)


@dataclass(frozen=True)
class TimeRecipe(Recipe):
    """Times of the day, as hours.

    >>> TimeRecipe("opened").values("14:30")
    (14.5,)
    """

    AS = "time"

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return ("numeric",)

    def values(self, text: str) -> tuple[Any, ...] | None:
        found = hours_of(text)
        return None if found is None else (found,)

    def made_of(self, number: float) -> tuple[Any, ...] | None:
        return (number,) if np.isfinite(number) else None


@dataclass(frozen=True)
class WordsRecipe(Recipe):
    """The most frequent texts of a column with very many; all others are one.

    >>> WordsRecipe("city", ("Bonn", "Ulm")).values("Jena")
    ('(other)',)
    """

    AS = "words"
    keep: tuple[str, ...] = ()

    def values(self, text: str) -> tuple[Any, ...] | None:
        word = text.strip()
        return (word if word in self.keep else OTHER,)


@dataclass(frozen=True)
class SameRecipe(Recipe):
    """Classes in several spellings: each becomes the spelling that most rows have.

    >>> SameRecipe("churned", (("y", "Yes"), ("yes", "Yes"), ("no", "No"))).values("YES")
    ('Yes',)
    """

    AS = "same"
    same: tuple[tuple[str, str], ...] = ()  # the spelling in small letters, and the class

    def values(self, text: str) -> tuple[Any, ...] | None:
        found = dict(self.same).get(text.strip().lower())
        return None if found is None else (found,)


@dataclass(frozen=True)
class SpelledRecipe(Recipe):
    """Words in several cases of letters: each becomes the spelling that most rows have; other texts stay.

    >>> recipe = SpelledRecipe("region", (("east", "East"),))
    >>> recipe.values("EAST "), recipe.values("North")
    (('East',), ('North',))
    """

    AS = "spelled"
    same: tuple[tuple[str, str], ...] = ()  # the spelling in small letters, and the word

    def values(self, text: str) -> tuple[Any, ...] | None:
        word = text.strip()
        return (dict(self.same).get(word.lower(), word),)


@dataclass(frozen=True)
class CutRecipe(Recipe):
    """A number as a class: which of the ranges between the cuts it lies in; a cut belongs to the range below.

    >>> recipe = CutRecipe("price", NumberForm(), (100.0, 500.0))
    >>> recipe.labels, recipe.values("100"), recipe.values("501")
    (('<= 100', '100 to 500', '> 500'), ('<= 100',), ('> 500',))
    """

    AS = "cut"
    form: NumberForm = PLAIN
    cuts: tuple[float, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes, in the order of the numbers."""
        texts = [number_text(cut) for cut in self.cuts]
        between = [f"{low} to {high}" for low, high in itertools.pairwise(texts)]
        return (f"<= {texts[0]}", *between, f"> {texts[-1]}")

    def values(self, text: str) -> tuple[Any, ...] | None:
        found = self.form.number(text)
        return None if found is None else self.made_of(found)

    def made_of(self, number: float) -> tuple[Any, ...] | None:
        return (self.labels[bisect_left(self.cuts, number)],) if np.isfinite(number) else None


Recipes = tuple[Recipe, ...]


@dataclass(frozen=True)
class Unread:
    """Cells of a column that its recipe could not read: how many rows, and one of them."""

    column: str
    rows: int
    text: str

    def __str__(self) -> str:
        several = "s" if self.rows > 1 else ""
        return (
            f"{self.rows} cell{several} of {self.column} cannot be read as in training, such as {self.text!r}"
        )


def by_source(recipes: Iterable[Recipe]) -> dict[str, Recipe]:
    """Return recipes by the column that they read."""
    return {recipe.column: recipe for recipe in recipes}


def texts_of(column: Column) -> Column:
    """Return a column as texts; numbers and truth values as a person writes them.

    >>> texts_of(Column("day", "numeric", np.array([20240305.0, np.nan]))).values.tolist()
    ['20240305', None]
    """
    if column.kind == "nominal":
        return column
    if column.kind == "boolean":
        return Column.of(column.name, "nominal", column.data.astype(np.int32), column.mask, ("false", "true"))
    plain = column.as_nominal()
    labels = [number_text(label) if isinstance(label, int | float) else str(label) for label in plain.labels]
    return Column.of(column.name, "nominal", plain.data, plain.mask, labels)


def apply_recipes(
    columns: Mapping[str, Column], recipes: Iterable[Recipe]
) -> tuple[dict[str, Column], list[Unread]]:
    """Return the columns with those that recipes make in place of their sources, and what could not be read."""
    known, made, unread = by_source(recipes), dict[str, Column](), list[Unread]()
    for name, column in columns.items():
        recipe = known.get(name)
        if recipe is None:
            made[name] = column
            continue
        new, failed = _made(recipe, column)
        made |= {each.name: each for each in new}
        if failed is not None:
            unread.append(failed)
    return made, unread


def _made(recipe: Recipe, column: Column) -> tuple[list[Column], Unread | None]:
    if column.kind == "empty" or column.is_empty:
        return [
            _empty(name, kind, len(column)) for name, kind in zip(recipe.made, recipe.kinds, strict=True)
        ], None
    if column.kind == "numeric":
        distinct, codes = np.unique(column.data, return_inverse=True)
        labels: Sequence[Any] = distinct.tolist()
        found = [None if label != label else recipe.made_of(label) for label in labels]
    else:
        texts = texts_of(column)
        labels, codes = texts.labels, texts.data
        found = [recipe.values(label) for label in looked(labels)]
    codes = np.where(column.missing, -1, codes)
    told = {*recipe.absent}
    gone = np.array(
        [*(value is None and label not in told for value, label in zip(found, labels, strict=True)), True]
    )
    lost = gone[codes] & ~column.missing
    unread = None
    if lost.any():
        first = labels[int(codes[int(np.argmax(lost))])]
        unread = Unread(column.name, int(lost.sum()), first if isinstance(first, str) else number_text(first))
    made = []
    for place, (name, kind) in enumerate(zip(recipe.made, recipe.kinds, strict=True)):
        each = [None if values is None else values[place] for values in found]
        if kind == "nominal":
            places, words = coded(each)
            data = np.append(places, -1)[codes]
            made.append(Column.of(name, kind, data.astype(np.int32), data < 0, words))
            continue
        table = np.array([*(np.nan if value is None else float(value) for value in each), np.nan])
        numbers = table[codes]
        mask = np.isnan(numbers)
        data = np.where(mask, 0, numbers).astype(np.uint8) if kind == "boolean" else numbers
        made.append(Column.of(name, kind, data, mask))
    return made, unread


def _empty(name: str, kind: Kind, n_rows: int) -> Column:
    gone = np.ones(n_rows, dtype=np.bool_)
    if kind == "nominal":
        return Column.of(name, kind, np.full(n_rows, -1, dtype=np.int32), gone)
    return Column.of(
        name, kind, np.zeros(n_rows, dtype=np.uint8) if kind == "boolean" else np.full(n_rows, np.nan), gone
    )
