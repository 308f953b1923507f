"""Trees and option trees on whole columns: grown by a ``Grower``, and the folds over what was grown.

A node may be a leaf, or any of its options: a test with a child for every branch that has examples. Nodes with the same
rows at the same depth are one node.

    s(n) = Vleaf(n) + Σ_options Vint · Π_children s(child)         "smooth"; "map": max instead of the sum
    "none": the leaf counts only where there is no option
    g(n, x) = P(leaf|n) · θ(n) + Σ_o P(o|n) · (g(child of x, x), or θ(n) where x has no child)

One option per node is a tree with all its prunings, and g is Buntine's smoothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from everytree.reference.grower import Grower
from everytree.reference.leaves import log_marginal
from everytree.reference.logs import LOG_ZERO, log_sum
from everytree.reference.whole_columns import ColumnTest, Rows

__all__ = [
    "ColumnChoice",
    "Folded",
    "GrownNode",
    "GrownOption",
    "choose_column",
    "fold_grown",
    "grow_columns",
    "grow_columns_on_subsamples",
    "predict_grown",
    "restructure_columns",
    "walk",
]


@dataclass(eq=False)
class GrownNode:
    """The rows that reach a node, its depth, and its options."""

    rows: Rows
    depth: int
    counts: tuple[int, ...]
    options: list[GrownOption] = field(default_factory=list)


@dataclass(eq=False)
class GrownOption:
    """A test, log Vint, and the children by branch."""

    test: ColumnTest
    log_split: float
    children: dict[int, GrownNode]


def walk(root: GrownNode) -> Iterator[GrownNode]:
    """Yield every node once, parents first."""
    level, seen = [root], {root}
    while level:
        yield from level
        below = []
        for node in level:
            for child in (child for option in node.options for child in option.children.values()):
                if child not in seen:
                    seen.add(child)
                    below.append(child)
        level = below


def grow_columns(grower: Grower, rows: Rows | None = None, depth: int = 0) -> GrownNode:
    """Grow a tree or an option tree, as the grower's options say; below a node if its rows and depth are given."""
    known: dict[tuple[Rows, int], GrownNode] = {}

    def build(rows: Rows, depth: int) -> GrownNode:
        if (rows, depth) not in known:
            node = known[rows, depth] = GrownNode(rows, depth, grower.data.counts(rows))
            for test, _, log_split in grower.options(rows, depth):
                branches = grower.data.branches(rows, test)
                children = {slot: build(branch, depth + 1) for slot, branch in branches.items()}
                node.options.append(GrownOption(test, log_split, children))
        return known[rows, depth]

    return build(grower.data.everything if rows is None else rows, depth)


# --- folds


class Folded(NamedTuple):
    """log s, P(leaf | reached) and P(option | reached) of every node."""

    log_s: dict[GrownNode, float]
    p_leaf: dict[GrownNode, float]
    p_options: dict[GrownNode, list[float]]


def fold_grown(grower: Grower, root: GrownNode, prune: str = "smooth") -> Folded:
    """Return the fold over every tree that the nodes stand for; log s of the root is the log evidence.

    With ``prune="map"`` log s is that of the most probable tree; ties go to the smaller tree, then to the lower column
    and cut (which is the first in the order of tests).
    """
    if prune not in ("smooth", "map", "none"):
        raise ValueError(f"prune={prune!r}; expected 'smooth', 'map' or 'none'")
    folded = Folded({}, {}, {})
    size: dict[GrownNode, int] = {}
    for node in reversed(list(walk(root))):
        log_leaf = grower.log_leaf(node.rows, node.depth)
        if prune == "none" and node.options:
            log_leaf = LOG_ZERO
        logs = [
            option.log_split + math.fsum(folded.log_s[child] for child in option.children.values())
            for option in node.options
        ]
        if prune == "map":
            sizes = [1 + sum(size[child] for child in option.children.values()) for option in node.options]
            order = [(1, -1), *((n, i) for n, i in zip(sizes, _places(grower, node), strict=True))]
            values = dict(sorted(enumerate([log_leaf, *logs]), key=lambda one: order[one[0]]))
            best = grower.best_first(values, 1)[0]
            folded.log_s[node], size[node] = values[best], order[best][0]
            shares = [float(i == best) for i in range(1 + len(logs))]
        else:
            total = folded.log_s[node] = log_sum([log_leaf, *logs])
            shares = [math.exp(x - total) if total > LOG_ZERO else 0.0 for x in (log_leaf, *logs)]
        folded.p_leaf[node], folded.p_options[node] = shares[0], shares[1:]
    return folded


def _places(grower: Grower, node: GrownNode) -> list[int]:
    """Return where the test of each option stands among the tests of the node, by column and then cut."""

    def key(test: ColumnTest) -> tuple[int, float]:
        kind = grower.data.kinds[test.column]
        return test.column, test.cut if kind == "numeric" else 0 if test.cut is None else kind.index(test.cut)

    order = sorted((key(option.test), i) for i, option in enumerate(node.options))
    places = [0] * len(order)
    for place, (_, i) in enumerate(order):
        places[i] = place
    return places


def predict_grown(grower: Grower, root: GrownNode, folded: Folded, row: Sequence[Any]) -> tuple[float, ...]:
    """Return g(root, x): the class probabilities of a row, one value per column."""
    known: dict[GrownNode, tuple[float, ...]] = {}

    def g(node: GrownNode) -> tuple[float, ...]:
        if node not in known:
            theta = grower.theta(node.rows, node.depth)
            parts = [[folded.p_leaf[node] * p for p in theta]]
            for option, share in zip(node.options, folded.p_options[node], strict=True):
                slot = grower.data.slot(option.test, row[option.test.column])
                child = None if slot is None else option.children.get(slot)
                parts.append([share * p for p in (theta if child is None else g(child))])
            known[node] = tuple(math.fsum(one) for one in zip(*parts, strict=True))
        return known[node]

    return g(root)


# --- growth from many examples, and from more and more


class ColumnChoice(NamedTuple):
    """The column chosen, how many examples it took, and the log Bayes factor by which it led the next."""

    column: int
    n_seen: int
    log_lead: float


def choose_column(
    grower: Grower,
    rows: Rows,
    depth: int,
    rng: Random,
    lead: float = 100.0,
    first: int = 32,
    growth: float = 2.0,
) -> ColumnChoice | None:
    """Return the best column by a growing subsample, or None where no test is feasible (see ``subsample``).

    The tests, and their prior, are those of all examples; their branches are counted among the examples seen.
    """
    if not (lead >= 1 and first >= 1 and growth > 1):
        raise ValueError(f"lead={lead!r}, first={first!r}, growth={growth!r}; expected ≥ 1, ≥ 1 and > 1")
    columns = grower.feasible(rows, depth)
    if not columns:
        return None
    examples = [row for row in rows for _ in range(grower.data.weights[row])]
    rng.shuffle(examples)
    m = min(first, len(examples))
    while True:
        found = {
            column: grower.log_test(rows, depth, column)
            + log_sum(_worth_among(grower, examples[:m], depth, test) for test in tests)
            for column, tests in columns.items()
        }
        best, *others = grower.best_first(found, 2)
        log_lead = found[best] - found[others[0]] if others else math.inf
        if log_lead >= math.log(lead) or m == len(examples):
            return ColumnChoice(best, m, log_lead)
        m = min(max(m + 1, math.floor(m * growth)), len(examples))


def _worth_among(grower: Grower, examples: list[int], depth: int, test: ColumnTest) -> float:
    counts: dict[int | None, list[int]] = {}
    for row in examples:
        slot = grower.data.slot(test, grower.data.columns[test.column][row])
        counts.setdefault(slot, [0] * grower.data.n_classes)[grower.data.classes[row]] += 1
    return math.fsum(log_marginal(each, grower.a(depth + 1)) for each in counts.values())


def grow_columns_on_subsamples(
    grower: Grower, rng: Random, lead: float = 100.0, first: int = 32, growth: float = 2.0
) -> GrownNode:
    """Grow one tree by one ply: each column chosen on a subsample, its cut and whether to split on all examples."""

    def build(rows: Rows, depth: int) -> GrownNode:
        node = GrownNode(rows, depth, grower.data.counts(rows))
        if not grower.is_closed(rows, depth):
            choice = choose_column(grower, rows, depth, rng, lead, first, growth)
            assert choice is not None
            if grower.splits(rows, depth, grower.column_quality(rows, depth, choice.column, 1)):
                _install(grower, node, grower.best_test(rows, depth, choice.column), build)
        return node

    return build(grower.data.everything, 0)


def _install(grower: Grower, node: GrownNode, test: ColumnTest, below: Any) -> None:
    branches = grower.data.branches(node.rows, test)
    children = {slot: below(branch, node.depth + 1) for slot, branch in branches.items()}
    node.options = [GrownOption(test, grower.log_split(node.rows, node.depth, test), children)]


def restructure_columns(
    grower: Grower, tree: GrownNode, lead: float = 10.0, kinds: Sequence[Any] | None = None
) -> GrownNode:
    """Bring a tree, grown on earlier examples, up to date with the examples of the grower (see ``incremental``).

    A node keeps its test unless another column leads its column by the Bayes factor, or the best cut of the column
    leads its cut by it: then the node is grown anew. A branch that had no examples is grown. ``kinds`` are those of
    the columns then, if values were declared since, at the end: the branch of missing values comes after all of them.
    """
    if not lead >= 1:
        raise ValueError(f"lead={lead!r}; the required Bayes factor must be at least 1")

    def follow(old: GrownNode | None, rows: Rows, depth: int) -> GrownNode:
        columns = grower.feasible(rows, depth)
        if old is None or not old.options:
            return grow_columns(grower, rows, depth)
        ((test, _, below),) = ((option.test, option.log_split, option.children) for option in old.options)
        if test.column not in columns or not grower.is_feasible(rows, test):
            return grow_columns(grower, rows, depth)
        found = {column: grower.column_quality(rows, depth, column, grower.plies) for column in columns}
        if grower.exceeds(max(found.values()), found[test.column] + math.log(lead)):
            return grow_columns(grower, rows, depth)
        best = grower.best_test(rows, depth, test.column)
        led = grower.quality(rows, depth, best, grower.plies)
        if grower.exceeds(led, grower.quality(rows, depth, test, grower.plies) + math.log(lead)):
            return grow_columns(grower, rows, depth)
        node = GrownNode(rows, depth, grower.data.counts(rows))
        slots = {branch: slot for slot, branch in grower.data.branches(rows, test).items()}
        if kinds is not None and test.cut is None:
            was, now = len(kinds[test.column]), len(grower.data.kinds[test.column])
            below = {now if slot == was else slot: child for slot, child in below.items()}
        _install(grower, node, test, lambda branch, deeper: follow(below.get(slots[branch]), branch, deeper))
        return node

    return follow(tree, grower.data.everything, 0)
