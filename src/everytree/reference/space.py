"""The space of trees: every tree of feasible tests within a depth limit.

    i feasible at (cover, depth)  iff  depth < max_depth, f(cover ∧ i) ≥ min_leaf, f(cover ∧ ¬i) ≥ min_leaf,
                                       and a rule of one's own, if there is one, holds for the class counts of both
    trees(state) = {leaf} ∪ ⋃_{i feasible} {i} × trees(zero child) × trees(one child)
    count(state) = 1 + Σ_{i feasible} count(zero child) · count(one child)

Both children hold at least one example, so covers shrink strictly along a path and the recursion ends without
a depth limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product

from everytree.reference.table import Cover, Table
from everytree.reference.trees import Tree, nodes_of

Rule = Callable[[tuple[int, ...]], bool]

__all__ = ["EmptySpaceError", "Space", "TooManyTreesError"]


class EmptySpaceError(ValueError):
    """Not even the single leaf satisfies the minimum leaf size."""


class TooManyTreesError(ValueError):
    """The space is too large to list tree by tree."""


class Space:
    """All trees with leaves of at least ``min_leaf`` examples and depth at most ``max_depth`` (None: any).

    ``rule`` is a predicate over class counts that every node must satisfy.

    >>> table = Table([(0, 0), (0, 1), (1, 0), (1, 1)], [(1, 0), (0, 1), (0, 1), (1, 0)])
    >>> Space(table, max_depth=1).count()
    3
    >>> Space(table).count()  # a leaf, or one of 2 roots with 2 · 2 ways to go on below it
    9
    """

    def __init__(
        self, table: Table, max_depth: int | None = None, min_leaf: int = 1, rule: Rule | None = None
    ) -> None:
        if max_depth is not None and (max_depth != int(max_depth) or max_depth < 0):
            raise ValueError(
                f"max_depth={max_depth!r}; it must be a whole number of at least 0, or None for no limit"
            )
        if min_leaf != int(min_leaf) or min_leaf < 1:
            raise ValueError(f"min_leaf={min_leaf!r}; it must be a whole number of at least 1")
        if table.n_examples < min_leaf:
            raise EmptySpaceError(
                f"no tree exists: the table holds {table.n_examples} examples but every leaf needs at least "
                f"min_leaf={min_leaf}; lower min_leaf or add data"
            )
        if rule is not None and not rule(table.class_counts(table.everything)):
            raise EmptySpaceError("no tree exists: the rule does not hold for all examples together")
        self.rule = rule
        self.table = table
        self.max_depth = None if max_depth is None else int(max_depth)
        self.min_leaf = int(min_leaf)
        self._feasible: dict[Cover, tuple[int, ...]] = {}
        self._count: dict[tuple[Cover, int], int] = {}

    @property
    def root(self) -> Cover:
        """The cover of the root: every row."""
        return self.table.everything

    def allowed(self, cover: Cover) -> bool:
        """Return whether a node may have this cover: it is large enough, and the rule holds."""
        large = self.table.n(cover) >= self.min_leaf
        return large and (self.rule is None or self.rule(self.table.class_counts(cover)))

    def at_limit(self, depth: int) -> bool:
        """Return whether the depth limit alone forbids a split at this depth."""
        return self.max_depth is not None and depth >= self.max_depth

    def offered(self, cover: Cover) -> Iterable[int]:
        """Return the tests that a state may choose from, whatever min_leaf: here, every test of the table."""
        return range(self.table.n_tests)

    def feasible(self, cover: Cover, depth: int) -> tuple[int, ...]:
        """Return the tests that may split this state, in increasing order; none at the depth limit."""
        if self.at_limit(depth):
            return ()
        found = self._feasible.get(cover)
        if found is None:
            table = self.table
            found = tuple(
                test
                for test in self.offered(cover)
                if all(self.allowed(child) for child in table.children(cover, test))
            )
            self._feasible[cover] = found
        return found

    def count(self, cover: Cover | None = None, depth: int = 0) -> int:
        """Return the exact number of trees below a state; of the whole space without arguments."""
        if cover is None:
            cover = self.root
        state = (cover, depth)
        if state not in self._count:
            total = 1
            for test in self.feasible(cover, depth):
                zero, one = self.table.children(cover, test)
                total += self.count(zero, depth + 1) * self.count(one, depth + 1)
            self._count[state] = total
        return self._count[state]

    def deepest(self) -> int:
        """Return the depth of the deepest tree of the space (every smaller depth occurs too)."""
        known: dict[tuple[Cover, int], int] = {}

        def below(cover: Cover, depth: int) -> int:
            state = (cover, depth)
            if state not in known:
                known[state] = max(
                    (
                        1 + below(child, depth + 1)
                        for test in self.feasible(cover, depth)
                        for child in self.table.children(cover, test)
                    ),
                    default=0,
                )
            return known[state]

        return below(self.root, 0)

    def enumerate_trees(self, at_most: int = 200_000) -> Iterator[Tree]:
        """Yield every tree of the space, each once, the single leaf first; refuses more than ``at_most`` trees.

        >>> table = Table([(0,), (1,)], [(1, 0), (0, 1)])
        >>> list(Space(table).enumerate_trees())
        [None, (0, None, None)]
        """
        total = self.count()
        if total > at_most:
            raise TooManyTreesError(
                f"the space holds {total} trees and at_most={at_most}; "
                "lower max_depth, raise min_leaf or raise at_most"
            )
        listed: dict[tuple[Cover, int], list[Tree]] = {}

        def trees(cover: Cover, depth: int) -> list[Tree]:
            state = (cover, depth)
            if state not in listed:
                found: list[Tree] = [None]
                for test in self.feasible(cover, depth):
                    zero, one = self.table.children(cover, test)
                    pairs = product(trees(zero, depth + 1), trees(one, depth + 1))
                    found.extend((test, left, right) for left, right in pairs)
                listed[state] = found
            return listed[state]

        return iter(trees(self.root, 0))

    def __contains__(self, tree: Tree) -> bool:
        """Return whether the tree lies in the space: every split feasible where it stands."""
        return all(
            node.test is None or node.test in self.feasible(node.cover, node.depth)
            for node in nodes_of(tree, self.table)
        )

    def check(self, tree: Tree) -> None:
        """Raise a ValueError that names the first split outside the space."""
        for node in nodes_of(tree, self.table):
            if node.test is not None and node.test not in self.feasible(node.cover, node.depth):
                raise ValueError(
                    f"test {node.test} is not feasible at the path {sorted(node.path)}: feasible there are "
                    f"{list(self.feasible(node.cover, node.depth))} "
                    f"(max_depth={self.max_depth}, min_leaf={self.min_leaf})"
                )
