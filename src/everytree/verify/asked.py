"""Which tests a model asks: those that ``bins`` and the values of the rows give, no more and no fewer.

    numeric    a cut for each end of a bin of equal frequency, between any two values, or where they are given
    0/1        the column itself
    nominal    a test for each value that occurs; of two values, none of them missing, for the second alone
    missing    where a value is missing, and missing values are a category

Where cuts are global, tests are left out that are constant in the rows, or equal or complement an earlier one (columns
of 0 and 1 come first, and are never left out). Where nodes choose their cuts, ``cuts`` checks those of numeric columns.
A tree is the best one, and an average is over every tree, of these tests: others would answer another question.

Where params do not say what was asked for, nothing tells; every file does.

Cuts that the classes chose are not chosen again. A model that learned in batches, or with the tests of other data, has
tests that these rows do not give: these are not checked, and not false.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise
from operator import or_
from typing import Any

from everytree.verify.examples import UNKNOWN, Cells
from everytree.verify.facts import TRUE, UNCHECKED, Fact
from everytree.verify.local import between, breaks_of
from everytree.verify.model import Column, Model, Test
from everytree.verify.places import BY_CLASSES, bins_of, cuts_given

__all__ = ["asked_facts", "cuts_of"]

# Parameters that every file of a tree or an average over 0/1 tests has; those of compressed rules have bins alone.
ALWAYS = ("max_depth", "min_leaf", "bins", "dirichlet")
Asked = tuple[Test, int]  # a test, and the rows in which it holds, as bits


def asked_facts(model: Model, cells: Cells) -> list[Fact]:
    """Compare the tests of a model with those that its parameters ask for."""
    rules = model.estimator == "CompressedClassifier"
    if rules and model.params.get("cuts") == "local":
        return []  # its tests are those of the rules alone, and its bound is not checked
    own = ("leaf_penalty",) if model.estimator == "OptimalTreeClassifier" else ()
    always = ("bins",) if rules else (*ALWAYS, *own)
    lacking = [name for name in always if name not in model.params]
    if lacking:
        taken = "so that nothing tells which tests were asked for"
        if not rules:
            taken = "for which a default is taken where the file is loaded"
        note = f"{'average does' if rules else 'params do'} not say {lacking[0]}, {taken}"
        return [Fact("parameters", None, None, UNCHECKED, note, predicts=True)]
    found: list[list[Asked]] = []
    for j, column in enumerate(model.columns):
        bins = bins_of(model.params["bins"], j, column.name)
        chosen = bins in BY_CLASSES if isinstance(bins, str) else False
        if chosen and column.kind == "numeric" and not model.local:
            note = f"bins={bins!r}: the classes chose the cuts, and the checker does not choose them again"
            return [Fact("tests", len(model.tests), None, UNCHECKED, note, predicts=True)]
        tests = _tests(model, j, column, cells)
        if tests is None:
            note = f"column {column.name!r}: its kind or its values are not those of these rows"
            return [Fact("tests", len(model.tests), None, UNCHECKED, note, predicts=True)]
        found.append(tests)
    wanted = [test for tests in found for test, _ in tests]
    if not model.local:
        wanted = _without_idle(model, found, (1 << len(cells.rows)) - 1)
    if wanted == list(model.tests):
        return [Fact("tests", len(model.tests), len(wanted), TRUE)]
    other = next((a for a, b in zip(model.tests, wanted, strict=False) if a != b), None)
    note = "they are not those that bins and the values of these rows give"
    if other is not None:
        note += f": the first that is not is {model.test_name(model.tests.index(other))!r}"
    return [Fact("tests", len(model.tests), len(wanted), UNCHECKED, note, predicts=True)]


def _tests(model: Model, j: int, column: Column, cells: Cells) -> list[Asked] | None:
    """Return all tests of a column, with their rows; None where it does not have the values of the rows."""
    held: dict[Any, int] = {}
    times: dict[Any, Any] = {}
    for row, (each, weight) in enumerate(zip(cells.rows, cells.weights, strict=True)):
        held[each[j]] = held.get(each[j], 0) | 1 << row
        times[each[j]] = times.get(each[j], 0) + weight
    gone, absent = held.pop(None, 0), times.pop(None, 0)
    if UNKNOWN in held:
        return None
    own = [(Test(j, "missing", None), gone)] if gone and model.missing == "category" else []
    if not held or column.kind == "empty":
        if held or column.kind != "empty":
            return None
        return [] if model.local else [(Test(j, "missing", None), gone)]
    occurring, fill = set(held), column.fill
    if fill is not None and column.kind == "nominal":
        fill = column.values.index(fill) if fill in column.values else None
    if gone and fill is not None:
        held[fill], times[fill] = held.get(fill, 0) | gone, times.get(fill, 0) + absent
    if column.kind == "nominal":
        if sorted(held) != list(range(len(column.values))):
            return None
        codes = sorted(held)[1:] if len(held) == 2 and not own else sorted(held)
        tests = [(Test(j, "equals", column.values[code]), held[code]) for code in codes]
        return own if model.local and len(held) == 1 and not own else tests + own
    if column.kind == "binary":
        return [(Test(j, "identity", None), held.get(1, 0)), *own] if set(held) <= {0, 1} else None
    if occurring <= {0, 1}:
        return None  # it would be binary
    values = sorted(held)
    if model.local:
        mine = [test for test in model.tests if test.column == j and test.kind == "threshold"]
        return [(test, 0) for test in mine] + own
    told = cuts_given(model.params["bins"], j, column.name)
    below = list(accumulate((held[value] for value in values), or_))
    cuts = (
        list(told)
        if told is not None
        else cuts_of(values, times, bins_of(model.params["bins"], j, column.name))
    )
    return [(Test(j, "threshold", cut), _held_below(values, below, cut)) for cut in cuts] + own


def cuts_of(values: list[Any], times: dict[Any, Any], bins: Any) -> list[Any]:
    """Return the cuts of values in order, each of which occurs so many times."""
    if len(values) == 1:
        return list(values)
    pairs = list(pairwise(values))
    if bins != "all":
        pairs = [pairs[k] for k in breaks_of([times[value] for value in values], bins)]
    return [between(low, high) for low, high in pairs]


def _held_below(values: list[Any], below: list[int], cut: Any) -> int:
    n = bisect_right(values, cut)
    return below[n - 1] if n else 0


def _without_idle(model: Model, found: list[list[Asked]], everything: int) -> list[Test]:
    """Leave out tests that are constant, or equal or complement an earlier one."""

    def turned(rows: int) -> int:
        return rows ^ everything if rows & 1 else rows

    own = [tests[0] for column, tests in zip(model.columns, found, strict=True) if column.kind == "binary"]
    known = {turned(rows) for _, rows in own}
    stay: list[Test] = []
    for tests in found:
        for test, rows in tests:
            key = turned(rows)
            if test.kind == "identity":
                stay.append(test)
            elif key and key not in known:
                known.add(key)
                stay.append(test)
    return stay
