"""FlatTree: the shape of a tree in flat arrays, for every tree that is grown on whole columns.

Every array has one entry for each node, and node 0 is the root. ``attribute`` is the column that a node asks about, −1
for a leaf. The children of an inner node stand side by side, ``first_child`` … ``first_child + n_children − 1``, after
their parent. The subclasses say what the numbers at the nodes mean.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from everytree.common.fields import checked_fields
from everytree.common.text import clip
from everytree.errors import DataError

__all__ = [
    "FlatTree",
    "checked_shape",
    "numbers_to_json",
    "read_fields",
    "read_numbers",
    "read_only",
    "read_rows",
    "read_whole",
]

Nodes = npt.NDArray[np.intp]
MOST_NODES = 2**31 - 1
LARGEST = 2.0**62  # the largest count
FINITE = sys.float_info.max
SHAPE = ("format", "version", "attribute", "first_child", "n_children", "counts")  # fields of every such tree


class FlatTree:
    """A tree in flat arrays; its subclasses are frozen dataclasses with these fields, and more."""

    attribute: npt.NDArray[np.int32]
    first_child: npt.NDArray[np.uint32]
    n_children: npt.NDArray[np.uint32]
    counts: npt.NDArray[Any]  # n_nodes × n_classes
    classes: tuple[Any, ...]

    FORMAT: ClassVar[str] = "everytree.flat_tree"
    VERSION: ClassVar[int] = 1

    @property
    def n_nodes(self) -> int:
        """The number of nodes, including leaves that no training example reaches."""
        return int(self.attribute.size)

    @property
    def n_leaves(self) -> int:
        """The number of leaves, including those that no training example reaches."""
        return int(np.count_nonzero(self.attribute < 0))

    @property
    def depth(self) -> int:
        """The number of tests on the longest path from the root to a leaf."""
        return sum(1 for _ in self.levels())

    def children(self, node: int) -> range:
        """Return the children of a node.

        Parameters
        ----------
        node : int
            The number of the node.

        Returns
        -------
        range
            The node numbers of the children; empty for a leaf.
        """
        first = int(self.first_child[node])
        return range(first, first + int(self.n_children[node]))

    def levels(self) -> Iterator[tuple[Nodes, Nodes]]:
        """Yield the nodes of depth 1 with their parents, then those of depth 2, and so on.

        Yields
        ------
        tuple of two arrays of int
            The parent of each node of one depth, and the nodes.
        """
        nodes = np.zeros(1, dtype=np.intp)
        while True:
            inner = nodes[self.attribute[nodes] >= 0]
            if not inner.size:
                return
            width = self.n_children[inner].astype(np.intp)
            parents = np.repeat(inner, width)
            place = np.arange(parents.size) - np.repeat(np.cumsum(width) - width, width)
            nodes = self.first_child[parents].astype(np.intp) + place
            yield parents, nodes

    def parents(self) -> Nodes:
        """Find the parent of every node.

        Returns
        -------
        array of int, shape (n_nodes,)
            The parent of each node; −1 for the root.
        """
        parent = np.full(self.n_nodes, -1, dtype=np.intp)
        for above, below in self.levels():
            parent[below] = above
        return parent

    def added_up(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Add to the values of every node those of all nodes below it.

        Parameters
        ----------
        values : array, shape (n_nodes, ...)
            One value or one row of values for each node.

        Returns
        -------
        array, shape (n_nodes, ...)
            The sums.
        """
        sums = values.copy()
        for parents, children in reversed(list(self.levels())):
            np.add.at(sums, parents, sums[children])
        return sums

    def __eq__(self, other: object) -> bool:
        """Return whether both trees have equal arrays, columns and classes."""
        if type(other) is not type(self):
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in self._field_names())

    def __hash__(self) -> int:
        return hash((type(self), self.attribute.tobytes(), self.first_child.tobytes(), self.counts.tobytes()))

    def _field_names(self) -> list[str]:
        return [field.name for field in fields(self)]  # type: ignore[arg-type]

    def _shape_to_dict(self) -> dict[str, Any]:
        """Return the fields that every flat tree has, as plain lists."""
        return {
            "format": self.FORMAT,
            "version": self.VERSION,
            "attribute": self.attribute.tolist(),
            "first_child": self.first_child.tolist(),
            "n_children": self.n_children.tolist(),
            "counts": self.counts.tolist(),
        }


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return bool(a == b)


def read_only(array: Any) -> Any:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array


# --- These functions read what ``to_dict`` wrote: nothing is trusted, and an error names the field.


def read_fields(data: Any, made: type[FlatTree], more: tuple[str, ...]) -> dict[str, Any]:
    """Check that ``data`` has the fields of every flat tree and ``more``, no others, and the format of ``made``."""
    return checked_fields(data, made.FORMAT, made.VERSION, (*SHAPE, *more), "tree")


def checked_shape(data: dict[str, Any], n_columns: int) -> tuple[Any, Any, Any]:
    """Return ``attribute``, ``first_child`` and ``n_children`` of ``data``, once they are a tree over ``n_columns``.

    Children come after their parent and every node but the root is the child of one: then no walk down the tree goes
    round in a circle, and every node is reached.
    """
    given = data["attribute"]
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_NODES:
        raise DataError(f"attribute is {clip(given)}; expected a list with one entry per node")
    n = len(given)
    attribute = read_whole(data, "attribute", n, -1, n_columns - 1)
    first = read_whole(data, "first_child", n, 0, n - 1)
    width = read_whole(data, "n_children", n, 0, n - 1)
    inner = np.flatnonzero(attribute >= 0)
    for node in np.flatnonzero((attribute < 0) & ((width > 0) | (first > 0)))[:1]:
        raise DataError(
            f"node {node} is a leaf, but has first_child {first[node]} and n_children {width[node]}"
        )
    lost = (width[inner] < 1) | (first[inner] <= inner) | (first[inner] + width[inner] > n)
    for node in inner[lost][:1]:
        raise DataError(
            f"node {node} has first_child {first[node]} and n_children {width[node]}; expected at least one child, and "
            f"all of them after their parent and below {n}"
        )
    starts = np.zeros(
        n + 1, dtype=np.int64
    )  # how many sets of children begin, less those that end, at a node
    np.add.at(starts, first[inner], 1)
    np.add.at(starts, first[inner] + width[inner], -1)
    parents = np.cumsum(starts[:n])
    for node in np.flatnonzero(parents[1:] != 1)[:1] + 1:
        raise DataError(f"node {node} is the child of {parents[node]} nodes; expected one")
    return attribute.astype(np.int32), first.astype(np.uint32), width.astype(np.uint32)


def read_whole(data: dict[str, Any], name: str, length: int, least: int, most: int) -> npt.NDArray[np.int64]:
    """Read a list of whole numbers from ``least`` to ``most``."""
    values = _list(data, name, length)
    for i, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise DataError(f"{name}[{i}] is {clip(value)}; expected a whole number from {least} to {most}")
    return np.array(values, dtype=np.int64)


def read_numbers(
    data: dict[str, Any],
    name: str,
    length: int,
    low: float = -FINITE,
    high: float = FINITE,
    *,
    none: bool = False,
    infinite: bool = False,
) -> npt.NDArray[np.float64]:
    """Read finite numbers from ``low`` to ``high``.

    With ``none``, null is read as NaN; with ``infinite``, {"$float": "inf"} is read as +∞.
    """
    found = np.empty(length)
    for i, value in enumerate(_list(data, name, length)):
        if value is None and none:
            found[i] = np.nan
        elif infinite and value == {"$float": "inf"}:
            found[i] = np.inf
        else:
            found[i] = _number(value, f"{name}[{i}]", low, high)
    return found


def numbers_to_json(values: npt.NDArray[np.float64]) -> list[Any]:
    """Write numbers in the form that ``read_numbers`` reads.

    >>> numbers_to_json(np.array([0.5, np.nan, np.inf]))
    [0.5, None, {'$float': 'inf'}]
    """
    special = {np.inf: {"$float": "inf"}}
    return [None if x != x else special.get(x, x) for x in values.tolist()]


def read_rows(
    data: dict[str, Any], name: str, length: int, width: int, high: float = LARGEST, *, whole: bool = False
) -> npt.NDArray[Any]:
    """Read ``length`` lists of ``width`` numbers from 0 to ``high``; with ``whole``, whole numbers as int64."""
    found = np.empty((length, width), dtype=np.int64 if whole else np.float64)
    for i, row in enumerate(_list(data, name, length)):
        if not isinstance(row, list) or len(row) != width:
            raise DataError(f"{name}[{i}] is {clip(row)}; expected {width} numbers, one for each class")
        for c, value in enumerate(row):
            if whole and not isinstance(value, int):
                raise DataError(f"{name}[{i}][{c}] is {clip(value)}; expected a whole number, 0 or more")
            found[i, c] = _number(value, f"{name}[{i}][{c}]", 0, high)
    return found


def _list(data: dict[str, Any], name: str, length: int) -> list[Any]:
    values = data[name]
    if not isinstance(values, list) or len(values) != length:
        found = f"a list of {len(values)}" if isinstance(values, list) else clip(values)
        raise DataError(f"{name} is {found}; expected a list with one entry for each of {length} nodes")
    return values


def _number(value: Any, path: str, low: float, high: float) -> float | int:
    fine = isinstance(value, int | float) and not isinstance(value, bool)
    if not fine or not low <= value <= high:
        span = " and 0 or more" if low == 0 else ""
        raise DataError(
            f"{path} is {clip(value)}; expected a number that is finite{span}, at most {high:.3g}"
        )
    return value  # type: ignore[no-any-return]
