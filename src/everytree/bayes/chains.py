"""What several chains of a sampler say about their own error.

For a quantity x with draw j of chain k written x_kj (n draws, K chains):

    split R-hat   √(((m − 1)/m · W + B/m) / W)  over half-chains of m draws: W their mean variance, B/m the variance
                  of their means; near 1 if the chains agree
    ESS           K·n / (1 + 2 Σ_t ρ_t), the autocorrelations ρ_t summed in pairs while the pairs are positive and
                  falling (Geyer): the number of independent draws that would tell as much
    batch means   the draws of a chain fall into batches; their means b vary by what the mean of the chain will

The error of a mean over all chains is √max(within, between), with
    within  = variance of batch means about their chain's mean / number of batches
    between = variance of the chains' means / K
The first is the sharper estimate when the chains mix; when they do not, the second one shows it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["batch_edges", "effective_draws", "mean_error", "split_rhat", "unseen_error"]

Reals = npt.NDArray[np.float64]
MOST_BATCHES = 25


def batch_edges(n_draws: int) -> npt.NDArray[np.intp]:
    """Return where the batches of a chain begin, and its end: about √n batches, at most 25.

    >>> batch_edges(20).tolist()
    [0, 5, 10, 15, 20]
    """
    n = max(1, min(MOST_BATCHES, int(np.sqrt(n_draws))))
    return (np.arange(n + 1) * n_draws) // n


def mean_error(batch_means: Reals) -> Reals:
    """Return the standard error of the mean over all draws, from batch means by (chain, batch, …).

    >>> mean_error(np.array([[1.0, 3.0], [1.0, 3.0]])).round(4).item()
    0.7071
    """
    chains, batches = batch_means.shape[:2]
    means = batch_means.mean(axis=1)
    zero = np.zeros(batch_means.shape[2:])
    within = zero
    if batches > 1:
        squares = ((batch_means - means[:, None]) ** 2).sum(axis=(0, 1)) / (chains * (batches - 1))
        within = squares / (chains * batches)
    between = means.var(axis=0, ddof=1) / chains if chains > 1 else zero
    error: Reals = np.sqrt(np.maximum(within, between))
    return error


def unseen_error(proba: Reals, frequencies: Reals, ess: float) -> Reals:
    """Return how far one more draw could move a mean, if it predicted the class frequencies or a single label.

    Where all draws agree, batches and chains see no error at all; but a tree of probability 1/ESS may well be missing
    among them, and may predict something else.
    """
    label = np.sqrt(np.clip(proba * (1 - proba), 0, None))
    moved: Reals = np.maximum(np.abs(proba - frequencies), label) / (ess + 1)
    return moved


def split_rhat(x: Reals) -> float:
    """Return split R-hat of draws by (chain, draw): 1 for a constant, infinite if every half-chain is stuck."""
    half = x.shape[1] // 2
    halves = np.concatenate([x[:, :half], x[:, x.shape[1] - half :]])
    means = halves.mean(axis=1)
    within = float(halves.var(axis=1, ddof=1).mean())
    between = float(means.var(ddof=1))
    if within <= 1e-20 * max(1.0, float(np.abs(x).max()) ** 2):
        return 1.0 if between <= within + 1e-20 * max(1.0, float(np.abs(x).max()) ** 2) else float("inf")
    return float(np.sqrt((half - 1) / half + between / within))


def effective_draws(x: Reals) -> float:
    """Return the effective number of independent draws among draws by (chain, draw)."""
    chains, n = x.shape
    size = 1 << (2 * n - 1).bit_length()
    centred = x - x.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, size, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n].mean(axis=0) / n
    within = float(x.var(axis=1, ddof=1).mean())
    between = float(x.mean(axis=1).var(ddof=1)) if chains > 1 else 0.0
    variance = within * (n - 1) / n + between
    if not variance > 1e-20 * max(1.0, float(np.abs(x).max()) ** 2):
        return float(chains * n)  # all draws are equal, so each one is worth as much as an independent one
    rho = 1.0 - (within - covariance) / variance
    rho[0] = 1.0
    total, last = 0.0, np.inf
    for t in range(0, n - 1, 2):
        pair = min(float(rho[t] + rho[t + 1]), last)
        if pair < 0:
            break
        total, last = total + pair, pair
    return float(min(chains * n / max(2.0 * total - 1.0, 1.0 / np.log10(chains * n + 10)), chains * n))
