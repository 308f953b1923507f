"""The most probable tree of a space at any depth, by best first search, with a proof or an honest bound.

    log joint(T) = log prior(T) + log marginal likelihood(T)

The search does not fold the whole graph: it opens a state only while the best it could still weigh exceeds the tree
known so far. A space keeps its latest search, so the same question after a limit continues from what is known.
"""

from __future__ import annotations

import math
from typing import Any

import everytree._core as _core
from everytree.bayes.posterior import Posterior
from everytree.engine.certificate import REASONS
from everytree.engine.engine import Engine
from everytree.engine.problem import PROBABLE
from everytree.engine.weigh import weigh
from everytree.errors import QueryError
from everytree.trees.answers import with_dirichlet
from everytree.trees.tree import Tree
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import Prior

__all__ = ["most_probable"]


def most_probable(space: Engine, prior: Prior, dirichlet: Dirichlet, power: float = 1.0) -> Tree:
    """Find the tree with the largest log joint; ``tree.info`` says how sure that is."""
    # No path is longer: a test splits at most once on it, and every leaf keeps min_leaf examples.
    deepest = min(space.n_tests, space.most_leaves - 1)
    if space.max_depth is not None:
        deepest = min(deepest, space.max_depth)
    weights = weigh(space, prior, dirichlet, deepest, power)
    tables = weights.tables
    above_one = max(*tables.log_split, *tables.log_leaf_open, *tables.log_leaf_closed) > 0
    if above_one or (
        prior.attribute_fair and not tables.per_test
    ):  # the one test of a column may weigh e / columns
        # A factor above 1 could grow with every node, so no bound holds: fold everything.
        tree = Posterior(space, prior, dirichlet, power).map_tree()
        joint = float(tree.info["log_joint"])
        return tree.replace(info=dict(tree.info) | _facts(joint, joint, "", {}))
    by_depth = space.max_depth is not None or weights.depend_on_depth
    name = (repr(tables), repr(weights.rows), tuple(weights.attributes), weights.power)
    with space.question("searching the most probable tree") as control:
        # The search is taken out while it runs, so that another thread starts its own.
        search = space.probable_searches.pop(name, None)
        if search is None:
            search = _core.ProbableSearch(
                space.table_of_search(),
                weights.prior,
                weights.dirichlet,
                -1 if space.max_depth is None else space.max_depth,
                space.min_count,
                by_depth,
                control,
                space.switches["merge"],
                *(space.switches[name] for name in PROBABLE),
            )
        try:
            found = search.run(control)
        finally:
            space.probable_searches.clear()
            space.probable_searches[name] = search
    if found.log_joint == -math.inf and found.proved:
        raise QueryError(f"{prior!r} gives every tree of {space!r} probability zero")
    counts = {"n_states": found.n_states, "n_bytes": found.n_bytes}
    facts = _facts(found.log_joint, found.upper, found.stopped, counts)
    return with_dirichlet(space.tree_of(found.key, facts), weights.rows)


def _facts(log_joint: float, upper: float, stopped: str, counts: dict[str, int]) -> dict[str, Any]:
    """Return what ``tree.info`` says of the search."""
    return {
        "log_joint": log_joint,
        "upper_bound": upper,
        "gap": upper - log_joint,
        "optimal": not stopped,
        "stop_reason": REASONS[stopped],
    } | counts
