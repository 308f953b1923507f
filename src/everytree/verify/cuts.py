"""Checks of local cuts: that codes are those of the data, and that every node asks what its rows offer.

A model that learned from a table counted with the tests of other data has the codes of these: codes that the rows do
not give are then not checked, and not false. What a node asks must follow from the codes in any case.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from everytree.verify.examples import UNKNOWN, Cells
from everytree.verify.facts import FALSE, TRUE, UNCHECKED, Fact
from everytree.verify.local import breaks_of, threshold, upper_of
from everytree.verify.model import Fine, Model, as_text
from everytree.verify.places import cuts_given
from everytree.verify.prove import Space

__all__ = ["code_facts", "cut_facts"]

FINE = 255  # codes of a column, unless every value is one


def code_facts(model: Model, cells: Cells) -> list[Fact]:
    """Check the codes of numeric columns: against their tests, against ``bins``, and against the values of the rows."""
    facts: list[Fact] = []
    n = 0
    for j, column in enumerate(model.columns):
        fine = column.fine
        if fine is None:
            continue
        n += 1
        name = f"codes of column {column.name!r}"
        tests = [test.value for test in model.tests if test.column == j and test.kind == "threshold"]
        found = [
            threshold(fine.low, fine.high, fine.given, code, code + 1) for code in range(len(fine.low) - 1)
        ]
        if tests != found:
            facts.append(Fact(name, tests[:5], found[:5], FALSE, "its cuts do not lie between its codes"))
            continue
        bins = model.params.get("bins")
        wanted = 0 if bins == "all" else bins if isinstance(bins, int) else None
        if wanted is not None and not fine.given and fine.bins != wanted:
            facts.append(Fact(name, fine.bins, wanted, FALSE, "not the bins of the parameters"))
            continue
        told = cuts_given(bins, j, column.name) if fine.given else None
        if told is not None and not set(fine.low[1:]) <= set(told):
            facts.append(
                Fact(name, list(fine.low[1:6]), list(told[:5]), FALSE, "not the cuts of the parameters")
            )
            continue
        low, high = _codes(fine, column.fill, j, cells)
        if (list(fine.low), list(fine.high)) != (low, high):
            note = "they are not those of the values in these rows"
            facts.append(Fact(name, len(fine.low), len(low), UNCHECKED, note, predicts=True))
    return facts or ([Fact("codes of columns", n, n, TRUE)] if n else [])


def _codes(fine: Fine, fill: Any, j: int, cells: Cells) -> tuple[list[Any], list[Any]]:
    """Return the least and the greatest value of each code that the rows give."""
    times: dict[Any, int] = {}
    for row, weight in zip(cells.rows, cells.weights, strict=True):
        value = fill if row[j] is None else row[j]
        if value is not None and value is not UNKNOWN:
            times[value] = times.get(value, 0) + weight
    values = sorted(times)
    if not values:
        return [], []
    if fine.given:
        cuts = list(fine.low[1:])
        parted = all(any(a <= cut < b for a, b in pairwise(values)) for cut in cuts)
        return ([values[0], *cuts], [*cuts, values[-1]]) if parted else ([], [])
    if not fine.bins or len(values) <= FINE:
        return values, values
    ends = breaks_of([times[value] for value in values], FINE)
    starts = [0, *(end + 1 for end in ends)]
    return [values[i] for i in starts], [values[i] for i in [*ends, len(values) - 1]]


def cut_facts(model: Model, space: Space) -> list[Fact]:
    """Check that every inner node asks a test that its state offers, with the cut that follows from its rows."""
    offers = space.offers
    if offers is None:
        return []
    rows = dict(space.tests)
    waiting: list[tuple[int, int, int | None]] = [(0, space.everything, None)]
    n = 0
    while waiting:
        k, cover, above = waiting.pop()
        node = model.nodes[k]
        if node.test < 0:
            continue
        n += 1
        limit = space.query.max_depth
        other = space.asked(None if limit is None else limit - node.depth, above)
        offered = offers.of(cover if other is None else other)
        where = f"where {model.rule(k)}"
        if node.test not in offered or node.test not in rows:
            return [Fact(f"cut of node {k}", node.asks, None, FALSE, f"its rows do not offer it, {where}")]
        upper = offered[node.test]
        asked = model.tests[node.test]
        column = model.columns[asked.column]
        words = model.test_name(node.test)
        if asked.kind == "threshold" and column.fine is not None:
            first = next(i for i, test in enumerate(model.tests) if test.column == asked.column)
            codes = (column.fine.low, column.fine.high, column.fine.given, node.test - first, upper)
            words, upper = f"{column.name} <= {as_text(threshold(*codes))}", upper_of(*codes)
        if (node.upper, node.asks) != (upper, words):
            return [Fact(f"cut of node {k}", [node.upper, node.asks], [upper, words], FALSE, where)]
        one = cover & rows[node.test]
        waiting += [(node.children[0], cover ^ one, cover), (node.children[1], one, cover)]
    return [Fact("cuts of nodes", n, n, TRUE)]
