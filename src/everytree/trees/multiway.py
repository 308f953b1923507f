"""MultiwayTree: a tree of a greedy grower, with one branch per nominal value or two sides of a cut.

The test of a node is on column ``attribute``:

    numeric column                        child 0 if value <= threshold, else child 1
    nominal column, threshold NaN         one child for every declared value
    nominal column, threshold = code      child 0 if the value has that code, else child 1
    any column, threshold = +∞            child 0 if there is a value

A row whose value is missing takes the child ``missing``, where the grower chose one. Otherwise it has no branch, like a
row whose value was not seen in training; what then happens is up to the classifier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.data.columns import RawColumn
from everytree.errors import DataError
from everytree.trees.flat import (
    FlatTree,
    checked_shape,
    numbers_to_json,
    read_fields,
    read_numbers,
    read_only,
    read_rows,
    read_whole,
)

__all__ = ["MultiwayTree"]

ROUNDING = 1e-6  # fewer errors than this are none: shares of rows with missing values do not add up exactly


@dataclass(frozen=True, eq=False)
class MultiwayTree(FlatTree):
    """An immutable multiway tree with the names of its columns and classes."""

    attribute: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float64]
    first_child: npt.NDArray[np.uint32]
    n_children: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.float64]  # n_nodes × n_classes
    columns: tuple[RawColumn, ...]
    classes: tuple[Any, ...]

    missing: npt.NDArray[np.int32] | None = (
        None  # which child (0, 1, …) a row without a value takes; −1: none
    )

    FORMAT: ClassVar[str] = "everytree.multiway"

    @classmethod
    def from_core(
        cls, tree: _core.MultiwayTree, columns: Sequence[RawColumn], classes: Sequence[Any]
    ) -> MultiwayTree:
        """A tree of the core, with names."""
        counts = tree.counts.reshape(-1, len(classes))
        return cls(
            read_only(tree.attribute),
            read_only(tree.threshold),
            read_only(tree.first_child),
            read_only(tree.n_children),
            read_only(counts),
            tuple(columns),
            tuple(classes),
        )

    def to_core(self) -> _core.MultiwayTree:
        """The tree as the core wants it."""
        return _core.MultiwayTree(
            self.attribute, self.threshold, self.first_child, self.n_children, self.counts
        )

    def to_dict(self) -> dict[str, Any]:
        """The tree as plain lists and numbers; its columns and classes stand elsewhere in a model file."""
        missing = None if self.missing is None else self.missing.tolist()
        return self._shape_to_dict() | {"threshold": numbers_to_json(self.threshold), "missing": missing}

    @classmethod
    def from_dict(cls, data: Any, columns: Sequence[RawColumn], classes: Sequence[Any]) -> MultiwayTree:
        """The tree that ``to_dict`` wrote, on these columns; an error names the field that breaks it."""
        data = read_fields(data, cls, ("threshold", "missing"))
        attribute, first_child, n_children = checked_shape(data, len(columns))
        n = attribute.size
        threshold = read_numbers(data, "threshold", n, none=True, infinite=data["missing"] is not None)
        for node in range(n):
            j = int(attribute[node])
            _check_test(node, float(threshold[node]), int(n_children[node]), None if j < 0 else columns[j])
        missing = None
        if data["missing"] is not None:
            missing = read_whole(data, "missing", n, -1, n).astype(np.int32)
            for node in np.flatnonzero(missing >= n_children.astype(np.int64))[:1]:
                raise DataError(
                    f"missing[{node}] is {missing[node]}; the node has {n_children[node]} children"
                )
        counts = read_rows(data, "counts", n, len(classes))
        if not counts[0].any():
            raise DataError("counts[0] is zero; expected examples at the root")
        for array in (attribute, threshold, first_child, n_children, counts):
            read_only(array)
        return cls(
            attribute, threshold, first_child, n_children, counts, tuple(columns), tuple(classes), missing
        )

    def apply(self, cells: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
        """The node where each row of ``ColumnReader.cells`` ends: a leaf, or the first node without a branch for it."""
        numeric = np.array([column.kind == "numeric" for column in self.columns])
        lacking = np.full(self.n_nodes, -1) if self.missing is None else self.missing
        at = np.zeros(cells.shape[0], dtype=np.intp)
        going = np.flatnonzero(self.attribute[at] >= 0)
        while going.size:
            here = at[going]
            j, cut = self.attribute[here], self.threshold[here]
            value = cells[going, j]
            gone = np.isnan(value)
            second = np.where(numeric[j], value > cut, (value != cut) & (cut != np.inf))
            branch = np.where(np.isnan(cut), np.where(gone, -1, value), second).astype(np.intp)
            branch[gone] = lacking[here[gone]]
            known = branch >= 0
            going = going[known]
            at[going] = self.first_child[here[known]].astype(np.intp) + branch[known]
            going = going[self.attribute[at[going]] >= 0]
        return at

    def pruned(self, leaf: npt.NDArray[np.bool_]) -> MultiwayTree:
        """The tree with a leaf wherever ``leaf`` says so, and nothing below; siblings stay side by side."""
        inner = (self.attribute >= 0) & ~leaf
        order, first = [0], np.zeros(self.n_nodes, dtype=np.uint32)
        for node in order:  # grows while it is read: breadth first
            if inner[node]:
                first[node] = len(order)
                order += self.children(node)
        return MultiwayTree(
            read_only(np.where(inner, self.attribute, -1).astype(np.int32)[order]),
            read_only(np.where(inner, self.threshold, np.nan)[order]),
            read_only(first[order]),
            read_only(np.where(inner, self.n_children, 0).astype(np.uint32)[order]),
            read_only(self.counts[order]),
            self.columns,
            self.classes,
            None
            if self.missing is None
            else read_only(np.where(inner, self.missing, -1).astype(np.int32)[order]),
        )

    def branch_text(self, node: int, k: int) -> str:
        """The condition under which a row goes from ``node`` to its child number ``k``, such as ``age <= 54.5``."""
        column, at = self.columns[int(self.attribute[node])], float(self.threshold[node])
        lacks = self.missing is not None and int(self.missing[node]) == k
        if at == np.inf:
            return column.branch_text(at, 2 if lacks else 0)
        return column.branch_text(at, k) + (" or missing" if lacks else "")

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

    def errors_text(self, node: int) -> str:
        """The most frequent class of a node, and (examples) or (examples/errors), fractions with two digits."""
        total = float(self.counts[node].sum())
        if total <= 0:
            return "(no examples)"
        wrong = total - float(self.counts[node].max())
        shown = _short(total) if wrong < ROUNDING else f"{_short(total)}/{_short(wrong)}"
        return f"{self.classes[int(np.argmax(self.counts[node]))]} ({shown})"

    def _leaf_text(self, node: int) -> str:
        counts = self.counts[node]
        if not counts.any():
            return "(no examples)"
        shown = ", ".join(f"{count:.6g}" for count in counts)
        return f"{self.classes[int(np.argmax(counts))]} ({shown})"


def _short(x: float) -> str:
    return f"{x:.2f}".rstrip("0").rstrip(".")


def _check_test(node: int, at: float, n_children: int, column: RawColumn | None) -> None:
    """That the threshold and the number of children fit the column of the node; None for a leaf."""
    if column is None:
        fine, wanted = np.isnan(at), "null at a leaf"
    elif at == np.inf:
        fine, wanted = n_children == 2, "two children"
    elif column.kind == "numeric":
        fine, wanted = not np.isnan(at) and n_children == 2, "a number, and two children"
    elif np.isnan(at):
        fine, wanted = n_children == len(column.values), f"one child for each of {len(column.values)} values"
    else:
        fine = at in range(len(column.values)) and n_children == 2
        wanted = f"null, or one of {len(column.values)} codes and two children"
    if not fine:
        found = "null" if np.isnan(at) else f"{at:g}"
        raise DataError(f"threshold[{node}] is {found} with {n_children} children; expected {wanted}")
