"""p of a leaf, one number in every command: the probability that a classifier with this tree would predict.

    p_c = (n_c + a_c) / (n + Σ a)      n: training examples in the leaf, by class; a: --dirichlet, 1 for each class

A tree as the space of trees finds it has frequencies, a = 0: a leaf of three examples would then be certain.
"""

from __future__ import annotations

from typing import Any

from everytree.trees.added import added_words
from everytree.trees.answers import answered
from everytree.trees.tree import Tree
from everytree.weights.costs import Cost
from everytree.weights.dirichlet import DepthDecay, dirichlet_rows

__all__ = ["added", "in_force", "smoothed"]


def in_force(dirichlet: Any) -> Any:
    """The parameters that a word stands for, if it is one of a tree's."""
    return DepthDecay() if isinstance(dirichlet, str) and dirichlet == "decay" else dirichlet


def smoothed(tree: Tree, dirichlet: Any, cost: Cost) -> Tree:
    """The answer to a query by this cost, with the probabilities of these parameters."""
    return answered(tree, cost, dirichlet_rows(in_force(dirichlet), tree.n_classes, tree.depth))


def added(dirichlet: Any, n_classes: int, deepest: int) -> str:
    """What stands behind p, in words.

    >>> added(1.0, 2, 3)
    'p counts the examples of a leaf, plus 1 for each of the 2 classes'
    """
    return f"p counts the examples of a leaf, {added_words(dirichlet_rows(in_force(dirichlet), n_classes, deepest))}"
