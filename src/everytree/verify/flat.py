"""The shape of a flat tree, read by the checker: children side by side, after their parent, every node reached once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from everytree.verify.problem import InputError, is_number, quote

__all__ = ["Shape", "numbers", "read_shape", "rows_of"]


@dataclass(frozen=True)
class Shape:
    """The columns asked about (−1 at a leaf), the first children and the numbers of children."""

    attribute: list[int]
    first_child: list[int]
    n_children: list[int]
    parent: list[int]

    @property
    def n_leaves(self) -> int:
        return sum(1 for j in self.attribute if j < 0)

    def depth(self) -> int:
        """Return the number of tests on the longest path."""
        depth = [0] * len(self.attribute)
        for node in range(1, len(depth)):
            depth[node] = depth[self.parent[node]] + 1
        return max(depth)


def read_shape(tree: dict[str, Any], n_columns: int) -> Shape:
    """Read the shape of ``tree``, which must be a tree."""
    n = len(tree["attribute"]) if isinstance(tree.get("attribute"), list) else 0
    lists = {}
    for name, least, most in (
        ("attribute", -1, n_columns - 1),
        ("first_child", 0, n - 1),
        ("n_children", 0, n - 1),
    ):
        values = tree.get(name)
        if not isinstance(values, list) or len(values) != n or not n:
            raise InputError(f"tree.{name} is {quote(values)}; expected a list with one entry for each node")
        for k, value in enumerate(values):
            if type(value) is not int or not least <= value <= most:
                raise InputError(
                    f"tree.{name}[{k}] is {quote(value)}; expected a whole number, {least} to {most}"
                )
        lists[name] = values
    parent = [-1] * n
    for node, j in enumerate(lists["attribute"]):
        first, width = lists["first_child"][node], lists["n_children"][node]
        if (j < 0) != (width == 0) or (width and not node < first <= n - width):
            raise InputError(f"tree: node {node} has {width} children from {first} on, which does not fit")
        for child in range(first, first + width):
            if parent[child] >= 0:
                raise InputError(f"tree: node {child} is a child of nodes {parent[child]} and {node}")
            parent[child] = node
    if -1 in parent[1:]:
        raise InputError(f"tree: node {parent.index(-1, 1)} is the child of no node")
    return Shape(lists["attribute"], lists["first_child"], lists["n_children"], parent)


def numbers(tree: dict[str, Any], name: str, length: int, special: bool = False) -> list[float]:
    """Read a list of numbers; with ``special``, null is NaN and {"$float": "inf"} infinity."""
    values = tree.get(name)
    if not isinstance(values, list) or len(values) != length:
        raise InputError(f"tree.{name} is {quote(values)}; expected a list of {length} numbers")
    found = []
    for k, value in enumerate(values):
        if special and value is None:
            found.append(math.nan)
        elif special and value == {"$float": "inf"}:
            found.append(math.inf)
        elif special and value == "-inf":
            found.append(-math.inf)
        elif is_number(value):
            found.append(float(value))
        else:
            raise InputError(f"tree.{name}[{k}] is {quote(value)}; expected a finite number")
    return found


def rows_of(tree: dict[str, Any], name: str, length: int, width: int) -> list[list[float]]:
    """Read a list of ``length`` lists of ``width`` numbers, 0 or more."""
    values = tree.get(name)
    if not isinstance(values, list) or len(values) != length:
        raise InputError(f"tree.{name} is {quote(values)}; expected {length} lists of numbers")
    for k, row in enumerate(values):
        if not isinstance(row, list) or len(row) != width or not all(is_number(x) and x >= 0 for x in row):
            raise InputError(f"tree.{name}[{k}] is {quote(row)}; expected {width} numbers, 0 or more")
    return values
