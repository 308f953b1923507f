"""A tree as a versioned, JSON-able dict, and back.

    {"format": "everytree.tree", "version": 1, "n_tests": …, "test_names": […] | None, "classes": […] | None,
     "children": [[zero, one], …], "test": […], "counts": [[…], …], "proba": [[…], …], "says": […]}

Older files have no "says": each node says its most probable class. A tree whose nodes chose their own cuts has also
"upper": […], the position of the cut of each node, and "asks": […], what it asks in words.

Reading trusts nothing: every field is checked for type and shape before an array is made of it, the work is
linear in the size of the input, and an error names the field (``counts[3][1]``). The laws of the tree itself
are then checked by the constructor.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from everytree.common.json_text import parsed_json
from everytree.common.text import clip
from everytree.draw.shapes import BinaryTree
from everytree.errors import DataError
from everytree.trees.checks import checked_count

FORMAT = "everytree.tree"
VERSION = 1
FIELDS = ("format", "version", "n_tests", "test_names", "classes", "children", "test", "counts", "proba")
OPTIONAL = ("says", "upper", "asks")
MAX_LABEL_BITS = 4096
"""Integer labels beyond this may be too long for Python to print (its limit is 4300 digits)."""
INT64_MAX = 2**63 - 1


class WrittenTree(BinaryTree, Protocol):
    """The parts of a tree that are written."""

    @property
    def n_tests(self) -> int: ...
    @property
    def test_names(self) -> tuple[str, ...] | None: ...
    @property
    def upper(self) -> npt.NDArray[np.int32] | None: ...
    @property
    def asks(self) -> tuple[str, ...] | None: ...


def tree_to_dict(tree: WrittenTree) -> dict[str, Any]:
    """Return the tree as plain lists, strings and numbers."""
    for c, label in enumerate(tree.classes or ()):
        _check_label(label, f"classes[{c}]", "Use tree.replace(classes=...) with labels that JSON can hold.")
    cuts = {
        name: value
        for name, value in (
            ("upper", None if tree.upper is None else tree.upper.tolist()),
            ("asks", None if tree.asks is None else list(tree.asks)),
        )
        if value is not None
    }
    return {
        "format": FORMAT,
        "version": VERSION,
        "n_tests": tree.n_tests,
        "test_names": None if tree.test_names is None else list(tree.test_names),
        "classes": None if tree.classes is None else list(tree.classes),
        "children": tree.children.tolist(),
        "test": tree.test.tolist(),
        "counts": tree.counts.tolist(),
        "proba": tree.proba.tolist(),
        "says": tree.says.tolist(),
    } | cuts


def tree_to_json(tree: WrittenTree, indent: int | None = None) -> str:
    """Return the tree as a JSON string; floats keep every digit."""
    return json.dumps(tree_to_dict(tree), indent=indent, allow_nan=False)


def parts_from_json(text: str | bytes) -> dict[str, Any]:
    """Return the arguments of `Tree`, from the text of `tree_to_json`."""
    if not isinstance(text, (str, bytes, bytearray)):
        raise DataError(f"the JSON text is a {type(text).__name__}: expected a string.")
    return parts_from_dict(parsed_json(text, "a tree in JSON", "the output of Tree.to_json"))


def parts_from_dict(data: Any) -> dict[str, Any]:
    """Return the arguments of `Tree`, from the dict of `tree_to_dict`."""
    if not isinstance(data, Mapping):
        raise DataError(f"the tree is a {type(data).__name__}: expected a dict as Tree.to_dict writes it.")
    if data.get("format") != FORMAT:
        raise DataError(f"format is {clip(data.get('format'))}: expected {FORMAT!r}.")
    _check_version(data.get("version"))
    missing = [field for field in FIELDS if field not in data]
    if missing:
        raise DataError(f"{missing[0]} is missing: expected the fields {', '.join(FIELDS)}.")
    unknown = [field for field in data if field not in (*FIELDS, *OPTIONAL)]
    if unknown:
        known = ", ".join((*FIELDS, *OPTIONAL))
        raise DataError(f"{clip(unknown[0])} is not a field of a tree: expected {known}.")

    n_tests = checked_count(data["n_tests"], "n_tests")
    test = [_integer(t, f"test[{k}]") for k, t in enumerate(_list(data["test"], "test"))]
    if not test:
        raise DataError("test is empty: expected at least one node (a single leaf is [-1]).")
    n_nodes = len(test)
    children = [
        [_integer(child, f"children[{k}][{b}]") for b, child in enumerate(_list(pair, f"children[{k}]", 2))]
        for k, pair in enumerate(_list(data["children"], "children", n_nodes))
    ]
    counts = _list(data["counts"], "counts", n_nodes)
    n_classes = len(_list(counts[0], "counts[0]"))
    if not n_classes:
        raise DataError("counts[0] is empty: expected one count per class.")
    count_rows = [
        [_count(n, f"counts[{k}][{c}]") for c, n in enumerate(_list(row, f"counts[{k}]", n_classes))]
        for k, row in enumerate(counts)
    ]
    parts = any(isinstance(n, float) for row in count_rows for n in row)  # weights have fractions
    proba_rows = [
        [_number(p, f"proba[{k}][{c}]") for c, p in enumerate(_list(row, f"proba[{k}]", n_classes))]
        for k, row in enumerate(_list(data["proba"], "proba", n_nodes))
    ]
    says = None
    if "says" in data:
        says = [_integer(c, f"says[{k}]") for k, c in enumerate(_list(data["says"], "says", n_nodes))]
    upper = None
    if "upper" in data:
        upper = [_integer(u, f"upper[{k}]") for k, u in enumerate(_list(data["upper"], "upper", n_nodes))]
    asks = None if "asks" not in data else _list(data["asks"], "asks", n_nodes)
    names = data["test_names"]
    if names is not None:
        names = _list(names, "test_names", n_tests)
        for i, name in enumerate(names):
            if not isinstance(name, str):
                raise DataError(f"test_names[{i}] is {clip(name)}: expected a string.")
    classes = data["classes"]
    if classes is not None:
        classes = _list(classes, "classes", n_classes)
        for c, label in enumerate(classes):
            _check_label(label, f"classes[{c}]", "")
    return {
        "children": np.array(children, dtype=np.int64),
        "test": np.array(test, dtype=np.int64),
        "counts": np.array(count_rows, dtype=np.float64 if parts else np.int64),
        "proba": np.array(proba_rows, dtype=np.float64),
        "n_tests": n_tests,
        "test_names": names,
        "classes": classes,
        "says": None if says is None else np.array(says, dtype=np.int64),
        "upper": None if upper is None else np.array(upper, dtype=np.int64),
        "asks": asks,
    }


def _check_version(version: object) -> None:
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise DataError(f"version is {clip(version)}: expected {VERSION}.")
    if version > VERSION:
        raise DataError(
            f"version is {clip(version)}, newer than the {VERSION} this everytree reads: upgrade everytree."
        )


def _list(value: object, path: str, length: int | None = None) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise DataError(f"{path} is {clip(value)}: expected a list.")
    if length is not None and len(value) != length:
        raise DataError(f"{path} has {len(value)} entries: expected {length}.")
    return list(value)


def _integer(value: object, path: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise DataError(f"{path} is {clip(value)}: expected an integer.")
    if not -1 <= value <= INT64_MAX:
        raise DataError(f"{path} is {clip(value)}: expected an integer from -1 to 2**63 - 1.")
    return value


def _count(value: object, path: str) -> int | float:
    if not isinstance(value, float):
        return _integer(value, path)
    if not 0 <= value < math.inf:
        raise DataError(f"{path} is {clip(value)}: expected a number of examples, 0 or more.")
    return value


def _number(value: object, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise DataError(f"{path} is {clip(value)}: expected a probability from 0 to 1.")
    return float(value)


def _check_label(label: object, path: str, hint: str) -> None:
    if isinstance(label, int):
        fine = label.bit_length() <= MAX_LABEL_BITS
    else:
        fine = isinstance(label, str) or (isinstance(label, float) and math.isfinite(label))
    if not fine:
        raise DataError(
            f"{path} is {clip(label)}: expected a string, integer, finite float or bool. {hint}".rstrip()
        )
