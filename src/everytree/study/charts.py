"""Charts of a study, drawn with matplotlib where it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Chart", "Panel", "draw_chart"]


@dataclass(slots=True)
class Panel:
    """One set of axes in a chart.

    Parameters
    ----------
    title : str
        The text above the axes.
    series : mapping of str to tuple
        For each series its x, its y and, where there are any, its errors (else None).
    x : str, default=""
        The label of the horizontal axis.
    y : str, default=""
        The label of the vertical axis.
    log_x : bool, default=False
        Whether the horizontal axis is logarithmic.
    log_y : bool, default=False
        Whether the vertical axis is logarithmic.
    ticks : sequence of str or None, default=None
        Names for the places 1, 2, ... of a horizontal axis without numbers.

    Examples
    --------
    >>> Panel("vote", {"DL8": ([1, 2], [0.9, 0.95], None)}, x="trees").x
    'trees'
    """

    title: str
    series: Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[float] | None]]
    x: str = ""
    y: str = ""
    log_x: bool = False
    log_y: bool = False
    ticks: Sequence[str] | None = None


MARKERS = "os^vD<>P*X"


@dataclass(slots=True)
class Chart:
    """Panels side by side.

    Parameters
    ----------
    name : str
        The name of the file, without its ending.
    title : str
        The heading in the report.
    panels : list of Panel
        The panels.
    across : int, default=4
        The most panels in a row.
    width : float, default=3.4
        The width of a panel, in inches.

    Examples
    --------
    >>> Chart("figure1", "Figure 1", [Panel("vote", {})]).across
    4
    """

    name: str
    title: str
    panels: list[Panel]
    across: int = 4
    width: float = 3.4


def _plain(axis: Any) -> None:
    """Give a log axis few and plain numbers: 1, 2, 5, 10 within two decades, powers of ten beyond."""
    from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullFormatter, StrMethodFormatter

    low, high = axis.get_data_interval()
    near = 0 < low <= high < 100 * low
    axis.set_major_locator(LogLocator(10, (1.0, 2.0, 5.0) if near else (1.0,)))
    short = near and low >= 1e-3 and high < 1e5
    axis.set_major_formatter(StrMethodFormatter("{x:g}") if short else LogFormatterSciNotation())
    axis.set_minor_formatter(NullFormatter())


def draw_chart(chart: Chart, path: Path) -> bool:
    """Draw a chart as SVG, the same bytes for the same chart.

    Parameters
    ----------
    chart : Chart
        The chart.
    path : Path
        The file to write.

    Returns
    -------
    bool
        Whether it was drawn: False without matplotlib.

    Examples
    --------
    >>> from pathlib import Path
    >>> chart = Chart("a", "A", [Panel("vote", {"DL8": ([1, 2], [0.9, 0.95], None)})])
    >>> draw_chart(chart, Path("a.svg")) == Path("a.svg").exists()
    True
    """
    try:
        from matplotlib import rcParams
        from matplotlib.figure import Figure
    except ImportError:
        return False
    across = min(chart.across, max(1, len(chart.panels)))
    down = -(-max(1, len(chart.panels)) // across)
    rcParams["svg.hashsalt"] = "everytree"
    figure = Figure(figsize=(chart.width * across, 3.0 * down), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False)
    names = list(dict.fromkeys(name for panel in chart.panels for name in panel.series))
    handles: dict[str, Any] = {}
    for i, ax in enumerate(axes.flat):
        if i >= len(chart.panels):
            ax.set_visible(False)
            continue
        panel = chart.panels[i]
        for name, (x, y, error) in panel.series.items():
            place = names.index(name)
            # series that lie on each other stay visible: earlier ones have larger marks
            look: dict[str, Any] = {
                "color": f"C{place % 10}",
                "marker": MARKERS[(place + place // 10) % 10],  # no two alike among the first hundred
                "markersize": max(3.0, 6.0 - 0.5 * place) + (2.0 if len(x) == 1 else 0.0),
                "linestyle": "-" if place < 10 else "--",
                "linewidth": 1.2,
            }
            if error is None:
                handles[name] = ax.plot(x, y, **look)[0]
            else:
                handles[name] = ax.errorbar(x, y, error, capsize=2, **look)
        ax.set_title(panel.title, fontsize=9)
        ax.set_xlabel(panel.x, fontsize=8)
        ax.set_ylabel(panel.y, fontsize=8)
        if panel.log_x:
            ax.set_xscale("log")
            _plain(ax.xaxis)
        if panel.log_y:
            ax.set_yscale("log")
            _plain(ax.yaxis)
        if panel.ticks is not None:
            many = len(panel.ticks) > 6
            ax.set_xticks(range(1, len(panel.ticks) + 1), panel.ticks, rotation=90 if many else 0)
        ax.tick_params(labelsize=7)
        ax.grid(alpha=0.3)
    if handles:
        figure.legend(list(handles.values()), list(handles), loc="outside right upper", fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    return True
