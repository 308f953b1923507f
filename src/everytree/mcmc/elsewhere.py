"""Run chains on joblib's workers, one task for each chain; the draws are the same as in one process.

A chain travels as its state: its trees, the places moves choose from, and the state of its random numbers. It goes to
a worker, runs, and comes back, so that it can continue anywhere. A worker that dies costs a chain its time and no
draw: the same state is sent again.
"""

from __future__ import annotations

import copy
import time
from dataclasses import replace
from typing import Any

import numpy as np

from everytree.common.limits import Limits
from everytree.common.workers import n_elsewhere, results
from everytree.engine.engine import Engine
from everytree.mcmc.sampler import TRIED, Parts, Plan, TreeSampler
from everytree.mcmc.target import PosteriorTarget, RiskTarget

__all__ = ["run_elsewhere"]


def run_elsewhere(sampler: TreeSampler, plan: Plan) -> Parts:
    """Run every chain on a worker; progress is shown in whole chains."""
    n, space = sampler.n_chains, sampler.space
    limits = Limits(space.limits.time_limit, space.limits.memory_limit)
    if limits.time_limit is not None:  # chains that wait for others share it
        limits = replace(limits, time_limit=limits.time_limit / -(-n // n_elsewhere()))
    tasks = [(space, sampler.target, sampler.alone, sampler.state(chain), plan, limits) for chain in range(n)]
    found: dict[int, Parts] = {}
    began, progress = time.monotonic(), space.limits.progress
    for chain, (parts, state) in results(_run_one, tasks):
        found[chain] = parts
        sampler.restore(chain, state)
        if progress is not None:
            draws = plan.burn_in + plan.n_draws
            progress("sampling trees", len(found) * draws, n * draws, time.monotonic() - began)
    chains = [found[chain] for chain in range(n)]
    return Parts(
        [one for parts in chains for one in parts.early],
        [[parts.kept[-1][0] for parts in chains]],
        np.concatenate([parts.tried for parts in chains], axis=1).reshape(2, n, len(TRIED)),
        next((parts.stopped for parts in chains if parts.stopped), ""),
    )


def _run_one(
    space: Engine,
    target: PosteriorTarget | RiskTarget,
    settings: dict[str, Any],
    state: Any,
    plan: Plan,
    limits: Limits,
) -> tuple[Parts, Any]:
    """Run one chain from its state to the end of the plan, in whichever process this is."""
    own = copy.copy(space)  # workers that are threads would share the space
    own.limits = limits
    sampler = TreeSampler(own, target, n_chains=1, seed=0, **settings)
    sampler.restore(0, state)
    return sampler.run_here(plan), sampler.state(0)
