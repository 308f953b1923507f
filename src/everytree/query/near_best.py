"""NearBest: every tree that is almost as good as the best one (the Rashomon set), counted and asked without listing.

    objective(T) = errors(T) / n + leaf_share · leaves(T)
    the set      = { T : objective(T) ≤ (1 + epsilon) · least objective }

Objectives are compared as fractions of the numbers given, so a tree on the border is in the set whatever the order of
addition. The core sees only whole numbers: for every number of leaves, the most errors that are allowed.
"""

from __future__ import annotations

import itertools
import math
import operator
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.common.arguments import generator, refused, whole
from everytree.engine.engine import Engine
from everytree.engine.rows import core_rows
from everytree.errors import DataError, QueryError
from everytree.trees.answers import answered
from everytree.trees.tree import Tree
from everytree.weights.dirichlet import DepthDecay, Dirichlet, dirichlet_rows

__all__ = ["Level", "NearBest"]

Reals = npt.NDArray[np.float64]
Exact = float | Fraction | Decimal
MENU_ENTRIES = 400_000  # the most choices kept for finding trees by number, about 100 bytes each


class Level(NamedTuple):
    """The trees of a near-best set with the same errors and leaves, and so the same objective."""

    objective: float
    errors: int | float
    leaves: int
    n_trees: int


class NearBest:
    """All trees whose objective is at most (1 + epsilon) times the best (the Rashomon set).

    ``TreeSpace.near_best`` makes it. Trees are numbered from 0 in the order of their objective; at the same objective
    smaller trees come first, then those with the lower root test. ``near[k]`` is tree k, and iteration gives one tree
    at a time.

    Parameters
    ----------
    space : TreeSpace
        The trees and the data.
    epsilon : float, Fraction or Decimal
        How much worse than the best a tree may be, as a share of the best objective.
    leaf_share : float, Fraction or Decimal
        The price of a leaf, in the same unit as the error rate.
    dirichlet : float, sequence of float or None, default=None
        The Dirichlet parameters of the class probabilities in the trees' leaves; None gives the frequencies.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    >>> near = space.near_best(epsilon=0.05, leaf_share=0.01)
    >>> near.n_trees, near.by_objective
    (2, [Level(objective=0.04, errors=0, leaves=4, n_trees=2)])
    >>> [tree.key for tree in near]
    [(0, 1, -1, -1, 1, -1, -1), (1, 0, -1, -1, 0, -1, -1)]
    >>> near.test_use().tolist()
    [1.0, 1.0]
    """

    def __init__(
        self, space: Engine, epsilon: Exact, leaf_share: Exact, dirichlet: Dirichlet | None = None
    ) -> None:
        self._space = space
        self.epsilon = epsilon
        self.leaf_share = leaf_share
        self.dirichlet = dirichlet
        self._epsilon = _fraction("epsilon", epsilon, 0.05)
        self._penalty = _fraction("leaf_share", leaf_share, 0.01)
        self._a = _parameters(dirichlet, space.table.class_counts.sum(axis=0))
        self._fold()

    def _fold(self) -> None:
        space = self._space
        total = space.table.total
        with space.question("counting the near-best trees (a smaller epsilon leaves fewer)") as control:
            graph = space.graph_under(control)
            core = _core.NearBest(graph, self._most_leaves(), space.n_threads, control)
            least = {leaves: errors for leaves, errors in enumerate(core.least, 1) if errors >= 0}
            self._best = min(self._objective(errors, leaves) for leaves, errors in least.items())
            self._bound = (1 + self._epsilon) * self._best
            limits = [
                min(total, max(-1, math.floor((self._bound - self._penalty * leaves) * total)))
                for leaves in range(1, max(least) + 1)
            ]
            core.keep(limits, control)
        self._core = core
        self._trees = _Trees(core)
        cells = sorted(
            (self._objective(errors, leaves), leaves, errors, n)
            for (leaves, errors), n in self._trees.cells(0).items()
        )
        self._levels = [Level(float(value), errors, leaves, n) for value, leaves, errors, n in cells]
        self._ends = list(itertools.accumulate(level.n_trees for level in self._levels))

    def _objective(self, errors: int, leaves: int) -> Fraction:
        return Fraction(errors, self._space.table.total) + self._penalty * leaves

    def _most_leaves(self) -> int:
        """Return a number of leaves that no tree of the set exceeds.

        With more leaves, the penalty alone would exceed what the single leaf allows.
        """
        table = self._space.table
        most = max(1, self._space.most_leaves)
        if self._space.max_depth is not None and self._space.max_depth < 31:
            most = min(most, 2**self._space.max_depth)
        if self._penalty > 0:
            errors = table.total - int(table.class_counts.sum(axis=0).max())
            most = min(most, math.floor((1 + self._epsilon) * self._objective(errors, 1) / self._penalty))
        return most

    def __getstate__(self) -> dict[str, Any]:
        return {
            "space": self._space,
            "epsilon": self.epsilon,
            "leaf_share": self.leaf_share,
            "dirichlet": self.dirichlet,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        # The set is not stored: folding again is quicker than reading it, and gives the same trees.
        self.__init__(**state)  # type: ignore[misc]

    # --- what it is ---

    @property
    def space(self) -> Engine:
        """The space whose trees these are."""
        return self._space

    @property
    def n_trees(self) -> int:
        """The exact number of trees in the set."""
        return self._ends[-1]

    @property
    def best_objective(self) -> float:
        """The least objective of any tree of the space."""
        return float(self._best)

    @property
    def bound(self) -> float:
        """The largest objective that a tree of the set may have: (1 + epsilon) · best objective."""
        return float(self._bound)

    @property
    def by_objective(self) -> list[Level]:
        """The trees grouped by objective: (objective, errors, leaves, number of trees), best first."""
        parts = self._space.table.per_example
        if parts == 1:
            return list(self._levels)
        return [level._replace(errors=level.errors / parts) for level in self._levels]

    def __repr__(self) -> str:
        return (
            f"NearBest({self._space!r}, epsilon={self.epsilon!r}, leaf_share={self.leaf_share!r}: "
            f"{self.n_trees} trees, objective {self.best_objective:.6g} to {self._levels[-1].objective:.6g})"
        )

    # --- trees ---

    def __len__(self) -> int:
        if self.n_trees > sys.maxsize:
            raise OverflowError(f"the set holds {self.n_trees} trees, more than len() can say; use n_trees")
        return self.n_trees

    def __bool__(self) -> bool:
        return True  # the best tree is always in it

    def __iter__(self) -> Iterator[Tree]:
        for level, end in zip(self._levels, self._ends, strict=True):
            for rank in range(level.n_trees):
                yield self._tree(level, rank, end - level.n_trees + rank)

    @overload
    def __getitem__(self, k: int) -> Tree: ...
    @overload
    def __getitem__(self, k: slice) -> list[Tree]: ...
    def __getitem__(self, k: int | slice) -> Tree | list[Tree]:
        """Return tree number k in the order of iteration, or a list of trees for a slice."""
        if isinstance(k, slice):
            start, stop, step = k.indices(self.n_trees)
            with self._space.question("listing near-best trees") as control:
                trees = []
                for each in range(start, stop, step):
                    control.check()
                    trees.append(self._numbered(each))
            return trees
        try:
            number = operator.index(k)
        except TypeError:
            raise QueryError(f"near_best[{k!r}]; expected the number of a tree, or a slice") from None
        if not -self.n_trees <= number < self.n_trees:
            raise IndexError(f"tree {number} of a set of {self.n_trees} trees; count from 0, or from −1 back")
        return self._numbered(number % self.n_trees)

    def __contains__(self, tree: object) -> bool:
        """Return whether a tree (or its key) is in the set: in the space, and its objective within the bound."""
        if not isinstance(tree, Tree | Sequence):
            return False
        try:
            here = self._space.tree_of(tree.key if isinstance(tree, Tree) else tree)
            self._space.check_offered(here.key)
        except DataError:
            return False
        if isinstance(tree, Tree) and tree.n_tests != self._space.n_tests:
            return False
        limit, parts = self._space.max_depth, self._space.table.per_example
        return (
            (limit is None or here.depth <= limit)
            and round(here.counts.sum(axis=1).min() * parts) >= self._space.min_count
            and self._objective(round(here.error * parts), here.n_leaves) <= self._bound
        )

    def sample(self, n: int, random_state: int | np.random.Generator | None = None) -> list[Tree]:
        """Draw trees independently; every tree of the set is equally likely.

        Parameters
        ----------
        n : int
            The number of draws.
        random_state : int, numpy.random.Generator or None, default=None
            The seed of the draws; None takes a new one each time.

        Returns
        -------
        list of Tree
            The trees, in the order drawn.
        """
        n = whole("n", n, 0)
        random = generator(random_state)
        with self._space.question("drawing near-best trees") as control:
            trees = []
            for _ in range(n):
                control.check()
                trees.append(self._numbered(_below(self.n_trees, random)))
        return trees

    def _numbered(self, number: int) -> Tree:
        at = bisect_right(self._ends, number)
        level = self._levels[at]
        return self._tree(level, number - (self._ends[at] - level.n_trees), number)

    def _tree(self, level: Level, rank: int, number: int) -> Tree:
        key = self._trees.key(level.leaves, int(level.errors), rank)
        info = {"objective": level.objective, "number": number}
        if self.dirichlet is None:
            return self._space.tree_of(key, info)
        return answered(self._space.tree_of(key, info), dirichlet=[self._a])

    # --- what its trees have in common ---

    def test_use(self) -> Reals:
        """Return the share of the trees that use each test at least once.

        Returns
        -------
        ndarray of shape (n_tests,)
            One share per test.
        """
        with self._space.question("counting the tests of the near-best trees") as control:
            used = self._core.test_use(control)
        return np.array([int.from_bytes(n, "little") / self.n_trees for n in used], dtype=np.float64)

    def predict_proba(self, X: npt.ArrayLike) -> Reals:
        """Predict the class probabilities of each row's leaf, averaged over all trees of the set.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The averages, with columns in the order of ``space.classes``.
        """
        return self._ask(X)[0]

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Predict the label of the largest average probability; ties go to the first in ``space.classes``.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests.

        Returns
        -------
        ndarray of shape (n_rows,)
            The labels.
        """
        labels: npt.NDArray[Any] = np.asarray(self._space.classes)[np.argmax(self.predict_proba(X), axis=1)]
        return labels

    def votes(self, X: npt.ArrayLike) -> Reals:
        """Return the share of the trees that predict each class, for each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The shares; each row adds up to one.
        """
        return self._ask(X)[3]

    def range_of(self, X: npt.ArrayLike) -> tuple[Reals, Reals]:
        """Return the least and the greatest probability that any tree of the set gives each class, for each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests.

        Returns
        -------
        tuple of two ndarrays of shape (n_rows, n_classes)
            The least and the greatest probabilities.
        """
        _, least, greatest, _ = self._ask(X)
        return least, greatest

    def _ask(self, X: npt.ArrayLike) -> tuple[Reals, Reals, Reals, Reals]:
        rows = core_rows(self._space, X)
        added = [a * self._space.table.per_example for a in self._a]  # to counts
        back: Any = slice(None)
        if rows.size:  # equal rows are asked once
            rows, back = np.unique(rows, axis=0, return_inverse=True)
            back = back.ravel()
        with self._space.question("asking the near-best trees") as control:
            mean, least, greatest, votes = self._core.ask(np.ascontiguousarray(rows), added, control)
        return mean[back], least[back], greatest[back], votes[back]


class _Choice(NamedTuple):
    """One way to begin a tree: a leaf (test −1), or a test with the nodes of its children; without them, two leaves."""

    test: int
    zero: int = -1
    one: int = -1


class _Trees:
    """Finds trees by their number among those of one cell (leaves, errors).

    A *menu* lists the ways to begin a tree of a cell at a node, the leaf first and then the tests in order, and how
    many trees begin so; among those of one test, the cells of child 0 come in order. So a number picks its way down.
    """

    def __init__(self, core: _core.NearBest) -> None:
        self._core = core
        self._cells: dict[int, dict[tuple[int, int], int]] = {}
        self._menus: dict[tuple[int, int, int], tuple[list[int], list[_Choice]]] = {}
        self._entries = 0

    def cells(self, node: int) -> dict[tuple[int, int], int]:
        """Return the number of trees of every cell of a node, in order of (leaves, errors)."""
        if node not in self._cells:
            found = self._core.cells(node)
            self._cells[node] = {(leaves, errors): int.from_bytes(n, "little") for leaves, errors, n in found}
            self._entries += len(found)
        return self._cells[node]

    def key(self, leaves: int, errors: int, rank: int) -> list[int]:
        """Return the key of tree number ``rank`` of a cell of the root."""
        if self._entries > MENU_ENTRIES:
            self._cells, self._menus, self._entries = {}, {}, 0
        key: list[int] = []
        waiting = [(0, (leaves, errors), rank)]
        while waiting:
            node, cell, rank = waiting.pop()
            ends, choices = self._menu(node, cell)
            at = bisect_right(ends, rank)
            rank -= ends[at - 1] if at else 0
            choice = choices[at]
            key.append(choice.test)
            if choice.zero < 0:
                key += (-1, -1) if choice.test >= 0 else ()
                continue
            beside = self.cells(choice.one)
            for cell0, n0 in self.cells(choice.zero).items():
                cell1 = (cell[0] - cell0[0], cell[1] - cell0[1])
                n1 = beside.get(cell1, 0)
                if rank < n0 * n1:
                    break
                rank -= n0 * n1
            rank0, rank1 = divmod(rank, n1)
            waiting += ((choice.one, cell1, rank1), (choice.zero, cell0, rank0))
        return key

    def _menu(self, node: int, cell: tuple[int, int]) -> tuple[list[int], list[_Choice]]:
        """Return the menu of a cell at a node: where the numbers of each choice end, and the choices."""
        place = (node, *cell)
        if place not in self._menus:
            leaf, splits, cherries = self._core.node(node)
            found: list[tuple[_Choice, int]] = []
            if (1, leaf) == cell:
                found.append((_Choice(-1), 1))
            for tests, errors in cherries:
                if (2, errors) == cell:
                    found += ((_Choice(test >> 1), 1) for test in tests)
            for (tests, zero, one), trees in zip(splits, self._core.by_split(node, *cell), strict=True):
                if n := int.from_bytes(trees, "little"):
                    for test in tests:  # an odd one has its outcomes the other way round
                        choice = _Choice(test >> 1, one, zero) if test & 1 else _Choice(test >> 1, zero, one)
                        found.append((choice, n))
            found.sort()
            ends = list(itertools.accumulate(n for _, n in found))
            self._menus[place] = ends, [choice for choice, _ in found]
            self._entries += len(found)
        return self._menus[place]


def _below(n: int, random: np.random.Generator) -> int:
    """Draw a whole number from 0 to n − 1, all equally likely: as many bits as n has, again until it fits."""
    bits = n.bit_length()
    while True:
        drawn = int.from_bytes(random.bytes((bits + 7) // 8), "little") >> (-bits % 8)
        if drawn < n:
            return drawn


def _fraction(name: str, value: Any, example: float) -> Fraction:
    """Return ``value`` as the exact fraction it is."""
    try:
        if isinstance(value, bool | str | bytes):
            raise TypeError
        exact = Fraction(value if isinstance(value, int | float | Fraction | Decimal) else float(value))
        if exact >= 0:
            return exact
    except (TypeError, ValueError, OverflowError):
        pass
    raise refused(QueryError, name, value, f"a finite number ≥ 0, such as {example:g}")


def _parameters(dirichlet: Dirichlet | None, class_totals: npt.NDArray[np.int64]) -> list[float]:
    if dirichlet is None:
        return [0.0] * len(class_totals)
    if isinstance(dirichlet, DepthDecay):
        raise refused(
            QueryError,
            "dirichlet",
            dirichlet,
            says="; near-best trees take one number, one per class, or None for frequencies",
        )
    return dirichlet_rows(dirichlet, len(class_totals), 0, class_totals)[0]
