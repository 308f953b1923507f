"""Run all chains on the threads of the space, or each on a worker of joblib, and collect their draws by chain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from everytree.common.workers import n_elsewhere
from everytree.mcmc.bar import sampling_bar
from everytree.mcmc.draws import DrawnTrees
from everytree.mcmc.elsewhere import run_elsewhere
from everytree.mcmc.sampler import Annealing, Plan, TreeSampler, by_chain, of_one_length

__all__ = ["Run", "run_chains"]

Reals = npt.NDArray[np.float64]


@dataclass
class Run:
    """The result of a run of all chains: draws by chain, how often moves were accepted, and the best tree visited."""

    which: npt.NDArray[np.uint32]
    burn_in: tuple[Reals, Reals] | None  # log prior and log data of the draws that were not kept, if traced
    proposed: npt.NDArray[np.float64]  # by chain and kind of move
    accepted: npt.NDArray[np.float64]
    best: tuple[int, ...]
    best_log_target: float
    stopped: str


def run_chains(
    sampler: TreeSampler,
    trees: DrawnTrees,
    n_draws: int,
    burn_in: int,
    thin: int,
    *,
    anneal: Annealing | None = None,
    trace: bool = False,
    bar: bool = False,
) -> Run:
    """Leave out ``burn_in`` draws and keep ``n_draws`` of each chain; ``trace`` records the log targets of the burn-in.

    At a limit the draws are those made so far, at least one of each chain: its tree at that moment.
    """
    plan = Plan(n_draws, burn_in, thin, anneal, trace)
    with sampling_bar(sampler.space, bar, (burn_in + n_draws) * sampler.n_chains) as shown:
        if sampler.n_chains > 1 and n_elsewhere():
            parts = run_elsewhere(sampler, plan)
        else:
            parts = sampler.run_here(plan, shown if bar else None)
    which = [of_one_length([trees.add(chain) for chain in part], np.uint32) for part in parts.kept]
    early = parts.early
    best = max(parts.kept[-1], key=lambda chain: float(chain["best_log_target"]))
    return Run(
        np.concatenate([one for one in which if one.shape[1]], axis=1),
        (by_chain(early, "log_prior"), by_chain(early, "log_data")) if early else None,
        parts.tried[0],
        parts.tried[1],
        tuple(int(test) for test in best["best"]),
        float(best["best_log_target"]),
        parts.stopped,
    )
