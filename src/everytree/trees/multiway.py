"""MultiwayTree: a greedily grown tree, with one branch for each nominal value or for the two sides of a cut.

The test of a node is on column ``attribute``:

    numeric column                        child 0 if value <= threshold, else child 1
    nominal column, threshold NaN         one child for every declared value
    nominal column, threshold = code      child 0 if the value has that code, else child 1
    any column, threshold = +∞            child 0 if there is a value

A row whose value is missing takes the child ``missing``, where the tree was grown with one. Otherwise it has no branch,
like a row whose value was not seen in training; the classifier decides what happens then.
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
    """A tree with any number of branches per node, with the names of its columns and classes; it cannot be changed.

    It is the ``tree_`` of a fitted `C45TreeClassifier` or `CARTTreeClassifier`. Node 0 is the root, and every array has
    one entry for each node.

    Parameters
    ----------
    attribute : array of int, shape (n_nodes,)
        The column that each node tests, −1 at a leaf.
    threshold : array of float, shape (n_nodes,)
        The cut of a numeric column, or the code of the one value that a node asks for. NaN where a nominal column has a
        child for every value, +∞ where a node asks whether there is a value.
    first_child : array of int, shape (n_nodes,)
        The first child of each node; the others follow it. 0 at a leaf.
    n_children : array of int, shape (n_nodes,)
        The number of children of each node.
    counts : array of float, shape (n_nodes, n_classes)
        The training examples of each class at each node; fractions come from rows with missing values.
    columns : tuple of RawColumn
        The columns of the data, with their names and values.
    classes : tuple
        The labels of the classes.
    missing : array of int, shape (n_nodes,), optional
        Which child (0, 1, …) a row without a value takes, −1 for none.

    Examples
    --------
    >>> import everytree as et
    >>> X, y = [["sunny"], ["rain"], ["sunny"], ["rain"]], ["no", "yes", "no", "yes"]
    >>> tree = et.C45TreeClassifier().fit(X, y).tree_
    >>> tree.n_leaves, tree.depth
    (2, 1)
    >>> print(tree.to_text())
    x0 = rain: yes (0, 2)
    x0 = sunny: no (2, 0)
    """

    attribute: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float64]
    first_child: npt.NDArray[np.uint32]
    n_children: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.float64]  # n_nodes × n_classes
    columns: tuple[RawColumn, ...]
    classes: tuple[Any, ...]

    missing: npt.NDArray[np.int32] | None = None

    FORMAT: ClassVar[str] = "everytree.multiway"

    @classmethod
    def from_core(
        cls, tree: _core.MultiwayTree, columns: Sequence[RawColumn], classes: Sequence[Any]
    ) -> MultiwayTree:
        """Give a tree of the compiled core the names of its columns and classes.

        Parameters
        ----------
        tree : _core.MultiwayTree
            The tree that the core has grown.
        columns : sequence of RawColumn
            The columns of the data.
        classes : sequence
            The labels of the classes.

        Returns
        -------
        MultiwayTree
            The tree with names.
        """
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
        """Convert the tree to the form of the compiled core, without names.

        Returns
        -------
        _core.MultiwayTree
            The same nodes.
        """
        return _core.MultiwayTree(
            self.attribute, self.threshold, self.first_child, self.n_children, self.counts
        )

    def to_dict(self) -> dict[str, Any]:
        """Write the tree as plain lists and numbers; a model file holds its columns and classes elsewhere.

        Returns
        -------
        dict
            The arrays of the tree, which `from_dict` reads back exactly.
        """
        missing = None if self.missing is None else self.missing.tolist()
        return self._shape_to_dict() | {"threshold": numbers_to_json(self.threshold), "missing": missing}

    @classmethod
    def from_dict(cls, data: Any, columns: Sequence[RawColumn], classes: Sequence[Any]) -> MultiwayTree:
        """Read a tree that `to_dict` wrote.

        Parameters
        ----------
        data : dict
            What `to_dict` returned.
        columns : sequence of RawColumn
            The columns that the tree tests.
        classes : sequence
            The labels of the classes.

        Returns
        -------
        MultiwayTree
            The same tree.

        Raises
        ------
        DataError
            If the dict is not a tree over these columns; the message names the field.
        """
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
        """Find the node where each row ends: a leaf, or the first node that has no branch for the row.

        Parameters
        ----------
        cells : array of float, shape (n_rows, n_columns)
            The values of the rows as ``ColumnReader.cells`` gives them.

        Returns
        -------
        array of int, shape (n_rows,)
            The node of each row.
        """
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
        """Return a copy in which chosen nodes are leaves, with nothing below them.

        Parameters
        ----------
        leaf : array of bool, shape (n_nodes,)
            True for every node that becomes a leaf.

        Returns
        -------
        MultiwayTree
            The smaller tree; its nodes have new numbers.
        """
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
        """Say in words which rows go from a node to one of its children, such as ``age <= 54.5``.

        Parameters
        ----------
        node : int
            The number of an inner node.
        k : int
            Which of its children, counted from 0.

        Returns
        -------
        str
            The condition, with the names of the data.
        """
        column, at = self.columns[int(self.attribute[node])], float(self.threshold[node])
        lacks = self.missing is not None and int(self.missing[node]) == k
        if at == np.inf:
            return column.branch_text(at, 2 if lacks else 0)
        return column.branch_text(at, k) + (" or missing" if lacks else "")

    def to_text(self, leaf: Callable[[int], str] | None = None) -> str:
        """Write the tree as indented text, with the names and values of the data.

        Parameters
        ----------
        leaf : callable, optional
            A function from the number of a leaf to its text. By default a leaf shows its most frequent class and its
            class counts.

        Returns
        -------
        str
            The text, one line for each node below the root.
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
        """Say the most frequent class of a node, with its examples and errors as in ``ill (12/3)``.

        Parameters
        ----------
        node : int
            The number of the node.

        Returns
        -------
        str
            The class and (examples), or (examples/errors) where there are errors; fractions have two digits.
        """
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
    """Check that the threshold and the number of children fit the column of the node, which is None for a leaf."""
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
