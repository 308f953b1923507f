"""What the nodes of an engine's trees weigh under a prior and Dirichlet parameters, as tables for the core."""

from __future__ import annotations

from dataclasses import replace

from everytree.engine.engine import Engine
from everytree.weights.dirichlet import Dirichlet, checked_power, in_numbers
from everytree.weights.priors import Prior
from everytree.weights.tables import Weights, tabulated

__all__ = ["weigh"]

BELOW = 2  # the frontier, which no graph stores, lies two levels below its deepest state


def weigh(
    space: Engine, prior: Prior, dirichlet: Dirichlet, deepest: int | None = None, power: float = 1.0
) -> Weights:
    """The weights down to the deepest leaf of any tree of the space, or of states no deeper than ``deepest``.

    A leaf weighs M(n) to the power of ``power``. Raises ``QueryError`` for Dirichlet parameters that do not fit the
    classes, and where the prior is attribute-fair and the space has no attributes.

    >>> from everytree import SizePrior, TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    >>> weights = weigh(space, SizePrior(), 1.0)
    >>> len(weights.tables.log_split), weights.rows
    (5, [[1.0, 1.0]])
    """
    attributes = space.attributes_for(prior)
    if deepest is None:
        deepest = min(space.n_tests, space.most_leaves)
        if space.max_depth is not None:
            deepest = min(deepest, space.max_depth)
    given = in_numbers(dirichlet, space.table.class_counts.sum(axis=0))
    weights = tabulated(prior, given, len(space.classes), deepest + BELOW, attributes)
    return replace(weights, power=checked_power(power), per_example=space.table.per_example)
