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

    def some(self, first: int, n: int) -> Forest:
        """Return ``n`` trees from the ``first`` on, or as many as there are; their nodes stand together."""
        kept = self.trees[first : first + n]
        begin = int(kept[0, 0]) if len(kept) else 0
        end = int(self.trees[first + n, 0]) if first + n < self.n_trees else len(self.nodes)
        nodes, trees = self.nodes[begin:end].copy(), kept.copy()
        nodes[:, 2:] -= np.uint32(begin)
        trees[:, 0] -= np.uint32(begin)
        return Forest(nodes, trees, self.theta[begin:end].copy())

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


def joined(*parts: Forest) -> Forest:
    """Return the trees of all of them, one after the other."""
    nodes, trees, shift = [], [], np.uint32(0)
    for each in parts:
        moved, roots = each.nodes.copy(), each.trees.copy()
        moved[:, 2:] += shift
        roots[:, 0] += shift
        nodes.append(moved)
        trees.append(roots)
        shift += np.uint32(len(moved))
    return Forest(
        np.concatenate(nodes), np.concatenate(trees), np.concatenate([each.theta for each in parts])
    )
