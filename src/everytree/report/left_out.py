"""The explorer's figures on examples left out: of its tree by cross-validation, of its average exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.local_columns import Reach
from everytree.data.table import Table
from everytree.errors import LimitReached, QueryError
from everytree.query.query import Query
from everytree.report.held_out import figure, held_out_table
from everytree.report.jobs import Job
from everytree.space.tree_space import TreeSpace
from everytree.trees.answers import with_dirichlet

__all__ = ["left_out_average", "left_out_tree"]

SECONDS = 4.0  # for each of the five searches; one that takes longer is judged by its best tree so far
Reals = npt.NDArray[np.float64]


def left_out_tree(
    space: TreeSpace, query: Query, fixed: dict[str, int | None], job: Job, dirichlet: float
) -> dict[str, Any] | None:
    """Return the figures of the best tree, from searches without a fifth of the examples; None if none was found."""
    limits = space.limits

    def learn(part: Table) -> Callable[[npt.NDArray[Any]], Reals] | None:
        if job.cancelled:
            return None
        inner = TreeSpace.from_table(
            part, space.max_depth, space.min_leaf, space.n_jobs, attributes=space.attribute_names
        )
        inner.limits = replace(limits, time_limit=SECONDS)
        inner.running = space.running  # a call to stop the question stops this search too
        try:
            tree = inner.best_with(fixed, query) if fixed else inner.best(query)
        except (LimitReached, QueryError):
            return None
        tree = with_dirichlet(tree, [[dirichlet] * tree.n_classes])

        def predict(rows: npt.NDArray[Any]) -> Reals:
            return tree.predict_proba(rows if tree.upper is None else Reach.of_rows(rows))

        return predict

    found = held_out_table(space.table, learn)
    return None if found is None else figure("this tree", *found) | {"own": True}


def left_out_average(space: TreeSpace, prior: Any, dirichlet: float) -> dict[str, Any] | None:
    """Return the figures of the average over every tree, of each example without it."""
    try:
        left = space.posterior(prior, dirichlet).leave_one_out()
    except (LimitReached, QueryError):
        return None
    return figure("the average over every tree", left.proba, left.codes, left.counts)
