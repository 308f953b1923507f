"""Stacking: how much the evidence of each of several averages counts, by what they say of examples they did not see.

    log P(c | x) = log s_c + Σ_k w_kc · log(p_k(c | x) / s_c) + const      s: the shares of the classes,  w ≥ 0

An average moves the shares of the classes by its evidence, log(p_k / s); the weights say how much of it counts beside
that of the others, class by class: an average may tell one class from the rest and know little else. With one average
and one weight w is an exponent around the shares; with w = 0 the shares are answered.

    w = argmin  Σ_i n_i · −log P(y_i | x_i, without i)  +  strength · Σ_k (w_k − mean of w over the kind of k)²
                                                        +  apart · Σ_kc (w_kc − w_k)²

with w_k the mean over the classes. Averages of one kind are held together; what is of another kind, such as a forest of
deep trees beside averages over small ones, is as free as they are all together (held to their mean instead, it had 1.3
times the log-loss on optdigits). The loss is convex in w. A great strength keeps all averages alike, a small one lets
few have most of the weight; ``apart`` likewise keeps the classes of an average together, and infinity makes them one.
Two classes always are: what speaks for one speaks against the other (apart, the log-loss was 0.8 % higher on six sets).
Taken is the greatest strength whose log-loss, in a cross-validation over the left-out examples, is within half a
standard error of the least, and then in the same way the greatest ``apart``. (With the least itself, and with a whole
standard error, the log-loss was 1 to 2 % higher on data sets that settings were chosen on, the one on small, the other
on larger training parts.) What is said of an example in that cross-validation comes from weights that did not see it,
so that the loss is an honest one.

Weights are chosen as if a part of the examples, 9 / n^1.5, had a class drawn by the shares. Evidence that is right of
every left-out example would else be believed without end: of 75 irises it said 0.996 of what was right for 0.92, and
the log-loss was 0.47 instead of 0.30. The part falls faster than 1 / n, because the more examples are without an
error, the likelier it is that there is no noise at all. (Measured were 0, 1 and 2 examples whatever n, between which
it lies from 21 on: 1.148, 1.076 and 1.060 of a calibrated forest's log-loss on four small or nearly errorless sets
that settings were chosen on, 0.922, 0.922 and 0.921 on twelve others.)

n examples never show that nothing else can happen: the shares keep ε = 1 / (4 n) of the answer, P = (1 − ε) P + ε s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "APARTS", "SLIP", "STRENGTHS", "Stack", "folds_of", "least", "least_by_class", "losses_of", "pooled",
    "stack",
    "stacked",
]  # fmt: skip

Reals = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
STRENGTHS = (1000.0, 100.0, 10.0, 1.0)
APARTS = (math.inf, 100.0, 10.0)
FOLDS = 5
STEPS = 200
SETTLED = 1e-9  # relative: a step that gains less ends the search
NEGLIGIBLE = 1e-4  # averages below this weight are left out: each costs time
# Numbers that weights are chosen from; of more entries, evenly spread ones are taken first.
MOST = 2_000_000
FEWEST = 20_000  # however little time there is,
ENOUGH = 2_000  # but of so many entries where no time is left
AVERAGES = 8  # and so many averages are weighed by all entries, or by twice as many numbers
SECONDS = 6.5e-7, 2.5e-6  # for one of them, and for one of an entry with its classes
ERRORS = 0.5  # so many standard errors a strength may be worse than the best one
UNSURE = 9.0  # over n^1.5: the part of n examples that may have any class, where weights are chosen
SLIP = 0.25  # of an example: what the shares keep of every answer
BLOCK = 100_000  # probabilities that are pooled at a time
START = 1.5  # the sum of the weights that the search begins with


@dataclass(frozen=True)
class Stack:
    """Weights of evidence, what held them together, and what is said of every left-out example.

    ``weights`` has a line for each average and a column for each class. ``proba`` comes from weights that were chosen
    without a fifth of the entries, to which the entry belongs; where ``by_folds`` is false, from ``weights``.
    """

    weights: Reals
    strength: float
    apart: float
    proba: Reals
    by_folds: bool = True


def pooled(evidence: Reals, log_shares: Reals, weights: Reals, total: float) -> Reals:
    """Return P(class) of rows; ``evidence`` is log(p_k / s), of shape (rows, classes, averages), from so many examples.

    ``weights`` has one for each average, or a line of one for each class.

    >>> moved = np.log(np.array([[[0.8, 0.8], [0.2, 0.2]]]) / 0.5)
    >>> pooled(moved, np.log([0.5, 0.5]), np.array([1.0, 1.0]), 1000).round(3).tolist()
    [[0.941, 0.059]]
    """
    kept, found = SLIP / total, np.empty(evidence.shape[:2])
    size = max(1, BLOCK // max(1, evidence.shape[1]))
    for begin in range(0, len(found), size):  # in blocks: what comes and goes is then small
        some = evidence[begin : begin + size]
        moved = some @ weights if weights.ndim == 1 else np.einsum("nck,kc->nc", some, weights)
        logs = moved + log_shares
        powers = np.exp(logs - logs.max(axis=1, keepdims=True))
        powers = (1 - kept) * powers / powers.sum(axis=1, keepdims=True)
        found[begin : begin + size] = powers + kept * np.exp(log_shares)
    return found


def losses_of(proba: Reals, codes: Codes) -> Reals:
    """Return −log of the probability of the true class."""
    return -np.log(np.maximum(proba[np.arange(len(codes)), codes], np.finfo(np.float64).tiny))


def _means(values: Reals, kinds: Codes | None) -> Reals:
    """Return for each value the mean of those of its kind.

    >>> _means(np.array([1.0, 3.0, 7.0]), np.array([0, 0, 1])).tolist()
    [2.0, 2.0, 7.0]
    """
    if kinds is None:
        return np.full(values.size, values.mean())
    means = np.bincount(kinds, values) / np.maximum(1, np.bincount(kinds))
    return np.asarray(means[kinds])


def _softened(codes: Codes, log_shares: Reals, total: float) -> Reals:
    """Return the classes of entries as shares: their own, but for the part of all that may have any class.

    >>> _softened(np.array([0, 1]), np.log([0.5, 0.5]), 36.0).round(3).tolist()
    [[0.979, 0.021], [0.021, 0.979]]
    """
    unsure = min(0.5, UNSURE / total**1.5)
    truth = np.tile(unsure * np.exp(log_shares), (len(codes), 1))
    truth[np.arange(len(codes)), codes] += 1 - unsure
    return truth


def least(
    evidence: Reals,
    log_shares: Reals,
    codes: Codes,
    counts: npt.ArrayLike,
    strength: float,
    start: Reals | None = None,
    kinds: Codes | None = None,
    spare: bool = False,
) -> Reals:
    """Return the weights of least loss under one strength, the same for all classes.

    ``evidence`` is overwritten where it is ``spare``, as it is the largest thing there is. ``kinds`` has a number for
    each average; those with the same one are held together. None for one kind.
    """
    from scipy.optimize import minimize

    n, n_classes, k = evidence.shape
    if k == 0 or n == 0:
        return np.zeros(k)
    share = np.asarray(counts, dtype=np.float64)
    truth = _softened(codes, log_shares, share.sum())
    right = np.einsum("nck,nc->nk", evidence, truth)[:, None, :]
    moved = np.subtract(evidence, right, out=evidence if spare else None).reshape(n * n_classes, k)
    del right
    before = log_shares[None, :] - (truth @ log_shares)[:, None]
    del truth

    def loss(weights: Reals) -> tuple[float, Reals]:
        powers = (moved @ weights).reshape(n, n_classes)  # in place from here on, until they are the slope
        powers += before
        most = powers.max(axis=1, keepdims=True)
        powers -= most
        np.exp(powers, out=powers)
        total = powers.sum(axis=1, keepdims=True)
        apart = weights - _means(weights, kinds)
        value = float(share @ (np.log(total) + most)[:, 0] + strength * (apart @ apart))
        powers /= total
        powers *= share[:, None]
        slope = moved.T @ powers.ravel() + 2 * strength * apart
        return value, slope

    first = np.full(k, START / k) if start is None else start
    found = minimize(
        loss, first, jac=True, method="L-BFGS-B", bounds=[(0, None)] * k,
        options={"maxiter": STEPS, "ftol": SETTLED},
    )  # fmt: skip
    return np.asarray(found.x, dtype=np.float64)


def least_by_class(
    evidence: Reals,
    log_shares: Reals,
    codes: Codes,
    counts: npt.ArrayLike,
    strength: float,
    apart: float,
    start: Reals,
    kinds: Codes | None = None,
) -> Reals:
    """Return the weights of least loss, one for each average and class; ``start`` are those of the averages."""
    from scipy.optimize import minimize

    n, n_classes, k = evidence.shape
    if k == 0 or n == 0 or math.isinf(apart):
        return np.repeat(start[:, None], n_classes, axis=1)
    by_class = np.ascontiguousarray(
        evidence.transpose(1, 0, 2)
    )  # so that each class is one product of a matrix
    share = np.asarray(counts, dtype=np.float64)
    truth = _softened(codes, log_shares, share.sum()).T

    def loss(flat: Reals) -> tuple[float, Reals]:
        weights = flat.reshape(n_classes, k)
        logs = np.matmul(by_class, weights[:, :, None])[:, :, 0] + log_shares[:, None]
        most = logs.max(axis=0)
        powers = np.exp(logs - most)
        total = powers.sum(axis=0)
        means = weights.mean(axis=0)
        among, within = means - _means(means, kinds), weights - means
        value = share @ (np.log(total) + most - (truth * logs).sum(axis=0))
        value += strength * (among @ among) + apart * (within**2).sum()
        off = powers / total - truth
        slope = np.matmul((off * share)[:, None, :], by_class)[:, 0, :]
        slope += 2 * strength / n_classes * among + 2 * apart * within
        return float(value), slope.ravel()

    found = minimize(
        loss, np.tile(start, n_classes), jac=True, method="L-BFGS-B", bounds=[(0, None)] * (k * n_classes),
        options={"maxiter": STEPS, "ftol": SETTLED},
    )  # fmt: skip
    return np.asarray(found.x, dtype=np.float64).reshape(n_classes, k).T


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
    aparts: Sequence[float] = APARTS,
    kinds: Codes | None = None,
) -> Stack:
    """Choose strength, ``apart`` and weights by left-out examples, all of them."""
    if evidence.shape[1] < 3:
        aparts = (math.inf,)
    share, fold = np.asarray(counts, dtype=np.float64), folds_of(codes)
    total = float(share.sum())
    # Losses alone: what is said is as many times larger as there are classes.
    losses = np.empty((len(strengths), len(codes)))
    shared: list[list[Reals]] = []  # the weights of each fold, for each strength
    for f in range(FOLDS):
        seen, left = fold != f, fold == f
        weights: Reals | None = None
        shared.append([])
        for k, strength in enumerate(strengths):  # from strong to weak: each is a start for the next
            weights = least(
                evidence[seen], log_shares, codes[seen], share[seen], strength, weights, kinds, spare=True
            )
            shared[f].append(weights)
            losses[k, left] = losses_of(pooled(evidence[left], log_shares, weights, total), codes[left])
    best = _strongest(losses, share)
    del losses
    strength, said = strengths[best], np.empty(evidence.shape[:2])
    for f in range(FOLDS):
        left = fold == f
        said[left] = pooled(evidence[left], log_shares, shared[f][best], total)
    by_class = [said if math.isinf(apart) else np.empty(evidence.shape[:2]) for apart in aparts]
    for k, apart in enumerate(aparts):
        for f in range(FOLDS if math.isfinite(apart) else 0):
            seen, left = fold != f, fold == f
            own = least_by_class(
                evidence[seen], log_shares, codes[seen], share[seen], strength, apart, shared[f][best], kinds
            )
            by_class[k][left] = pooled(evidence[left], log_shares, own, total)
    wide = _strongest(np.stack([losses_of(each, codes) for each in by_class]), share)
    weights = least(evidence, log_shares, codes, share, strength, None, kinds)
    chosen = least_by_class(evidence, log_shares, codes, share, strength, aparts[wide], weights, kinds)
    chosen[chosen < NEGLIGIBLE] = 0.0
    return Stack(chosen, strength, aparts[wide], by_class[wide])


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
    evidence: Reals,
    log_shares: Reals,
    codes: Codes,
    counts: npt.ArrayLike,
    prices: Reals,
    most: float,
    kinds: Codes | None = None,
    seconds: float | None = None,
    numbers: int = MOST,
) -> Stack:
    """Choose weights, with averages left out whose evidence is dear until the prices of the rest sum to ``most``.

    The averages that go are those of the least weight for their price. Of very many entries, some are used to choose:
    the fewer, the fewer seconds are left, and no more than ``numbers`` of their numbers.
    """
    from threadpoolctl import threadpool_limits

    # The products are small, and threads that wait for each other made this take twice as long.
    with threadpool_limits(1, "blas"):
        each = SECONDS[0] + SECONDS[1] / evidence.shape[1]
        if seconds is not None:
            fewest = min(FEWEST, ENOUGH * evidence.shape[1] * evidence.shape[2])
            numbers = int(min(numbers, max(fewest, seconds / each)))
        return _stack(evidence, log_shares, codes, counts, prices, most, kinds, numbers)


def _stack(
    evidence: Reals,
    log_shares: Reals,
    codes: Codes,
    counts: npt.ArrayLike,
    prices: Reals,
    most: float,
    kinds: Codes | None,
    numbers: int,
) -> Stack:
    share = np.asarray(counts, dtype=np.float64)
    step = max(1, -(-evidence.size // numbers))
    some = slice(None, None, step)
    first = stacked(evidence[some], log_shares, codes[some], share[some], kinds=kinds)
    means = first.weights.mean(axis=1)
    kept = np.flatnonzero(means)
    if prices[kept].sum() > most:
        order = kept[np.argsort(-means[kept] / prices[kept], kind="stable")]
        kept = np.sort(order[np.cumsum(prices[order]) <= most])
        kept = kept if kept.size else order[:1]
    if step == 1 and kept.size == np.count_nonzero(means):
        return first
    # Where some of the entries chose, the averages of most weight that fit are weighed by all of them: with weights
    # from a third of the entries the log-loss of optdigits was 1.18 times as high.
    fitting = max(AVERAGES, numbers // max(1, evidence.shape[0] * evidence.shape[1]))
    if step > 1 and kept.size > fitting:
        kept = np.sort(kept[np.argsort(-means[kept], kind="stable")[:fitting]])
    step = max(1, -(-evidence[..., kept].size // (2 * numbers)))
    some = slice(None, None, step)
    held = (first.strength,), (first.apart,)
    own = None if kinds is None else kinds[kept]
    again = stacked(evidence[some][..., kept], log_shares, codes[some], share[some], *held, kinds=own)
    weights = np.zeros((evidence.shape[2], evidence.shape[1]))
    weights[kept] = again.weights
    proba = again.proba if step == 1 else pooled(evidence, log_shares, weights, share.sum())
    return Stack(weights, first.strength, first.apart, proba, step == 1)
