"""An option tree as a versioned, JSON-able dict, and back; its columns and classes stand elsewhere in a model file.

    {"format": "everytree.option_tree", "version": 1, "kind": …,
     "log_leaf_open": […], "log_leaf_closed": […], "dirichlet": [[…], …],
     "nodes": {"depth": […], "open": […], "classes": [[…], …], "counts": [[…], …]},
     "options": {"node": […], "column": […], "threshold": […], "log_split": […], "children": [[…], …]}}

Where weights have fractions, "per_example": n says that n counts make one example.

``counts`` of a node are those of its ``classes`` (numbers of classes with examples). A child is the number of a node or
−1 for a branch without examples; a threshold is null for "every value" and {"$float": "inf"} for "known or missing";
"-inf" stands for the logarithm of zero. Reading trusts nothing: an error names the field, and what the arrays mean
together is checked by the core before anything is computed from them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.common.fields import checked_fields
from everytree.common.text import clip
from everytree.data.columns import ColumnReader, RawColumn
from everytree.errors import DataError
from everytree.trees.flat import numbers_to_json

__all__ = ["NO_CHILD", "option_tree_to_dict", "parts_from_dict"]

NO_CHILD = 0xFFFFFFFF

FORMAT, VERSION = "everytree.option_tree", 1
NODES = ("depth", "open", "classes", "counts")
OPTIONS = ("node", "column", "threshold", "log_split", "children")
MOST_LOG = (
    1e15  # Beside a larger one likelihoods are lost, and their sums over a tree are not finite at 1e308.
)
FIELDS = ("format", "version", "kind", "log_leaf_open", "log_leaf_closed", "dirichlet", "nodes", "options")


# --- writing


def option_tree_to_dict(
    arrays: Mapping[str, npt.NDArray[Any]],
    kind: str,
    log_leaf: tuple[Sequence[float], Sequence[float]],
    dirichlet: Sequence[Sequence[float]],
) -> dict[str, Any]:
    """Write an option tree as plain lists, texts and numbers, from the arrays of its graph and its weights."""
    per_node = np.diff(arrays["option_begin"])
    children = np.where(arrays["child"] == NO_CHILD, -1, arrays["child"].astype(np.int64))
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "log_leaf_open": [_log_out(x) for x in log_leaf[0]],
        "log_leaf_closed": [_log_out(x) for x in log_leaf[1]],
        "dirichlet": [[float(a) for a in row] for row in dirichlet],
        "nodes": {
            "depth": arrays["depth"].tolist(),
            "open": [bool(x) for x in arrays["open"].tolist()],
            "classes": _parts(arrays["count_class"], arrays["count_begin"]),
            "counts": _parts(arrays["count"], arrays["count_begin"]),
        },
        "options": {
            "node": np.repeat(np.arange(len(per_node)), per_node).tolist(),
            "column": arrays["attribute"].tolist(),
            "threshold": numbers_to_json(arrays["threshold"]),
            "log_split": [_log_out(x) for x in arrays["log_split"].tolist()],
            "children": _parts(children, arrays["child_begin"]),
        },
    }


def _parts(values: Any, begin: Any) -> list[list[int]]:
    flat = values.tolist()
    return [flat[a:b] for a, b in pairwise(begin.tolist())]


def _log_out(x: float) -> float | str:
    return "-inf" if x == -math.inf else float(x)


# --- reading


def parts_from_dict(data: Any, columns: Sequence[RawColumn], classes: Sequence[Any]) -> tuple[Any, ...]:
    """Return the arguments of ``OptionTree``, from the dict of ``option_tree_to_dict``, on these columns."""
    more = ("per_example",) if isinstance(data, dict) and "per_example" in data else ()
    data = checked_fields(data, FORMAT, VERSION, (*FIELDS, *more), "tree")
    (parts,) = _integers([data.get("per_example", 1)], "per_example", 1, 2**53)
    if data["kind"] not in ("smooth", "map", "none"):
        raise DataError(f"kind is {clip(data['kind'])}; expected 'smooth', 'map' or 'none'")
    tables = [_logs(data[name], name) for name in ("log_leaf_open", "log_leaf_closed")]
    rows = _list(data["dirichlet"], "dirichlet")
    dirichlet = [_numbers(row, f"dirichlet[{d}]") for d, row in enumerate(rows)]
    graph = _graph(data, len(classes))
    graph.check(ColumnReader(tuple(columns)).without_rows())
    return graph, columns, classes, (tables[0], tables[1]), dirichlet, data["kind"], None, parts


def _graph(data: Mapping[str, Any], n_classes: int) -> Any:
    nodes = _fields(data["nodes"], "nodes", NODES)
    options = _fields(data["options"], "options", OPTIONS)
    depth = _integers(nodes["depth"], "nodes.depth", 0, 2**32 - 2)
    n = len(depth)
    is_open = _list(nodes["open"], "nodes.open", n)
    for k, value in enumerate(is_open):
        if not isinstance(value, bool):
            raise DataError(f"nodes.open[{k}] is {clip(value)}; expected true or false")
    count_class, count_begin = _flat(nodes["classes"], "nodes.classes", n, 0, n_classes - 1)
    count, again = _flat(nodes["counts"], "nodes.counts", n, 1, 2**53)
    if again != count_begin:
        raise DataError("nodes.counts must have one count for each class of nodes.classes")
    owner = _integers(options["node"], "options.node", 0, n - 1)
    if any(a > b for a, b in pairwise(owner)):
        raise DataError("options.node must not fall: options stand in the order of their nodes")
    m = len(owner)
    thresholds = [
        math.nan
        if x is None
        else math.inf
        if x == {"$float": "inf"}
        else _number(x, f"options.threshold[{i}]")
        for i, x in enumerate(_list(options["threshold"], "options.threshold", m))
    ]
    child, child_begin = _flat(options["children"], "options.children", m, -1, max(n - 1, 0))
    option_begin = np.searchsorted(np.asarray(owner, dtype=np.int64), np.arange(n + 1))
    return _core.OptionGraph(
        n_classes,
        np.array(depth, dtype=np.uint32),
        np.array(is_open, dtype=np.uint8),
        np.array(count_begin, dtype=np.int64),
        np.array(count_class, dtype=np.uint32),
        np.array(count, dtype=np.int64),
        option_begin.astype(np.int64),
        np.array(_integers(options["column"], "options.column", 0, 2**31 - 1, m), dtype=np.int32),
        np.array(thresholds, dtype=np.float64),
        np.array(_logs(options["log_split"], "options.log_split", m), dtype=np.float64),
        np.array(child_begin, dtype=np.int64),
        np.array([NO_CHILD if x < 0 else x for x in child], dtype=np.uint32),
    )


def _fields(data: Any, path: str, fields: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(data, Mapping) or set(data) != set(fields):
        got = f"the fields {clip(sorted(map(str, data)))}" if isinstance(data, Mapping) else clip(data)
        raise DataError(f"{path} is {got}; expected an object with the fields {', '.join(fields)}")
    return data


def _list(value: Any, path: str, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        wanted = "a list" if length is None else f"a list of length {length}"
        raise DataError(f"{path} is {clip(value)}; expected {wanted}")
    return value


def _integers(value: Any, path: str, least: int, most: int, length: int | None = None) -> list[int]:
    for i, x in enumerate(_list(value, path, length)):
        if isinstance(x, bool) or not isinstance(x, int) or not least <= x <= most:
            raise DataError(f"{path}[{i}] is {clip(x)}; expected a whole number from {least} to {most}")
    return list(value)


def _flat(value: Any, path: str, length: int, least: int, most: int) -> tuple[list[int], list[int]]:
    """Join a list of lists into one list; also return where each begins."""
    flat: list[int] = []
    begin = [0]
    for i, part in enumerate(_list(value, path, length)):
        flat += _integers(part, f"{path}[{i}]", least, most)
        begin.append(len(flat))
    return flat, begin


def _number(x: Any, path: str) -> float:
    if isinstance(x, bool) or not isinstance(x, int | float):
        raise DataError(f"{path} is {clip(x)}; expected a number")
    try:
        exact = float(x)
    except OverflowError:
        exact = math.inf
    if not math.isfinite(exact):
        raise DataError(f"{path} is {clip(x)}; expected a finite number")
    return exact


def _numbers(value: Any, path: str) -> list[float]:
    return [_number(x, f"{path}[{i}]") for i, x in enumerate(_list(value, path))]


def _logs(value: Any, path: str, length: int | None = None) -> list[float]:
    found = [
        -math.inf if x == "-inf" else _number(x, f"{path}[{i}]")
        for i, x in enumerate(_list(value, path, length))
    ]
    for i, x in enumerate(found):
        if abs(x) > MOST_LOG and x != -math.inf:
            raise DataError(
                f"{path}[{i}] is {clip(x)}; expected the logarithm of a weight, from {-MOST_LOG:g} to {MOST_LOG:g}"
            )
    return found
