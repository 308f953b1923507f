"""Gather what the core needs to fold the posterior of a space: its graph, and the weights of splits and leaves."""

from __future__ import annotations

from typing import Any

import everytree._core as _core
from everytree.engine.engine import Engine
from everytree.weights.dirichlet import Dirichlet, dirichlet_rows
from everytree.weights.priors import Prior

__all__ = ["Rows", "fold_arguments", "posterior_graph"]

Rows = list[list[float]]  # Dirichlet parameters by depth


def posterior_graph(
    space: Engine, prior: Prior, dirichlet: Dirichlet, control: _core.Control
) -> tuple[_core.Graph, Rows]:
    """Return the graph that a posterior folds, and the Dirichlet parameters by depth."""
    by_depth = prior.tables(1).depend_on_depth or len(dirichlet_rows(dirichlet, len(space.classes), 1)) > 1
    graph = space.graph_under(control, by_depth)
    return graph, dirichlet_rows(dirichlet, len(space.classes), int(graph.deepest) + 2)


def fold_arguments(
    space: Engine,
    graph: _core.Graph,
    prior: Prior,
    rows: Rows,
    control: _core.Control,
    log_leaf_closed: list[float] | None = None,
) -> dict[str, Any]:
    """Gather the arguments with which the core folds a graph; ``log_leaf_closed`` replaces that of the prior."""
    tables = prior.tables(int(graph.deepest) + 2)
    return {
        "graph": graph,
        "log_split": tables.log_split,
        "log_leaf_open": tables.log_leaf_open,
        "log_leaf_closed": tables.log_leaf_closed if log_leaf_closed is None else log_leaf_closed,
        "per_test": tables.per_test,
        "attributes": space.attributes_for(prior),
        "dirichlet": rows,
        "linear": space.switches["linear"],
        "n_threads": space.n_threads,
        "control": control,
    }
