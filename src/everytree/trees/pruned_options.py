"""Grown trees pruned: by their errors, as CART and the earlier C4 do, or of what hardly counts in an average.

    cost complexity   T(α) of ``cost_complexity``, with R(t) the training errors; α is chosen by cross-validation
    pessimistic       from the root down, a node t with the subtree T_t of L leaves, n examples and Σe errors:
                          e' = Σe + L/2,   leaf if   e(t) + 1/2 ≤ e' + sqrt(e' · (n − e') / n)      (Quinlan 1987)
                      What lies below a node that is a leaf now is not looked at; subtrees are those of the whole tree.

    negligible        in the average over all prunings, a node n that is there and split with a small probability is a
                      leaf, which takes the weight of all that was below it. A row that reaches n changes from
                          rest + P(n, split) · (mixture below n)   to   rest + P(n, split) · θ(n),
                      so that no probability of any row changes by more than the largest P(n, split) of such a node

The errors of a node are its examples that are not of its most frequent class. A tree has one option for each node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.trees.cost_complexity import risks
from everytree.trees.flat import FlatTree
from everytree.trees.option_form import NO_CHILD
from everytree.trees.option_tree import OptionTree

__all__ = ["GrownShape", "ends_of", "negligible_leaves", "pessimistic_leaves", "shape_of"]


@dataclass(frozen=True, eq=False)
class GrownShape(FlatTree):
    """The shape of a grown tree, with the node numbers of the option tree it comes from."""

    attribute: npt.NDArray[np.int32]
    first_child: npt.NDArray[np.uint32]
    n_children: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.float64]
    classes: tuple[Any, ...]


def shape_of(tree: OptionTree) -> GrownShape:
    """Return the shape of an option tree that is a tree: at most one option for each node, and one way to each.

    >>> import everytree as et
    >>> tree = et.SmoothedTreeClassifier().fit([["a"], ["b"]] * 6, [0, 1] * 6).tree_
    >>> shape_of(tree).counts.tolist(), list(shape_of(tree).children(0))
    ([[6.0, 6.0], [6.0, 0.0], [0.0, 6.0]], [1, 2])
    """
    arrays, n = tree.arrays, tree.n_nodes
    assert tree.is_tree
    assert (tree.n_parents[1:] == 1).all()
    begin = arrays["option_begin"]
    inner = np.flatnonzero(np.diff(begin) > 0)
    option = begin[inner]
    attribute = np.full(n, -1, dtype=np.int32)
    attribute[inner] = arrays["attribute"][option]
    # Nodes are in the order of their parents and branches, so that the children of a node stand side by side.
    there = np.concatenate([[0], np.cumsum(arrays["child"] != NO_CHILD)])
    ends = there[arrays["child_begin"]]
    first, width = np.zeros(n, dtype=np.uint32), np.zeros(n, dtype=np.uint32)
    first[inner], width[inner] = 1 + ends[option], ends[option + 1] - ends[option]
    counts = np.zeros((n, tree.n_classes))
    nodes = np.repeat(np.arange(n), np.diff(arrays["count_begin"]))
    counts[nodes, arrays["count_class"]] = arrays["count"] / tree.per_example
    return GrownShape(attribute, first, width, counts, tree.classes)


def ends_of(tree: OptionTree, cells: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Find the node where each row ends: a leaf, or the first node that has no branch for it.

    The cells are those of ``ColumnReader.cells``; the option tree has at most one option for each node.
    """
    arrays = tree.arrays
    begin, n_values = arrays["option_begin"], np.array([len(column.values) for column in tree.columns])
    numeric = np.array([column.kind == "numeric" for column in tree.columns])
    inner = np.diff(begin) > 0
    at = np.zeros(cells.shape[0], dtype=np.intp)
    going = np.flatnonzero(inner[at])
    while going.size:
        option = begin[at[going]]
        j, cut = arrays["attribute"][option], arrays["threshold"][option]
        value, every = cells[going, j], np.isnan(cut)
        second = np.where(numeric[j], value > cut, (value != cut) & (cut != np.inf))
        lacking = np.isnan(value)
        slot = np.where(lacking, np.where(every, n_values[j], 2), np.where(every, value, second))
        known = slot >= 0
        going, place = going[known], (arrays["child_begin"][option] + slot.astype(np.intp))[known]
        child = arrays["child"][place]
        going, child = going[child != NO_CHILD], child[child != NO_CHILD]
        at[going] = child
        going = going[inner[at[going]]]
    return at


def pessimistic_leaves(shape: FlatTree) -> npt.NDArray[np.bool_]:
    """Return for each node whether pessimistic pruning makes it a leaf; nodes below such a node count as leaves too.

    With A = 2e(t) + 1 and B = 2e' = 2Σe + L, the rule is A ≤ B or (A − B)² · n ≤ B · (2n − B): whole numbers decide
    where weights have no fractions.
    """
    errors = risks(shape.counts, "error")
    ends = shape.attribute < 0
    below = shape.added_up(np.where(ends, errors, 0.0)).tolist()
    n_leaves = shape.added_up(ends.astype(np.int64)).tolist()
    total = shape.counts.sum(axis=1).tolist()
    leaf = ends.copy()
    for node in np.flatnonzero(~ends).tolist():
        e, under, n = (_whole(x) for x in (errors[node], below[node], total[node]))
        a, b = 2 * e + 1, 2 * under + n_leaves[node]
        leaf[node] = a <= b or (a - b) ** 2 * n <= b * (2 * n - b)
    for parents, children in shape.levels():
        leaf[children] |= leaf[parents]
    return leaf


def _whole(x: float) -> int | float:
    """Return a number of examples as an int, where it is whole."""
    return int(x) if float(x).is_integer() else float(x)


def negligible_leaves(tree: OptionTree, most: float) -> tuple[npt.NDArray[np.bool_], float]:
    """Find the nodes of a smoothed tree that are there and split with a probability of at most ``most``.

    Returns for each node whether it is one, and the largest of their probabilities: the bound on what changes where
    they become leaves (``tree.pruned(leaf, heavy=True)``).

    >>> import everytree as et
    >>> tree = et.SmoothedTreeClassifier().fit([["a"], ["b"]] * 6, [0, 1] * 6).tree_
    >>> negligible_leaves(tree, 0.5)[0].tolist()  # the root is split with probability 0.998
    [False, False, False]
    """
    assert tree.is_tree
    splits = np.diff(tree.arrays["option_begin"]) > 0
    there = np.zeros(tree.n_nodes)
    there[splits] = tree.reach[splits] * tree.p_option  # P(option) is more exact than 1 − P(leaf)
    # A leaf without any weight cannot take that of others.
    leaf = splits & (there <= most) & (tree.p_leaf > 0)
    return leaf, float(there[leaf].max(initial=0.0))
