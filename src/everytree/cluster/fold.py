"""The posterior with its evidence computed in parts on joblib's workers, and its predictions by blocks of rows."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.bayes.fold_parts import fold_in_parts
from everytree.bayes.posterior import Posterior
from everytree.common.arguments import whole
from everytree.common.workers import held, release, results
from everytree.engine.rows import core_rows
from everytree.space.tree_space import TreeSpace
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import Prior

__all__ = ["posterior", "predict_proba"]

BLOCK = 1000  # rows that are handed out at once

Reals = npt.NDArray[np.float64]


def posterior(
    space: TreeSpace,
    prior: Prior | str | None = None,
    dirichlet: Dirichlet = 1.0,
    *,
    n_parts: int | None = None,
    n_jobs: int | None = None,
    power: float = 1.0,
) -> Posterior:
    """Compute the posterior of a space, with most of the work done by joblib's workers.

    Every number of the result is the same, to the last bit, as that of ``space.posterior(prior, dirichlet)``.

    Parameters
    ----------
    space : TreeSpace
        The trees and the data.
    prior : Prior or str, optional
        The prior over trees, by default ``SizePrior()``.
    dirichlet : float, sequence of float, "1/C" or DepthDecay, default 1.0
        The Dirichlet parameters of the leaves.
    n_parts : int, optional
        The number of parts that are handed out; by default four for each worker, and more where the limit of memory
        leaves no room for parts of that size.
    n_jobs : int, optional
        The number of workers; by default that of ``joblib.parallel_config``.
    power : float, default 1.0
        The power of the leaf weights: a leaf weighs its marginal likelihood to the power of it.

    Returns
    -------
    Posterior
        The posterior over every tree of the space.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    >>> posterior(space).log_evidence == space.posterior().log_evidence
    True
    """
    chosen = space.prior_of(prior)
    return Posterior.folded(
        space, chosen, dirichlet, *fold_in_parts(space, chosen, dirichlet, n_parts, n_jobs, power), power
    )


def predict_proba(
    post: Posterior, X: npt.ArrayLike, *, block: int = BLOCK, n_jobs: int | None = None
) -> Reals:
    """Predict class probabilities with a posterior, with blocks of rows on joblib's workers.

    Each worker computes the posterior once, so this pays for many rows. The ``time_limit`` of the space holds for the
    whole, ``memory_limit`` for the answer and for each worker.

    Parameters
    ----------
    post : Posterior
        The posterior over every tree.
    X : 0/1 matrix, shape (n_rows, n_tests)
        The outcomes of the tests for each row.
    block : int, default 1000
        The number of rows that are handed out at once.
    n_jobs : int, optional
        The number of workers; by default that of ``joblib.parallel_config``.

    Returns
    -------
    array of float, shape (n_rows, n_classes)
        The probabilities that ``post.predict_proba(X)`` gives.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    >>> post = space.posterior()
    >>> bool((predict_proba(post, [[0, 0], [1, 0]]) == post.predict_proba([[0, 0], [1, 0]])).all())
    True
    """
    rows = core_rows(post.space, X)
    size = whole("block", block, 1)
    token = uuid.uuid4().hex
    seconds = post.space.limits.time_limit
    end = None if seconds is None else time.time() + seconds
    with post.space.question("predicting with the posterior") as control:
        control.check_memory(post.core.n_bytes + 8 * len(rows) * len(post.space.classes))
        proba = np.empty((len(rows), len(post.space.classes)))
        tasks = [(token, post, rows[start : start + size], end) for start in range(0, len(rows), size)]
        try:
            for k, block_proba in results(_predict_block, tasks, n_jobs=n_jobs):
                proba[k * size : (k + 1) * size] = block_proba
                control.check()
        finally:
            release(token)
    return proba


def _predict_block(token: str, post: Posterior, rows: npt.NDArray[Any], end: float | None) -> Reals:
    """Predict some rows; ``end`` is a time of the clock, as all blocks share one limit."""
    mine: Posterior = held(token, post)
    space = mine.space
    if end is not None:
        left = replace(space.limits, time_limit=max(1e-6, end - time.time()))
        space = space.at_depth(space.max_depth, left)
    asked = Posterior.folded(space, mine.prior, mine.dirichlet, mine.core, mine.parameters, mine.power)
    return asked.predict_proba(rows)
