"""Choose where the posterior of a space is folded: in this process, or in parts on joblib's workers."""

from __future__ import annotations

import everytree._core as _core
from everytree.bayes.fold_arguments import fold_arguments, posterior_graph
from everytree.bayes.fold_parts import fold_in_parts, is_long
from everytree.common.workers import n_elsewhere
from everytree.engine.engine import Engine
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import Prior
from everytree.weights.tables import Rows

__all__ = ["fold_posterior"]


def fold_posterior(
    space: Engine, prior: Prior, dirichlet: Dirichlet, power: float = 1.0
) -> tuple[_core.Posterior, Rows]:
    """Fold in this process, or on joblib's workers if ``parallel_config`` names a backend and it would take long."""
    space.attributes_for(prior)  # refuses before the graph is built
    with space.question("folding the posterior") as control:
        graph, weights = posterior_graph(space, prior, dirichlet, control, power)
        if n_elsewhere() and is_long(graph, space.table):
            return fold_in_parts(space, prior, dirichlet, power=power)
        return _core.Posterior(**fold_arguments(space, graph, weights, control)), weights.rows
