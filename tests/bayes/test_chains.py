"""Diagnostics of chains on processes whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from everytree.bayes.chains import Reals, batch_edges, effective_draws, mean_error, split_rhat


def autoregressive(rho: float, chains: int, n: int, seed: int) -> Reals:
    """x_t = ρ x_{t−1} + noise with variance 1: n effective draws are n (1 − ρ) / (1 + ρ)."""
    noise = np.random.default_rng(seed).normal(size=(chains, n))
    noise[:, 1:] *= np.sqrt(1 - rho**2)
    return np.asarray(lfilter([1.0], [1.0, -rho], noise, axis=1))


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_effective_draws_of_an_autoregression(rho: float) -> None:
    found = np.mean([effective_draws(autoregressive(rho, 4, 2000, seed)) for seed in range(10)])
    assert found == pytest.approx(8000 * (1 - rho) / (1 + rho), rel=0.12)


@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_batch_means_are_calibrated(rho: float) -> None:
    scores = []
    for seed in range(300):
        x = autoregressive(rho, 4, 1000, seed)
        edges = batch_edges(1000)
        means = np.add.reduceat(x, edges[:-1], axis=1) / np.diff(edges)
        scores.append(x.mean() / mean_error(means))
    assert 0.75 < np.sqrt(np.mean(np.square(scores))) < 1.05  # a little on the safe side: the larger of two


def test_chains_apart_are_seen() -> None:
    x = autoregressive(0.3, 4, 400, 0)
    assert split_rhat(x) < 1.03
    apart = x + np.array([[0.0], [0.0], [0.0], [3.0]])
    assert split_rhat(apart) > 1.5
    assert effective_draws(apart) < 30
    means = apart.reshape(4, 20, 20).mean(axis=2)
    assert mean_error(means) > 0.5  # batches alone would say 0.05
    drifting = x + np.linspace(0, 5, 400)
    assert split_rhat(drifting) > 1.2


def test_constants() -> None:
    x = np.full((3, 50), -1234.5)
    assert split_rhat(x) == 1
    assert effective_draws(x) == 150
    assert split_rhat(x + np.arange(3)[:, None]) == np.inf
    assert mean_error(np.full((1, 1, 4), 0.5)).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("n", [20, 21, 99, 2000, 10**6])
def test_batches_cover_all_draws(n: int) -> None:
    edges = batch_edges(n)
    assert edges[0] == 0
    assert edges[-1] == n
    sizes = np.diff(edges)
    assert sizes.min() >= 4
    assert sizes.max() - sizes.min() <= 1
    assert len(sizes) <= 25
