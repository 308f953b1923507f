"""Folds of a cross-validation: which rows to learn from, and which to judge by."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everytree.common.arguments import refused, whole
from everytree.errors import DataError, QueryError

__all__ = ["Fold", "stratified_folds"]


class Fold(NamedTuple):
    """One part of a cross-validation: which rows to learn from, and which to judge by."""

    repeat: int
    fold: int
    train: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]


def stratified_folds(y: npt.ArrayLike, k: int = 10, repeats: int = 1, seed: int = 0) -> list[Fold]:
    """``k`` shuffled folds with the classes in proportion, ``repeats`` times; repeat r is shuffled with seed + r.

    A class with fewer than ``k`` examples is spread over as many folds as it has examples.

    >>> [len(fold.test) for fold in stratified_folds([0, 1] * 10, k=4)]
    [5, 5, 5, 5]
    """
    from sklearn.model_selection import StratifiedKFold

    labels = np.asarray(y)
    if labels.ndim != 1 or labels.size == 0:
        raise DataError(f"y has shape {labels.shape}; expected one label per row")
    largest = int(np.unique(labels, return_counts=True)[1].max())
    if not 2 <= whole("k", k, 2) <= largest:
        raise refused(
            QueryError,
            "k",
            k,
            says=f" folds; expected 2 to {largest}, the number of examples of the largest class",
        )
    folds = []
    for repeat in range(whole("repeats", repeats, 1)):
        splitter = StratifiedKFold(k, shuffle=True, random_state=seed + repeat)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            parts = list(splitter.split(labels, labels))
        folds += [Fold(repeat, i, train, test) for i, (train, test) in enumerate(parts)]
    return folds
