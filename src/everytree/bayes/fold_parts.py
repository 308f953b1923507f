"""The fold of a posterior in parts: closed states of the graph, folded by joblib's workers.

The driver builds the graph, sends the covers of closed states (their two lowest levels are nearly all of the work), and
folds the rest with the values that come back. Every number is the same to the last bit.
"""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.fold_arguments import fold_arguments, posterior_graph
from everytree.common.arguments import whole
from everytree.common.workers import PARTS_PER_JOB, OnDemand, distribute, held, n_workers, release
from everytree.data.table import Table
from everytree.engine.engine import Engine
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import Prior
from everytree.weights.tables import Rows

__all__ = ["fold_in_parts", "is_long"]

COPIES = 5  # of a part: two on their way to each worker, three where it is folded
LONG = 2**32  # the product of closed states, pairs of tests, and words of rows that takes about a second

Reals = npt.NDArray[np.float64]


def fold_in_parts(
    space: Engine,
    prior: Prior,
    dirichlet: Dirichlet,
    n_parts: int | None = None,
    n_jobs: int | None = None,
    power: float = 1.0,
) -> tuple[_core.Posterior, Rows]:
    """Return the folded graph and the Dirichlet parameters by depth, folding parts of the graph on joblib's workers."""
    n_at_once = n_workers(n_jobs)
    asked = None if n_parts is None else whole("n_parts", n_parts, 1)
    token = uuid.uuid4().hex
    with space.question("folding the posterior") as control:
        graph, weights = posterior_graph(space, prior, dirichlet, control, power)
        arguments = fold_arguments(space, graph, weights, control)
        given = {name: x for name, x in arguments.items() if name not in ("graph", "n_threads", "control")}
        sent = space.without_graphs()
        parts = parts_within(space, graph, n_at_once) if asked is None else asked
        tasks = OnDemand(
            parts, lambda part: (token, sent, given, *_core.Posterior.send_part(graph, part, parts))
        )
        try:
            values = distribute(_fold_part, tasks, n_jobs=n_jobs)
        finally:
            release(token)
        control.check()
        return _core.Posterior.from_parts(parts=values, **arguments), weights.rows


def parts_within(space: Engine, graph: _core.Graph, n_jobs: int) -> int:
    """Return the number of parts: enough that those on their way take a tenth of the limit of memory at most."""
    closed = graph.n_states - graph.n_inner
    covers = 8 * closed * -(-space.table.n_rows // 64)
    wanted = COPIES * n_jobs * covers // max(1, space.limits.memory // 10) + 1
    return max(PARTS_PER_JOB * n_jobs, min(wanted, closed))


def is_long(graph: _core.Graph, table: Table) -> bool:
    """Return whether a fold is worth handing out: it would take about a second or more.

    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    >>> is_long(space.graph(), space.table)
    False
    """
    words = -(-table.n_rows // 64)
    return (graph.n_states - graph.n_inner) * table.n_tests**2 * words > LONG


def _fold_part(
    token: str,
    space: Engine,
    given: dict[str, Any],
    covers: npt.NDArray[np.uint64],
    depths: npt.NDArray[np.int32],
    sizes: list[int],
) -> Reals:
    """Fold the closed states whose covers were sent; this needs no graph."""
    mine: Engine = held(token, space)
    with mine.question("folding a part of the frontier") as control:
        depth = -1 if mine.max_depth is None else mine.max_depth
        values: Reals = _core.Posterior.fold_sent(
            mine.core_table(), depth, mine.min_count, True, mine.switches["frontier"], covers, depths, sizes,
            n_threads=mine.n_threads, control=control, **given,
        )  # fmt: skip
    return values
