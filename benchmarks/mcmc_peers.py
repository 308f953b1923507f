"""Chains over trees as other packages run them, for ``bench_mcmc.py``: one JSON line with a trace and its CPU seconds.

    python mcmc_peers.py bayesml data.npz 20        about this many seconds
    python mcmc_peers.py stochtree data.npz 20

Uses none of everytree, so that it runs wherever the package is installed.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from typing import Any

import numpy as np

DEPTH, ALPHA, BETA, LEAST = 4, 0.8, 0.8, 2


def bayesml(X: Any, y: Any, n: int) -> tuple[list[float], str]:
    """Meta-trees: the tests of a full tree are drawn, all its prunings summed; log marginal likelihood of each."""
    from bayesml import bernoulli, metatree

    model = metatree.LearnModel(
        c_dim_continuous=0, c_dim_categorical=X.shape[1], c_num_children_vec=2, c_max_depth=DEPTH, SubModel=bernoulli,
        sub_h0_params={"h0_alpha": 1.0, "h0_beta": 1.0},
    )  # fmt: skip
    model.update_posterior(None, X, y, alg_type="MTMCMC", burn_in=n // 4, num_metatrees=n, seed=0)
    stays = np.rint(np.asarray(model.hn_metatree_prob_vec) * (n + 1)).astype(int)
    values = [float(root.log_marginal_likelihood) for root in model.hn_metatree_list]
    return np.repeat(values, stays).tolist(), "log marginal likelihood of the meta-tree"


def stochtree(X: Any, y: Any, n: int) -> tuple[list[float], str]:
    """BART with one tree and a probit link: leaves carry drawn numbers; log likelihood of the training data."""
    from stochtree import BARTModel, OutcomeModel

    model = BARTModel()
    general = {
        "random_seed": 1, "num_chains": 1, "num_threads": 1,
        "outcome_model": OutcomeModel(outcome="binary", link="probit"),
    }  # fmt: skip
    forest = {
        "num_trees": 1, "alpha": ALPHA, "beta": BETA, "min_samples_leaf": LEAST, "max_depth": DEPTH,
        "sample_sigma2_leaf": False,
    }  # fmt: skip
    model.sample(
        X_train=X.astype(float), y_train=y.astype(float), num_gfr=0, num_burnin=n // 4, num_mcmc=n,
        general_params=general, mean_forest_params=forest,
    )  # fmt: skip
    p = np.clip(
        model.predict(X.astype(float), type="posterior", terms="y_hat", scale="probability"), 1e-12, 1 - 1e-12
    )
    return np.where(y[:, None] == 1, np.log(p), np.log(1 - p)).sum(axis=0).tolist(), "log likelihood"


def main() -> None:
    name, path, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")  # some print as they go
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    data = np.load(path)
    run = {"bayesml": bayesml, "stochtree": stochtree}[name]
    n, spent = 100, 0.0
    while True:
        begin = time.process_time()
        trace, what = run(data["X"], data["y"], n)
        spent = time.process_time() - begin
        if spent > seconds / 2:
            break
        n = int(n * min(10, max(1.5, 0.9 * seconds / max(spent, 1e-3))))
    print(json.dumps({"trace": trace, "what": what, "seconds": spent, "draws": n}), file=answers, flush=True)


if __name__ == "__main__":
    main()
