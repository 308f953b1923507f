"""Iterative deepening: the posterior of depth 1, 2, 3, …, each kept when it is finished.

The profile shows how the answer settles as trees may grow deeper:

    log u_δ(∅)                                       log evidence of the trees of depth ≤ δ
    max over rows x and classes c of |P_δ(c | x) − P_{δ−1}(c | x)|      the largest change of any prediction

Neither is a bound on what deeper trees would change. Where no leaf at depth δ can be split any more, the trees of depth
≤ δ are all trees, and the answer for δ is the answer without a limit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.bayes.posterior import Posterior
from everytree.common.allocator import give_back
from everytree.common.arguments import whole
from everytree.common.limits import Limits
from everytree.data.local_columns import Reach
from everytree.engine.engine import Engine
from everytree.engine.estimate import estimate
from everytree.engine.rows import core_rows, training_rows
from everytree.errors import LimitReached, QueryError
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import Prior

__all__ = ["DepthProfile", "DepthStep", "deepen"]

Reals = npt.NDArray[np.float64]

SHARE = 0.25  # the part of the time left that the predictions of one depth may take
REACH_BYTES = 3  # of a test of a row where nodes choose their cuts: its outcome and its reach

STOPPED = {
    "": "",
    "time": "the time limit was reached",
    "memory": "the memory limit was reached",
    "hopeless": "the next depth would not fit the limits",
    "stopped": "it was asked to stop",
}


@dataclass(frozen=True)
class DepthStep:
    """One finished depth of a profile.

    ``largest_change`` is that of any prediction since the depth before, or None if predictions were left out.
    """

    depth: int
    log_evidence: float
    largest_change: float | None
    n_states: int
    seconds: float


@dataclass(frozen=True)
class DepthProfile:
    """The posteriors of growing depth: what each one found, and the deepest.

    ``TreeSpace.deepen`` makes it. Iterating over the profile gives its steps.

    Parameters
    ----------
    posterior : Posterior
        The posterior of the deepest depth that was finished.
    steps : tuple of DepthStep
        One entry for every finished depth: ``depth``, ``log_evidence``, ``largest_change``, ``n_states``, ``seconds``.
    complete : bool
        Whether every depth that was asked for is done, or no deeper tree exists.
    exhausted : bool
        Whether no deeper tree exists, so that the answer is the one without a depth limit.
    stop_reason : str
        Why it ended early: "time", "memory", "hopeless" or "stopped"; empty if it is complete.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=None)
    >>> profile = space.deepen()
    >>> profile.depth, profile.complete
    (2, True)
    >>> [round(step.log_evidence, 3) for step in profile]
    [-15.676, -8.915]
    """

    posterior: Posterior
    steps: tuple[DepthStep, ...]
    complete: bool
    exhausted: bool
    stop_reason: str

    @property
    def depth(self) -> int:
        """The deepest depth that was finished."""
        return self.steps[-1].depth

    @property
    def log_evidence(self) -> float:
        """The log evidence of the deepest depth that was finished."""
        return self.steps[-1].log_evidence

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[DepthStep]:
        return iter(self.steps)

    def __getitem__(self, k: int) -> DepthStep:
        return self.steps[k]

    def __str__(self) -> str:
        lines = ["depth  log evidence  largest change     states   seconds"]
        for step in self.steps:
            change = "–" if step.largest_change is None else f"{step.largest_change:.4f}"
            lines.append(
                f"{step.depth:5}  {step.log_evidence:12.4f}  {change:>14}  {step.n_states:9}  {step.seconds:8.3f}"
            )
        if self.exhausted:
            lines.append("no deeper tree exists: this is the average over every tree, of any depth")
        elif self.complete:
            lines.append(f"all trees of depth at most {self.depth}")
        else:
            lines.append(f"stopped after depth {self.depth}: {STOPPED[self.stop_reason]}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        state = "complete" if self.complete else f"stop_reason={self.stop_reason!r}"
        return f"DepthProfile(depth={self.depth}, log_evidence={self.log_evidence:.4f}, {state})"

    def to_dict(self) -> dict[str, Any]:
        """Write the profile as plain numbers, for JSON.

        Returns
        -------
        dict
            The steps and how the profile ended, without the posterior.
        """
        return {
            "depth": self.depth,
            "complete": self.complete,
            "exhausted": self.exhausted,
            "stop_reason": self.stop_reason,
            "steps": [dict(vars(step)) for step in self.steps],
        }


def deepen(
    space: Engine,
    prior: Prior | str | None = None,
    dirichlet: Dirichlet = 1.0,
    X: npt.ArrayLike | None = None,
    max_depth: int | None = None,
    power: float = 1.0,
) -> DepthProfile:
    """Compute the posteriors of growing depth: see ``TreeSpace.deepen``."""
    target = space.max_depth
    if max_depth is not None:
        target = whole("max_depth", max_depth, 0, none="that of the space")
        if space.max_depth is not None and target > space.max_depth:
            raise QueryError(
                f"max_depth={max_depth} is deeper than the space, whose limit is {space.max_depth}; make a "
                f"TreeSpace with max_depth={max_depth} or None, and deepen that"
            )
    chosen = space.prior_of(prior)
    run = _Run(space, X)
    steps: list[DepthStep] = []
    depth = 0 if target == 0 else 1
    posterior: Posterior | None = None
    predictions: Reals | None = None
    stop_reason, exhausted = "", False
    while True:
        start = time.perf_counter()
        try:
            following = run.posterior(depth, chosen, dirichlet, power)
        except LimitReached as limit:
            if posterior is None:
                raise
            stop_reason = limit.reason or "stopped"
            break
        posterior = following
        # The depth is finished; a limit from here on only leaves out the change of predictions.
        change: float | None = None
        try:
            before, predictions = predictions, run.predict(posterior, time.perf_counter() - start)
            if before is not None and predictions is not None:
                change = float(np.max(np.abs(np.subtract(predictions, before, out=before), out=before)))
            del before  # the next depth has two of them, not three
            if depth != target:
                exhausted = not run.limited(posterior)
        except LimitReached as limit:
            stop_reason = limit.reason or "stopped"
        n_states = posterior.space.n_states
        steps.append(DepthStep(depth, posterior.log_evidence, change, n_states, time.perf_counter() - start))
        posterior.space.limits = space.limits
        if stop_reason or exhausted or depth == target:
            break
        depth += 1
    complete = exhausted or steps[-1].depth == target
    return DepthProfile(posterior, tuple(steps), complete, exhausted, "" if complete else stop_reason)


class _Run:
    """One run over all depths: they share a clock and the table."""

    def __init__(self, space: Engine, X: npt.ArrayLike | None) -> None:
        self._start = time.perf_counter()
        self._space = space
        self._factor = 0.0
        self._kept = (
            0  # bytes of the posterior of the depth before, which is there while the next one is made
        )
        self._predicted = 0  # bytes of its predictions
        with space.question("reading the table") as control:
            space.core_table(control)  # built once, for every depth
        self._rows = _rows(space, X)
        space.limits.give_back()  # what making the table and the rows left

    def _limits(self) -> Limits:
        limits = self._space.limits
        if limits.memory_limit is not None:
            watched = 0 if self._rows is self._space.table.rows else self._rows.nbytes
            limits = replace(
                limits, memory_limit=max(1, int(limits.memory_limit) - self._kept - self._predicted - watched)
            )
        if limits.time_limit is None:
            return limits
        left = limits.time_limit - (time.perf_counter() - self._start)
        if left <= 0:
            raise LimitReached(
                "time limit reached before depth 1 was finished; give more seconds",
                "time",
            )
        return replace(limits, time_limit=left)

    def posterior(self, depth: int, prior: Prior, dirichlet: Dirichlet, power: float) -> Posterior:
        """Return the posterior of one depth, within the time that is left."""
        space = self._space.at_depth(depth, self._limits())
        # The lower depths take less time than the estimate would.
        if space.limits.time_limit is not None and depth > 3 and _hopeless(space):
            raise LimitReached(f"depth {depth} would take far more than the time that is left", "hopeless")
        space.limits = self._limits()
        made = Posterior(space, prior, dirichlet, power)
        self._kept = int(made.core.n_bytes)
        return made

    def predict(self, posterior: Posterior, folding: float) -> Reals | None:
        """Predict the watched rows, or return None where that would take time that deeper trees need more.

        Predictions take many times as long as the evidence (``folding`` seconds), by about the same factor at each
        depth. Where they do not fit the memory they are left out for good: the evidence of deeper trees may fit.
        """
        if len(self._rows) == 0:
            return None
        self._kept = 0  # the posterior that is asked counts itself
        posterior.space.limits = limits = self._limits()
        self._kept = int(posterior.core.n_bytes)
        if limits.time_limit is not None and self._factor * folding > SHARE * limits.time_limit:
            return None
        if limits.memory_limit is not None:
            give_back()  # the depth before, with its graph
        start = time.perf_counter()
        try:
            predictions = posterior.predict_proba(self._rows)
        except LimitReached as limit:
            if limit.reason != "memory":
                raise
            self._rows, self._predicted = self._rows[:0], 0
            return None
        self._predicted = predictions.nbytes
        self._factor = (time.perf_counter() - start) / max(folding, 1e-3)
        return predictions

    def limited(self, posterior: Posterior) -> bool:
        """Return whether some deeper tree exists."""
        space = posterior.space
        space.limits = self._limits()
        with space.question("looking below the depth limit") as control:
            return bool(space.graph_under(control).limited(control))


def _rows(space: Engine, X: npt.ArrayLike | None) -> npt.NDArray[Any]:
    """Return the rows whose predictions are watched; none where those of the table would take half of the memory."""
    if X is not None:
        return core_rows(space, X)
    limit = space.limits.memory_limit
    local = space.table.columns is not None and space.n_tests > 0
    if local and limit is not None and REACH_BYTES * space.table.n_rows * space.n_tests > limit / 2:
        return Reach.of_rows(np.zeros((0, space.n_tests), dtype=np.uint8))
    return training_rows(space)


def _hopeless(space: Engine) -> bool:
    return estimate(space, replace(space.limits, time_limit=None).control()).hopeless
