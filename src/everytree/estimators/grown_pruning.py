"""Cost-complexity pruning of a grown tree: the price of a leaf is chosen by trees that are grown alike on folds.

T(α) for every price α      of the tree that was grown on all examples, with its errors as the risk
errors of a price           each fold is judged by T(α) of a tree grown on the other folds
α                           the largest of least error (0-SE), or within one standard error of it (1-SE)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from everytree.data.columns import MISSING, RawColumn
from everytree.estimators.cart import distinct_rows
from everytree.trees.cost_complexity import (
    choose,
    collapse_points,
    errors_by_price,
    prices,
    risks,
    stratified_counts,
)
from everytree.trees.option_tree import OptionTree
from everytree.trees.pruned_options import ends_of, shape_of

__all__ = ["Examples", "examples_of", "price_chosen"]

Floats = npt.NDArray[np.float64]


class Examples(NamedTuple):
    """The different examples, in an order that is theirs: cells (NaN is missing), class codes, and numbers."""

    cells: Floats
    codes: npt.NDArray[np.intp]
    counted: npt.NDArray[np.int64]

    def only(self, counted: npt.NDArray[np.int64]) -> Examples:
        """Return the examples with other numbers, without those that have none."""
        used = counted > 0
        return Examples(self.cells[used], self.codes[used], counted[used])

    def arrays(self, columns: Sequence[RawColumn]) -> list[npt.NDArray[Any]]:
        """Return the columns as ``ColumnReader.arrays`` gives them."""
        return [
            np.ascontiguousarray(values)
            if column.kind == "numeric"
            else np.where(np.isnan(values), MISSING, values).astype(np.int32)
            for values, column in zip(self.cells.T, columns, strict=True)
        ]


def examples_of(
    arrays: Sequence[npt.NDArray[Any]],
    columns: Sequence[RawColumn],
    codes: npt.NDArray[np.intp],
    weights: npt.NDArray[np.int64],
) -> Examples:
    """Return the different examples of training rows; a weight is so many of them, whether written out or not."""
    cells = np.empty((codes.size, len(arrays)))
    for j, (array, column) in enumerate(zip(arrays, columns, strict=True)):
        cells[:, j] = array
        if column.kind == "nominal":
            cells[array == MISSING, j] = np.nan
    kept = weights > 0
    return Examples(*distinct_rows(cells[kept], codes[kept], weights[kept]))


def price_chosen(
    tree: OptionTree,
    examples: Examples,
    grow: Callable[[Examples], OptionTree],
    folds: int,
    rule: Literal["0-SE", "1-SE"],
    rng: np.random.Generator,
) -> tuple[OptionTree, dict[str, Any]]:
    """Return T(α) of a tree for the price that its folds choose, and what is told of the choice."""
    n = int(examples.counted.sum())
    gamma = _points(tree)
    at = prices(gamma)
    errors = np.zeros(at.size, dtype=np.int64)
    n_folds = min(folds, n) if n > 1 else 0
    if n_folds:
        parts = stratified_counts(examples.codes, examples.counted, n_folds, rng)
        for inside in parts.T:
            other = grow(examples.only(examples.counted - inside))
            test = examples.only(inside)
            ends = np.zeros((other.n_nodes, other.n_classes), dtype=np.int64)
            np.add.at(ends, (ends_of(other, test.cells), test.codes), test.counted)
            errors += errors_by_price(shape_of(other), _points(other), ends, at)
    chosen = choose(errors, n, rule)
    shares = errors / n if n_folds else np.full(errors.size, np.nan)
    told = {
        "alphas": at,
        "cv_errors": shares,
        "cv_se": np.sqrt(shares * (1 - shares) / n),
        "alpha": float(at[chosen]),
        "n_folds": n_folds,
    }
    return tree.pruned(gamma <= at[chosen]), told


def _points(tree: OptionTree) -> Floats:
    """Return for each node the price from which on it is a leaf, as a share of all examples."""
    shape = shape_of(tree)
    return collapse_points(shape, risks(shape.counts, "error")) / float(shape.counts[0].sum())
