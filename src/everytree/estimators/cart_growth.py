"""Growth of CART by scikit-learn's tree, on whole columns and in numbers of full precision.

scikit-learn reads 32-bit numbers and knows no names or nominal values. So it is given, for a numeric column, the rank
of each value among the training values (whole numbers, exact up to 2^24 of them), and for a nominal column one 0/1
column per value. What comes back is translated: a cut between ranks becomes the mid-point of the two neighbouring
values in the node, as scikit-learn would place it; a 0/1 column becomes "value = k or not".

scikit-learn tries both sides for the rows of a node that lack the value, and the better one is kept. Where none lacks
it, scikit-learn would later send such a row to the side with more rows; here it has no branch and stops at the node.

A row is counted by its weight everywhere, also for the least size of a leaf, so that a weight is the same as
repeating the row.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everytree.data.columns import RawColumn
from everytree.errors import DataError
from everytree.multiway import MultiwayTree

__all__ = ["Asked", "Growth", "asked_of"]

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
MOST_RANKS = 2**24  # whole numbers up to this are exact in 32 bits


class Asked(NamedTuple):
    """One column of what scikit-learn sees: a numeric column (code −1), or whether a nominal one has a value."""

    column: int
    code: int


def asked_of(cells: Floats, columns: Sequence[RawColumn], max_categories: int) -> list[Asked]:
    """What can be asked about training rows: numeric columns, and the values that occur in nominal ones.

    For a column with two values, the first is enough.
    """
    found = []
    for j, column in enumerate(columns):
        known = np.unique(cells[~np.isnan(cells[:, j]), j])
        if column.kind == "numeric":
            if known.size > MOST_RANKS:
                raise DataError(
                    f"column {column.name!r} has {known.size} different values; scikit-learn tells {MOST_RANKS} apart. "
                    "Round the column"
                )
            found.append(Asked(j, -1))
            continue
        if known.size > max_categories:
            raise DataError(
                f"nominal column {column.name!r} has {known.size} different values, more than max_categories="
                f"{max_categories}; drop it if it is an identifier, group rare values, or raise max_categories"
            )
        found += [Asked(j, int(code)) for code in known[: 1 if known.size == 2 else None]]
    return found


class Growth(NamedTuple):
    """How a tree is grown; ``grow`` does it."""

    columns: tuple[RawColumn, ...]
    classes: tuple[Any, ...]
    asked: list[Asked]
    criterion: str
    min_leaf: int
    max_depth: int | None
    seed: int

    def grow(self, cells: Floats, y: npt.NDArray[np.intp], weights: Counts) -> MultiwayTree:
        """The full tree on rows of ``cells`` (NaN is missing) with classes ``y`` and weights of at least 1."""
        from sklearn.tree import DecisionTreeClassifier

        total = int(weights.sum())
        # too few for two leaves: nothing that can be asked, so that one leaf is grown
        ranks = self._ranks(cells) if 2 * self.min_leaf <= total else np.zeros((y.size, 1), dtype=np.float32)
        maker = DecisionTreeClassifier(
            criterion=self.criterion,
            max_depth=self.max_depth,
            # of weights, not of rows; half an example below, so that rounding cannot decide
            min_weight_fraction_leaf=min((self.min_leaf - 0.5) / total, 0.5),
            random_state=self.seed,
        )
        with warnings.catch_warnings():  # labels were read already, and they are labels
            warnings.filterwarnings("ignore", "The number of unique classes is greater", UserWarning)
            grown = maker.fit(ranks, y, sample_weight=weights.astype(np.float64))
        return self._translated(grown.tree_, cells, ranks, y, weights)

    def _ranks(self, cells: Floats) -> npt.NDArray[np.float32]:
        ranks = np.empty((cells.shape[0], max(len(self.asked), 1)), dtype=np.float32)
        ranks[:, 0] = 0  # with nothing to ask, one constant
        for i, (j, code) in enumerate(self.asked):
            column = cells[:, j]
            gone = np.isnan(column)
            if code < 0:
                known = np.unique(column[~gone])
                ranks[:, i] = np.searchsorted(known, column)
            else:
                ranks[:, i] = column == code
            ranks[gone, i] = np.nan
        return ranks

    def _translated(
        self, theirs: Any, cells: Floats, ranks: npt.NDArray[np.float32], y: Any, weights: Counts
    ) -> MultiwayTree:
        """Level by level with all rows: cuts from the values in each node, and its class counts."""
        n = int(theirs.node_count)
        feature, cut, lefts, rights = (
            theirs.feature,
            theirs.threshold,
            theirs.children_left,
            theirs.children_right,
        )
        to_left = theirs.missing_go_to_left.astype(bool)
        low, high = np.full(n, -np.inf), np.full(n, np.inf)  # the values on both sides of the cut
        counts = np.zeros((n, len(self.classes)))
        lacks = np.zeros(n, dtype=bool)
        of = np.array([j for j, _ in self.asked] or [0])
        at, rows = np.zeros(y.size, dtype=np.intp), np.arange(y.size)
        order, open_ = [0], [0]
        while rows.size:
            np.add.at(counts, (at, y[rows]), weights[rows])
            inner = lefts[at] >= 0
            at, rows = at[inner], rows[inner]
            value, rank = cells[rows, of[feature[at]]], ranks[rows, feature[at]]
            gone = np.isnan(rank)
            left = np.where(gone, to_left[at], rank <= cut[at])
            lacks[at[gone]] = True
            np.maximum.at(low, at[left & ~gone], value[left & ~gone])
            np.minimum.at(high, at[~left & ~gone], value[~left & ~gone])
            at = np.where(left, lefts[at], rights[at])
        # Breadth first, siblings side by side; of a test on a value, the branch that has it comes first.
        nominal = np.array([code >= 0 for _, code in self.asked] or [False])
        first = np.zeros(n, dtype=np.uint32)
        while open_:
            following = []
            for node in open_:
                if lefts[node] >= 0:
                    first[node] = len(order)
                    pair = [int(lefts[node]), int(rights[node])]
                    pair = pair[::-1] if nominal[feature[node]] and np.isfinite(cut[node]) else pair
                    order += pair
                    following += pair
            open_ = following
        return self._made(theirs, order, first, low, high, counts, lacks)

    def _made(
        self,
        theirs: Any,
        order: list[int],
        first: Any,
        low: Floats,
        high: Floats,
        counts: Floats,
        lacks: Any,
    ) -> MultiwayTree:
        n = len(order)
        attribute, threshold = np.full(n, -1, dtype=np.int32), np.full(n, np.nan)
        missing, width = np.full(n, -1, dtype=np.int32), np.zeros(n, dtype=np.uint32)
        for new, old in enumerate(order):
            if theirs.children_left[old] < 0:
                continue
            j, code = self.asked[int(theirs.feature[old])]
            attribute[new], width[new] = j, 2
            flipped = False
            if np.isinf(theirs.threshold[old]):
                threshold[new] = np.inf
            elif code >= 0:
                threshold[new], flipped = code, True
            else:
                threshold[new] = _middle(float(low[old]), float(high[old]))
            if lacks[old]:
                missing[new] = int(bool(theirs.missing_go_to_left[old]) == flipped)
        return MultiwayTree(
            attribute, threshold, first[order], width, counts[order], self.columns, self.classes, missing
        )


def _middle(low: float, high: float) -> float:
    """The mid-point of two neighbours, or the lower one where rounding would put it on the upper.

    >>> _middle(1.0, 2.0), _middle(1.0, 1.0000000000000002)
    (1.5, 1.0)
    """
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low
