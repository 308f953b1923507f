"""C4.5 and CART: every example is sent down the tree, and the class counts of every node are counted again.

    C4.5   an example without the value is shared out over the branches, by the examples that have it
    CART   it takes the branch that the node names for it, or stops at the node; a node names one where, and only
           where, one of its examples is without the value: no count tells which branch a new row would take else

A cut of CART is the mid-point of two neighbouring values of the node, one of C4.5 the largest value of the column up to
there. A branch of C4.5 that pruning raised has the cuts of fewer rows: another value of the column is then not checked.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from everytree.verify.examples import UNKNOWN, Cells
from everytree.verify.facts import FALSE, NOTED, TRUE, UNCHECKED, Fact
from everytree.verify.flat import Shape, numbers, read_shape, rows_of
from everytree.verify.model import Model
from everytree.verify.problem import InputError, is_number, quote

__all__ = ["check_multiway"]

SMALL = 1e-6  # a smaller share of an example is ignored, as in C4.5
CLOSE = 1e-9
Part = list[tuple[int, float]]  # rows with their shares


def check_multiway(model: Model, tree: dict[str, Any], columns: list[Any], cells: Cells) -> list[Fact]:
    """Check a multiway tree."""
    shape = read_shape(tree, len(columns))
    n, n_classes = len(shape.attribute), len(model.classes)
    cuts = numbers(tree, "threshold", n, special=True)
    stored = rows_of(tree, "counts", n, n_classes)
    lacking = _missing(tree, shape)
    found = [[0.0] * n_classes for _ in range(n)]
    misplaced: list[Fact] = []
    strays: list[Fact] = []
    columns_of: dict[int, list[float]] = {}
    parts: list[Part] = [[] for _ in range(n)]
    parts[0] = [(row, float(weight)) for row, weight in enumerate(cells.weights)]
    share_out = model.estimator == "C45TreeClassifier"
    for node in range(n):  # children come after their parents
        part, parts[node] = parts[node], []
        for row, share in part:
            found[node][cells.classes[row]] += share
        j = shape.attribute[node]
        if j < 0:
            continue
        if j not in columns_of:
            columns_of[j] = _known(model, cells.rows, j)
        fact = _misplaced(
            model, node, j, cuts[node], _known(model, [cells.rows[row] for row, _ in part], j), columns_of[j]
        )
        misplaced += [] if fact is None else [fact]
        strays += _stray(
            node, lacking[node], not share_out and any(cells.rows[row][j] is None for row, _ in part)
        )
        below = _divided(model, shape, node, cuts[node], lacking[node], part, cells, share_out)
        for k, each in enumerate(below):
            parts[shape.first_child[node] + k] = each
    facts = [
        Fact(
            "examples",
            round(sum(stored[0]), 6),
            sum(cells.weights),
            _verdict(sum(stored[0]), sum(cells.weights)),
        )
    ]
    wrong = next((k for k in range(n) if not all(map(_same, stored[k], found[k]))), None)
    if wrong is None:
        facts.append(Fact("counts of nodes", n, n, TRUE, "and so every prediction"))
    else:
        facts.append(Fact(f"counts of node {wrong}", stored[wrong], found[wrong], FALSE))
    misplaced.sort(key=lambda fact: fact.verdict != FALSE)  # what is false is told first
    facts += misplaced[:1] or [Fact("cuts", n - shape.n_leaves, n - shape.n_leaves, TRUE)]
    facts += strays[:1]
    note = "informational: whether leaves say (n_c + 1) / (n + C) or n_c / n was asked for"
    if model.params.get("laplace", False) not in (True, False):
        raise InputError(f"params.laplace is {quote(model.params['laplace'])}; expected true or false")
    facts.append(Fact("laplace", quote(model.params.get("laplace", False)), None, NOTED, note))
    for name, value in (("n_leaves", shape.n_leaves), ("size", n)):
        if name in model.claims:
            facts.append(
                Fact(name, model.claims[name], value, TRUE if model.claims[name] == value else FALSE)
            )
    return facts


def _missing(tree: dict[str, Any], shape: Shape) -> list[int]:
    given = tree.get("missing")
    if given is None:
        return [-1] * len(shape.attribute)
    if not isinstance(given, list) or len(given) != len(shape.attribute):
        raise InputError(
            f"tree.missing is {quote(given)}; expected a list with one entry for each node, or null"
        )
    for node, k in enumerate(given):
        if type(k) is not int or not -1 <= k < max(1, shape.n_children[node]):
            raise InputError(f"tree.missing[{node}] is {quote(k)}; expected the number of a child, or −1")
    return given


def _stray(node: int, branch: int, named: bool) -> list[Fact]:
    """Return a fact about a node that names a branch for missing values and should not, or the other way round."""
    if (branch >= 0) == named:
        return []
    note = "an example of the node is without the value" if named else "no example of the node takes it"
    found = "a branch" if named else "none"
    return [
        Fact(
            f"branch of node {node} for missing values", branch if branch >= 0 else "none", found, FALSE, note
        )
    ]


def _branch(model: Model, j: int, cut: float, value: Any) -> int:
    """Return the branch of a value that is there; −1 for one that was not seen in training."""
    if model.columns[j].kind == "numeric":
        return int(float(value) > cut)
    if value is UNKNOWN:
        return -1
    return int(value) if math.isnan(cut) else int(value != cut and cut != math.inf)


def _divided(
    model: Model, shape: Shape, node: int, cut: float, lacking: int, part: Part, cells: Cells, share_out: bool
) -> list[Part]:
    j, n = shape.attribute[node], shape.n_children[node]
    wanted = len(model.columns[j].values) if model.columns[j].kind == "nominal" and math.isnan(cut) else 2
    if n != wanted or (model.columns[j].kind == "numeric" and math.isnan(cut)):
        raise InputError(f"tree.threshold[{node}] is {cut} with {n} children, which does not fit the column")
    below: list[Part] = [[] for _ in range(n)]
    rest: Part = []
    for row, share in part:
        value = cells.rows[row][j]
        k = lacking if value is None else _branch(model, j, cut, value)
        if k >= 0:
            below[k].append((row, share))
        else:
            rest.append((row, share))
    if rest and share_out:
        sizes = [math.fsum(share for _, share in each) for each in below]
        known = math.fsum(sizes)
        for k, size in enumerate(sizes):
            s = 1 / n if known < SMALL else size / known
            if s > SMALL:
                below[k] += [(row, s * share) for row, share in rest]
    return below


def _known(model: Model, rows: Sequence[tuple[Any, ...]], j: int) -> list[float]:
    """Return the values of a numeric column in ascending order."""
    if model.columns[j].kind != "numeric":
        return []
    return sorted({float(row[j]) for row in rows if row[j] is not None})


def _misplaced(
    model: Model, node: int, j: int, cut: float, values: list[float], column: list[float]
) -> Fact | None:
    """Return a fact about a cut that does not lie where the values of its node put it, or None."""
    if model.columns[j].kind != "numeric" or not math.isfinite(cut):
        return None
    c45 = model.estimator == "C45TreeClassifier"
    k, found = bisect_right(values, cut), math.nan
    if 0 < k < len(values):
        low, high = values[k - 1], values[k]
        middle = low / 2 + high / 2
        if c45:
            resolution = model.params.get("resolution", 1e-5)
            middle += resolution / 10 if is_number(resolution) else 0
            found = max(low, column[bisect_right(column, middle) - 1]) if middle < high else low
        else:
            found = middle if low <= middle < high else low
    if cut == found:
        return None
    wanted = "the mid-point of two neighbouring values of the node"
    if c45:
        wanted = f"the largest value of the column up to {wanted}"
    note = f"the cut of column {model.columns[j].name!r} is not {wanted}"
    shown = found if 0 < k < len(values) else None
    raising = c45 and all(model.params.get(name) is not False for name in ("prune", "subtree_raising"))
    if raising and cut in column:
        note += "; a branch that pruning raised may have such a cut, which is not checked"
        return Fact(f"cut of node {node}", cut, shown, UNCHECKED, note, predicts=True)
    return Fact(f"cut of node {node}", cut, shown, FALSE, note)


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE)


def _verdict(a: float, b: float) -> Any:
    return TRUE if _same(a, b) else FALSE
