"""How the values of each column are spread over the classes, at any node: counts, never rows.

    a column of numbers    at most ``BINS`` bins of equal width between the 1st and the 99th percentile of all rows, the
                           outer ones open; of few different numbers, one bin each
    a column of texts      its most frequent values, and one bin for all others
    the last bin           missing values

The bins are those of all rows, so that nodes can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.trees.tree import Tree

__all__ = ["Distributions", "matrix_of"]

BINS = 12
MOST_NUMBERS = 90_000  # counts that a page holds; of larger trees only the top has them
Reals = npt.NDArray[np.float64]


def matrix_of(cells: Sequence[Sequence[float | None]], n_columns: int) -> Reals:
    """Return the cells of ``column_rows`` as a matrix, NaN where a value is missing."""
    found = np.array([[np.nan if c is None else c for c in row] for row in cells], dtype=np.float64)
    return found.reshape(len(cells), n_columns)


class Distributions:
    """Rows of cells with their classes, sorted into bins once."""

    def __init__(self, cells: Reals, codes: npt.NDArray[Any], columns: Sequence[Any], n_classes: int) -> None:
        self.n_classes, self.codes = n_classes, np.asarray(codes, dtype=np.intp)
        self.shapes: list[dict[str, Any]] = []
        self._bins: list[npt.NDArray[np.intp]] = []
        for j, column in enumerate(columns):
            shape, bins = _binned(cells[:, j], "values" in column or column["kind"] == "binary")
            self.shapes.append(shape)
            self._bins.append(bins)

    def at(self, rows: npt.NDArray[Any]) -> list[list[int]]:
        """Count some rows: for each column the counts of its bins, class by class within each bin."""
        found = []
        for shape, bins in zip(self.shapes, self._bins, strict=True):
            n = shape["bins"] + 1
            flat = bins[rows] * self.n_classes + self.codes[rows]
            found.append(np.bincount(flat, minlength=n * self.n_classes).tolist())
        return found

    def of_tree(self, tree: Tree, leaves: npt.NDArray[np.intp]) -> dict[str, Any] | None:
        """Count the rows at every node of a tree, from the leaf of each row; None where a page has no room for it."""
        size = sum((shape["bins"] + 1) * self.n_classes for shape in self.shapes)
        most = MOST_NUMBERS // max(1, size)
        if most == 0:
            return None
        parent = np.full(tree.n_nodes, -1, dtype=np.intp)
        for k in range(tree.n_nodes):
            for child in tree.children[k].tolist():
                if child >= 0:
                    parent[child] = k
        there: dict[int, list[npt.NDArray[Any]]] = {}
        for leaf in np.unique(leaves).tolist():
            rows, node = np.flatnonzero(leaves == leaf), leaf
            while node >= 0:
                there.setdefault(node, []).append(rows)
                node = int(parent[node])
        depth = tree.node_depths
        kept = sorted(there, key=lambda node: (int(depth[node]), node))[:most]
        nodes = {str(node): self.at(np.concatenate(there[node])) for node in kept}
        return {"shapes": self.shapes, "nodes": nodes}


def _binned(cells: Reals, listed: bool) -> tuple[dict[str, Any], npt.NDArray[np.intp]]:
    gone = np.isnan(cells)
    known = cells[~gone]
    values, counts = np.unique(known, return_counts=True)
    if listed or len(values) <= BINS:
        some = values
        if len(values) > BINS:
            some = np.sort(values[np.argsort(-counts, kind="stable")[: BINS - 1]])
        place = np.searchsorted(some, cells)
        at = np.minimum(place, max(0, len(some) - 1))
        same = (some[at] == cells) if len(some) else np.zeros(len(cells), dtype=bool)
        n = len(some) + (len(some) < len(values))
        bins = np.where(gone, n, np.where(same, at, n - 1))
        return {"at": [_plain(v) for v in some.tolist()], "bins": n}, bins.astype(np.intp)
    low, high = np.percentile(known, [1, 99])
    if not low < high:
        low, high = float(known.min()), float(known.max())
    edges = np.linspace(low, high, BINS + 1)
    inner = [float(f"{edge:.4g}") for edge in edges[1:-1]]
    inner = sorted(set(inner))
    bins = np.where(gone, len(inner) + 1, np.searchsorted(inner, cells, side="left"))
    return {"edges": inner, "bins": len(inner) + 1}, bins.astype(np.intp)


def _plain(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
