"""The layout of a tree: which nodes are shown, and a tidy, compact placing of boxes of any size.

    a node stands midway above its two children; the yes branch is on the left
    two subtrees side by side are pushed together until they nearly touch on some level
    all boxes of a level share one top line

The work is linear in the number of nodes and needs no recursion. Every subtree keeps the outline of its two sides, one
entry per level, deepest level first, so that a parent is appended; joining walks only the shallower subtree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from everytree.draw.shapes import BinaryTree


@dataclass(frozen=True)
class Shown:
    """The part of a tree that is drawn: everything down to a depth.

    `nodes` is in preorder; `branches` maps a drawn split to its (yes, no) children; `hidden_leaves` maps a
    split at the depth limit, drawn as the leaf it would be, to the number of leaves below it.
    """

    nodes: tuple[int, ...]
    branches: Mapping[int, tuple[int, int]]
    hidden_leaves: Mapping[int, int]


def shown_part(tree: BinaryTree, max_depth: int | None) -> Shown:
    """Find the nodes at most `max_depth` tests below the root; None shows all."""
    depths = tree.node_depths
    limit = tree.depth if max_depth is None else max_depth
    nodes = np.flatnonzero(depths <= limit).tolist()
    branches: dict[int, tuple[int, int]] = {}
    hidden: dict[int, int] = {}
    leaves = leaves_below(tree) if limit < tree.depth else None
    for k in nodes:
        zero, one = tree.children[k].tolist()
        if zero >= 0 and depths[k] < limit:
            branches[k] = (one, zero)
        elif zero >= 0 and leaves is not None:
            hidden[k] = int(leaves[k])
    return Shown(tuple(nodes), branches, hidden)


def leaves_below(tree: BinaryTree) -> npt.NDArray[np.int64]:
    """Count the leaves in the subtree of every node."""
    leaves = np.ones(tree.n_nodes, dtype=np.int64)
    for k in range(tree.n_nodes - 1, -1, -1):
        zero, one = tree.children[k]
        if zero >= 0:
            leaves[k] = leaves[zero] + leaves[one]
    return leaves


@dataclass(frozen=True)
class Placed:
    """The centre x and the top y of every drawn node, and the size of the whole."""

    x: Mapping[int, float]
    y: Mapping[int, float]
    width: float
    height: float


class _Outline:
    """The left and right edges of a subtree by level, deepest first; `shift` is to be added to all of them."""

    __slots__ = ("left", "right", "shift")

    def __init__(self, half: float) -> None:
        self.left, self.right, self.shift = [-half], [half], 0.0


def place(
    tree: BinaryTree,
    shown: Shown,
    boxes: Mapping[int, tuple[float, float]],
    gap_x: float,
    gap_y: float,
) -> Placed:
    """Find positions for boxes of (width, height), at least `gap_x` and `gap_y` apart."""
    offset: dict[int, float] = {}  # how far a node is from its parent
    outlines: dict[int, _Outline] = {}
    for k in reversed(shown.nodes):  # children before parents
        if k in shown.branches:
            yes, no = shown.branches[k]
            outlines[k], half_gap = _join(outlines.pop(yes), outlines.pop(no), gap_x, boxes[k][0] / 2)
            offset[yes], offset[no] = -half_gap, half_gap
        else:
            outlines[k] = _Outline(boxes[k][0] / 2)

    whole = outlines[0]
    left = min(whole.left) + whole.shift
    right = max(whole.right) + whole.shift
    depths = tree.node_depths
    tallest = [0.0] * (int(depths[list(shown.nodes)].max()) + 1)
    for k in shown.nodes:
        tallest[depths[k]] = max(tallest[depths[k]], boxes[k][1])
    tops = np.concatenate([[0.0], np.cumsum(np.asarray(tallest) + gap_y)])

    x: dict[int, float] = {0: -left}
    for k in shown.nodes:  # parents before children
        for child in shown.branches.get(k, ()):
            x[child] = x[k] + offset[child]
    y = {k: float(tops[depths[k]]) for k in shown.nodes}
    return Placed(x, y, right - left, float(tops[-1]) - gap_y)


def _join(a: _Outline, b: _Outline, gap: float, half: float) -> tuple[_Outline, float]:
    """Put outline b to the right of a, and their parent midway above; also return half their distance."""
    shared = min(len(a.left), len(b.left))
    distance = max(a.right[-i] + a.shift - b.left[-i] - b.shift for i in range(1, shared + 1)) + gap
    half_gap = distance / 2
    a.shift -= half_gap
    b.shift += half_gap
    if len(a.left) >= len(b.left):
        for i in range(1, shared + 1):
            a.right[-i] = b.right[-i] + b.shift - a.shift
        joined = a
    else:
        for i in range(1, shared + 1):
            b.left[-i] = a.left[-i] + a.shift - b.shift
        joined = b
    joined.left.append(-half - joined.shift)
    joined.right.append(half - joined.shift)
    return joined, half_gap
