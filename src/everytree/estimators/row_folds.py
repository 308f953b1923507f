"""Folds of rows that depend on what rows hold, and on nothing else: not on their order, nor on how often one is given.

Rows that are equal in every column and in the class stay together, so that a row of weight 2 and the same row given
twice are judged alike, and no row is judged by a model that has learned its twin. Distinct rows of a class are dealt to
the folds in turn, in an order that a fixed seed makes of their sorted values. A class with a single distinct row is in
every training part and is never judged by, as no model could know it then.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.column import Column
from everytree.data.frames import Frame

__all__ = ["row_folds"]

Rows = npt.NDArray[np.intp]


def row_folds(frame: Frame, codes: npt.NDArray[Any], k: int) -> list[tuple[Rows, Rows]]:
    """Return for each fold the rows to learn from and those to judge by; at most ``k`` folds, none where none can be.

    ``codes`` are the classes of the rows, from 0 on.
    """
    group = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    for column in frame.columns:
        ranks = _ranks(column, frame.n_rows)
        group = np.unique(group * (int(ranks.max(initial=0)) + 1) + ranks, return_inverse=True)[1].astype(
            np.int64
        )
    first = np.unique(group, return_index=True)[1]
    classes = np.asarray(codes)[first]  # of each distinct row
    several = np.unique(classes, return_counts=True)
    k = min(k, int(several[1].max(initial=0)))
    if k < 2:
        return []
    rng = np.random.default_rng(0)
    fold, begin = np.full(len(first), -1), 0
    for c, n in zip(*several, strict=True):
        if n > 1:
            fold[rng.permutation(np.flatnonzero(classes == c))] = (begin + np.arange(n)) % k
            begin += int(n)
    of_row = fold[group]
    return [(np.flatnonzero(of_row != f), np.flatnonzero(of_row == f)) for f in range(k)]


def _ranks(column: Column, n_rows: int) -> npt.NDArray[np.int64]:
    """Return the place of each value among those of the column, 0 where it is missing."""
    if column.is_empty:
        return np.zeros(n_rows, dtype=np.int64)
    data = column.data
    if column.kind == "nominal":
        order = sorted(
            range(len(column.labels)), key=lambda i: (str(type(column.labels[i])), str(column.labels[i]))
        )
        place = np.empty(len(order) + 1, dtype=np.int64)
        place[order] = np.arange(len(order))
        data = place[data]  # A missing value has the code −1, and any place.
    ranks = np.zeros(n_rows, dtype=np.int64)
    there = np.ones(n_rows, dtype=bool) if column.mask is None else ~column.mask
    ranks[there] = np.unique(data[there], return_inverse=True)[1] + 1
    return ranks
