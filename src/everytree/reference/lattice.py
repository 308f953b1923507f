"""The itemset lattice behind DL8: which paths a search may meet.

    p1(I): f(I) ≥ min_leaf, |I| ≤ max_depth, and the rule of the space for class counts, if it has one
    p2(I): the cover holds more than one class
    frequent:  p1(I)
    relevant:  rel(∅) = p1(∅) ∧ p2(∅)
               rel(I) iff some i in I has rel(I−i) ∧ p2(I−i) ∧ p1(I) ∧ p1((I−i) ∪ ¬i)
    closed:    closure(I) = every item that all rows of the cover satisfy (one closure per cover)

The relevant paths are those of the nodes of trees that never split a pure node: a pure node is best left a
leaf, so no optimum is lost. The census counts what each way of building the lattice has to keep.
"""

from __future__ import annotations

from typing import NamedTuple

from everytree.reference.space import Space
from everytree.reference.table import Path

__all__ = ["Census", "Lattice"]


class Census(NamedTuple):
    """Sizes of the lattice: paths frequent and relevant, and what merging makes of the relevant ones."""

    frequent: int
    relevant: int
    closed: int
    states: int


class Lattice:
    """The paths of a space.

    >>> from everytree.reference import Table
    >>> space = Space(Table([(0, 0), (0, 1), (1, 1)], [(1, 0), (0, 1), (0, 1)]))
    >>> Lattice(space).census()
    Census(frequent=8, relevant=7, closed=6, states=7)
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.table = space.table
        self._relevant: dict[Path, bool] = {}

    def p1(self, path: Path) -> bool:
        """Frequent enough to be a node, within the rule of the space, and no deeper than the limit."""
        limit = self.space.max_depth
        short = limit is None or len(path) <= limit
        return short and self.space.allowed(self.table.cover_of(path))

    def p2(self, path: Path) -> bool:
        """Not pure."""
        counts = self.table.class_counts(self.table.cover_of(path))
        return sum(1 for count in counts if count) > 1

    def relevant(self, path: Path) -> bool:
        """Return rel(path), as defined."""
        if path not in self._relevant:
            self._relevant[path] = self._rel(path)
        return self._relevant[path]

    def _rel(self, path: Path) -> bool:
        if not path:
            return self.p1(path) and self.p2(path)
        for item in path:
            test, outcome = item
            parent = path - {item}
            sibling = parent | {(test, 1 - outcome)}
            if self.relevant(parent) and self.p2(parent) and self.p1(path) and self.p1(sibling):
                return True
        return False

    def frequent_paths(self) -> set[Path]:
        """Return every path with p1, level by level: p1 is anti-monotone, so each extends a frequent path."""
        found: set[Path] = set()
        level: set[Path] = {frozenset()}
        while level:
            found |= level
            level = {
                longer
                for path in level
                for test in set(range(self.table.n_tests)) - {test for test, _ in path}
                for outcome in (0, 1)
                if self.p1(longer := path | {(test, outcome)})
            }
        return found

    def relevant_paths(self) -> set[Path]:
        """Return every relevant path."""
        return {path for path in self.frequent_paths() if self.relevant(path)}

    def closure(self, path: Path) -> Path:
        """Return every item that holds for all rows of the path's cover."""
        cover = self.table.cover_of(path)
        return frozenset(
            (test, outcome)
            for test in range(self.table.n_tests)
            for outcome in (0, 1)
            if not self.table.children(cover, test)[1 - outcome]
        )

    def closed_frequent(self) -> set[Path]:
        """Return the closures of the frequent paths."""
        return {self.closure(path) for path in self.frequent_paths()}

    def census(self) -> Census:
        """Return how many paths, closures and states (cover, depth) there are to keep."""
        relevant = self.relevant_paths()
        return Census(
            frequent=len(self.frequent_paths()),
            relevant=len(relevant),
            closed=len({self.closure(path) for path in relevant}),
            states=len({(self.table.cover_of(path), len(path)) for path in relevant}),
        )
