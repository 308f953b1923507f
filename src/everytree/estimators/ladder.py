"""The ladder of an ``EveryTreeClassifier``: spaces of trees from cheap to dear, as many as a budget of seconds allows.

    columns → codes → one table → (bins, depth) = (4, 2), (4, 3), (3, 4), … → an average and its left-out examples each

Only the number of bins of a node differs between the spaces, so all of them share rows and codes. Where even the second
level is too much, columns are left out: those that tell least about the classes by themselves.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everytree.bayes.leave_one_out import LeaveOneOut
from everytree.bayes.posterior import Posterior
from everytree.data.binarizer import Binarizer, set_fitted_locally
from everytree.data.frames import Frame
from everytree.data.table import Table
from everytree.errors import LimitReached
from everytree.estimators.bayes import BayesOptimalClassifier
from everytree.space.tree_space import TreeSpace
from everytree.weights.priors import UniformPrior

__all__ = [
    "LADDER",
    "Ladder",
    "Rung",
    "Size",
    "average_of",
    "climbed",
    "fitted_rung",
    "kept_columns",
    "rebinned",
]

Reals = npt.NDArray[np.float64]


class Size(NamedTuple):
    """A space of the ladder: how many bins a node makes of a numeric column, and how deep the trees are."""

    bins: int
    depth: int


# From cheap to dear, as measured on tables of some hundred rows and ten columns.
LADDER = (Size(4, 2), Size(4, 3), Size(3, 4), Size(2, 5), Size(4, 4), Size(2, 6), Size(3, 5))
MIN_LEAF = 2
POWER = 0.25
# Leaving out every example, and predicting as many rows, take so many times as long as folding, or more.
LATER = 12.0
FAR = 4.0  # Estimates err: a step is left out unseen only if it is so many times too dear.
MOST_TESTS = 2_000_000_000  # rows times tests of a table: what does not fit is no table of codes
MOST_COLUMNS = 60


@dataclass(frozen=True)
class Rung:
    """An average over every tree of one space, with what it says of left-out examples, and the seconds it took."""

    step: Size
    model: BayesOptimalClassifier
    left: LeaveOneOut
    seconds: float


@dataclass
class Ladder:
    """The averages that were taken, and in words what was not."""

    rungs: list[Rung] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def average_of(
    step: Size, n_jobs: int | None, missing: str, min_leaf: int = MIN_LEAF
) -> BayesOptimalClassifier:
    """Return the classifier of one step, not fitted."""
    return BayesOptimalClassifier(
        step.depth, min_leaf, prior=UniformPrior(attribute_fair=True), dirichlet="base", power=POWER,
        calibrate="loo", bins=step.bins, cuts="local", missing=missing, n_jobs=n_jobs,
    )  # fmt: skip


def rebinned(table: Table, bins: int) -> Table:
    """Return the same rows for states that make so many bins of a numeric column."""
    binarizer = table.binarizer
    assert binarizer is not None
    encodings = [
        each if each.fine is None else replace(each, fine=replace(each.fine, bins=bins))
        for each in binarizer.encodings_
    ]
    made: Binarizer = copy(binarizer)
    made.bins = bins
    columns = set_fitted_locally(made, encodings, dict(binarizer.dropped_))
    return Table.trusted(
        table.rows, table.class_counts, table.test_names, table.classes, columns=columns
    ).encoded(made, None)


def fitted_rung(table: Table, step: Size, n_jobs: int | None, missing: str, seconds: float | None) -> Rung:
    """Take the average of one step, and leave out every example; ``LimitReached`` where that takes too long."""
    begun = time.monotonic()
    table = rebinned(table, step.bins)
    least = min(MIN_LEAF, int(table.total))  # A single example has its leaf, too.
    model = average_of(step, n_jobs, missing, least)
    _take_columns(model, table)
    names = [str(test.attribute) for test in model.binarizer_.tests_]
    space = TreeSpace.from_table(table, step.depth, least, n_jobs, attributes=names, time_limit=seconds)
    if seconds is not None:
        about = space.estimate()
        if about.seconds * LATER > FAR * seconds:
            raise LimitReached(f"{about}", "time")
    hyper = model._hyper(table)
    posterior = Posterior(space, hyper.prior, hyper.dirichlet, POWER)
    if seconds is not None:
        left_over = seconds - (time.monotonic() - begun)
        if left_over <= 0:
            raise LimitReached("time limit reached", "time")
        space.limits = replace(space.limits, time_limit=left_over)
    left = posterior.leave_one_out()
    space.limits = replace(space.limits, time_limit=None)
    model._set_posterior(posterior)
    model._take_left_out(left)
    return Rung(step, model, left, time.monotonic() - begun)


def _take_columns(model: BayesOptimalClassifier, table: Table) -> None:
    """Set the fitted attributes that tell of columns and classes, as ``fit_table`` does."""
    assert table.binarizer is not None
    assert table.classes is not None
    model.binarizer_ = table.binarizer
    model.classes_ = np.asarray(table.classes)
    model.n_features_in_ = model.binarizer_.n_features_in_
    if hasattr(model.binarizer_, "feature_names_in_"):
        model.feature_names_in_ = model.binarizer_.feature_names_in_
    model.target_name_, model.evidence_fit_, model.depth_profile_ = None, None, None
    model._learned_from(table)


def kept_columns(
    frame: Frame, codes: npt.NDArray[np.intp], weights: npt.NDArray[np.int64] | None, most: int
) -> list[int]:
    """Return the columns that tell most about the classes by themselves, at most so many, in their order.

    A numeric column is cut into eight bins of equal frequency; the measure is the information that bin, value or
    missingness gives about the class, less its mean where the two have nothing to do with each other.
    """
    n = len(frame.columns)
    if n <= most:
        return list(range(n))
    share = np.ones(codes.size) if weights is None else weights.astype(np.float64)
    told = [_information(_coarse(column), codes, share) for column in frame.columns]
    return sorted(np.argsort(np.array(told), kind="stable")[::-1][:most].tolist())


def _coarse(column: Any) -> npt.NDArray[np.intp]:
    """Return a few codes of a column: of a nominal one its values, else bins of equal frequency; 0 where missing."""
    out = np.zeros(len(column), dtype=np.intp)
    if column.is_empty:
        return out
    known = np.ones(len(column), dtype=bool) if column.mask is None else ~column.mask
    data = np.asarray(column.data)[known]
    if column.kind == "numeric":
        cuts = np.unique(np.quantile(data.astype(np.float64), np.arange(1, 8) / 8))
        data = np.searchsorted(cuts, data, side="left")
    out[known] = np.unique(data, return_inverse=True)[1] + 1
    return out


def _information(values: npt.NDArray[np.intp], codes: npt.NDArray[np.intp], share: Reals) -> float:
    table = np.zeros((int(values.max()) + 1, int(codes.max()) + 1))
    np.add.at(table, (values, codes), share)
    total = table.sum()
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    seen = table > 0
    gained = float((table[seen] * np.log((table * total)[seen] / (rows * columns)[seen])).sum())
    freedom = (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1)
    return gained - freedom / 2


def climbed(
    table: Table, steps: Sequence[Size], n_jobs: int | None, missing: str, deadline: float | None
) -> Ladder:
    """Take the averages of the steps, in their order, until the deadline; the first one is always taken."""
    found = Ladder()
    numeric = any(encoding.fine is not None for encoding in table.binarizer.encodings_)  # type: ignore[union-attr]
    done: set[Size] = set()
    for step in steps:
        # Bins play no part where no column is numeric.
        alike = step if numeric else Size(0, step.depth)
        if alike in done:
            continue
        done.add(alike)
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            found.notes.append(f"{step.bins} bins, depth {step.depth}: not begun, the time was spent")
            continue
        try:
            found.rungs.append(fitted_rung(table, step, n_jobs, missing, left))
        except LimitReached as limit:
            what = "memory" if limit.reason == "memory" else "time"
            found.notes.append(f"{step.bins} bins, depth {step.depth}: does not fit the {what}")
    return found
