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
from everytree.data.example_weights import ExampleWeights
from everytree.estimators.cart import distinct_rows
from everytree.trees.cost_complexity import (
    choose,
    collapse_points,
    errors_by_price,
    n_copies,
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
    per_example: int = 1  # so many of the numbers make one example

    def only(self, counted: npt.NDArray[np.int64]) -> Examples:
        """Return the examples with other numbers, without those that have none."""
        used = counted > 0
        return Examples(self.cells[used], self.codes[used], counted[used], self.per_example)

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
    weights: ExampleWeights,
) -> Examples:
    """Return the different examples of training rows; a weight is so many of them, whether written out or not."""
    cells = np.empty((codes.size, len(arrays)))
    for j, (array, column) in enumerate(zip(arrays, columns, strict=True)):
        cells[:, j] = array
        if column.kind == "nominal":
            cells[array == MISSING, j] = np.nan
    kept = weights.counts > 0
    rows = distinct_rows(cells[kept], codes[kept], weights.counts[kept])
    return Examples(*rows, weights.per_example)


def price_chosen(
    tree: OptionTree,
    examples: Examples,
    grow: Callable[[Examples], OptionTree],
    folds: int,
    rule: Literal["0-SE", "1-SE"],
    rng: np.random.Generator,
) -> tuple[OptionTree, dict[str, Any]]:
    """Return T(α) of a tree for the price that its folds choose, and what is told of the choice."""
    n, parts = int(examples.counted.sum()), examples.per_example
    copies = n_copies(examples.counted, parts)
    gamma = _points(tree)
    at = prices(gamma)
    errors = np.zeros(at.size, dtype=np.int64)
    n_folds = min(folds, copies) if copies > 1 else 0
    if n_folds:
        dealt = stratified_counts(examples.codes, examples.counted, n_folds, rng, parts)
        for inside in dealt.T:
            other = grow(examples.only(examples.counted - inside))
            test = examples.only(inside)
            ends = np.zeros((other.n_nodes, other.n_classes), dtype=np.int64)
            np.add.at(ends, (ends_of(other, test.cells), test.codes), test.counted)
            errors += errors_by_price(shape_of(other), _points(other), ends, at)
    chosen = choose(errors, n, rule, parts)
    shares = errors / n if n_folds else np.full(errors.size, np.nan)
    told = {
        "alphas": at,
        "cv_errors": shares,
        "cv_se": np.sqrt(shares * (1 - shares) / (n / parts)),
        "alpha": float(at[chosen]),
        "n_folds": n_folds,
    }
    return tree.pruned(gamma <= at[chosen]), told


def _points(tree: OptionTree) -> Floats:
    """Return for each node the price from which on it is a leaf, as a share of all examples."""
    shape = shape_of(tree)
    return collapse_points(shape, risks(shape.counts, "error")) / float(shape.counts[0].sum())
