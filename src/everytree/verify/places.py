"""Where cuts lie between the values of the data: a new row may have a value in between.

No count of the training rows depends on it, so nothing else that is checked would tell. A cut that was not given lies
where ``local.between`` puts it, between the values beside it; one that was given is among those of the parameters.
A model that learned in batches, or with the tests of other data, has cuts that these rows do not give: these are not
checked, and not false.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from everytree.verify.examples import UNKNOWN, Cells
from everytree.verify.facts import TRUE, UNCHECKED, Fact
from everytree.verify.local import between
from everytree.verify.model import Model
from everytree.verify.problem import InputError, is_number

__all__ = ["BY_CLASSES", "bins_of", "cuts_given", "place_facts"]

BY_CLASSES = ("mdl", "boosted")
WORDS = ("all", *BY_CLASSES)


def place_facts(model: Model, cells: Cells, cuts: Sequence[Sequence[Any]] | None = None) -> list[Fact]:
    """Check where cuts lie: those of the tests of a model, or of each column as they are given."""
    if cuts is None:
        cuts = [
            [test.value for test in model.tests if test.column == j and test.kind == "threshold"]
            for j in range(len(model.columns))
        ]
    n = 0
    for j, (column, mine) in enumerate(zip(model.columns, cuts, strict=True)):
        if not mine:
            continue
        n += len(mine)
        told = cuts_given(model.params.get("bins"), j, column.name)
        wrong = _unexplained(mine, _values(j, column.fill, cells), told)
        if wrong is not None:
            note = f"column {column.name!r}: it does not lie where the values of these rows put it, nor was it given"
            return [Fact("places of cuts", wrong, None, UNCHECKED, note, predicts=True)]
    return [Fact("places of cuts", n, n, TRUE)] if n else []


def cuts_given(bins: Any, j: int, name: str) -> tuple[float, ...] | None:
    """Return the cut points of a column that the parameters name, by its name or its place; None if they do not.

    >>> cuts_given({"age": [40, 30]}, 0, "age"), cuts_given({"$dict": [[0, [1]]]}, 0, "age"), cuts_given(4, 0, "age")
    ((30.0, 40.0), (1.0,), None)
    """
    if not isinstance(bins, dict):
        return None
    mine = _own(bins, j, name)
    if isinstance(mine, list) and all(map(is_number, mine)):
        return tuple(sorted({float(cut) for cut in mine}))
    return None


def bins_of(bins: Any, j: int, name: str, other: int = 4) -> Any:
    """Return how a column is cut: a number of bins, or a word; ``other`` where the parameters say nothing of it.

    >>> bins_of({"age": "all"}, 0, "age"), bins_of({"age": "all"}, 1, "size"), bins_of(3, 0, "age")
    ('all', 4, 3)
    """
    found = _own(bins, j, name) if isinstance(bins, dict) else bins
    if isinstance(found, str) and found not in WORDS:
        raise InputError(
            f"params: expected bins as a number, cut points or one of {', '.join(WORDS)}, got {found!r}"
        )
    number = isinstance(found, int) and not isinstance(found, bool) and found > 1
    return found if number or isinstance(found, str) else other


def _own(bins: dict[str, Any], j: int, name: str) -> Any:
    """Return what the parameters say of one column, by its name or its place; None if nothing."""
    pairs = bins.get("$dict", list(map(list, bins.items())))
    for pair in pairs if isinstance(pairs, list) else ():
        key = pair[0] if isinstance(pair, list) and len(pair) == 2 else None
        if key == name if isinstance(key, str) else type(key) is int and key == j:
            return pair[1]
    return None


def _values(j: int, fill: Any, cells: Cells) -> list[Any]:
    """Return the distinct values of a column in order, with what takes the place of missing ones."""
    found = {fill if row[j] is None else row[j] for row in cells.rows}
    return sorted(found - {None, UNKNOWN})


def _unexplained(cuts: Sequence[Any], values: list[Any], given: tuple[float, ...] | None) -> Any:
    """Return a cut that lies elsewhere than the values put it, and was not given; None if there is none."""
    for cut in cuts:
        if given is not None:
            fine = cut in given
        else:
            k = bisect_right(values, cut)
            fine = 0 < k < len(values) and between(values[k - 1], values[k]) == cut
            fine = fine or [cut] == values  # the constant test of a column with one value
        if not fine:
            return cut
    return None
