"""Exact leave-one-out: what the average over every tree says of each training example when it is left out.

The trees stay those of all examples. Without an example i of row x and class y, p_c = (n_c − [c = y] + a_c) / (n − 1 +
Σa) in the leaf of x, and that leaf weighs r = p_y^−power times as much, so that

    P(c | x, all but i) = E[r · p_c] / E[r]          E over the posterior given all examples

Where the examples of a row and class weigh w < 1 together, all of them are left out, and one example otherwise: with
w in place of 1, and r the ratio of the leaf's weights M without and with them.

One pass over the folded graph gives E[r · p_c] for every row and class; nothing is folded again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.folded import Folded
from everytree.engine.rows import table_rows
from everytree.errors import DataError, QueryError

__all__ = ["LeaveOneOut", "leave_one_out", "left_out_proba", "loo_proba", "mixed"]

Reals = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class LeaveOneOut:
    """What is said of each training example when it is left out; equal examples of a class share one entry.

    ``Posterior.leave_one_out`` makes it.

    Parameters
    ----------
    rows : ndarray of shape (n, n_tests)
        The 0/1 tests of the left-out examples.
    codes : ndarray of shape (n,)
        The place of their class in ``labels``.
    counts : ndarray of shape (n,)
        The number of equal examples that the entry stands for; with a fraction where weights have one.
    proba : ndarray of shape (n, n_classes)
        P(class | row) when one of them is left out.
    log_ratio : ndarray of shape (n,)
        The log of the evidence without one of them against the evidence of all.
    labels : list
        The labels of the classes.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> post = TreeSpace([[0], [0], [1], [1]], ["no", "no", "yes", "yes"], max_depth=1).posterior()
    >>> left = post.leave_one_out()
    >>> left.proba.round(3).tolist(), left.counts.tolist()
    ([[0.637, 0.363], [0.363, 0.637]], [2, 2])
    >>> round(left.log_loss, 3)
    0.451
    """

    rows: npt.NDArray[np.uint8]
    codes: Codes
    counts: npt.NDArray[Any]
    proba: Reals
    log_ratio: Reals
    labels: list[Any]

    @property
    def n_bytes(self) -> int:
        """The bytes that it holds, with the losses."""
        arrays = (self.rows, self.codes, self.counts, self.proba, self.log_ratio, self.log_ratio)
        return sum(one.nbytes for one in arrays)

    @cached_property
    def losses(self) -> Reals:
        """The negative log probability of the true class, for each entry."""
        losses = self.proba[np.arange(len(self.codes)), self.codes]
        return np.negative(np.log(losses, out=losses), out=losses)

    @property
    def log_loss(self) -> float:
        """The mean over the examples of the negative log probability of the true class."""
        return float(np.average(self.losses, weights=self.counts))

    @property
    def standard_error(self) -> float:
        """The standard error of ``log_loss`` over the examples; not a number for a single example."""
        n = self.counts.sum().item()
        if n < 2:
            return math.nan
        squares = float(self.counts @ (self.losses - self.log_loss) ** 2)
        return math.sqrt(squares / (n - 1) / n)

    def of(self, X: npt.NDArray[np.uint8], codes: npt.ArrayLike, otherwise: Callable[[Any], Reals]) -> Reals:
        """Return the probabilities of examples, in their order.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_tests)
            Rows of 0/1 tests.
        codes : array-like of shape (n_rows,)
            The place of the class of each in ``labels``.
        otherwise : callable
            Predicts rows that are not among the training examples: nothing is left out for them.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            P(class | row, all examples but this one).
        """
        place = {
            (row.tobytes(), int(c)): k for k, (row, c) in enumerate(zip(self.rows, self.codes, strict=True))
        }
        wanted = np.asarray(codes, dtype=np.intp)
        found = [place.get((row.tobytes(), int(c)), -1) for row, c in zip(X, wanted, strict=True)]
        at = np.array(found, dtype=np.intp)
        proba = self.proba[at]
        if (at < 0).any():
            proba[at < 0] = otherwise(X[at < 0])
        return proba


def leave_one_out(posterior: Folded) -> LeaveOneOut:
    """Compute what is said of every training example when it is left out: see ``Posterior.leave_one_out``."""
    with posterior.space.question("leaving out each example") as control:
        return _of_sums(posterior, _sums(posterior, control), control)


def left_out_proba(posterior: Folded) -> Reals:
    """Return what is said of a left-out example of each row and class alone, without the rows.

    The same numbers as ``leave_one_out(posterior).proba``: with hundreds of tests the rows are many times as large.
    """
    with posterior.space.question("leaving out each example") as control:
        sums = _sums(posterior, control)
    sums /= sums.sum(axis=1)[:, None]
    return sums


def mixed(posteriors: Sequence[Folded], weights: Reals) -> LeaveOneOut:
    """Leave out of a mixture: without an example, each part weighs its evidence without it."""
    sums: Any = 0.0
    for each, w in zip(posteriors, weights.tolist(), strict=True):
        with each.space.question("leaving out each example") as control:
            part = _sums(each, control)
        part *= w
        sums = part if isinstance(sums, float) else np.add(sums, part, out=sums)
    with posteriors[0].space.question("leaving out each example") as control:
        return _of_sums(posteriors[0], sums, control)


def loo_proba(posterior: Any, X: npt.ArrayLike | None, y: npt.ArrayLike | None) -> Reals:
    """Return the probabilities of left-out examples, in the order of the rows: see ``Posterior.loo_proba``."""
    left: LeaveOneOut = posterior.leave_one_out()
    if X is None and y is None:
        return _as_given(posterior, left)
    if X is None or y is None:
        raise DataError(
            "loo_proba needs both X and y, or neither: which class is left out depends on the label"
        )
    rows = np.ascontiguousarray(table_rows(posterior.space, X), dtype=np.uint8)
    codes = _codes_of(y, left.labels)
    if len(codes) != len(rows):
        raise DataError(f"y has {len(codes)} labels for {len(rows)} rows of X; expected one each")
    return left.of(rows, codes, posterior.predict_proba)


def _as_given(posterior: Any, left: LeaveOneOut) -> Reals:
    """Return a line for each example that the space was made of, in their order; else one for each entry."""
    table = posterior.space.table
    if table.given is None:
        return left.proba
    entry = np.full(table.class_counts.shape, -1, dtype=np.intp)
    entry[table.class_counts > 0] = np.arange(left.codes.size)
    found = np.where(table.given.places < 0, -1, entry[table.given.places, table.given.codes])
    return np.where(found[:, None] < 0, np.nan, left.proba[found])


def _codes_of(y: npt.ArrayLike, labels: Sequence[Any]) -> Codes:
    """Return the place of each label among those of the classes."""
    place = {label: c for c, label in enumerate(labels)}
    given = np.asarray(y).tolist()
    unknown = [label for label in given if label not in place]
    if unknown:
        raise DataError(f"y holds the label {unknown[0]!r}; expected one of {list(labels)}")
    return np.array([place[label] for label in given], dtype=np.intp)


def _sums(posterior: Folded, control: _core.Control) -> Reals:
    """Return E[r · p_c], one row for each row of the table and class that has examples there."""
    space = posterior.space
    made = space.table.binarizer
    if made is not None and made.saw_classes_:
        raise QueryError(
            f"leaving out each example with bins={made.bins!r}: the classes chose the cuts, so an example that is left "
            "out is still in them, and the answer would be too good; use a number of bins or cut points from other "
            "data, or cross-validate the whole classifier"
        )
    counts = np.ascontiguousarray(space.table.class_counts)
    flat = np.asarray(posterior.core.leave_one_out(counts, space.n_threads, control))
    return flat.reshape(-1, counts.shape[1])


def _of_sums(posterior: Folded, sums: Reals, control: _core.Control) -> LeaveOneOut:
    """Make the answer of the sums, which become its probabilities: of many rows they are what takes memory."""
    table = posterior.space.table
    # An entry's row, class, count and ratio beside its sums, and for a moment its place in the table.
    entry = table.n_tests + 3 * 8 + 2 * 8
    control.check_memory(posterior.core.n_bytes + sums.nbytes + len(sums) * entry)
    rows, codes = np.nonzero(table.class_counts)
    total = sums.sum(axis=1)
    sums /= total[:, None]
    left = LeaveOneOut(
        np.ascontiguousarray(table.rows[rows], dtype=np.uint8),
        np.ascontiguousarray(codes),  # numpy's own is a column of the places, and would keep both
        table.in_examples(table.class_counts[rows, codes]),
        sums, np.log(total, out=total), list(posterior.space.classes),
    )  # fmt: skip
    control.check()
    return left
