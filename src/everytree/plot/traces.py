"""Markov chains over trees: the log target and the leaves of every draw, with a colour for each chain."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from everytree.draw.colors import HUES
from everytree.draw.library import pyplot
from everytree.errors import DataError
from everytree.plot.display import fitted_part

__all__ = ["TraceDisplay"]


class TraceDisplay:
    """The values that Markov chains drew: a row of panels for each trace, with a histogram beside it.

    Parameters
    ----------
    traces : dict of str to array, shape (n_chains, n_draws)
        The values of each trace, by chain and draw.
    rhat : float, optional
        The R-hat statistic, shown in the title.
    ess : float, optional
        The effective number of draws, shown in the title.

    Examples
    --------
    >>> display = TraceDisplay({"leaves": [[2, 3, 3], [3, 3, 4]]}).plot()
    >>> display.axes_.shape, display.ax_.get_title(loc="left")
    ((1, 2), '2 chains')
    """

    axes_: npt.NDArray[Any]
    ax_: Any  # the first Axes
    figure_: Any  # Figure

    def __init__(
        self, traces: dict[str, npt.NDArray[Any]], rhat: float | None = None, ess: float | None = None
    ) -> None:
        self.traces = {
            name: np.atleast_2d(np.asarray(values, dtype=np.float64)) for name, values in traces.items()
        }
        if not self.traces or any(values.ndim != 2 or not values.size for values in self.traces.values()):
            raise DataError("traces hold no draws; expected an array by chain and draw for each name")
        self.rhat, self.ess = rhat, ess

    @classmethod
    def from_estimator(cls, estimator: Any, axes: Any = None) -> Self:
        """Draw the chains of a classifier.

        Parameters
        ----------
        estimator : MCMCTreeClassifier
            The fitted classifier.
        axes : array of matplotlib.axes.Axes, shape (2, 2), optional
            The axes to draw on; by default new ones.

        Returns
        -------
        TraceDisplay
            The display, which is drawn.
        """
        draws = fitted_part(estimator, ("draws_",), "a fitted MCMCTreeClassifier")
        summary = estimator.summary() if hasattr(estimator, "summary") else None
        rhat, ess = getattr(summary, "rhat", None), getattr(draws, "ess", None)
        traces = {"log target": draws.log_target, "leaves": draws.n_leaves}
        return cls(traces, rhat, ess() if callable(ess) else ess).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        axes : array of matplotlib.axes.Axes, shape (n_traces, 2), optional
            The axes to draw on, a row for each trace; by default new ones.

        Returns
        -------
        TraceDisplay
            The display itself; ``axes_``, ``ax_`` and ``figure_`` say where it was drawn.
        """
        n = len(self.traces)
        if axes is None:
            _, axes = pyplot().subplots(
                n, 2, figsize=(8.4, 2.2 * n + 0.5), squeeze=False, layout="constrained", sharey="row",
                gridspec_kw={"width_ratios": [4, 1]},
            )  # fmt: skip
        panels = np.asarray(axes, dtype=object)
        if panels.shape != (n, 2):
            raise DataError(f"axes has shape {panels.shape}; expected ({n}, 2), a row for each trace")
        for (name, values), (left, right) in zip(self.traces.items(), panels, strict=True):
            whole = bool((values == np.floor(values)).all())
            low, high = float(values.min()), float(values.max())
            edges = (
                np.arange(low - 0.5, high + 1.5)
                if whole and high - low < 60
                else np.linspace(low, high + 1e-9, 31)
            )
            for chain, line in enumerate(values):
                color = HUES[chain % len(HUES)]
                left.plot(line, color=color, linewidth=0.6, alpha=0.8)
                right.hist(line, bins=edges, orientation="horizontal", histtype="step", color=color)
            left.set_ylabel(name)
            right.set_xticks([])
            for panel in (left, right):
                panel.spines[["top", "right"]].set_visible(False)
        panels[-1, 0].set_xlabel("draw")
        self.axes_, self.ax_ = panels, panels[0, 0]
        self.figure_ = panels[0, 0].figure
        told = [f"{len(next(iter(self.traces.values())))} chains"]
        told += [] if self.rhat is None else [f"R-hat {self.rhat:.3f}"]
        told += [] if self.ess is None else [f"{float(np.min(self.ess)):.0f} effective draws"]
        panels[0, 0].set_title(", ".join(told), fontsize="small", loc="left")
        return self
