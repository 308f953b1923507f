"""The probability p at a leaf, the same number in every command: what a classifier with this tree would predict.

    p_c = (n_c + a_c) / (n + Σ a)      n: training examples in the leaf, by class; a: --dirichlet, 1 for each class

A tree as the space of trees finds it has frequencies, a = 0: a leaf of three examples would then be certain.
"""

from __future__ import annotations

from typing import Any

from everytree.trees.added import added_words
from everytree.trees.answers import answered, with_dirichlet
from everytree.trees.tree import Tree
from everytree.weights.costs import Cost
from everytree.weights.dirichlet import DepthDecay, dirichlet_rows

__all__ = ["added", "as_said", "parameters_meant", "smoothed"]


def parameters_meant(dirichlet: Any) -> Any:
    """Return the Dirichlet parameters that a word such as "decay" stands for; anything else is returned as it is."""
    return DepthDecay() if isinstance(dirichlet, str) and dirichlet == "decay" else dirichlet


def smoothed(tree: Tree, dirichlet: Any, cost: Cost) -> Tree:
    """Return the answer to a query by this cost, with the leaf probabilities of these Dirichlet parameters."""
    return answered(tree, cost, dirichlet_rows(parameters_meant(dirichlet), tree.n_classes, tree.depth))


def as_said(tree: Tree, dirichlet: Any) -> Tree:
    """Return a tree with the leaf probabilities of these Dirichlet parameters, whose leaves say what they did."""
    rows = dirichlet_rows(parameters_meant(dirichlet), tree.n_classes, tree.depth)
    return with_dirichlet(tree, rows).replace(says=tree.says)


def added(dirichlet: Any, n_classes: int, deepest: int) -> str:
    """Explain in words what p counts.

    >>> added(1.0, 2, 3)
    'p counts the examples of a leaf, plus 1 for each of the 2 classes'
    """

    rows = dirichlet_rows(parameters_meant(dirichlet), n_classes, deepest)
    return f"p counts the examples of a leaf, {added_words(rows)}"
