"""The column to predict: named, or guessed and said; its spellings joined, its numbers cut, or refused.

named          as it is
else           a column with a likely name (class, target, churned, …), or the last one if it can be a class
else           refused, with the columns that could be meant

texts          classes; Yes, Y and TRUE are one, Gone and GONE too
               - and n/a are none, beside two others that are no signs
few numbers    classes
many numbers   no class each: refused unless cuts are given
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from everytree.common.text import show, show_many
from everytree.data.column import Column
from everytree.data.cuts import number_text
from everytree.data.recipes.forms import NumberForm, form_of
from everytree.data.recipes.recipe import CutRecipe, SameRecipe, texts_of
from everytree.data.recipes.recognise import FALSE, READABLE, TRUE, Recognised, rows_of
from everytree.data.recipes.spellings import is_one_word
from everytree.errors import Argument, DataError, Step, Wording

__all__ = ["LIKELY", "Guess", "guessed_target", "treat_target"]

LIKELY = (
    "class", "target", "label", "y", "outcome", "diagnosis", "churn", "churned", "default", "defaulted", "survived",
    "fraud", "response", "converted", "approved", "readmitted", "result",
)  # fmt: skip
MOST_NUMBERS = 20  # different numbers that may be classes
MOST_CLASSES = 100
# Words such as "none" and "unknown" are classes as often as not; these are none, but for - where + is the other.
NO_CLASS = frozenset({"-", "--", "---", "–", "—", "n/a", "n.a.", "#n/a", "<na>", "(null)", "(blank)", "k.a."})


class Guess(NamedTuple):
    """A column to predict, and why it is this one."""

    name: str
    why: str


def guessed_target(columns: Mapping[str, Column], where: str = "the data") -> Guess:
    """Choose the column to predict by its name, or the last one if it can be a class; else ask for it.

    >>> sick = Column("sick", "nominal", np.array(["yes", "no"], dtype=object))
    >>> guessed_target({"age": Column("age", "numeric", np.array([63.0, 37.0])), "sick": sick})
    Guess(name='sick', why='the last column')
    """
    telling = [name for name in columns if name.strip().lower() in LIKELY]
    if telling:
        return Guess(telling[-1], "by its name")
    last = list(columns)[-1]
    if _may_be_classes(columns[last]):
        return Guess(last, "the last column")
    others = [name for name, column in columns.items() if _may_be_classes(column)]
    amounts = _numbers_of(columns[last])
    could = (
        f"it could be {show_many(others, 10)}"
        if others
        else f"the columns are {show_many(list(columns), 20)}"
    )
    raise DataError(
        Wording(
            f"{where}: ",
            Step("name-target", "name the column to predict with target=..."),
            f"; {could}",
            *(() if amounts is None else _above_middle(last, amounts)),
        ),
        code="no-target",
        parameter="target",
    )


def _numbers_of(column: Column) -> np.ndarray | None:
    if column.is_empty or column.kind not in ("numeric", "nominal"):
        return None
    return column.present() if column.kind == "numeric" else _numbers_in(rows_of(column))


def _middle(numbers: np.ndarray) -> str:
    """Return a round number near the median."""
    return number_text(float(f"{float(np.median(numbers)):.4g}"))


def _above_middle(name: str, numbers: np.ndarray) -> tuple[str | Step, ...]:
    middle = _middle(numbers)
    return (
        f". Of the last one, {show(name)}, with {len(np.unique(numbers))} different numbers, ",
        Step("this-target", f"target={show(name)}, ", name),
        Step("cut-target", f"target_cut={middle}", middle),
        f" predicts whether it is above {middle}, about half of the rows",
    )


def _may_be_classes(column: Column) -> bool:
    if column.is_empty:
        return False
    distinct = np.unique(column.present())
    whole = column.kind != "numeric" or bool((distinct == np.floor(distinct)).all())
    return whole and 2 <= len(distinct) <= MOST_NUMBERS and 2 * len(distinct) <= max(4, len(column))


def treat_target(
    found: Recognised, column: Column, cuts: Sequence[float] | None, asked: str | None = None
) -> None:
    """Read the column to predict, or say what is wrong with it."""
    name = column.name
    if cuts is not None:
        _cut(found, column, cuts)
        return
    if column.is_empty:
        found.problems.append(f"the target {show(name)} has no value in any row; expected a class in each")
        return
    cells = rows_of(texts_of(column)) if column.kind == "nominal" else {}
    numbers = column.present() if column.kind == "numeric" else _numbers_in(cells)
    if asked in ("nominal", "text", "category"):
        found.columns[name] = texts_of(column)
        return
    if numbers is not None:
        distinct = np.unique(numbers)
        whole = bool((distinct == np.floor(distinct)).all())
        if len(distinct) > MOST_NUMBERS or (not whole and len(distinct) > 2):
            middle = _middle(numbers)
            cut = Step("cut-target", f"cut it: target_cut=[{middle}]", middle)
            told = Step("nominal", f'read it as classes: columns={{{show(name)}: "nominal"}}', name)
            found.problems.append(
                Wording(
                    f"the target {show(name)} holds {len(distinct)} different numbers, which are no classes; ",
                    cut,
                    f" predicts whether it is above {middle}, several cuts make several classes. If the numbers are "
                    "codes, ",
                    told,
                )
            )
            return
        found.columns[name] = column
        return
    if len(cells) > MOST_CLASSES:
        found.problems.append(
            f"the target {show(name)} holds {len(cells)} different texts; a class to predict has at most {MOST_CLASSES}"
        )
        return
    if (
        column.kind == "nominal"
        and column.categories is None
        and (recipe := _joined(name, cells)) is not None
    ):
        classes = dict.fromkeys(recipe.same)
        told_classes = show_many(sorted({each for _, each in classes}), 5)
        found.add(column, recipe, "classes", f"{show_many(sorted(cells), 8)} are {told_classes}")
        return
    found.columns[name] = column


def _joined(name: str, cells: Mapping[str, int]) -> SameRecipe | None:
    """Join the spellings of yes and no, or of one word; leave out words for no class; None if nothing is to do."""
    small: dict[str, list[str]] = {}
    for cell in cells:
        small.setdefault(cell.strip().lower(), []).append(cell)
    classes = {word: spelled for word, spelled in small.items() if word not in NO_CLASS}
    if len(classes) < 2 or "+" in classes:
        return None
    if set(classes) <= {*TRUE, *FALSE}:
        if len(cells) <= 2:
            return None
        same: dict[str, str] = {}
        for side in (TRUE, FALSE):
            mine = [cell for word, spelled in classes.items() if word in side for cell in spelled]
            if mine:
                most = max(mine, key=lambda cell: (cells[cell], cell))
                same |= {cell.strip().lower(): most for cell in mine}
        return SameRecipe(name, tuple(sorted(same.items())))
    several = [spelled for spelled in classes.values() if len(spelled) > 1]
    if not all(map(is_one_word, several)) or (len(classes) == len(small) and not several):
        return None
    usual = {word: max(spelled, key=lambda cell: (cells[cell], cell)) for word, spelled in classes.items()}
    return SameRecipe(name, tuple(sorted(usual.items())))


def _numbers_in(cells: Mapping[str, int]) -> np.ndarray | None:
    """Return the numbers that texts of a target say, if (nearly) all do: money, percentages."""
    if not cells:
        return None
    form, rows = form_of(cells)
    if rows < READABLE * sum(cells.values()):
        return None
    return np.repeat(
        [value for cell in cells if (value := form.number(cell)) is not None],
        [n for cell, n in cells.items() if form.number(cell) is not None],
    )


def _cut(found: Recognised, column: Column, cuts: Sequence[float]) -> None:
    ordered = tuple(float(cut) for cut in cuts)
    if not ordered or any(a >= b for a, b in itertools.pairwise(ordered)) or not np.isfinite(ordered).all():
        found.problems.append(
            Wording(Argument("target_cut"), f": {list(cuts)}; expected finite numbers, ascending")
        )
        return
    form = NumberForm() if column.kind == "numeric" else form_of(rows_of(texts_of(column)))[0]
    recipe = CutRecipe(column.name, form, ordered)
    found.add(column, recipe, "classes", show_many(list(recipe.labels), 8))
    found.treated.pop()
    made = found.columns[column.name]
    if made.is_empty:
        says = f": the target {show(column.name)} holds no numbers that could be cut"
        found.problems.append(Wording(Argument("target_cut"), says))
