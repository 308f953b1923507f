"""MultiwayTree: a tree of a greedy grower, with one branch per nominal value or two sides of a cut.

Flat arrays, one entry per node; the children of a node are ``first_child`` … ``first_child + n_children − 1``. The test
of a node is on column ``attribute`` (−1 for a leaf):

    numeric column                        child 0 if value <= threshold, else child 1
    nominal column, threshold NaN         one child for every declared value
    nominal column, threshold = code      child 0 if the value has that code, else child 1

A row whose value is missing or was not seen in training has no branch; what then happens is up to the classifier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from everytree.data.columns import RawColumn
from everytree.data.cuts import number_text

if TYPE_CHECKING:
    import everytree._core as _core

__all__ = ["MultiwayTree"]


@dataclass(frozen=True)
class MultiwayTree:
    """An immutable multiway tree with the names of its columns and classes."""

    attribute: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float64]
    first_child: npt.NDArray[np.uint32]
    n_children: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.float64]  # n_nodes × n_classes
    columns: tuple[RawColumn, ...]
    classes: tuple[Any, ...]

    @classmethod
    def from_core(
        cls, tree: _core.MultiwayTree, columns: Sequence[RawColumn], classes: Sequence[Any]
    ) -> MultiwayTree:
        """A tree of the core, with names."""
        counts = tree.counts.reshape(-1, len(classes))
        arrays = (tree.attribute, tree.threshold, tree.first_child, tree.n_children, counts)
        for array in arrays:
            array.flags.writeable = False
        return cls(*arrays, tuple(columns), tuple(classes))

    def to_core(self) -> _core.MultiwayTree:
        """The tree as the core wants it."""
        import everytree._core as _core

        return _core.MultiwayTree(
            self.attribute, self.threshold, self.first_child, self.n_children, self.counts
        )

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return int(self.attribute.size)

    @property
    def n_leaves(self) -> int:
        """Number of leaves, those that no training example reaches included."""
        return int(np.count_nonzero(self.attribute < 0))

    @property
    def depth(self) -> int:
        """Number of tests on the longest path."""
        below = np.zeros(self.n_nodes, dtype=np.int64)
        for node in range(self.n_nodes - 1, -1, -1):  # children come after their parent
            if self.attribute[node] >= 0:
                below[node] = 1 + int(below[list(self.children(node))].max(initial=0))
        return int(below[0])

    def children(self, node: int) -> range:
        """The children of a node."""
        first = int(self.first_child[node])
        return range(first, first + int(self.n_children[node]))

    def branch_text(self, node: int, k: int) -> str:
        """The condition under which a row goes from ``node`` to its child number ``k``, such as ``age <= 54.5``."""
        column = self.columns[int(self.attribute[node])]
        at = float(self.threshold[node])
        if column.kind == "numeric":
            return f"{column.name} {('<=', '>')[k]} {number_text(at)}"
        if np.isnan(at):
            return f"{column.name} = {column.values[k]}"
        return f"{column.name} {('=', '!=')[k]} {column.values[int(at)]}"

    def to_text(self, leaf: Callable[[int], str] | None = None) -> str:
        """The tree as indented text, with the names and values of the data.

        ``leaf`` gives the text of a leaf from its node; by default the most frequent class and the class counts.
        """
        describe = self._leaf_text if leaf is None else leaf
        if self.attribute[0] < 0:
            return describe(0)
        lines: list[str] = []
        stack = [(0, k, 0) for k in reversed(range(len(self.children(0))))]
        while stack:
            parent, k, level = stack.pop()
            node = self.children(parent)[k]
            ends = self.attribute[node] < 0
            lines.append(
                "|   " * level + self.branch_text(parent, k) + (f": {describe(node)}" if ends else "")
            )
            stack += [(node, i, level + 1) for i in reversed(range(len(self.children(node))))]
        return "\n".join(lines)

    def _leaf_text(self, node: int) -> str:
        counts = self.counts[node]
        if not counts.any():
            return "(no examples)"
        shown = ", ".join(f"{count:.6g}" for count in counts)
        return f"{self.classes[int(np.argmax(counts))]} ({shown})"
