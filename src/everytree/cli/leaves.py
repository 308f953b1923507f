"""p of a leaf, one number in every command: the probability that a classifier with this tree would predict.

    p_c = (n_c + a_c) / (n + Σ a)      n: training examples in the leaf, by class; a: --dirichlet, 1 for each class

A tree as the space of trees finds it has frequencies, a = 0: a leaf of three examples would then be certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everytree.tree import Tree

__all__ = ["added", "in_force", "smoothed", "wrong"]


def in_force(dirichlet: Any) -> Any:
    """The parameters that a word stands for, if it is one of a tree's."""
    from everytree.weights import DepthDecay

    return DepthDecay() if isinstance(dirichlet, str) and dirichlet == "decay" else dirichlet


def smoothed(tree: Tree, dirichlet: Any) -> Tree:
    """The tree with the probabilities of these parameters."""
    from everytree.weights import dirichlet_rows, with_dirichlet

    return with_dirichlet(tree, dirichlet_rows(in_force(dirichlet), tree.n_classes, tree.depth))


def added(dirichlet: Any) -> str:
    """What stands behind p, in words.

    >>> added(1.0), added("decay")
    ('1 is added to each class count for p', '0.9 · 0.9^depth is added to each class count for p')
    >>> added((0.5, 2.0))
    '0.5, 2 are added to the class counts for p'
    """
    from everytree.weights import DepthDecay

    given = in_force(dirichlet)
    if isinstance(given, DepthDecay):
        return f"{given.scale:g} · {given.rate:g}^depth is added to each class count for p"
    if isinstance(given, list | tuple):
        return f"{', '.join(f'{a:g}' for a in given)} are added to the class counts for p"
    shown = given if isinstance(given, str) else f"{given:.6g}"
    return f"{shown} is added to each class count for p"


def wrong(tree: Tree) -> int:
    """Training examples that the tree gets wrong: under costs of errors, leaves do not say their largest class."""
    says = tree.answers(tree.info.get("cost_matrix"))
    leaves = (tree.test < 0).nonzero()[0]
    return int(tree.counts[leaves].sum() - tree.counts[leaves, says[leaves]].sum())
