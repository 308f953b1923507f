"""Folds of examples that depend on what rows hold and weigh, and on nothing else: not on their order.

Examples are dealt, not rows: of a row of weight 2, or of the same row given twice, one example may be in one fold and
one in another, as it is with new rows, which may be like rows that were seen. So weights are repetitions.

    a distinct row with n examples     n // k examples to each of the k folds, the rest as single examples
    a part of an example               dealt as if it were one

Those single examples of a class are dealt to the folds in turn, in an order that a fixed seed makes of the sorted
values of the rows. The only example of a class is in every training part and is never judged by, as no model could
know it then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.column import Column
from everytree.data.example_weights import ExampleWeights
from everytree.data.frames import Frame

__all__ = ["DealtRows", "dealt_rows"]

Whole = npt.NDArray[np.int64]
SEED = 0


@dataclass(frozen=True)
class DealtRows:
    """Distinct rows, and how many counts of each are in every fold.

    ``first`` is a row of each distinct one, ``group`` the distinct row of each row, ``counts`` are of shape (distinct
    rows, folds), and ``alone`` is what is in no fold; a count is 1 / ``per_example`` of an example.
    """

    first: npt.NDArray[np.intp]
    group: Whole
    counts: Whole
    alone: Whole
    per_example: int

    def to_learn(self, fold: int) -> Whole:
        """The counts of each distinct row outside a fold."""
        found: Whole = self.alone + self.counts.sum(axis=1) - self.counts[:, fold]
        return found

    @property
    def judged(self) -> list[int]:
        """The folds that hold some examples."""
        return np.flatnonzero(self.counts.any(axis=0)).tolist()


def dealt_rows(frame: Frame, codes: npt.NDArray[Any], weights: ExampleWeights | None, k: int) -> DealtRows:
    """Deal the examples of rows to ``k`` folds; ``codes`` are the classes of the rows, from 0 on."""
    group = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    for column in frame.columns:
        ranks = _ranks(column, frame.n_rows)
        joined = group * (int(ranks.max(initial=0)) + 1) + ranks
        group = np.unique(joined, return_inverse=True)[1].astype(np.int64)
    first = np.unique(group, return_index=True)[1]
    parts = 1 if weights is None else weights.per_example
    total = np.zeros(len(first), dtype=np.int64)
    np.add.at(total, group, 1 if weights is None else weights.counts)
    counts = np.repeat((total // (parts * k) * parts)[:, None], k, axis=1)
    left = total - counts.sum(axis=1)
    alone = np.zeros_like(total)
    rng, begin = np.random.default_rng(SEED), 0
    for c in np.unique(codes):
        rows = np.flatnonzero(np.asarray(codes)[first] == c)
        owner, size = _singles(rows, left[rows], parts)
        if owner.size == 1 and not counts[rows].any():
            alone[owner] = size
            continue
        order = rng.permutation(owner.size)
        np.add.at(counts, (owner[order], (begin + np.arange(owner.size)) % k), size[order])
        begin += owner.size
    return DealtRows(first, group, counts, alone, parts)


def _singles(rows: npt.NDArray[np.intp], left: Whole, parts: int) -> tuple[npt.NDArray[np.intp], Whole]:
    """Return single examples and parts of one: the row that each is of, and its counts."""
    whole, rest = left // parts, left % parts
    return (
        np.concatenate([np.repeat(rows, whole), rows[rest > 0]]),
        np.concatenate([np.full(int(whole.sum()), parts, dtype=np.int64), rest[rest > 0]]),
    )


def _ranks(column: Column, n_rows: int) -> Whole:
    """Return the place of each value among those of the column, 0 where it is missing."""
    ranks = np.zeros(n_rows, dtype=np.int64)
    if column.is_empty:
        return ranks
    data = column.data
    if column.kind == "nominal":
        labels = column.labels
        order = sorted(range(len(labels)), key=lambda i: (str(type(labels[i])), str(labels[i])))
        place = np.zeros(len(labels) + 1, dtype=np.int64)
        place[order] = np.arange(len(labels))
        data = place[data]  # A missing value has the code −1, and any place.
    there = np.ones(n_rows, dtype=bool) if column.mask is None else ~column.mask
    ranks[there] = np.unique(data[there], return_inverse=True)[1] + 1
    return ranks
