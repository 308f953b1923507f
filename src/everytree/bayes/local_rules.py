"""Rules where every state chooses its own cuts: a rule is a set of conditions, each with the cut that was asked.

    P(I is a node) = Σ_{i ∈ I} P(I − i is a node) · P(split by i | I − i)

holds as before, with items i = (test, outcome, upper): the upper of a cut is that of the state which asks it. But
the lowest states are offered the tests of the state above them, so there a node is a set of items *and* that state:

    P(I below J is a node) = P(J is a node) · P(split by the item of I − J | J),        |I| = max_depth − 1,  J ⊂ I

and the weight of a rule is the sum over all nodes with its items. For a row x the weights of the rules that cover it
sum to one again.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.folded import Folded
from everytree.engine.engine import Engine

__all__ = ["Conditions", "LocalNodes"]

# (test, outcome, upper), by test.
Conditions = tuple[tuple[int, int, int], ...]
Facts = tuple[float, npt.NDArray[np.float64], list[int]]  # P(leaf), P(split by test), class counts
# Items, and on the lowest level but one the items of the state above.
Node = tuple[Conditions, Conditions | None]


class LocalNodes:
    """The probabilities of nodes of a space with local cuts, each computed once."""

    def __init__(self, posterior: Folded, control: _core.Control) -> None:
        self._control = control
        self._core = posterior.core
        self._space: Engine = posterior.space
        self._known: dict[Node, tuple[float, Conditions | None]] = {((), None): (1.0, ())}
        self._facts: dict[Node, Facts] = {}
        self._uppers: dict[Node, dict[int, int]] = {}

    def apart(self, items: Conditions) -> bool:
        """Return whether nodes with these items are told apart by the state above them."""
        limit = self._space.max_depth
        return limit is not None and len(items) == limit - 1 and len(items) > 0

    def nodes_of(self, items: Conditions) -> list[Node]:
        """Return all nodes with these items."""
        if not self.apart(items):
            return [(items, None)]
        return [(items, items[:k] + items[k + 1 :]) for k in range(len(items))]

    def order(self, node: Node) -> Conditions | None:
        """Return an order of the items in which every state offers its test; None if there is none."""
        return self.probability(node)[1]

    def facts(self, node: Node) -> Facts:
        """Return P(leaf), P(split by test) and class counts of a node that exists."""
        if node not in self._facts:
            order = self.order(node)
            if order is None:
                raise ValueError(f"{node!r} is not a node of the space")
            self._control.check()
            found = self._core.path_node([(test, outcome) for test, outcome, _ in order])
            self._facts[node] = cast(Facts, found)  # it exists, because it has an order
        return self._facts[node]

    def upper(self, node: Node, test: int) -> int:
        """Return the upper of a test that a node asks."""
        uppers = self._uppers.setdefault(node, {})
        if test not in uppers:
            order = self.order(node)
            assert order is not None
            steps = [(asked, outcome) for asked, outcome, _ in order]
            uppers[test] = self._space.local_cuts.upper_after(steps, test, self._space.max_depth)
        return uppers[test]

    def probability(self, node: Node) -> tuple[float, Conditions | None]:
        """Return P(this is a node of the tree), and an order of its items."""
        if node not in self._known:
            items, above = node
            total, order = 0.0, None
            for k, item in enumerate(items):
                parent = items[:k] + items[k + 1 :]
                if above is not None and parent != above:
                    continue
                for before in self.nodes_of(parent):
                    p, way = self.probability(before)
                    if way is None or p <= 0:
                        continue
                    share = p * float(self.facts(before)[1][item[0]])
                    if share > 0 and self.upper(before, item[0]) == item[2]:
                        total += share
                        order = order or (*way, item)
            self._known[node] = (total, order)
        return self._known[node]

    def weight(self, items: Conditions) -> float:
        """Return the probability that these items are a leaf of the tree."""
        found = [(self.probability(node), node) for node in self.nodes_of(items)]
        return sum(p * self.facts(node)[0] for (p, way), node in found if way is not None)

    def counts(self, items: Conditions) -> list[int]:
        """Return the class counts of nodes with these items."""
        node = next(node for node in self.nodes_of(items) if self.order(node) is not None)
        return self.facts(node)[2]

    def below(self, items: Conditions, least: float, row: npt.NDArray[np.uint16] | None) -> set[Conditions]:
        """Return the items of children of probability ``least`` or more; with a row of reaches, those that cover it."""
        found: set[Conditions] = set()
        for node in self.nodes_of(items):
            p, way = self.probability(node)
            if way is None:
                continue
            split = self.facts(node)[1]
            for test in np.flatnonzero((p * split >= least) & (split > 0)).tolist():
                upper = self.upper(node, test)
                for outcome in (0, 1) if row is None else (int(row[test] <= upper),):
                    found.add(tuple(sorted((*items, (test, outcome, upper)))))
        return found
