"""The evidence of every tree in parts: closed states of the graph, folded by the workers; and predictions by blocks."""

from __future__ import annotations

import copy
import uuid
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.folding import fold_arguments, posterior_graph
from everytree.bayes.posterior import Posterior
from everytree.common.arguments import whole
from everytree.common.workers import PARTS_PER_JOB, distribute, held, n_workers, release
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import Prior, SizePrior, as_prior

if TYPE_CHECKING:
    from everytree.data.table import Table
    from everytree.space.tree_space import TreeSpace

__all__ = ["fold", "is_long", "posterior", "predict_proba"]

BLOCK = 1000  # rows
LONG = 2**32  # closed states × pairs of tests × words of rows

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
    return Posterior._of(space, chosen, dirichlet, *fold(space, chosen, dirichlet, n_parts, n_jobs))


def fold(
    space: TreeSpace,
    prior: Prior,
    dirichlet: Dirichlet,
    n_parts: int | None = None,
    n_jobs: int | None = None,
) -> tuple[_core.Posterior, list[list[float]]]:
    """The folded graph, and the Dirichlet parameters by depth."""
    parts = PARTS_PER_JOB * n_workers(n_jobs) if n_parts is None else whole("n_parts", n_parts, 1)
    token = uuid.uuid4().hex
    with space._question("folding the posterior") as control:
        graph, rows = posterior_graph(space, prior, dirichlet, control)
        arguments = fold_arguments(space, graph, prior, rows, control)
        weights = {name: x for name, x in arguments.items() if name not in ("graph", "n_threads", "control")}
        sent = copy.copy(space)  # without graphs
        sent._core_table = space._core_table
        tasks = [
            (token, sent, weights, *_core.Posterior.send_part(graph, part, parts)) for part in range(parts)
        ]
        try:
            values = distribute(_fold_part, tasks, n_jobs=n_jobs)
        finally:
            release(token)
        control.check()
        return _core.Posterior.from_parts(parts=values, **arguments), rows


def is_long(graph: _core.Graph, table: Table) -> bool:
    """Whether a fold is worth handing out: about a second or more.

    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    >>> is_long(space.graph(), space.table)
    False
    """
    words = -(-table.n_rows // 64)
    return (graph.n_states - graph.n_inner) * table.n_tests**2 * words > LONG


def _fold_part(
    token: str,
    space: TreeSpace,
    weights: dict[str, Any],
    covers: npt.NDArray[np.uint64],
    depths: npt.NDArray[np.int32],
    sizes: list[int],
) -> Reals:
    """The values of closed states whose covers were sent: their graph is not needed."""
    mine: TreeSpace = held(token, space)
    with mine._question("folding a part of the frontier") as control:
        depth = -1 if mine.max_depth is None else mine.max_depth
        values: Reals = _core.Posterior.fold_sent(
            mine._counts(), depth, mine.min_leaf, True, mine._switches["frontier"], covers, depths, sizes,
            n_threads=mine._threads, control=control, **weights,
        )  # fmt: skip
    return values


def predict_proba(
    post: Posterior, X: npt.ArrayLike, *, block: int = BLOCK, n_jobs: int | None = None
) -> Reals:
    """``post.predict_proba(X)`` with blocks of rows on the workers; each of them folds the posterior once."""
    from everytree.data.table import as_tests

    rows = as_tests(X, post.space.test_names)
    size = whole("block", block, 1)
    token = uuid.uuid4().hex
    tasks = [(token, post, rows[start : start + size]) for start in range(0, max(1, len(rows)), size)]
    return np.concatenate(distribute(_predict_block, tasks, n_jobs=n_jobs))


def _predict_block(token: str, post: Posterior, rows: npt.NDArray[np.uint8]) -> Reals:
    proba: Reals = held(token, post).predict_proba(rows)
    return proba
