"""Blending: several ways to weigh the same evidence, each as far as left-out examples speak for it.

A way j says P_j(c | x) ∝ s_c · exp Σ_k w_jkc · log(p_k(c | x) / s_c). With shares λ_j ≥ 0 that sum to one the blend

    P(c | x) ∝ Π_j P_j(c | x)^λ_j      has the weights      w = Σ_j λ_j w_j

so that a blend is weights of evidence like any other: it costs nothing, and nobody need know of it who predicts.

    λ = argmin  Σ_i n_i · −log P(y_i | x_i, without i)  −  Σ_j log λ_j

The loss is convex in λ; the second term is one example for each way, so that none is left out by chance. What is
said of a left-out example comes from weights and shares that were chosen without the fifth of the entries it is in.

Which of two ways is better, few examples cannot tell; a choice between them is wrong nearly as often as right, and the
mean of both seldom is. Averages alone, forests alone, and both weighed together, in place of the first or the last by
a test: 0.983 of the log-loss on 18 data sets that settings were chosen on (0.942 -> 0.926 of a calibrated forest's).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from everytree.bayes.stacking import FOLDS, Stack, folds_of, stack

__all__ = ["Blend", "blend", "shares_of", "weigh"]

Reals = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
EXAMPLES = 1.0  # that speak for each way beforehand
MOST = 50_000  # numbers of each way that shares are chosen from; of more entries, evenly spread ones
STEPS = 100
TIMES = 0.4, 0.4, 0.2  # the parts of the time that averages alone, both together, and forests alone have


@dataclass(frozen=True)
class Blend:
    """Which averages and forests have weights, these (a line each), and what is said of every left-out example.

    Where ``by_folds`` is false that comes from the same weights, which were chosen by a part of the examples.
    """

    kept: list[int]
    weights: Reals
    proba: Reals
    by_folds: bool = True


def weigh(
    evidence: Reals,
    n_averages: int,
    log_shares: Reals,
    codes: Codes,
    counts: npt.ArrayLike,
    prices: Reals,
    most: float,
    seconds: float | None,
    numbers: int,
) -> Blend:
    """Weigh averages and the forests behind them: averages alone, forests alone, and both together, blended.

    The arguments are those of ``stack``, with prices of the averages only. An average that counts for nothing among
    averages alone is left out altogether, so that predictions take no longer.
    """
    from threadpoolctl import threadpool_limits

    deep = evidence.shape[2] - n_averages
    times = [None if seconds is None else part * seconds for part in (TIMES if deep else (1.0, 0.0, 0.0))]
    among = evidence[..., :n_averages]
    alone = stack(among, log_shares, codes, counts, prices, most, None, times[0], numbers)
    kept = np.flatnonzero(alone.weights.any(axis=1)).tolist() or [0]
    if not deep:
        return Blend(kept, alone.weights[kept], alone.proba, alone.by_folds)
    n, kept = len(kept), [*kept, *range(n_averages, evidence.shape[2])]
    evidence = evidence if len(kept) == evidence.shape[2] else evidence[..., kept]
    free = np.zeros(len(kept))
    # Averages are of one kind, each forest of its own.
    kinds = np.array([0] * n + [1 + k for k in range(deep)])
    both = stack(evidence, log_shares, codes, counts, free, most, kinds, times[1], numbers)
    forests = stack(evidence[..., n:], log_shares, codes, counts, free[n:], most, None, times[2], numbers)
    nothing = np.zeros_like(both.weights)
    ways = (
        replace(alone, weights=np.concatenate([alone.weights[kept[:n]], nothing[n:]])),
        both,
        replace(forests, weights=np.concatenate([nothing[:n], forests.weights])),
    )
    # Three numbers are sought: threads that wait for each other took ten times as long (letter: 0.53 and 0.055 s).
    with threadpool_limits(1, "blas"):
        weights, proba = blend(ways, codes, counts)
    counting = [k for k in range(len(kept)) if k < n or weights[k].any()]
    return Blend([kept[k] for k in counting], weights[counting], proba)


def shares_of(logs: Reals, codes: Codes, counts: npt.ArrayLike) -> Reals:
    """Return the share of each way; ``logs`` are log-probabilities of shape (entries, classes, ways).

    >>> sure, unsure = [[0.9, 0.1]] * 50, [[0.5, 0.5]] * 50
    >>> logs = np.log(np.stack([sure, unsure], axis=2))
    >>> shares_of(logs, np.zeros(50, dtype=np.intp), np.ones(50)).round(2).tolist()
    [0.93, 0.07]
    """
    from scipy.optimize import minimize

    n, n_classes, n_ways = logs.shape
    flat = logs.reshape(n * n_classes, n_ways)
    share = np.asarray(counts, dtype=np.float64)
    true = share @ logs[np.arange(len(codes)), codes]

    def loss(free: Reals) -> tuple[float, Reals]:
        powers = np.exp(free - free.max())
        shares = powers / powers.sum()
        moved = (flat @ shares).reshape(n, n_classes)
        most = moved.max(axis=1, keepdims=True)
        proba = np.exp(moved - most)
        total = proba.sum(axis=1, keepdims=True)
        value = float(share @ (np.log(total) + most)[:, 0] - true @ shares)
        slope = (proba / total * share[:, None]).ravel() @ flat - true
        slope -= EXAMPLES / shares
        value -= EXAMPLES * float(np.log(shares).sum())
        return value, shares * (slope - shares @ slope)

    bounds = [(-20.0, 20.0)] * n_ways  # So far from equal shares nothing is left of a way.
    found = minimize(
        loss, np.zeros(n_ways), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS}
    )
    powers = np.exp(found.x - found.x.max())
    return np.asarray(powers / powers.sum(), dtype=np.float64)


def blended(logs: Reals, shares: Reals) -> Reals:
    """Return the probabilities of the blend."""
    moved = logs @ shares
    proba = np.exp(moved - moved.max(axis=1, keepdims=True))
    return np.asarray(proba / proba.sum(axis=1, keepdims=True))


def blend(ways: Sequence[Stack], codes: Codes, counts: npt.ArrayLike) -> tuple[Reals, Reals]:
    """Return the weights of the blend, and what it says of left-out examples.

    The weights of all ways must be of the same shape, with zeros for what a way leaves out.
    """
    share = np.asarray(counts, dtype=np.float64)
    logs = np.log(np.maximum(np.stack([way.proba for way in ways], axis=2), np.finfo(np.float64).tiny))
    step = max(1, -(-logs[..., 0].size // MOST))
    chosen = shares_of(logs[::step], codes[::step], share[::step])
    fold, said = folds_of(codes), np.empty(logs.shape[:2])
    for f in range(FOLDS):
        left = fold == f
        seen = np.flatnonzero(~left)[::step]
        said[left] = blended(logs[left], shares_of(logs[seen], codes[seen], share[seen]))
    weights = sum(part * way.weights for part, way in zip(chosen, ways, strict=True))
    return np.asarray(weights), said
