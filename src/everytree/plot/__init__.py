"""Pictures of trees: text, DOT, SVG (no plotting library needed) and matplotlib.

`tree_to_text`, `tree_to_dot` and `tree_to_svg` return strings; `plot_tree` draws on matplotlib axes with the
keywords of scikit-learn's function of that name. Each is also a method of `everytree.Tree`.
"""

from __future__ import annotations

from everytree.plot.dot import tree_to_dot
from everytree.plot.matplotlib_tree import plot_tree
from everytree.plot.svg import tree_to_html, tree_to_svg
from everytree.plot.text import tree_to_text

__all__ = ["plot_tree", "tree_to_dot", "tree_to_html", "tree_to_svg", "tree_to_text"]
