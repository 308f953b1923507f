"""Trees with averaging along the path: counts, Bayes factors and probabilities of every node, from the raw rows.

    log M(n)  = log Γ(S) − log Γ(S + n) + Σ_c log Γ(a_c + n_c) − log Γ(a_c)
    log B     = Σ_children log M(n_child) − log M(n_node)                          of a split against the leaf
    θ_c       = (n_c + a_c) / (n + S)
    P         = Σ_path h θ / Σ_path h,   h(root) = 1,  h(child) = h(parent) · B(parent)

a_c is S/C; with ``nonuniform``, where a node lacks z > 1 of the C classes, S/(C−z+1) for those it has and that over z
for the others. Both terms of log B have the a of the node (with "parent", log M(n_node) has that of its parent), θ that
of its parent.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

from everytree.verify.examples import UNKNOWN, Cells
from everytree.verify.facts import FALSE, TRUE, Fact
from everytree.verify.flat import Shape, numbers, read_shape, rows_of
from everytree.verify.model import Model
from everytree.verify.places import place_facts
from everytree.verify.problem import InputError, is_number, quote
from everytree.verify.rising import log_rising

__all__ = ["check_path"]

CLOSE = 1e-9
LEAST_S, LARGEST_S = 1e-9, 1e9


def check_path(model: Model, tree: dict[str, Any], columns: list[Any], cells: Cells) -> list[Fact]:
    """Check a tree with averaging along the path."""
    shape = read_shape(tree, len(columns))
    n, n_classes = len(shape.attribute), len(model.classes)
    sizes = [_n_values(column) for column in columns]
    for node, j in enumerate(shape.attribute):
        if j >= 0 and shape.n_children[node] != sizes[j]:
            raise InputError(
                f"tree.n_children[{node}] is {shape.n_children[node]}; its column has {sizes[j]} categories"
            )
    # Read first: a file with other numbers than classes is refused before anything is computed.
    stored = {
        "counts": rows_of(tree, "counts", n, n_classes),
        "log_leaf": [[x] for x in numbers(tree, "log_leaf", n)],
        "log_b": [[x] for x in numbers(tree, "log_b", n)],
        "probabilities": rows_of(tree, "probabilities", n, n_classes),
    }
    counts = _counted(model, shape, columns, cells)
    s = _size(model)
    rule = model.params.get("nonuniform")
    own = [_added(row, s, rule in (True, "parent")) for row in counts]
    a = [own[parent] if parent >= 0 else [s / n_classes] * n_classes for parent in shape.parent]
    as_leaf = a if rule == "parent" else own
    log_leaf = [_log_m(counts[node], as_leaf[node], s) for node in range(n)]
    log_b = [0.0] * n
    for node, j in enumerate(shape.attribute):
        if j >= 0:
            first = shape.first_child[node]
            below = counts[first : first + shape.n_children[node]]
            log_b[node] = math.fsum(_log_m(child, own[node], s) for child in below) - log_leaf[node]
    found = {
        "counts": [list(map(float, row)) for row in counts],
        "log_leaf": [[x] for x in log_leaf],
        "log_b": [[x] for x in log_b],
        "probabilities": _laplace(shape, counts)
        if model.params.get("leaf") == "laplace"
        else _means(shape, counts, a, s, log_b, model.params.get("averaging") is not False),
    }
    facts = [
        Fact(
            "examples",
            sum(stored["counts"][0]),
            sum(cells.weights),
            _verdict([sum(stored["counts"][0])], [sum(cells.weights)]),
        )
    ]
    for name, values in stored.items():
        wrong = next((k for k in range(n) if _verdict(values[k], found[name][k]) == FALSE), None)
        if wrong is None:
            facts.append(Fact(name, n, n, TRUE))
        else:
            facts.append(Fact(f"{name} of node {wrong}", values[wrong], found[name][wrong], FALSE))
    facts += place_facts(model, cells, [column.get("cuts") or () for column in columns])
    claimed = {"n_nodes": n, "n_leaves": shape.n_leaves, "depth": shape.depth(), "s": s}
    return facts + [
        Fact(name, model.claims[name], value, TRUE if model.claims[name] == value else FALSE)
        for name, value in claimed.items()
        if name in model.claims
    ]


def _n_values(column: dict[str, Any]) -> int:
    own = len(column.get("cuts") or ()) + 1 if column.get("values") is None else len(column["values"])
    return own + (column.get("missing") is True)


def _code(column: dict[str, Any], value: Any) -> int:
    """Return the category of a value; −1 for one that was not seen in training."""
    if value is None:
        fill = column.get("fill")
        if fill is None:
            return _n_values(column) - 1 if column.get("missing") is True else -1
        if column.get("values") is not None:
            return int(column["values"].index(fill)) if fill in column["values"] else -1
        value = fill
    elif value is UNKNOWN:
        return -1
    elif column.get("values") is not None:
        return int(value)
    return bisect_left(column.get("cuts") or [], value)


def _counted(model: Model, shape: Shape, columns: list[Any], cells: Cells) -> list[list[int]]:
    counts = [[0] * len(model.classes) for _ in shape.attribute]
    for row, label, weight in zip(cells.rows, cells.classes, cells.weights, strict=True):
        node = 0
        while True:
            counts[node][label] += weight
            j = shape.attribute[node]
            code = _code(columns[j], row[j]) if j >= 0 else -1
            if code < 0:
                break
            node = shape.first_child[node] + code
    return counts


def _size(model: Model) -> float:
    s = model.params.get("s")
    if s == "classes":
        return float(len(model.classes))
    if not is_number(s) or not LEAST_S < s < LARGEST_S:
        raise InputError(
            f"params.s is {quote(s)}; expected a number between {LEAST_S:g} and {LARGEST_S:g}, or 'classes'"
        )
    return float(s)


def _added(counts: list[int], s: float, nonuniform: bool) -> list[float]:
    n_classes, z = len(counts), sum(n == 0 for n in counts)
    if not nonuniform or z < 2:
        return [s / n_classes] * n_classes
    share = s / (n_classes - z + 1)
    return [share if n else share / z for n in counts]


def _log_m(counts: list[int], a: list[float], s: float) -> float:
    return math.fsum([*map(log_rising, a, counts), -log_rising(s, sum(counts))])


def _means(
    shape: Shape, counts: list[list[int]], a: list[list[float]], s: float, log_b: list[float], averaging: bool
) -> list[list[float]]:
    """Compute the mean along the path to each node; r is the sum of the path's weights over that of its end.

    It stays a logarithm: with other data than those of training a split may be worse than any number can say.
    """
    means: list[list[float]] = []
    log_r: list[float] = []
    for node, row in enumerate(counts):
        theta = [(n + x) / (sum(row) + s) for n, x in zip(row, a[node], strict=True)]
        above = shape.parent[node]
        if above < 0 or not averaging:
            log_r.append(0.0)
        else:
            before = log_r[above] - log_b[above]
            log_r.append(max(before, 0.0) + math.log1p(math.exp(-abs(before))))
            old, new = math.exp(before - log_r[node]), math.exp(-log_r[node])
            theta = [old * p + new * q for p, q in zip(means[above], theta, strict=True)]
        means.append([p / math.fsum(theta) for p in theta])
    return means


def _laplace(shape: Shape, counts: list[list[int]]) -> list[list[float]]:
    """(n_c + 1) / (n + C) at each node; an empty one has the answer of its parent, which stands before it."""
    found: list[list[float]] = []
    for node, row in enumerate(counts):
        above = shape.parent[node]
        mine = [(n + 1) / (sum(row) + len(row)) for n in row]
        found.append(mine if any(row) or above < 0 else found[above])
    return found


def _verdict(a: list[float], b: list[float]) -> Any:
    fine = all(math.isclose(x, y, rel_tol=CLOSE, abs_tol=CLOSE) for x, y in zip(a, b, strict=True))
    return TRUE if fine else FALSE
