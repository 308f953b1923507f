"""Growth of CART by scikit-learn's tree, on whole columns and in numbers of full precision.

scikit-learn reads 32-bit numbers and knows no names or nominal values. So it is given, for a numeric column, the rank
of each value among the training values (whole numbers, exact up to 2^24 of them), and for a nominal column one 0/1
column per value. What comes back is translated: a cut between ranks becomes the mid-point of the two neighbouring
values in the node, as scikit-learn would place it; a 0/1 column becomes "value = k or not".

A column with gaps is given twice, with the gaps below all values and above them: then both sides are tried for the
rows that lack the value, and "known or missing" is a test too. (scikit-learn tries both sides itself, but in some
versions, 1.6 among them, it then grows branches with other rows than the tree sends there.)

A row is counted by its weight everywhere, also for the least size of a leaf, so that a weight is the same as
repeating the row.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everytree.common.aside import aside
from everytree.data.columns import RawColumn
from everytree.errors import DataError
from everytree.trees.multiway import MultiwayTree

__all__ = ["Asked", "Growth", "asked_of"]

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
NUMBER, KNOWN = -1, -2
MOST_RANKS = 2**24  # Whole numbers up to this are exact in 32 bits.


class Asked(NamedTuple):
    """One column of what scikit-learn sees: a numeric column, a value of a nominal one, or whether there is a value."""

    column: int
    code: int  # The code of the value; NUMBER for a numeric column, KNOWN for whether there is a value.
    gaps: int  # Rows without a value are with the lesser numbers (0) or with the greater ones (1).


def asked_of(cells: Floats, columns: Sequence[RawColumn], max_categories: int) -> list[Asked]:
    """Return what can be asked about training rows: numeric columns, and the values that occur in nominal ones.

    For a column with two values, the first is enough.
    """
    found: list[Asked] = []
    for j, column in enumerate(columns):
        gone = np.isnan(cells[:, j])
        known = np.unique(cells[~gone, j])
        if column.kind == "numeric":
            if known.size >= MOST_RANKS:
                raise DataError(
                    f"column {column.name!r} has {known.size} different values; scikit-learn tells {MOST_RANKS} apart. "
                    "Round the column"
                )
            codes = [NUMBER]
        elif known.size > max_categories:
            raise DataError(
                f"nominal column {column.name!r} has {known.size} different values, more than max_categories="
                f"{max_categories}; drop it if it is an identifier, group rare values, or raise max_categories"
            )
        else:
            codes = [int(code) for code in known[: 1 if known.size == 2 else None]]
        found += [Asked(j, code, gaps) for code in codes for gaps in ((0, 1) if gone.any() else (0,))]
        if column.kind == "nominal" and gone.any():
            found.append(Asked(j, KNOWN, 1))
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

    def grow(
        self, cells: Floats, ranks: npt.NDArray[np.float32], y: npt.NDArray[np.intp], weights: Counts
    ) -> MultiwayTree:
        """Return the full tree on rows of ``cells`` (NaN is missing) with classes ``y`` and weights of at least 1.

        ``ranks`` are those of ``ranked``; they may count values of other rows too, for only their order matters. So one
        ranking does for all folds, which with very many columns is most of the time.
        """
        from sklearn.tree import DecisionTreeClassifier

        total = int(weights.sum())
        # Too few for two leaves, or no depth: there is nothing to ask, so that one leaf is grown.
        if 2 * self.min_leaf > total or self.max_depth == 0:
            ranks = np.zeros((y.size, 1), dtype=np.float32)
        maker = DecisionTreeClassifier(
            criterion=self.criterion,
            max_depth=self.max_depth or None,
            # This counts weights, not rows; it is half an example less, so that rounding cannot decide.
            min_weight_fraction_leaf=min((self.min_leaf - 0.5) / total, 0.5),
            random_state=self.seed,
        )
        with warnings.catch_warnings():  # The labels were checked already.
            warnings.filterwarnings("ignore", "The number of unique classes is greater", UserWarning)
            # 0.2 s of 300,000 rows
            grown = aside(lambda: maker.fit(ranks, y, sample_weight=weights.astype(np.float64)))
        return self._translated(grown.tree_, cells, ranks, y, weights)

    def ranked(self, cells: Floats) -> npt.NDArray[np.float32]:
        """Return what scikit-learn sees of these rows: a column for each entry of ``asked``."""
        # Where there is nothing to ask, scikit-learn sees one constant column.
        ranks = np.zeros((cells.shape[0], max(len(self.asked), 1)), dtype=np.float32)
        for i, (j, code, gaps) in enumerate(self.asked):
            column = cells[:, j]
            gone = np.isnan(column)
            if code == NUMBER:
                known = np.unique(column[~gone])
                ranks[:, i] = np.searchsorted(known, column)
                ranks[gone, i] = known.size if gaps else -1
            else:
                ranks[:, i] = column == code  # KNOWN equals no code: all is zero but the gaps.
                ranks[gone, i] = gaps
        return ranks

    def _translated(
        self, theirs: Any, cells: Floats, ranks: npt.NDArray[np.float32], y: Any, weights: Counts
    ) -> MultiwayTree:
        """Return scikit-learn's tree as ours, with all rows sent down it to count classes and place each cut."""
        n = int(theirs.node_count)
        feature, cut, lefts, rights = (
            theirs.feature,
            theirs.threshold,
            theirs.children_left,
            theirs.children_right,
        )
        low, high = np.full(n, -np.inf), np.full(n, np.inf)
        counts, lacks = np.zeros((n, len(self.classes))), np.zeros(n, dtype=bool)
        of = np.array([each.column for each in self.asked] or [0])
        at, rows = np.zeros(y.size, dtype=np.intp), np.arange(y.size)
        while rows.size:  # Each round is one level of the tree.
            np.add.at(counts, (at, y[rows]), weights[rows])
            inner = lefts[at] >= 0
            at, rows = at[inner], rows[inner]
            value = cells[rows, of[feature[at]]]
            gone, left = np.isnan(value), ranks[rows, feature[at]] <= cut[at]
            lacks[at[gone]] = True
            np.maximum.at(low, at[left & ~gone], value[left & ~gone])
            np.minimum.at(high, at[~left & ~gone], value[~left & ~gone])
            at = np.where(left, lefts[at], rights[at])

        order = [0]
        attribute, threshold, missing, first, width = [], [], [], [], []
        for node in order:  # The list grows while it is read: breadth first, siblings side by side.
            inner = lefts[node] >= 0
            j, at_, gap, flipped = (
                self._test(node, theirs, low, high, lacks) if inner else (-1, np.nan, -1, False)
            )
            attribute.append(j)
            threshold.append(at_)
            missing.append(gap)
            first.append(len(order) if inner else 0)
            width.append(2 if inner else 0)
            if inner:
                pair = [int(lefts[node]), int(rights[node])]
                order += pair[::-1] if flipped else pair
        return MultiwayTree(
            np.array(attribute, dtype=np.int32),
            np.array(threshold),
            np.array(first, dtype=np.uint32),
            np.array(width, dtype=np.uint32),
            counts[order],
            self.columns,
            self.classes,
            np.array(missing, dtype=np.int32),
        )

    def _test(
        self, node: int, theirs: Any, low: Floats, high: Floats, lacks: npt.NDArray[np.bool_]
    ) -> tuple[int, float, int, bool]:
        """Return column, threshold, child of a row without a value, and whether the right branch comes first."""
        j, code, gaps = self.asked[int(theirs.feature[node])]
        if code == KNOWN or (code == NUMBER and not np.isfinite([low[node], high[node]]).all()):
            return j, np.inf, 1, bool(gaps == 0)
        gap = -1 if not lacks[node] else gaps if code == NUMBER else 1 - gaps
        if code == NUMBER:
            return j, _middle(float(low[node]), float(high[node])), gap, False
        return j, float(code), gap, True  # The branch that has the value comes first.


def _middle(low: float, high: float) -> float:
    """Return the mid-point of two neighbours, or the lower one where rounding would put it on the upper.

    >>> _middle(1.0, 2.0), _middle(1.0, 1.0000000000000002)
    (1.5, 1.0)
    """
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low
