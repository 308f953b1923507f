"""The benchmark of chains runs, on a small table."""

from __future__ import annotations

import numpy as np
import pytest

import bench_mcmc
import mcmc_peers


def small(name: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 5)).astype(np.uint8)
    return X, (X[:, 0] ^ (rng.random(60) < 0.2)).astype(np.uint8)


def test_chains_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_mcmc, "load", small)
    rows = bench_mcmc.mixing("small", 0.1, None)
    assert [row["chain"] for row in rows] == [
        "everytree, plain", "everytree, informed", "everytree, tempered (default)", "reference (plain Python)",
    ]  # fmt: skip
    assert all(row["ESS"] > 0 for row in rows)
    assert rows[3]["ours / this"] > 1
    speeds = bench_mcmc.speed(0.01)
    assert all(row["proposals per second"] > 1000 for row in speeds)


def test_peers_have_the_prior_of_ours() -> None:
    assert (mcmc_peers.DEPTH, mcmc_peers.ALPHA, mcmc_peers.BETA, mcmc_peers.LEAST) == (4, 0.8, 0.8, 2)
