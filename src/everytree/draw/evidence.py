"""The evidence of hyper-parameters on matplotlib axes: one panel for each number that was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from everytree.draw.colors import HUES, LINE
from everytree.draw.library import pyplot
from everytree.errors import DataError

__all__ = ["EvidenceCurve", "plot_evidence"]

SHARES = (
    "alpha",
    "scale",
    "rate",
)  # these are between 0 and 1 and have a plain axis, the others a logarithmic one


class Point(Protocol):
    """Hyper-parameters that were tried, and their evidence."""

    @property
    def parameters(self) -> Mapping[str, float]: ...
    @property
    def log_evidence(self) -> float: ...


class EvidenceCurve(Point, Protocol):
    """The hyper-parameters that were chosen, and all that were tried, on a grid and between its points."""

    @property
    def curve(self) -> Sequence[Point]: ...
    @property
    def grid(self) -> Sequence[Point]: ...
    @property
    def default(self) -> Point: ...


def plot_evidence(fit: EvidenceCurve, axes: Any = None) -> Any:
    """Draw every point tried, and over the grid the most log evidence at each value of a number.

    ``axes`` are matplotlib axes, one for each number; new ones are made where this is None. Returns them as an array.
    """
    names = list(fit.parameters)
    if axes is None:
        _, axes = pyplot().subplots(
            1,
            len(names),
            figsize=(3.6 * len(names) + 0.6, 3.2),
            squeeze=False,
            sharey=True,
            layout="constrained",
        )
    panels = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if len(panels) != len(names):
        raise DataError(
            f"{len(panels)} axes for {len(names)} numbers; give one for each of {', '.join(names)}"
        )
    for place, (name, panel) in enumerate(zip(names, panels, strict=True)):
        _panel(fit, name, panel)
        panel.set_ylabel("log evidence" if place == 0 else "")
    panels[0].legend(loc="best", frameon=False, fontsize="small")
    return panels


def _panel(fit: EvidenceCurve, name: str, panel: Any) -> None:
    def at(points: Sequence[Any]) -> tuple[list[float], list[float]]:
        return [point.parameters[name] for point in points], [point.log_evidence for point in points]

    panel.plot(*at(fit.curve), "o", color=LINE, markersize=3, alpha=0.6, label="tried")
    values = sorted({point.parameters[name] for point in fit.grid})
    best = [max(p.log_evidence for p in fit.grid if p.parameters[name] == value) for value in values]
    panel.plot(values, best, "-", color=HUES[0], label="best of the grid")
    panel.plot(*at([fit.default]), "s", color=HUES[3], label="default")
    panel.plot([fit.parameters[name]], [fit.log_evidence], "*", color=HUES[2], markersize=11, label="chosen")
    if name not in SHARES and min(point.parameters[name] for point in fit.curve) > 0:
        panel.set_xscale("log")
        _plain_ticks(panel, [point.parameters[name] for point in fit.curve])
    panel.set_xlabel(name)
    finite = [point.log_evidence for point in fit.curve if np.isfinite(point.log_evidence)]
    low, high = float(np.quantile(finite, 0.1)), max(finite)  # far-off points would flatten the rest
    panel.set_ylim(low - 0.1 * (high - low) - 1e-6, high + 0.1 * (high - low) + 1e-6)


def _plain_ticks(panel: Any, values: Sequence[float]) -> None:
    """Put few round numbers on a logarithmic axis, because matplotlib's own labels run into each other."""
    low, high = min(values), max(values)
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [
            step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high
        ]
        if len(ticks) <= 5:
            break
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.set_xticks([], minor=True)
