"""Make the tables of a prior and of Dirichlet parameters that the core reads, down to the deepest tree of a space."""

from __future__ import annotations

from everytree.engine.engine import Engine
from everytree.weights.dirichlet import Dirichlet, dirichlet_rows
from everytree.weights.priors import Prior, PriorTables

__all__ = ["depth_tables"]


def depth_tables(space: Engine, prior: Prior, dirichlet: Dirichlet) -> tuple[PriorTables, list[list[float]]]:
    """Return the tables of the prior, and the Dirichlet parameters by depth and class."""
    deepest = min(space.n_tests, space.table.total // space.min_leaf)
    if space.max_depth is not None:
        deepest = min(deepest, space.max_depth)
    n_classes = len(space.classes)
    return prior.tables(deepest + 2), dirichlet_rows(dirichlet, n_classes, deepest + 2)
