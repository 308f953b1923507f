"""Bounds that hold whatever deeper trees would say: the evidence, and predictions, of the space without a depth limit.

The posterior of depth δ knows every tree of depth ≤ δ. What lies below an open leaf at depth δ is bounded: if the
priors of all subtrees of a node sum to at most one,

    o · M(n)  ≤  u  ≤  o · M(n) + s · Π_c M(n_c of class c alone)

with o and s the prior's factors for an open leaf and for all its splits together, and the fold of the levels above with
these numbers brackets the evidence. The bracket is sound but loose: its upper end takes it for possible that every leaf
at the limit falls apart into pure ones.

A prediction is an average over all trees. With κ = (weight of the trees that are known) / (upper end of the evidence)
and p the prediction of the known ones alone,

    θ_min + κ (p − θ_min)  ≤  P(c | x)  ≤  θ_max − κ (θ_max − p)

for no leaf says less than θ_min = a_c / (n − n_c + A) or more than θ_max = (n_c + a_c) / (n_c + A).

Where nodes choose their own cuts, the two lowest levels of the depth-δ space share those of one node, and in the space
without a limit every node has its own. The levels that are looked at are then those of the space without a limit, and
the trees that are known its trees of depth ≤ δ: those of the space of depth δ + 1 that are not split at depth δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.fold_arguments import fold_arguments, posterior_graph
from everytree.bayes.folded import Folded
from everytree.common.arguments import refused
from everytree.common.limits import blocks
from everytree.errors import LimitReached, QueryError
from everytree.weights.priors import PriorTables

__all__ = ["Bracket", "PredictionBracket", "log_evidence_bracket", "prediction_bracket"]

Reals = npt.NDArray[np.float64]
ROUNDING = 1e-12  # per example, more than sums of logarithms can be off by


class Bracket(NamedTuple):
    """Bounds that are sure to hold the log evidence of the space without a depth limit.

    ``Posterior.bracket`` makes it.

    Parameters
    ----------
    lower : float
        The lower bound, in nats.
    upper : float
        The upper bound, in nats.

    Examples
    --------
    >>> round(Bracket(-149.2, -61.1).width, 1)
    88.1
    """

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """The distance between the two bounds, in nats."""
        return self.upper - self.lower


class PredictionBracket(NamedTuple):
    """Bounds that are sure to hold P(class | row) in the space without a depth limit.

    ``Posterior.predict_bracket`` makes it.

    Parameters
    ----------
    lower : ndarray of shape (n_rows, n_classes)
        The lower bounds.
    upper : ndarray of shape (n_rows, n_classes)
        The upper bounds.
    known : float
        The share of the posterior that is certain to lie on trees within the depth limit: near 0 the bounds say next
        to nothing, near 1 next to everything.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> post = TreeSpace([[0], [0], [1], [1]], ["no", "no", "yes", "yes"], max_depth=1).posterior()
    >>> found = post.predict_bracket([[0]])  # no deeper tree exists here, so that the bounds meet
    >>> found.lower.round(3).tolist(), found.upper.round(3).tolist(), found.known
    ([[0.733, 0.267]], [[0.733, 0.267]], 1.0)
    """

    lower: Reals
    upper: Reals
    known: float


def log_evidence_bracket(posterior: Folded) -> Bracket:
    """Bracket the log evidence: see ``Posterior.bracket``."""
    with posterior.space.question("bracketing the evidence") as control:
        _check(posterior)
        return _bracket(posterior, control)


def prediction_bracket(posterior: Folded, X: npt.ArrayLike) -> PredictionBracket:
    """Bracket predictions: see ``Posterior.predict_bracket``."""
    space = posterior.space
    with space.question("bracketing predictions") as control:
        rows, tables = posterior.checked_rows(X), _check(posterior)
        if not _limited(posterior, control):
            local = space.table.columns is not None and space.max_depth is not None
            core = _fold(posterior, None, control) if local else posterior.core
            proba = posterior.clipped(core.predict(rows, control), control)
            upper = np.empty_like(proba)
            for block in blocks(len(proba), 8 * proba.shape[1], control):
                upper[block] = proba[block]
            return PredictionBracket(proba, upper, 1.0)
        if 2 * len(rows) * len(space.classes) * 8 > space.limits.memory:  # two matrices are the answer
            raise LimitReached("memory limit reached", "memory")
        core = _known_trees(posterior, tables, control)
        known = math.exp(min(0.0, core.log_evidence - _bracket(posterior, control).upper))
        upper = core.predict(rows, control)
        counts = space.table.class_examples.astype(float)
        a = np.array(posterior.parameters[0])
        low = a / (counts.sum() - counts + a.sum())
        high = (counts + a) / (counts + a.sum())
        lower = np.empty_like(upper)
        for block in blocks(len(rows), 8 * len(low), control):
            p = upper[block]
            lower[block] = np.clip(low + known * (p - low) - 1e-12, 0.0, 1.0)
            upper[block] = np.clip(high - known * (high - p) + 1e-12, 0.0, 1.0)
    return PredictionBracket(lower, upper, known)


def _known_trees(posterior: Folded, tables: PriorTables, control: _core.Control) -> _core.Posterior:
    """Fold the trees of depth ≤ δ, each at most as heavy as without a limit: a leaf at depth δ may be open or not."""
    at = posterior.space.max_depth or 0
    split, leaf, closed = (
        [table[min(d, len(table) - 1)] for d in range(at + 1)]
        for table in (tables.log_split, tables.log_leaf_open, tables.log_leaf_closed)
    )
    closed[at] = min(closed[at], leaf[at])
    if posterior.space.table.columns is None:
        return _fold(posterior, at, control, lambda own: replace(own, log_leaf_closed=closed))
    # In the space that is one level deeper every node above depth δ chooses its own cuts; none is split at depth δ.
    split[at], leaf[at] = -math.inf, closed[at]
    return _fold(
        posterior,
        at + 1,
        control,
        lambda own: replace(own, log_split=split, log_leaf_open=leaf, log_leaf_closed=closed),
    )


def _fold(
    posterior: Folded,
    depth: int | None,
    control: _core.Control,
    tables: Callable[[PriorTables], PriorTables] | None = None,
) -> _core.Posterior:
    """Fold the same posterior over the trees of another depth; ``tables`` changes those of its prior."""
    given = posterior.space
    space = given if depth == given.max_depth else given.at_depth(depth, given.limits)
    graph, weights = posterior_graph(space, posterior.prior, posterior.dirichlet, control, posterior.power)
    if tables is not None:
        weights = replace(weights, tables=tables(weights.tables))
    return _core.Posterior(**fold_arguments(space, graph, weights, control))


def _bracket(posterior: Folded, control: _core.Control) -> Bracket:
    limited, local = _limited(posterior, control), posterior.space.table.columns is not None
    if not limited and not local:
        return Bracket(posterior.log_evidence, posterior.log_evidence)
    lower, upper = posterior.core.bracket(posterior.space.n_threads, control)
    room = ROUNDING * max(1, posterior.space.table.examples) if limited else 0.0
    return Bracket(lower - room, upper + room)


def _limited(posterior: Folded, control: _core.Control) -> bool:
    """Return whether trees deeper than the limit exist."""
    space = posterior.space
    return space.max_depth is not None and bool(space.graph_under(control).limited(control))


def _check(posterior: Folded) -> PriorTables:
    """Return the tables of the prior, down to the deepest leaf of any tree; refuse a prior without bounds."""
    space = posterior.space
    if len(posterior.parameters) > 1:
        raise refused(
            QueryError,
            "dirichlet",
            posterior.dirichlet,
            says=" changes with depth; a bracket needs the same parameters at every "
            "depth: a number, or one per class",
        )
    deepest = min(space.n_tests, space.most_leaves)
    tables = posterior.prior.tables(deepest)
    sums = [
        math.exp(split) + math.exp(leaf)
        for split, leaf in zip(*_padded(tables.log_split, tables.log_leaf_open), strict=True)
    ]
    proper = (
        tables.per_test
        and tables.test_weight >= 1
        and max(sums) <= 1 + 1e-12
        and max(tables.log_leaf_closed) <= 1e-12
    )
    if not proper:
        raise QueryError(
            f"{posterior.prior!r} gives the subtrees below a node a total weight that grows with their number, so "
            "nothing bounds what lies below the depth limit; use SizePrior or CodingPrior, or look at TreeSpace.deepen"
        )
    return tables


def _padded(a: list[float], b: list[float]) -> tuple[list[float], list[float]]:
    """Extend the shorter of two tables to the length of the other by repeating its last entry."""
    n = max(len(a), len(b))
    return a + a[-1:] * (n - len(a)), b + b[-1:] * (n - len(b))
