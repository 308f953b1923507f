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
    """One part of a cross-validation: which rows to learn from, and which to judge by.

    Parameters
    ----------
    repeat : int
        Which repetition of the cross-validation it belongs to, from 0.
    fold : int
        Which fold of the repetition it is, from 0.
    train : array of int
        The rows to learn from.
    test : array of int
        The rows to judge by.

    Examples
    --------
    >>> fold = stratified_folds([0, 1] * 10, k=4)[0]
    >>> fold.repeat, fold.fold, len(fold.train), len(fold.test)
    (0, 0, 15, 5)
    """

    repeat: int
    fold: int
    train: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]


def stratified_folds(y: npt.ArrayLike, k: int = 10, repeats: int = 1, seed: int = 0) -> list[Fold]:
    """Split rows into shuffled folds in which the classes are in proportion.

    A class with fewer than ``k`` examples is spread over as many folds as it has examples.

    Parameters
    ----------
    y : array, shape (n_rows,)
        The label of each row.
    k : int, default 10
        The number of folds, 2 or more.
    repeats : int, default 1
        How often all rows are split into folds.
    seed : int, default 0
        The seed of the first repetition; repetition r is shuffled with seed + r.

    Returns
    -------
    list of Fold
        The ``repeats`` · ``k`` folds, repetition by repetition.

    Raises
    ------
    QueryError
        If ``k`` is larger than the largest class.

    Examples
    --------
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
