"""Hyper-parameters by evidence: how probable the data are, summed over every tree, for each choice of them.

    log E(h) = log Σ_trees P(tree | h) · P(labels | tree, h)

One fold of the graph gives log E(h) exactly; the graph itself is mined once and serves every h. ``fit_evidence`` goes
over a small grid, which always holds the default values, and then refines the best point (a bounded line search for
one number, Nelder–Mead for several). So the chosen values never have less evidence than the defaults. With equal prior
weight on the points of the grid, E(h) / Σ E is the posterior of h: averaging with these weights is Buntine's
meta-prior, made exact (see ``average``).

Only priors that sum to one can be compared as they are. For another prior the sum over all trees of its weights,
which depends on h, is divided out.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.bayes.average import AveragedPosterior
from everytree.bayes.hyper import Axis, Family, asked, dirichlet_family, grid_points, prior_family
from everytree.bayes.posterior import Posterior
from everytree.common.arguments import argument, refused, whole
from everytree.draw.evidence import plot_evidence
from everytree.engine.engine import Engine
from everytree.errors import LimitReached, QueryError, Wording
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import Prior

__all__ = ["EvidenceFit", "EvidencePoint", "fit_evidence", "hurried"]

LEAST_WEIGHT = 1e-6  # that a posterior must have to be part of an average
ENOUGH = 0.01  # nats of log evidence, a Bayes factor of 1.01: closer to the maximum than any decision needs
BYTES_PER_STATE = 16  # that a posterior stores
STEP = 0.5  # first step of the refinement, on the scale of each number


@dataclass(frozen=True)
class EvidencePoint:
    """One choice of the hyper-parameters, and the log evidence it has."""

    parameters: Mapping[str, float]
    log_evidence: float
    on_grid: bool
    prior: Prior = field(repr=False)
    dirichlet: Any = field(repr=False)


@dataclass(frozen=True)
class EvidenceFit:
    """The hyper-parameters of most evidence, and every choice that was tried.

    ``fit_evidence`` makes it.

    Parameters
    ----------
    parameters : mapping of str to float
        The chosen values by name, such as ``{"alpha": 0.9, "beta": 0.8}``.
    prior : Prior
        The prior with the chosen values.
    dirichlet : float, tuple of float or DepthDecay
        The Dirichlet parameters with the chosen values.
    log_evidence : float
        The log evidence of the data under them; a prior that does not sum to one is scaled to.
    default : EvidencePoint
        The default values of the hyper-parameters, or those of ``start``, and their log evidence.
    curve : tuple of EvidencePoint
        Every point that was tried, in order.
    weights : ndarray
        The posterior weight of each point of ``grid``, in the same order; they sum to one.
    stop_reason : str
        How the search ended: "converged", "grid" (not refined), "evaluations" or "time limit".
    posterior : Posterior
        The posterior over every tree at the best point.
    kept : mapping of int to Posterior
        The posteriors of the grid that weigh at least 1e-6, by their place in the grid; empty unless asked for.

    Examples
    --------
    >>> from everytree import TreeSpace, fit_evidence
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 0, 1, 1] * 5, max_depth=2)
    >>> fit = fit_evidence(space, prior="size", dirichlet="fit", refine=False)
    >>> fit.dirichlet, fit.stop_reason, len(fit.curve)
    (0.25, 'grid', 5)
    """

    parameters: Mapping[str, float]
    prior: Prior
    dirichlet: Any
    log_evidence: float
    default: EvidencePoint
    curve: tuple[EvidencePoint, ...]
    weights: npt.NDArray[np.float64] = field(repr=False)
    stop_reason: str
    posterior: Posterior = field(repr=False)
    kept: Mapping[int, Posterior] = field(repr=False)

    @property
    def grid(self) -> tuple[EvidencePoint, ...]:
        """The points of the grid, which ``weights`` belong to."""
        return tuple(point for point in self.curve if point.on_grid)

    @property
    def gain(self) -> float:
        """How much more log evidence the chosen values have than the default, in nats; never below 0."""
        return self.log_evidence - self.default.log_evidence

    def average(self) -> AveragedPosterior:
        """Mix the posteriors on the grid by their weights; those that weigh less than 1e-6 are left out.

        Returns
        -------
        AveragedPosterior
            The mixture.

        Raises
        ------
        QueryError
            If ``fit_evidence`` was called without ``keep=True``.
        """
        if not self.kept:
            raise QueryError(
                "the posteriors of the grid were not kept; call fit_evidence(..., keep=True) for an average"
            )
        places = sorted(self.kept)
        values = np.array([point.log_evidence for point in self.grid])
        log_mean = float(np.logaddexp.reduce(values)) - math.log(len(values))
        return AveragedPosterior([self.kept[i] for i in places], self.weights[places], log_mean)

    def plot(self, axes: Any = None) -> Any:
        """Plot the log evidence along each number, at every value the best over the other numbers.

        Parameters
        ----------
        axes : matplotlib axes, sequence of them or None, default=None
            Where to draw, one for each number; None makes new ones.

        Returns
        -------
        ndarray of matplotlib axes
            The axes that were drawn on.
        """
        return plot_evidence(self, axes)

    def __str__(self) -> str:
        chosen = ", ".join(f"{name} = {value:.4g}" for name, value in self.parameters.items())
        before = ", ".join(f"{name} = {value:.4g}" for name, value in self.default.parameters.items())
        return (
            f"{chosen}: log evidence {self.log_evidence:.4f}, {self.gain:.4f} more than {before} "
            f"({len(self.curve)} points, {self.stop_reason})"
        )


def fit_evidence(
    space: Engine,
    prior: Prior | str = "fit",
    dirichlet: Dirichlet = "fit",
    *,
    start: Prior | None = None,
    grid: Mapping[str, Sequence[float]] | None = None,
    refine: bool = True,
    max_evaluations: int = 300,
    keep: bool = False,
) -> EvidenceFit:
    """Choose hyper-parameters by the exact evidence of the data, over every tree of the space.

    The time limit of the space holds for the whole choice: what was tried until then is used, and ``stop_reason`` says
    so.

    Parameters
    ----------
    space : TreeSpace
        The trees and the data.
    prior : Prior or str, default="fit"
        What to choose of the prior: "fit" (or "fit_size") chooses alpha and beta of the size prior, "fit_leaf_penalty"
        chooses omega; any other value is a prior that stays as it is.
    dirichlet : float, sequence of float, DepthDecay or str, default="fit"
        What to choose of the Dirichlet parameters: "fit" (or "fit_symmetric") chooses one number for all classes,
        "fit_per_class" one for each, "fit_decay" a ``DepthDecay``; any other value stays as it is.
    start : Prior or None, default=None
        The prior whose parameters are tried first; None means the default of its kind.
    grid : mapping of str to sequence of float or None, default=None
        The values to try for a parameter, by its name, instead of the usual ones; those of ``start`` are always tried.
    refine : bool, default=True
        Whether to climb from the best point of the grid until the log evidence changes by less than 0.01.
    max_evaluations : int, default=300
        The most points to try in all; each takes one fold of the graph.
    keep : bool, default=False
        Whether to keep the posteriors of the grid that weigh at least 1e-6, for ``average()``.

    Returns
    -------
    EvidenceFit
        The chosen values, their posterior, and every point that was tried.

    Raises
    ------
    QueryError
        If neither ``prior`` nor ``dirichlet`` is to be chosen.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 0, 1, 1] * 5, max_depth=2)
    >>> fit = fit_evidence(space, prior="size", dirichlet="fit")
    >>> fit.dirichlet < 1 and fit.log_evidence > fit.default.log_evidence
    True
    """
    family = _families(space, prior, dirichlet, start)
    search = _Search(space, family, space.prior_of(prior) if family.prior is None else None, dirichlet, keep)
    most = whole("max_evaluations", max_evaluations, 1)
    for place in grid_points(family.parts, grid):
        if len(search.points) >= most:
            search.stopped = "evaluations"
            break
        if not search.look(place, on_grid=True):
            break
    if not search.stopped:
        if refine:
            search.stopped = _refine(search, most)
        else:
            search.stopped = "grid"
    return search.result()


@dataclass(frozen=True)
class _Families:
    """The families that are chosen from: one of priors, one of Dirichlet parameters, or both."""

    prior: Family | None
    dirichlet: Family | None

    @property
    def parts(self) -> list[Family]:
        return [family for family in (self.prior, self.dirichlet) if family is not None]

    @property
    def axes(self) -> list[Axis]:
        return [axis for family in self.parts for axis in family.axes]


def _families(space: Engine, prior: Any, dirichlet: Any, start: Prior | None) -> _Families:
    words = {"prior": asked("prior", prior), "dirichlet": asked("dirichlet", dirichlet)}
    for what, word in words.items():
        if word is not None and word[0] == "average":
            raise QueryError(
                f'{what}="average" is for classifiers; here, fit_evidence(..., keep=True).average()'
            )
        if word is not None and word[0] == "loo":
            raise QueryError(f'{what}="loo" is not chosen by evidence; use fit_leave_one_out')
    if words["prior"] is None and words["dirichlet"] is None:
        raise refused(
            QueryError,
            "prior",
            prior,
            says=Wording(
                " and ",
                argument("dirichlet", dirichlet),
                ' are both given; expected "fit" for one of them or for both',
            ),
        )
    return _Families(
        None
        if words["prior"] is None
        else prior_family(words["prior"][1], start or space.prior_of(words["prior"][1])),
        None if words["dirichlet"] is None else dirichlet_family(words["dirichlet"][1], space.classes),
    )


class _Search:
    """A search over points: it evaluates them, remembers them, and keeps the posteriors that may be asked for."""

    def __init__(
        self, space: Engine, family: _Families, prior: Prior | None, dirichlet: Any, keep: bool
    ) -> None:
        self.space, self.family, self.keep = space, family, keep
        self.axes = family.axes
        self._prior, self._dirichlet = prior, dirichlet
        self._end = None if space.limits.time_limit is None else time.monotonic() + space.limits.time_limit
        self.points: list[EvidencePoint] = []
        self.values: list[tuple[float, ...]] = []
        self.best = -1
        self.posterior: Posterior | None = None
        self.kept: dict[int, Posterior] = {}
        self.stopped = ""

    def made(self, values: Sequence[float]) -> tuple[Prior, Any]:
        """Make the prior and the Dirichlet parameters of these values."""
        prior, dirichlet, rest = self._prior, self._dirichlet, list(values)
        if self.family.prior is not None:
            size = len(self.family.prior.axes)
            prior, rest = self.family.prior.make(rest[:size]), rest[size:]
        if self.family.dirichlet is not None:
            dirichlet = self.family.dirichlet.make(rest)
        assert prior is not None
        return prior, dirichlet

    def look(self, values: tuple[float, ...], *, on_grid: bool = False) -> bool:
        """Fold with these values, and return False where the time is up; the first point is always finished."""
        limited = self.space
        if self._end is not None and self.points:
            left = self._end - time.monotonic()
            if left <= 0:
                self.stopped = "time limit"
                return False
            limited = hurried(self.space, left)
        prior, dirichlet = self.made(values)
        try:
            posterior = Posterior(limited, prior, dirichlet)
            log_evidence = posterior.log_evidence
            if self.family.prior is not None and not self.family.prior.proper:
                log_evidence -= posterior.log_prior_total
        except LimitReached as limit:
            if not self.points or limit.reason != "time":
                raise
            self.stopped = "time limit"
            return False
        posterior.asked_of(self.space)
        self._remember(
            values, EvidencePoint(self._named(values), log_evidence, on_grid, prior, dirichlet), posterior
        )
        return True

    def _named(self, values: Sequence[float]) -> dict[str, float]:
        return {axis.name: float(value) for axis, value in zip(self.axes, values, strict=True)}

    def _remember(self, values: tuple[float, ...], point: EvidencePoint, posterior: Posterior) -> None:
        if point.on_grid and self.keep:
            self.kept[len(self.points)] = posterior  # the grid comes first, so its places are these
        if self.best < 0 or point.log_evidence > self.points[self.best].log_evidence:
            self.best, self.posterior = len(self.points), posterior
        self.points.append(point)
        self.values.append(values)
        # A posterior only loses weight as points are added, so what is too light now may go.
        floor = self.points[self.best].log_evidence + math.log(LEAST_WEIGHT)
        self.kept = {i: each for i, each in self.kept.items() if self.points[i].log_evidence >= floor}
        n_states = sum(int(graph.n_states) for graph in self.space.graphs.values())
        if len(self.kept) * n_states * BYTES_PER_STATE > self.space.limits.memory:
            raise LimitReached(
                f"memory limit reached: an average keeps the sums of {n_states} states for each of {len(self.kept)} "
                'choices of the hyper-parameters; use "fit" instead of "average", a grid of fewer points, or a smaller '
                "max_depth",
                "memory",
            )

    def result(self) -> EvidenceFit:
        """Put together what the search found."""
        best = self.points[self.best]
        values = np.array([point.log_evidence for point in self.points if point.on_grid])
        weights = np.exp(values - values.max())
        weights /= weights.sum()
        kept = {i: each for i, each in self.kept.items() if weights[i] >= LEAST_WEIGHT}
        assert self.posterior is not None
        return EvidenceFit(
            best.parameters, best.prior, best.dirichlet, best.log_evidence, self.points[0], tuple(self.points),
            weights, self.stopped, self.posterior, kept,
        )  # fmt: skip


def hurried(space: Engine, seconds: float | None) -> Engine:
    """Return the same space with the same graphs, on a shorter clock; None where time has no limit."""
    other = type(space).__new__(type(space))
    other.__dict__.update(space.__dict__)  # a copy would fold anew: graphs are not part of a space's state
    other.limits = replace(space.limits, time_limit=seconds)
    return other


class _Stop(Exception):
    """Ends the refinement from within scipy's search."""


def _refine(search: _Search, most: int) -> str:
    """Climb from the best point found, and return why it ended."""
    from scipy.optimize import minimize, minimize_scalar

    axes, start = search.axes, search.values[search.best]
    places = np.array([axis.inward(value) for axis, value in zip(axes, start, strict=True)])
    low = np.array([axis.inward(axis.low) for axis in axes])
    high = np.array([axis.inward(axis.high) for axis in axes])

    def fallen(place: Any) -> float:
        if len(search.points) >= most:
            search.stopped = "evaluations"
            raise _Stop
        values = tuple(axis.outward(float(x)) for axis, x in zip(axes, np.atleast_1d(place), strict=True))
        if not search.look(values):
            raise _Stop
        return -search.points[-1].log_evidence

    try:
        if len(axes) == 1:
            tried = sorted(axes[0].inward(values[0]) for values in search.values)
            here = tried.index(axes[0].inward(start[0]))
            left = tried[here - 1] if here else float(low[0])
            right = tried[here + 1] if here + 1 < len(tried) else float(high[0])
            minimize_scalar(fallen, bounds=(left, right), method="bounded", options={"xatol": 0.01})
            return "converged"
        steps = np.where(places + STEP <= high, STEP, -STEP)
        simplex = np.vstack([places, places + np.diag(steps)])
        done = minimize(
            fallen,
            places,
            method="Nelder-Mead",
            bounds=list(zip(low, high, strict=True)),
            options={"initial_simplex": simplex, "xatol": 0.1, "fatol": ENOUGH, "maxfev": most},
        )
        return "converged" if done.success else "evaluations"
    except _Stop:
        return search.stopped
