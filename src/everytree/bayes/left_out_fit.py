"""Hyper-parameters by left-out examples: the point of a small grid with the least exact leave-one-out log-loss.

    loss(h) = mean over examples i of −log P(its class | its row, all examples but i, h)

Every point takes one fold of the graph, which is mined once, and one pass that leaves out every example (see
``leave_one_out``). Nothing is refined between the points: the loss is an average over examples with a standard error
far above what a finer grid could gain. Of equal losses the first point counts, and the default values come first.

With ``exponent`` each point is judged with the exponent that suits it best, as ``calibrate="loo"`` will use it: a low
power alone is too modest, and would never be chosen.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from everytree.bayes.evidence import hurried
from everytree.bayes.exponent import chosen_exponent
from everytree.bayes.hyper import Family, asked, dirichlet_family, grid_points, power_family, prior_family
from everytree.bayes.posterior import Posterior
from everytree.common.allocator import give_back
from everytree.common.arguments import argument, refused
from everytree.engine.engine import Engine
from everytree.errors import LimitReached, QueryError, Wording
from everytree.weights.dirichlet import Dirichlet, checked_power, in_numbers
from everytree.weights.priors import Prior

__all__ = ["LeftOutFit", "LeftOutPoint", "fit_leave_one_out"]

LEAST_SECONDS = 1e-6  # a question is given at least this long


@dataclass(frozen=True)
class LeftOutPoint:
    """One choice of the hyper-parameters, and the leave-one-out log-loss it has.

    Parameters
    ----------
    parameters : mapping of str to float
        The values by name.
    log_loss : float
        The exact leave-one-out log-loss; with ``exponent``, that of the probabilities to their exponent.
    log_loss_error : float
        The standard error of the log-loss of the average itself, over the examples.
    exponent : float
        The exponent that it was judged with; 1 where none was asked for.
    prior : Prior
        The prior with these values.
    dirichlet : float, tuple of float or DepthDecay
        The Dirichlet parameters with these values.
    power : float
        The power of the leaf weights.
    """

    parameters: Mapping[str, float]
    log_loss: float
    log_loss_error: float
    exponent: float
    prior: Prior = field(repr=False)
    dirichlet: Any = field(repr=False)
    power: float


@dataclass(frozen=True)
class LeftOutFit:
    """The hyper-parameters of least leave-one-out log-loss, and every choice that was tried.

    ``fit_leave_one_out`` makes it.

    Parameters
    ----------
    best : LeftOutPoint
        The point that was chosen.
    curve : tuple of LeftOutPoint
        Every point that was tried, in order; the first has the default values.
    stop_reason : str
        How the search ended: "grid" (all points were tried) or "time limit".
    posterior : Posterior
        The posterior over every tree at the best point.

    Examples
    --------
    >>> from everytree import TreeSpace, fit_leave_one_out
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 0, 1, 1] * 5, max_depth=2)
    >>> fit = fit_leave_one_out(space, dirichlet="loo", power=1.0)
    >>> fit.best.dirichlet, fit.stop_reason, len(fit.curve)
    (0.25, 'grid', 5)
    """

    best: LeftOutPoint
    curve: tuple[LeftOutPoint, ...]
    stop_reason: str
    posterior: Posterior = field(repr=False)

    @property
    def default(self) -> LeftOutPoint:
        """The point with the default values."""
        return self.curve[0]

    @property
    def gain(self) -> float:
        """How much less log-loss the chosen values have than the default; never below 0."""
        return self.default.log_loss - self.best.log_loss

    def __str__(self) -> str:
        chosen = ", ".join(f"{name} = {value:.4g}" for name, value in self.best.parameters.items())
        before = ", ".join(f"{name} = {value:.4g}" for name, value in self.default.parameters.items())
        return (
            f"{chosen}: leave-one-out log-loss {self.best.log_loss:.4f}, {self.gain:.4f} less than {before} "
            f"({len(self.curve)} points, {self.stop_reason})"
        )


def fit_leave_one_out(
    space: Engine,
    prior: Prior | str = "size",
    dirichlet: Dirichlet = 1.0,
    power: float | str = "loo",
    *,
    start: Prior | None = None,
    grid: Mapping[str, Sequence[float]] | None = None,
    exponent: bool = False,
) -> LeftOutFit:
    """Choose hyper-parameters from a grid by the exact leave-one-out log-loss, over every tree of the space.

    The grids: alpha 0.5, 0.8, 0.95 with beta 0.4, 0.8, 1.6 of the size prior; omega 0.001, 0.01, 0.05, 0.2, 0.5 of the
    leaf penalty; 0.25, 0.5, 1, 2, 4 for the Dirichlet parameter and for the strength of base rates; 0.3, 0.6, 0.9 for
    scale and rate of a decay; 1, 0.5, 0.25, 0.125 for the power. Several of them are tried in all combinations. The
    time limit of the space holds for the whole choice.

    Parameters
    ----------
    space : TreeSpace
        The trees and the data.
    prior : Prior or str, default="size"
        What to choose of the prior: "loo" (or "loo_size") chooses alpha and beta of the size prior, "loo_leaf_penalty"
        chooses omega; any other value is a prior that stays as it is.
    dirichlet : float, sequence of float, DepthDecay or str, default=1.0
        What to choose of the Dirichlet parameters: "loo" (or "loo_symmetric") chooses one number for all classes,
        "loo_base" the strength of a ``BaseRate``, "loo_decay" a ``DepthDecay``; any other value stays as it is.
    power : float or "loo", default="loo"
        The power of the leaf weights, or "loo" to choose it.
    start : Prior or None, default=None
        The prior whose parameters are tried first; None means the default of its kind.
    grid : mapping of str to sequence of float or None, default=None
        The values to try for a parameter, by its name, instead of the usual ones; the default is always tried.
    exponent : bool, default=False
        Whether to judge every point with the exponent that suits it best, as ``calibrate="loo"`` uses it.

    Returns
    -------
    LeftOutFit
        The chosen point, its posterior, and every point that was tried.

    Raises
    ------
    QueryError
        If nothing is to be chosen, or the classes chose the cuts, so that no example can be left out.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 0, 1, 1] * 5, max_depth=2)
    >>> fit = fit_leave_one_out(space, power="loo", exponent=True)
    >>> fit.best.power, [point.power for point in fit.curve]
    (1.0, [1.0, 0.5, 0.25, 0.125])
    """
    choices = _Choices.of(space, prior, dirichlet, power, start)
    limit = space.limits.time_limit
    end = None if limit is None else time.monotonic() + limit
    points: list[LeftOutPoint] = []
    best, chosen, stopped = 0, None, "grid"
    limited = space.limits.memory_limit is not None
    for values in grid_points(choices.parts, grid):
        left = None if end is None else end - time.monotonic()
        try:
            if points and left is not None and left <= 0:
                raise LimitReached("time limit reached", "time")
            on = space
            if chosen is not None:
                on = hurried(space, left)
                on.beside += _bytes_of(chosen)
                if limited:
                    give_back()  # what the point before took and dropped
            point, posterior = _judged(on, choices, values, exponent, end)
        except LimitReached as reached:
            if not points or reached.reason != "time":
                raise
            stopped = "time limit"
            break
        posterior.asked_of(space)
        if chosen is None or point.log_loss < points[best].log_loss:
            best, chosen = len(points), posterior
        del posterior  # before the next one is made
        points.append(point)
    assert chosen is not None
    return LeftOutFit(points[best], tuple(points), stopped, chosen)


def _bytes_of(posterior: Posterior) -> int:
    """Return what a posterior that is kept takes, without the graph: the next one shares it."""
    return int(posterior.core.n_own_bytes) + posterior.leave_one_out().n_bytes


@dataclass(frozen=True)
class _Choices:
    """Prior, Dirichlet parameters and power: each a family to choose from, or a value."""

    each: tuple[Any, Any, Any]

    @classmethod
    def of(cls, space: Engine, prior: Any, dirichlet: Any, power: Any, start: Prior | None) -> _Choices:
        words = {"prior": asked("prior", prior), "dirichlet": asked("dirichlet", dirichlet)}
        for what, word in words.items():
            if word is not None and word[0] != "loo":
                value = prior if what == "prior" else dirichlet
                raise refused(
                    QueryError,
                    what,
                    value,
                    says=' is chosen by evidence; expected "loo", or use fit_evidence',
                )
        by_power = isinstance(power, str) and power == "loo"
        if not by_power and not any(words.values()):
            raise refused(
                QueryError,
                "prior",
                prior,
                says=Wording(
                    ", ",
                    argument("dirichlet", dirichlet),
                    " and ",
                    argument("power", power),
                    ' are all given; expected "loo" for one of them or for several',
                ),
            )
        of_prior, of_dirichlet = words["prior"], words["dirichlet"]
        return cls((
            space.prior_of(prior)
            if of_prior is None
            else prior_family(of_prior[1], start or space.prior_of(of_prior[1])),
            dirichlet if of_dirichlet is None else dirichlet_family(of_dirichlet[1], space.classes),
            power_family() if by_power else checked_power(power),
        ))  # fmt: skip

    @property
    def parts(self) -> list[Family]:
        return [one for one in self.each if isinstance(one, Family)]

    def made(self, values: Sequence[float]) -> list[Any]:
        """Make the prior, the Dirichlet parameters and the power of these values."""
        rest, found = list(values), []
        for one in self.each:
            if isinstance(one, Family):
                found.append(one.make(rest[: len(one.axes)]))
                rest = rest[len(one.axes) :]
            else:
                found.append(one)
        return found


def _judged(
    space: Engine, choices: _Choices, values: tuple[float, ...], exponent: bool, end: float | None
) -> tuple[LeftOutPoint, Posterior]:
    """Fold at one point, and leave out every example, until ``end`` on the monotonic clock."""
    prior, given, power = choices.made(values)
    dirichlet = in_numbers(given, space.table.class_counts.sum(axis=0))
    posterior = Posterior(space, prior, dirichlet, power)
    if end is not None:  # leaving out is a question of its own, with what the fold has left of the time
        posterior.asked_of(hurried(space, max(LEAST_SECONDS, end - time.monotonic())))
    left = posterior.leave_one_out()
    names = [axis.name for part in choices.parts for axis in part.axes]
    loss, bold = left.log_loss, 1.0
    if exponent:
        found = chosen_exponent(left.proba, left.codes, left.counts)
        loss, bold = found.calibrated_log_loss, found.exponent
    return (
        LeftOutPoint(
            dict(zip(names, map(float, values), strict=True)),
            loss,
            left.standard_error,
            bold,
            prior,
            dirichlet,
            power,
        ),
        posterior,
    )
