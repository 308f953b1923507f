"""Figures on examples left out: of the explorer's tree and of a front by cross-validation, of an average exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from everytree.trees.answers import answered, with_dirichlet
from everytree.weights.costs import make_cost

__all__ = ["left_out_average", "left_out_front", "left_out_tree"]

SECONDS = 2.0  # for each of the five searches; one that takes longer is judged by its best tree so far
Reals = npt.NDArray[np.float64]


def left_out_front(
    space: TreeSpace, sizes: Sequence[int], cost: str = "error", seconds: float = SECONDS, **options: Any
) -> list[float] | None:
    """Return for each size the accuracy of the best trees of at most that size, on examples that they have not seen.

    The front is found again without each fifth of the examples; None where one of them takes longer than ``seconds``.
    """
    matrix, weights = options.get("cost_matrix"), options.get("class_weight")

    def learn(part: Table) -> Callable[[npt.NDArray[Any]], Reals] | None:
        inner = _without(space, part, seconds)
        counted = make_cost(cost, part, cost_matrix=matrix, class_weight=weights)
        try:
            points = [(size, answered(tree, counted)) for size, _, tree in inner.front(cost, **options)]
        except (LimitReached, QueryError):
            return None
        chosen = [[tree for size, tree in points if size <= most][-1:] or [points[0][1]] for most in sizes]

        def said(rows: npt.NDArray[Any]) -> Reals:
            each = [
                tree.says[tree.apply(rows if tree.upper is None else Reach.of_rows(rows))]
                for (tree,) in chosen
            ]
            return np.stack(each, axis=1).astype(np.float64)

        return said

    found = held_out_table(space.table, learn) if sizes else None
    if found is None:
        return None
    said, codes, counts = found
    return [float(x) for x in np.average(said == codes[:, None], axis=0, weights=counts)]


def _without(space: TreeSpace, part: Table, seconds: float) -> TreeSpace:
    """Return the same space over some of the examples; a call to stop the question stops its searches too."""
    inner = TreeSpace.from_table(
        part, space.max_depth, space.min_leaf, space.n_jobs, attributes=space.attribute_names
    )
    limit = space.limits.time_limit
    inner.limits = replace(space.limits, time_limit=seconds if limit is None else min(seconds, limit))
    inner.running = space.running
    return inner


def left_out_tree(
    space: TreeSpace, query: Query, fixed: dict[str, int | None], job: Job, dirichlet: float
) -> dict[str, Any] | None:
    """Return the figures of the best tree, from searches without a fifth of the examples; None if none was found."""

    def learn(part: Table) -> Callable[[npt.NDArray[Any]], Reals] | None:
        if job.cancelled:
            return None
        inner = _without(space, part, SECONDS)
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
