"""The laws every `Tree` obeys, as tiny named checks.

    children[k] = (-1, -1)  iff  test[k] = -1                      a leaf has neither child, a split both
    nodes are numbered in preorder, child 0 before child 1         so a parent comes before its children
    counts[k] = counts[child 0 of k] + counts[child 1 of k]        a split sends every example to one side
    proba[k] ≥ 0,  Σ_c proba[k, c] = 1
    0 ≤ says[k] < n_classes                                        a node says one of the classes
    0 ≤ upper[k] < 65535,  0 at a leaf                             where nodes choose their cuts: which cut

Each check raises `DataError` with the place that breaks the law (``counts[3]``), the value found there and
what was expected. All are linear in the number of nodes and none recurses, so a hostile tree costs no more
than its own size.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.common.text import clip
from everytree.errors import DataError

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MAX_INT32 = 2**31 - 1
MAX_TOTAL = 2.0**62
"""The most examples at a node; compared with a float sum, which cannot wrap (2**63 would leave no slack)."""

MAX_UPPER = 65535
"""Codes are held in sixteen bits, and the largest number means that a test never holds."""

SUM_OF_PARTS = 1e-12
"""What rounding may take from sums of parts of examples, as a share of all examples."""

SUM_TOLERANCE = 1e-6
"""Probabilities read from a text file with a few decimals still pass; a forgotten class does not."""


def integer_array(value: object, name: str, columns: int | None = None) -> IntArray:
    """Return `value` as an int64 array: 1-D, or 2-D when `columns` is given (0: any number, at least one)."""
    array = _as_array(value, name)
    if array.dtype.kind not in "iu" and array.size:
        raise DataError(
            f"{name} holds {array.dtype} values: expected integers. Convert with .astype('int64')."
        )
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise DataError(f"{name} holds {int(array.max())}: expected values below 2**63.")
    _check_shape(array, name, columns)
    return array.astype(np.int64)


def count_array(value: object, name: str) -> npt.NDArray[Any]:
    """Return `value` as a 2-D array of counts: int64, or float64 where weights of examples have fractions."""
    array = _as_array(value, name)
    return float_array(array, name, 0) if array.dtype.kind == "f" else integer_array(array, name, 0)


def float_array(value: object, name: str, columns: int) -> FloatArray:
    """Return `value` as a finite 2-D float64 array (`columns` = 0 allows any number, at least one)."""
    array = _as_array(value, name)
    if array.dtype.kind not in "iuf":
        raise DataError(f"{name} holds {array.dtype} values: expected real numbers.")
    _check_shape(array, name, columns)
    floats = array.astype(np.float64)
    bad = np.argwhere(~np.isfinite(floats))
    if len(bad):
        k, c = bad[0]
        raise DataError(f"{name}[{k}][{c}] is {floats[k, c]}: expected a finite number.")
    return floats


def _as_array(value: object, name: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"{name} is not a rectangular array ({error}).") from error


def _check_shape(array: npt.NDArray[Any], name: str, columns: int | None) -> None:
    if columns is None:
        if array.ndim != 1:
            raise DataError(f"{name} has shape {array.shape}: expected one dimension.")
    elif array.ndim != 2 or array.shape[1] == 0 or (columns and array.shape[1] != columns):
        wanted = f"(n, {columns})" if columns else "(n, at least 1)"
        raise DataError(f"{name} has shape {array.shape}: expected {wanted}.")


def check_same_length(name: str, length: int, n_nodes: int) -> None:
    """Check that every array has one entry per node."""
    if length != n_nodes:
        raise DataError(
            f"{name} has {length} entries: expected one per node, {n_nodes} (the length of test)."
        )


def check_same_length_as_rows(counts: IntArray, rows: npt.NDArray[Any]) -> None:
    """Check that a table has one row of class counts per row of tests."""
    if len(counts) != len(rows):
        raise DataError(f"counts has {len(counts)} rows: expected one per row of the table, {len(rows)}.")


def check_has_nodes(test: IntArray) -> None:
    """Check that there is a node: even the smallest tree has one, a leaf."""
    if not len(test):
        raise DataError("test is empty: expected at least one node (a single leaf is test = [-1]).")


def check_tests_in_range(test: IntArray, n_tests: int) -> None:
    """Check that -1 ≤ test[k] < n_tests, where -1 marks a leaf."""
    bad = np.flatnonzero((test < -1) | (test >= n_tests))
    if len(bad):
        k = bad[0]
        raise DataError(
            f"test[{k}] is {test[k]}: expected -1 (a leaf) or a test index below n_tests = {n_tests}."
        )


def check_children_in_range(children: IntArray) -> None:
    """Check that -1 ≤ children[k][b] < n_nodes."""
    bad = np.argwhere((children < -1) | (children >= len(children)))
    if len(bad):
        k, b = bad[0]
        raise DataError(
            f"children[{k}][{b}] is {children[k, b]}: expected -1 (none) or a node below {len(children)}."
        )


def check_splits_have_two_children(children: IntArray, test: IntArray) -> None:
    """Check that a split has both children and a leaf has neither."""
    bad = np.argwhere((children >= 0) != (test >= 0)[:, None])
    if len(bad):
        k, b = bad[0]
        kind, wanted = ("a leaf", "-1") if test[k] < 0 else (f"a split on test {test[k]}", "a child")
        raise DataError(f"children[{k}][{b}] is {children[k, b]}: node {k} is {kind}, expected {wanted}.")


def check_preorder(children: IntArray) -> None:
    """Check that walking the tree from node 0, child 0 first, meets the nodes in the order 0, 1, 2, ….

    This one law excludes cycles, shared children and unreachable nodes. Needs `check_children_in_range`.
    """
    pairs = children.tolist()
    waiting: list[tuple[int, int, int]] = [(0, -1, 0)]  # (node, its parent, which child of it)
    met = 0
    while waiting:
        node, parent, branch = waiting.pop()
        if node != met:  # also stops a walk that would go round in a cycle
            raise DataError(
                f"children[{parent}][{branch}] is {node}: expected {met}. "
                "Nodes are numbered in preorder, the child-0 subtree before the child-1 subtree."
            )
        met += 1
        zero, one = pairs[node]
        if one >= 0:
            waiting.append((one, node, 1))
        if zero >= 0:
            waiting.append((zero, node, 0))
    if met != len(pairs):
        raise DataError(
            f"children[{met}] is never reached from the root: expected {met} nodes, got {len(pairs)}."
        )


def check_counts_not_negative(counts: npt.NDArray[Any]) -> None:
    """Check that 0 ≤ counts[k][c] and that the total of a node fits in 63 bits."""
    bad = np.argwhere(counts < 0)
    if len(bad):
        k, c = bad[0]
        raise DataError(f"counts[{k}][{c}] is {counts[k, c]}: expected a count, 0 or more.")
    big = np.flatnonzero(counts.sum(axis=1, dtype=np.float64) > MAX_TOTAL)
    if len(big):
        raise DataError(f"counts[{big[0]}] sums to more than 2**62: scale the counts (or weights) down.")


def check_table_total(counts: IntArray) -> None:
    """Check that all the examples of a table together fit in 63 bits, so no sum over its rows wraps around."""
    if counts.sum(dtype=np.float64) > MAX_TOTAL:
        raise DataError("counts sums to more than 2**62: scale the counts (or weights) down.")


def check_children_counts_add_up(children: IntArray, counts: npt.NDArray[Any]) -> None:
    """Check that the counts of a split are the sum of its children's counts."""
    split = np.flatnonzero(children[:, 0] >= 0)
    below = counts[children[split, 0]] + counts[children[split, 1]]
    apart = counts[split] != below
    if counts.dtype.kind == "f":  # sums of parts of examples are rounded
        apart = np.abs(counts[split] - below) > SUM_OF_PARTS * counts[0].sum()
    bad = np.flatnonzero(apart.any(axis=1))
    if len(bad):
        k = split[bad[0]]
        raise DataError(
            f"counts[{k}] is {_short(counts[k])}: its children's counts add up to {_short(below[bad[0]])}."
        )


def check_says_in_range(says: IntArray, n_classes: int) -> None:
    """Check that 0 ≤ says[k] < n_classes."""
    bad = np.flatnonzero((says < 0) | (says >= n_classes))
    if len(bad):
        k = bad[0]
        raise DataError(f"says[{k}] is {says[k]}: expected the index of one of {n_classes} classes.")


def checked_upper(value: object, test: IntArray) -> npt.NDArray[np.int32]:
    """Return the position of each node's cut among those of its test; 0 at a leaf, and where the test is no cut."""
    upper = integer_array(value, "upper")
    check_same_length("upper", len(upper), len(test))
    bad = np.flatnonzero((upper < 0) | (upper >= MAX_UPPER) | ((test < 0) & (upper > 0)))
    if len(bad):
        k = bad[0]
        raise DataError(f"upper[{k}] is {upper[k]}: expected a number below {MAX_UPPER}, and 0 at a leaf.")
    return upper.astype(np.int32)


def checked_asks(value: Iterable[object] | None, test: IntArray) -> tuple[str, ...] | None:
    """Return what each node asks, in words; a leaf asks nothing. None stays None."""
    if value is None:
        return None
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise DataError(f"asks is {clip(value)}: expected a text for each of {len(test)} nodes.")
    asks = tuple(value)
    check_same_length("asks", len(asks), len(test))
    for k, (text, asked) in enumerate(zip(asks, test.tolist(), strict=True)):
        if not isinstance(text, str) or bool(text) != (asked >= 0):
            raise DataError(f"asks[{k}] is {clip(text)}: expected a text, empty at a leaf only.")
    return tuple(str(text) for text in asks)


def check_probabilities_sum_to_one(proba: FloatArray) -> None:
    """Check that each row of `proba` is a distribution over the classes."""
    bad = np.argwhere(proba < 0)
    if len(bad):
        k, c = bad[0]
        raise DataError(f"proba[{k}][{c}] is {proba[k, c]}: expected a probability, 0 or more.")
    sums = proba.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1.0) > SUM_TOLERANCE)
    if len(off):
        raise DataError(f"proba[{off[0]}] sums to {sums[off[0]]}: expected 1.")


def checked_count(value: object, name: str) -> int:
    """Return `value` as an int that fits an int32 index."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise DataError(f"{name} is {clip(value)}: expected an integer, 0 or more.")
    if not 0 <= int(value) <= MAX_INT32:
        raise DataError(f"{name} is {clip(value)}: expected an integer from 0 to 2**31 - 1.")
    return int(value)


def checked_test_names(value: Iterable[object] | None, n_tests: int) -> tuple[str, ...] | None:
    """Return the names as a tuple, once they are one string per test; None stays None."""
    if value is None:
        return None
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise DataError(f"test_names is {clip(value)}: expected a sequence of {n_tests} names.")
    names = tuple(value)
    if len(names) != n_tests:
        raise DataError(f"test_names has {len(names)} names: expected one per test, {n_tests}.")
    if set(map(type, names)) <= {str}:  # nearly always, and local cuts have a thousand names for every tree
        return names  # type: ignore[return-value]
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise DataError(f"test_names[{i}] is {clip(name)}: expected a string.")
    return tuple(str(name) for name in names)


def checked_classes(value: Iterable[Any] | None, n_classes: int) -> tuple[Hashable, ...] | None:
    """Return one distinct label per class, with numpy scalars as Python values; None stays None."""
    if value is None:
        return None
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise DataError(f"classes is {clip(value)}: expected a sequence of {n_classes} labels.")
    labels = tuple(label.item() if isinstance(label, np.generic) else label for label in value)
    if len(labels) != n_classes:
        raise DataError(f"classes has {len(labels)} labels: expected one per column of counts, {n_classes}.")
    seen: dict[Hashable, int] = {}
    for c, label in enumerate(labels):
        if not isinstance(label, Hashable):
            raise DataError(
                f"classes[{c}] is {clip(label)}: expected a hashable label such as a string or a number."
            )
        if label != label:
            raise DataError(
                f"classes[{c}] is {clip(label)}: a label must equal itself. Name the missing class."
            )
        if label in seen:
            raise DataError(
                f"classes[{c}] is {clip(label)}, the same as classes[{seen[label]}]: labels must differ."
            )
        seen[label] = c
    return labels


def checked_info(value: object) -> Mapping[str, Any]:
    """Return a read-only copy of a mapping of facts; empty for None."""
    if value is not None and not isinstance(value, Mapping):
        raise DataError(f"info is {clip(value)}: expected a mapping of names to facts, or None.")
    return MappingProxyType(dict(value or {}))


def _short(row: npt.NDArray[Any]) -> str:
    """Write a row of counts for a message; of many classes only some are shown."""
    return str(row.tolist()) if len(row) <= 8 else f"{row[:8].tolist()}…"
