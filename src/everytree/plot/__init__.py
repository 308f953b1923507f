"""Pictures: trees as text, DOT, SVG (no plotting library needed) and on matplotlib axes; displays of fitted models.

`tree_to_text`, `tree_to_dot` and `tree_to_svg` return strings; `plot_tree` draws on matplotlib axes with the
keywords of scikit-learn's function of that name. Each is also a method of `everytree.Tree`.

Displays are as scikit-learn's: `XDisplay.from_estimator(model)` draws on new axes, `display.plot(ax=...)` again
elsewhere; `ax_` and `figure_` say where.
"""

from __future__ import annotations

from everytree.draw.dot import tree_to_dot
from everytree.draw.matplotlib_tree import plot_tree
from everytree.draw.svg import tree_to_html, tree_to_svg
from everytree.draw.text import tree_to_text
from everytree.plot.comparison import ComparisonDisplay
from everytree.plot.evidence import EvidenceDisplay
from everytree.plot.front import FrontDisplay
from everytree.plot.posterior_display import InclusionDisplay, LeavesDisplay
from everytree.plot.reliability import CalibrationDisplay
from everytree.plot.traces import TraceDisplay
from everytree.plot.tree_display import OptionTreeDisplay, TreeDisplay

__all__ = [
    "CalibrationDisplay",
    "ComparisonDisplay",
    "EvidenceDisplay",
    "FrontDisplay",
    "InclusionDisplay",
    "LeavesDisplay",
    "OptionTreeDisplay",
    "TraceDisplay",
    "TreeDisplay",
    "plot_tree",
    "tree_to_dot",
    "tree_to_html",
    "tree_to_svg",
    "tree_to_text",
]
