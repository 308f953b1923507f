"""The tree of a key with the counts of a table, by the outcomes of its own tests alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from everytree.data.table import Table
from everytree.data.table_codes import has_matrix, holding
from everytree.trees.checks import check_tests_in_range
from everytree.trees.tree import Tree

__all__ = ["counted_tree"]


def counted_tree(key: Sequence[int], table: Table, info: Mapping[str, Any] | None = None) -> Tree:
    """Make the tree of a key; where the table has no matrix of all tests yet, none is made.

    Parameters
    ----------
    key : sequence of int
        The tests of the tree in preorder, -1 for a leaf.
    table : Table
        The rows that are counted at every node.
    info : mapping or None, default=None
        What is known of the tree, for ``tree.info``.

    Returns
    -------
    Tree
        The tree, with the class counts of every node.

    Examples
    --------
    >>> counted_tree([1, -1, -1], Table([[0, 1], [0, 0]], [[3, 0], [1, 2]])).counts.tolist()
    [[4, 2], [1, 2], [3, 0]]
    """
    names, classes = table.test_names, table.classes
    if has_matrix(table):
        return Tree.from_key(key, table.rows, table.class_counts, None, names, classes, info)
    tests = np.asarray(key, dtype=np.int64)
    check_tests_in_range(tests, table.n_tests)
    asked = sorted({int(test) for test in key if test >= 0})
    rows = np.zeros((table.n_rows, len(asked)), dtype=np.uint8)
    for place, test in enumerate(asked):
        rows[:, place] = holding(table, test)
    places = {test: place for place, test in enumerate(asked)}
    few = Tree.from_key([places.get(int(test), -1) for test in key], rows, table.class_counts)
    return Tree(
        few.children,
        tests,
        few.counts,
        few.proba,
        n_tests=table.n_tests,
        test_names=names,
        classes=classes,
        info=info,
    )
