"""Stacking: how much the evidence of each of several averages counts, by what they say of examples they did not see.

    log P(c | x) = log s_c + Σ_k w_k · log(p_k(c | x) / s_c) + const       s: the shares of the classes,  w ≥ 0

An average moves the shares of the classes by its evidence, log(p_k / s); the weights say how much of it counts beside
that of the others. With one average w is an exponent around the shares; with w = 0 the shares are answered.

    w = argmin  Σ_i n_i · −log P(y_i | x_i, without i)  +  strength · Σ_k (w_k − mean of w)²

The loss is convex in w. A great strength keeps all weights alike, a small one lets few averages have most of it. Taken
is the greatest whose log-loss, in a cross-validation over the left-out examples, is within half a standard error of the
least. (With the least itself, and with a whole standard error, the log-loss was 1 to 2 % higher on data sets that
settings were chosen on, the one on small, the other on larger training parts.) What is said of an example in that
cross-validation comes from weights that did not see it, so that the loss is an honest one.

n examples never show that nothing else can happen: the shares keep ε = 1 / (4 n) of the answer, P = (1 − ε) P + ε s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["STRENGTHS", "Stack", "folds_of", "least", "losses_of", "pooled", "stack", "stacked"]

Reals = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
STRENGTHS = (1000.0, 100.0, 10.0, 1.0)
FOLDS = 5
STEPS = 200
SETTLED = 1e-9  # relative: a step that gains less ends the search
NEGLIGIBLE = 1e-4  # averages below this weight are left out: each costs time
MOST = 500_000  # numbers that weights are chosen from; of more entries, evenly spread ones are taken
ERRORS = 0.5  # so many standard errors a strength may be worse than the best one
SLIP = 0.25  # of an example: what the shares keep of every answer
START = 1.5  # the sum of the weights that the search begins with


@dataclass(frozen=True)
class Stack:
    """Weights of evidence, the strength that held them together, and what is said of every left-out example.

    ``proba`` comes from weights that were chosen without a fifth of the entries, to which the entry belongs.
    """

    weights: Reals
    strength: float
    proba: Reals


def pooled(evidence: Reals, log_shares: Reals, weights: Reals, total: float) -> Reals:
    """Return P(class) of rows; ``evidence`` is log(p_k / s), of shape (rows, classes, averages), from so many examples.

    >>> moved = np.log(np.array([[[0.8, 0.8], [0.2, 0.2]]]) / 0.5)
    >>> pooled(moved, np.log([0.5, 0.5]), np.array([1.0, 1.0]), 1000).round(3).tolist()
    [[0.941, 0.059]]
    """
    logs = evidence @ weights + log_shares
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    kept = SLIP / total
    return np.asarray((1 - kept) * powers / powers.sum(axis=1, keepdims=True) + kept * np.exp(log_shares))


def losses_of(proba: Reals, codes: Codes) -> Reals:
    """Return −log of the probability of the true class."""
    return -np.log(np.maximum(proba[np.arange(len(codes)), codes], np.finfo(np.float64).tiny))


def least(
    evidence: Reals,
    log_shares: Reals,
    codes: Codes,
    counts: npt.ArrayLike,
    strength: float,
    start: Reals | None = None,
) -> Reals:
    """Return the weights of least loss under one strength."""
    from scipy.optimize import minimize

    n, n_classes, k = evidence.shape
    if k == 0 or n == 0:
        return np.zeros(k)
    own = np.arange(n)
    moved = (evidence - evidence[own, codes][:, None, :]).reshape(n * n_classes, k)
    before = log_shares[None, :] - log_shares[codes][:, None]
    share = np.asarray(counts, dtype=np.float64)

    def loss(weights: Reals) -> tuple[float, Reals]:
        logs = (moved @ weights).reshape(n, n_classes) + before
        most = logs.max(axis=1, keepdims=True)
        powers = np.exp(logs - most)
        total = powers.sum(axis=1, keepdims=True)
        apart = weights - weights.mean()
        value = float(share @ (np.log(total) + most)[:, 0] + strength * (apart @ apart))
        slope = moved.T @ (powers / total * share[:, None]).ravel() + 2 * strength * apart
        return value, slope

    first = np.full(k, START / k) if start is None else start
    found = minimize(
        loss, first, jac=True, method="L-BFGS-B", bounds=[(0, None)] * k,
        options={"maxiter": STEPS, "ftol": SETTLED},
    )  # fmt: skip
    return np.asarray(found.x, dtype=np.float64)


def folds_of(codes: Codes) -> Codes:
    """Return the fold of each entry: those of a class take turns, in their order.

    >>> folds_of(np.array([0, 1, 0, 0])).tolist()
    [0, 0, 1, 2]
    """
    fold = np.empty(len(codes), dtype=np.intp)
    for c in np.unique(codes):
        of = np.flatnonzero(codes == c)
        fold[of] = np.arange(of.size) % FOLDS
    return fold


def stacked(
    evidence: Reals,
    log_shares: Reals,
    codes: Codes,
    counts: npt.ArrayLike,
    strengths: Sequence[float] = STRENGTHS,
) -> Stack:
    """Choose strength and weights by left-out examples, all of them."""
    share, fold = np.asarray(counts, dtype=np.float64), folds_of(codes)
    total = float(share.sum())
    said = [np.empty(evidence.shape[:2]) for _ in strengths]
    for f in range(FOLDS):
        seen, left = fold != f, fold == f
        weights: Reals | None = None
        for k, strength in enumerate(strengths):  # from strong to weak: each is a start for the next
            weights = least(evidence[seen], log_shares, codes[seen], share[seen], strength, weights)
            said[k][left] = pooled(evidence[left], log_shares, weights, total)
    best = _strongest(np.stack([losses_of(each, codes) for each in said]), share)
    weights = least(evidence, log_shares, codes, share, strengths[best])
    weights[weights < NEGLIGIBLE] = 0.0
    return Stack(weights, strengths[best], said[best])


def _strongest(losses: Reals, share: Reals) -> int:
    """Return the first line, from the strongest, whose loss is within half a standard error of the least one.

    >>> _strongest(np.array([[1.0, 1.2], [0.9, 1.25]]), np.ones(2))
    0
    """
    best = int(np.argmin(losses @ share))
    for k, line in enumerate(losses):
        apart, n = line - losses[best], float(share.sum())
        mean = float(share @ apart) / n
        if mean <= ERRORS * float(np.sqrt(share @ (apart - mean) ** 2)) / n:
            return k
    return best


def stack(
    evidence: Reals, log_shares: Reals, codes: Codes, counts: npt.ArrayLike, prices: Reals, most: float
) -> Stack:
    """Choose weights, with averages left out whose evidence is dear until the prices of the rest sum to ``most``.

    The averages that go are those of the least weight for their price. Of very many entries, some are used to choose.
    """
    from threadpoolctl import threadpool_limits

    # The products are small, and threads that wait for each other made this take twice as long.
    with threadpool_limits(1, "blas"):
        return _stack(evidence, log_shares, codes, counts, prices, most)


def _stack(
    evidence: Reals, log_shares: Reals, codes: Codes, counts: npt.ArrayLike, prices: Reals, most: float
) -> Stack:
    share = np.asarray(counts, dtype=np.float64)
    step = max(1, -(-evidence.size // MOST))
    some = slice(None, None, step)
    first = stacked(evidence[some], log_shares, codes[some], share[some])
    kept = np.flatnonzero(first.weights)
    if prices[kept].sum() > most:
        order = kept[np.argsort(-first.weights[kept] / prices[kept], kind="stable")]
        kept = np.sort(order[np.cumsum(prices[order]) <= most])
        kept = kept if kept.size else order[:1]
    if step == 1 and kept.size == np.count_nonzero(first.weights):
        return first
    again = stacked(evidence[some][..., kept], log_shares, codes[some], share[some], (first.strength,))
    weights = np.zeros(evidence.shape[2])
    weights[kept] = again.weights
    proba = again.proba if step == 1 else pooled(evidence, log_shares, weights, share.sum())
    return Stack(weights, first.strength, proba)
