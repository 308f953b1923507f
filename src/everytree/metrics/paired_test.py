"""The corrected paired t-test (Nadeau and Bengio, 2003) of two classifiers on the folds of a cross-validation.

Let d_1 … d_k be the differences between the two, one for each fold. Training parts overlap, so the differences are not
independent, and the plain test sees winners everywhere; n_test/n_train makes up for it:

    t = mean(d) / sqrt((1/k + n_test/n_train) · var(d)),    k − 1 degrees of freedom, two-tailed
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from everytree.common.arguments import refused
from everytree.errors import DataError, QueryError

__all__ = ["PairedTest", "corrected_t_test", "verdict"]


class PairedTest(NamedTuple):
    """The result of a paired t-test.

    Parameters
    ----------
    mean : float
        The mean difference.
    t : float
        The t statistic.
    df : int
        The degrees of freedom.
    p : float
        The two-tailed p-value.

    Examples
    --------
    >>> corrected_t_test([0.0, 0.0, 0.0], n_train=6, n_test=1)
    PairedTest(mean=0.0, t=0.0, df=2, p=1.0)
    """

    mean: float
    t: float
    df: int
    p: float


def corrected_t_test(differences: npt.ArrayLike, n_train: float, n_test: float) -> PairedTest:
    """Test whether the differences between two classifiers have mean 0, by the corrected paired t-test.

    Differences that are all equal have no variance: p is 1 if they are 0, and 0 otherwise.

    Parameters
    ----------
    differences : array of float, shape (n_folds,)
        The difference of the two classifiers on each fold.
    n_train : float
        The number of rows that a fold learns from.
    n_test : float
        The number of rows that a fold is judged by.

    Returns
    -------
    PairedTest
        The mean, the t statistic, its degrees of freedom and the p-value.

    Examples
    --------
    >>> result = corrected_t_test([1.0, 2.0, 3.0], n_train=6, n_test=1)
    >>> round(result.t, 3), result.df, round(result.p, 4)
    (2.828, 2, 0.1056)
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 1 or d.size < 2:
        raise DataError(f"differences have shape {d.shape}; expected two or more, one for each fold")
    if not np.isfinite(d).all():
        raise DataError("differences hold a value that is not finite; leave out folds without a result")
    if n_train <= 0 or n_test <= 0:
        raise refused(
            QueryError, "n_train", n_train, says=f", n_test={n_test!r}; expected numbers of rows above 0"
        )
    from scipy import stats

    mean, df = float(d.mean()), d.size - 1
    if np.ptp(d) == 0:
        return PairedTest(mean, 0.0 if mean == 0 else math.copysign(math.inf, mean), df, float(mean == 0))
    t = mean / math.sqrt((1 / d.size + n_test / n_train) * float(d.var(ddof=1)))
    return PairedTest(mean, t, df, float(2 * stats.t.sf(abs(t), df)))


def verdict(
    ours: npt.ArrayLike, theirs: npt.ArrayLike, n_train: float, n_test: float, level: float = 0.05
) -> Literal["win", "tie", "loss"]:
    """Decide by the corrected paired t-test which of two classifiers has the smaller losses.

    Parameters
    ----------
    ours : array of float, shape (n_folds,)
        The loss of the first classifier on each fold.
    theirs : array of float, shape (n_folds,)
        The loss of the second classifier on each fold.
    n_train : float
        The number of rows that a fold learns from.
    n_test : float
        The number of rows that a fold is judged by.
    level : float, default 0.05
        The p-value below which a difference counts.

    Returns
    -------
    {"win", "tie", "loss"}
        "win" if ours are smaller, "loss" if they are larger, and "tie" if the test cannot tell.

    Examples
    --------
    >>> verdict([0.1, 0.2, 0.1], [0.5, 0.6, 0.6], n_train=90, n_test=10)
    'win'
    """
    a, b = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    if a.shape != b.shape:
        raise DataError(f"{a.shape} and {b.shape} losses; expected one pair for each fold")
    result = corrected_t_test(a - b, n_train, n_test)
    if result.p >= level:
        return "tie"
    return "win" if result.mean < 0 else "loss"
