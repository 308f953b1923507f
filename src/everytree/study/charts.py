"""Charts of a study, drawn with matplotlib where it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Chart", "Panel", "draw_chart"]


@dataclass(slots=True)
class Panel:
    """One set of axes: for each series its x, y and, where there are any, errors."""

    title: str
    series: Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[float] | None]]
    x: str = ""
    y: str = ""
    log_x: bool = False
    log_y: bool = False


@dataclass(slots=True)
class Chart:
    """Panels side by side, in rows of ``across``."""

    name: str
    title: str
    panels: list[Panel]
    across: int = 4


def draw_chart(chart: Chart, path: Path) -> bool:
    """Draw a chart as SVG, the same bytes for the same chart; False without matplotlib."""
    try:
        from matplotlib import rcParams
        from matplotlib.figure import Figure
    except ImportError:
        return False
    across = min(chart.across, max(1, len(chart.panels)))
    down = -(-max(1, len(chart.panels)) // across)
    rcParams["svg.hashsalt"] = "everytree"
    figure = Figure(figsize=(3.4 * across, 3.0 * down), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False)
    names = list(dict.fromkeys(name for panel in chart.panels for name in panel.series))
    handles: dict[str, Any] = {}
    for i, ax in enumerate(axes.flat):
        if i >= len(chart.panels):
            ax.set_visible(False)
            continue
        panel = chart.panels[i]
        for name, (x, y, error) in panel.series.items():
            color = f"C{names.index(name) % 10}"
            style = "-" if names.index(name) < 10 else "--"
            if error is None:
                handles[name] = ax.plot(x, y, style, color=color, marker=".")[0]
            else:
                handles[name] = ax.errorbar(x, y, error, fmt="." + style, color=color, capsize=2)
        ax.set_title(panel.title, fontsize=9)
        ax.set_xlabel(panel.x, fontsize=8)
        ax.set_ylabel(panel.y, fontsize=8)
        ax.tick_params(labelsize=7)
        if panel.log_x:
            ax.set_xscale("log")
        if panel.log_y:
            ax.set_yscale("log")
        ax.grid(alpha=0.3)
    if handles:
        figure.legend(list(handles.values()), list(handles), loc="outside right upper", fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    return True
