"""Chains on real tables: what they say of trees and predictions converges to the exact posterior."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from chain_cases import Small, effective

import everytree._core as core
from everytree.bayes.chains import batch_edges, mean_error, split_rhat
from everytree.space.tree_space import TreeSpace
from everytree.weights.dirichlet import dirichlet_rows

CP4IM = Path(__file__).parents[3] / "shared" / "data" / "cp4im"
REGROWTH = (0.2, 0.2, 0.2, 0.2, 0.2)


@pytest.mark.long
@pytest.mark.skipif(not CP4IM.is_dir(), reason="the CP4IM files are not here")
@pytest.mark.parametrize("name", ["heart-cleveland", "vote"])
def test_heart_and_vote_converge_to_the_exact_average(name: str) -> None:
    data = np.loadtxt(CP4IM / f"{name}.txt", dtype=np.uint8)
    small = Small(1, "size")
    small.space = TreeSpace(data[:, 1:], data[:, 0], 3, 10)
    posterior = small.space.posterior()
    n = 3000
    chains, _ = small.chains(odds=REGROWTH, blind=0.1, n_chains=4, seed=1, ladder=[1.0, 0.6, 0.3]).run(
        n, 100, 100, [], small.control()
    )
    assert effective(chains) > 500
    log = np.array([chain["log_prior"] + chain["log_data"] for chain in chains])
    assert split_rhat(log) < 1.02
    # Predictions, by batches of draws.
    rows = np.ascontiguousarray(np.unique(data[:, 1:], axis=0)[::20])
    exact = posterior.predict_proba(rows)
    edges = batch_edges(n)
    means = np.empty((4, len(edges) - 1, len(rows), 2))
    for k, chain in enumerate(chains):
        for batch in range(len(edges) - 1):
            drawn = chain["which"][edges[batch] : edges[batch + 1]]
            weights = np.bincount(drawn, minlength=len(chain["ends"])) / len(drawn)
            means[k, batch] = core.predict_draws(
                small.space.core_table(),
                chain["keys"],
                chain["ends"],
                weights,
                core.Dirichlet(dirichlet_rows(1.0, 2, 3)),
                rows,
                1,
                small.control(),
            )
    error = mean_error(means)
    assert error.max() < 0.02
    off = np.abs(means.mean(axis=(0, 1)) - exact) / (error + 1e-4)
    assert off.max() < 6
    assert math.sqrt(np.mean(off**2)) < 2
    # Leaves.
    leaves = np.mean([chain["leaves"][chain["which"]].mean() for chain in chains])
    assert leaves == pytest.approx(posterior.expected_leaves, abs=0.15)
    assert (
        max(chain["best_log_target"] for chain in chains)
        <= posterior.log_prob(posterior.map_tree()) + posterior.log_evidence + 1e-9
    )
