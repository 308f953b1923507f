"""What the classifiers by Bayesian growth keep of training, and hand from growing to folding and pruning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.data.columns import ColumnReader
from everytree.data.example_weights import ExampleWeights
from everytree.data.frames import Frame
from everytree.weights.tables import Weights

__all__ = ["Growth", "Rivals", "Rows", "joined", "moved", "ones"]


@dataclass(frozen=True)
class Rows:
    """The training rows: a column each as numbers or codes, the labels, and the weights."""

    arrays: list[npt.NDArray[Any]]
    labels: npt.NDArray[Any]
    weights: ExampleWeights


@dataclass(frozen=True)
class Rivals:
    """What no test of another column exceeds at the nodes of each tree, and the terms under which that holds."""

    of_trees: list[list[float]]
    rows: list[list[float]]  # of the Dirichlet parameters
    terms: tuple[Any, ...]

    def under(self, weights: Weights, terms: tuple[Any, ...]) -> bool:
        """Return whether they hold under these weights and terms; tables by depth grow with the examples."""
        alike = (len(self.rows) == 1) == (len(weights.rows) == 1)
        return (
            alike
            and self.terms == terms
            and all(a == b for a, b in zip(self.rows, weights.rows, strict=False))
        )


@dataclass(frozen=True)
class Growth:
    """All that a tree was grown by: columns, rows with the codes of their classes, and settings."""

    reader: ColumnReader
    rows: Rows
    codes: npt.NDArray[np.intp]
    classes: npt.NDArray[Any]
    settings: _core.GrowSettings
    weights: Weights
    control: _core.Control


def ones(weights: ExampleWeights | None, n: int) -> ExampleWeights:
    """Return the weights of n rows, each one where none are given."""
    return ExampleWeights(np.ones(n, dtype=np.int64)) if weights is None else weights


def moved(
    graphs: list[_core.OptionGraph], place: npt.NDArray[Any], n_classes: int, finer: int = 1
) -> list[_core.OptionGraph] | None:
    """Return graphs with the classes at their new places among more of them, and ``finer`` times their counts."""
    found = []
    for graph in graphs:
        arrays = graph.arrays()
        arrays["count_class"] = place.astype(np.uint32)[arrays["count_class"]]
        arrays["count"] = finer * arrays["count"]
        found.append(_core.OptionGraph(n_classes, **arrays))
    return found or None


def joined(
    rows: Rows,
    old: ColumnReader,
    reader: ColumnReader,
    frame: Frame,
    labels: npt.NDArray[Any],
    weights: ExampleWeights | None,
) -> Rows:
    """Return the older rows and those of a frame, as the new reader reads them."""
    arrays = []
    for array, was, now, new in zip(
        rows.arrays, old.columns, reader.columns, reader.arrays(frame), strict=True
    ):
        if was.kind != now.kind:  # The column had nothing but missing values so far.
            array = np.full(array.shape[0], np.nan)
        arrays.append(np.concatenate([array, new]))
    return Rows(
        arrays,
        np.concatenate([rows.labels, labels]),
        rows.weights.followed_by(ones(weights, frame.n_rows)),
    )
