"""A small greedy tree on a Table: the least a classifier needs to stand on ``TreeClassifierBase``."""

from __future__ import annotations

from typing import Any

import numpy as np

from everytree.estimators.base import TreeClassifierBase


class GreedyTree(TreeClassifierBase):
    """Split by the least error, ties by the first test; leaves predict smoothed frequencies."""

    def __init__(self, max_depth=3, bins=4, missing="error", unknown="ignore"):
        self.max_depth = max_depth
        self.bins = bins
        self.missing = missing
        self.unknown = unknown

    def _fit_table(self, table, X01, y_codes, sample_weight):
        self.table_ = table
        self.root_ = self._grow(table.rows, table.class_counts, self.max_depth)

    def _grow(self, rows, counts, depth) -> Any:
        here = counts.sum(axis=0)
        if depth > 0 and np.count_nonzero(here) > 1:
            ones = rows.T.astype(np.int64) @ counts
            zeros = here - ones
            hits = ones.max(axis=1) + zeros.max(axis=1) if len(ones) else np.zeros(0)
            useful = (ones.sum(axis=1) > 0) & (zeros.sum(axis=1) > 0)
            if useful.any():
                test = int(np.argmax(np.where(useful, hits, -1)))
                side = rows[:, test] == 1
                low, high = (self._grow(rows[s], counts[s], depth - 1) for s in (~side, side))
                return test, low, high
        return (here + 1) / (here.sum() + len(here))

    def _predict_proba_tests(self, X01):
        out = np.empty((X01.shape[0], len(self.classes_)))
        stack = [(self.root_, np.arange(X01.shape[0]))]
        while stack:
            node, rows = stack.pop()
            if isinstance(node, tuple):
                test, low, high = node
                side = X01[rows, test] == 1
                stack += [(low, rows[~side]), (high, rows[side])]
            else:
                out[rows] = node
        return out
