"""The posterior with its fold in parts on joblib's workers, and its predictions by blocks of rows."""

from __future__ import annotations

import uuid

import numpy as np
import numpy.typing as npt

from everytree.bayes.fold_parts import fold_in_parts
from everytree.bayes.posterior import Posterior
from everytree.common.arguments import whole
from everytree.common.workers import distribute, held
from everytree.data.arrays import as_tests
from everytree.space.tree_space import TreeSpace
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import Prior, SizePrior, as_prior

__all__ = ["posterior", "predict_proba"]

BLOCK = 1000  # rows

Reals = npt.NDArray[np.float64]


def posterior(
    space: TreeSpace,
    prior: Prior | str | None = None,
    dirichlet: Dirichlet = 1.0,
    *,
    n_parts: int | None = None,
    n_jobs: int | None = None,
) -> Posterior:
    """``space.posterior(prior, dirichlet)`` with the frontier folded by the workers of joblib's backend in force.

    Every number of the result is the same to the last bit. ``n_parts`` is how many parts are handed out.

    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    >>> posterior(space).log_evidence == space.posterior().log_evidence
    True
    """
    chosen = SizePrior() if prior is None else as_prior(prior)
    return Posterior.folded(
        space, chosen, dirichlet, *fold_in_parts(space, chosen, dirichlet, n_parts, n_jobs)
    )


def predict_proba(
    post: Posterior, X: npt.ArrayLike, *, block: int = BLOCK, n_jobs: int | None = None
) -> Reals:
    """``post.predict_proba(X)`` with blocks of rows on the workers; each of them folds the posterior once."""
    rows = as_tests(X, post.space.test_names)
    size = whole("block", block, 1)
    token = uuid.uuid4().hex
    tasks = [(token, post, rows[start : start + size]) for start in range(0, max(1, len(rows)), size)]
    return np.concatenate(distribute(_predict_block, tasks, n_jobs=n_jobs))


def _predict_block(token: str, post: Posterior, rows: npt.NDArray[np.uint8]) -> Reals:
    proba: Reals = held(token, post).predict_proba(rows)
    return proba
