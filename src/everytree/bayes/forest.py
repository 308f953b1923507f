"""Forest: trees drawn from an average, read once, so that many rows are answered in little time.

    mean over the trees   P(c | x) ≈ (1 / n) Σ_trees (n_c + a_c) / (n + Σa)   at the leaf of x

The arrays hold all that predictions need: questions, where they lead, and the class probabilities of leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.folded import Folded

__all__ = ["Forest", "drawn_forest", "joined"]

Reals = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees in arrays, which weigh alike.

    ``nodes`` has a line for each node: its test, the upper of its cut, and where a row goes for which the test does
    not hold, and does; a leaf leads to itself. ``trees`` holds the root and the depth of each. ``theta`` has the class
    probabilities of each node, zeros where it is no leaf.
    """

    nodes: Numbers
    trees: Numbers
    theta: Reals

    @property
    def is_split(self) -> npt.NDArray[np.bool_]:
        """Which nodes are splits; a leaf leads to itself."""
        return np.asarray(self.nodes[:, 2] != np.arange(len(self.nodes)))

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return len(self.trees)

    @property
    def nbytes(self) -> int:
        """The bytes that the arrays take."""
        return self.nodes.nbytes + self.trees.nbytes + self.theta.nbytes

    def asking(self, cells: Numbers, uppers: Numbers) -> Forest:
        """Return the same trees with other questions: a cell and an upper for each node."""
        nodes = self.nodes.copy()
        nodes[:, 0], nodes[:, 1] = cells, uppers
        return Forest(nodes, self.trees, self.theta)

    def every(self, step: int, first: int) -> Forest:
        """Return each ``step``-th of the trees, from the ``first``."""
        return Forest(self.nodes, np.ascontiguousarray(self.trees[first::step]), self.theta)

    def mean(self, rows: npt.NDArray[Any], n_threads: int, control: _core.Control) -> Reals:
        """Return the mean of what the trees say of rows, as the core reads them: rows × classes."""
        sums: Reals = _core.forest_sums(self.nodes, self.trees, self.theta, rows, n_threads, control)
        sums /= max(1, self.n_trees)
        return sums


def drawn_forest(posterior: Folded, n: int, seed: int, control: _core.Control) -> Forest:
    """Draw so many trees independently from a posterior."""
    space = posterior.space
    keys = [key for block in posterior.drawn_keys(n, seed, control) for key in block]
    sizes = np.array([len(key) for key in keys], dtype=np.uint64)
    flat = np.fromiter((test for key in keys for test in key), dtype=np.int32, count=int(sizes.sum()))
    nodes, trees, theta = _core.forest_of_draws(
        space.core_table(control),
        flat,
        np.cumsum(sizes, dtype=np.uint64),
        np.ones(len(keys)),
        _core.Dirichlet(posterior.parameters, per_example=space.table.per_example),
        control,
        -1 if space.max_depth is None else space.max_depth,
    )
    return Forest(nodes, trees, theta)


def joined(one: Forest, two: Forest) -> Forest:
    """Return the trees of both."""
    shift = np.uint32(len(one.nodes))
    nodes, trees = two.nodes.copy(), two.trees.copy()
    nodes[:, 2:] += shift
    trees[:, 0] += shift
    return Forest(
        np.concatenate([one.nodes, nodes]),
        np.concatenate([one.trees, trees]),
        np.concatenate([one.theta, two.theta]),
    )
