"""Gather what the core needs to fold the posterior of a space: its graph, and the weights of splits and leaves."""

from __future__ import annotations

from typing import Any

import everytree._core as _core
from everytree.engine.engine import Engine
from everytree.engine.weigh import weigh
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import Prior
from everytree.weights.tables import Weights

__all__ = ["fold_arguments", "posterior_graph"]


def posterior_graph(
    space: Engine, prior: Prior, dirichlet: Dirichlet, control: _core.Control, power: float = 1.0
) -> tuple[_core.Graph, Weights]:
    """Return the graph that a posterior folds, and the weights down to its deepest leaves."""
    by_depth = weigh(space, prior, dirichlet, 0).depend_on_depth
    graph = space.graph_under(control, by_depth)
    return graph, weigh(space, prior, dirichlet, int(graph.deepest), power)


def fold_arguments(
    space: Engine, graph: _core.Graph, weights: Weights, control: _core.Control
) -> dict[str, Any]:
    """Gather the arguments with which the core folds a graph."""
    return {
        "graph": graph,
        "prior": weights.prior,
        "dirichlet": weights.dirichlet,
        "linear": space.switches["linear"],
        "n_threads": space.n_threads,
        "control": control,
    }
