"""Rules: the exact average over trees read as a weighted set of rules (Nijssen 2008).

A rule is a set I of (test, outcome) pairs; its weight is the posterior probability that I is a leaf of the tree.

    P(I is a node) = Σ_{i ∈ I} P(I − i is a node) · P(split by i | I − i),     P(∅ is a node) = 1
    weight(I)      = P(I is a node) · P(leaf | I)

For a row x the weights of the rules that cover it sum to one, and P(c | x) = Σ weight · leaf probability of c.

The rules of most weight are found level by level. A rule of weight ≥ τ has a parent of probability ≥ τ / |I|, so
nothing is missed if level k keeps every node of probability ≥ τ · k! / K!, with K the depth limit; τ is lowered
until the answer is complete.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.folded import Folded
from everytree.bayes.local_rules import Conditions, LocalNodes
from everytree.common.text import as_number
from everytree.engine.rows import one_core_row
from everytree.trees.conditions import conditions, conditions_of

__all__ = ["Rule", "top_rules"]

Item = tuple[int, int]
Path = tuple[Item, ...]
Facts = tuple[float, npt.NDArray[np.float64], list[int]]  # P(leaf), P(split by test), class counts


@dataclass(frozen=True)
class Rule:
    """One path that may be a leaf, with its posterior probability and what it says."""

    items: Path  # (test, outcome), by test
    weight: float  # P(this path is a leaf of the tree)
    counts: tuple[int, ...]  # training examples per class
    proba: tuple[float, ...]  # class probabilities in this leaf
    names: tuple[str, ...]  # the items in words
    asks: tuple[str, ...] | None = None  # what each item asks, where states choose their own cuts
    upper: tuple[int, ...] | None = None  # the code above the cut of each item, likewise

    def conditions(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """Say the items as conditions, one per attribute, with the cuts of the states that asked them.

        ``names`` are those of all tests.
        """
        if self.asks is None:
            return conditions(self.items, names)
        asked = [(ask, outcome) for ask, (_, outcome) in zip(self.asks, self.items, strict=True)]
        return conditions_of(asked, names or ())

    def __len__(self) -> int:
        return len(self.items)

    def __str__(self) -> str:
        where = " and ".join(self.names) or "always"
        chances = ", ".join(f"{p:.2f}" for p in self.proba)
        return f"{self.weight:.4f}  {where}  →  ({chances})  n={as_number(sum(self.counts))}"


class _Nodes:
    """The probabilities of nodes, each computed once."""

    def __init__(self, posterior: Folded, control: _core.Control) -> None:
        self._control = control
        self._core = posterior.core
        self._known: dict[Path, tuple[float, Path | None]] = {(): (1.0, ())}
        self._facts: dict[Path, Facts] = {}

    def facts(self, items: Path) -> Facts:
        """Return P(leaf), P(split by test) and class counts of a node that exists."""
        if items not in self._facts:
            order = self.node(items)[1]
            if order is None:
                raise ValueError(f"{items!r} is not a node of the space")
            self._control.check()
            self._facts[items] = cast(
                Facts, self._core.path_node(list(order))
            )  # it exists, because it has an order
        return self._facts[items]

    def node(self, items: Path) -> tuple[float, Path | None]:
        """Return P(these items are a node), and an order of them in which every test is feasible."""
        if items not in self._known:
            total, order = 0.0, None
            for k, item in enumerate(items):
                parent = items[:k] + items[k + 1 :]
                p, way = self.node(parent)
                if way is None:
                    continue
                share = p * float(self.facts(parent)[1][item[0]])
                if share > 0:
                    total += share
                    order = order or (*way, item)
            self._known[items] = (total, order)
        return self._known[items]


def top_rules(posterior: Folded, x: npt.ArrayLike | None, top: int, control: _core.Control) -> list[Rule]:
    """Find the ``top`` rules of most weight, heaviest first; with a row ``x``, among the rules that cover it."""
    space = posterior.space
    row = None if x is None else one_core_row(space, x)
    depth = int(space.graph_under(control, True).deepest)  # no path is longer
    if space.table.columns is not None:
        local = LocalNodes(posterior, control)
        found = _heaviest(lambda tau: _local_rules_above(local, tau, depth, row), top)
        return [_local_rule(posterior, local, items, w) for w, items in found]
    nodes = _Nodes(posterior, control)
    heavy = _heaviest(lambda tau: _rules_above(nodes, tau, depth, row), top)
    return [_rule(posterior, nodes, items, w) for w, items in heavy]


def _heaviest(above: Callable[[float], dict[Any, float]], top: int) -> list[tuple[float, Any]]:
    """Lower the least weight until there are ``top`` rules; return them with their weights, heaviest first."""
    tau = 0.25
    while True:
        weights = above(tau)
        heavy = sorted(
            ((w, items) for items, w in weights.items() if w >= tau), key=lambda r: (-r[0], len(r[1]), r[1])
        )
        if len(heavy) >= top or tau < 1e-12:
            break
        tau /= 4
    if len(heavy) < top:  # the whole space holds fewer rules above the least weight that counts
        heavy = sorted(
            ((w, items) for items, w in weights.items() if w > 0), key=lambda r: (-r[0], len(r[1]), r[1])
        )
    return heavy[:top]


def _local_rules_above(
    nodes: LocalNodes, tau: float, depth: int, row: npt.NDArray[np.uint16] | None
) -> dict[Conditions, float]:
    """Find every rule of weight ≥ tau where states choose their own cuts; lighter ones may be among them."""
    weights: dict[Conditions, float] = {}
    level: set[Conditions] = {()}
    for k in range(depth + 1):
        # Of the nodes with the items of a child, there are at most k + 1 parents, each told apart by one of k above.
        need = tau / math.prod(range(k + 1, depth + 1)) / max(1, k) if k < depth else 0.0
        following: set[Conditions] = set()
        for items in level:
            weights[items] = nodes.weight(items)
            if k < depth:
                following |= nodes.below(items, need, row)
        level = following
    return weights


def _local_rule(posterior: Folded, nodes: LocalNodes, items: Conditions, weight: float) -> Rule:
    columns = posterior.space.table.columns
    assert columns is not None
    counts = _examples(posterior, nodes.counts(items))
    a = posterior.parameters[min(len(items), len(posterior.parameters) - 1)]
    total = sum(counts) + math.fsum(a)
    asks = tuple(columns.test(test, upper).name for test, _, upper in items)
    return Rule(
        tuple((test, outcome) for test, outcome, _ in items),
        weight,
        tuple(counts),
        tuple((n + b) / total for n, b in zip(counts, a, strict=True)),
        tuple(ask if outcome else f"not ({ask})" for ask, (_, outcome, _) in zip(asks, items, strict=True)),
        asks,
        tuple(upper for _, _, upper in items),
    )


def _rules_above(
    nodes: _Nodes, tau: float, depth: int, row: npt.NDArray[np.uint8] | None
) -> dict[Path, float]:
    """Find every rule of weight ≥ tau; lighter ones may be among them."""
    weights: dict[Path, float] = {}
    level: set[Path] = {()}
    for k in range(depth + 1):
        following: set[Path] = set()
        if not level:
            break
        # A child can only matter if some parent gives it at least this probability.
        need = tau / math.prod(range(k + 1, depth + 1)) if k < depth else 0.0
        for items in level:
            p, _ = nodes.node(items)
            leaf, split, _ = nodes.facts(items)
            weights[items] = p * leaf
            if k == depth:
                continue
            for test in np.flatnonzero(p * split >= need).tolist():
                if split[test] <= 0:
                    continue
                for outcome in (0, 1) if row is None else (int(row[test]),):
                    following.add(tuple(sorted((*items, (test, outcome)))))
        level = following
    return weights


def _rule(posterior: Folded, nodes: _Nodes, items: Path, weight: float) -> Rule:
    space = posterior.space
    counts = _examples(posterior, nodes.facts(items)[2])
    a = posterior.parameters[min(len(items), len(posterior.parameters) - 1)]
    total = sum(counts) + math.fsum(a)
    names = tuple(_words(space.test_names, test, outcome) for test, outcome in items)
    return Rule(
        items, weight, tuple(counts), tuple((n + b) / total for n, b in zip(counts, a, strict=True)), names
    )


def _examples(posterior: Folded, counts: list[int]) -> list[Any]:
    whole = np.array([int(n) for n in counts], dtype=np.int64)
    return list(posterior.space.table.in_examples(whole).tolist())


def _words(names: tuple[str, ...] | None, test: int, outcome: int) -> str:
    name = f"x{test}" if names is None else names[test]
    return name if outcome else f"not ({name})"
