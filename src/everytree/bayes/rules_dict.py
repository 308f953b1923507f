"""A sum of rules as a versioned, JSON-able dict, and back.

    {"format": "everytree.rules", "version": 1, "epsilon": …, "bound": …, "n_exact": …, "n_tests": …,
     "test_names": […] | None, "classes": […], "base": […], "floor": […],
     "rules": [{"items": [[test, outcome], …], "moves": […]}, …]}

Reading trusts nothing: every field is checked before it is used, and an error names the field.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from everytree.bayes.rule_list import RuleArrays, RuleList
from everytree.common.text import clip
from everytree.errors import DataError

__all__ = ["parts_from_dict", "rules_to_dict"]

FORMAT = "everytree.rules"
VERSION = 1
FIELDS = (
    "format", "version", "epsilon", "bound", "n_exact", "n_tests", "test_names", "classes", "base", "floor", "rules",
)  # fmt: skip
MAX_TESTS = 2**31 - 1
SUM_SLACK = 1e-9
LOOSEST = 1e3  # no bound of use is larger
MOST_ITEMS = 30


def rules_to_dict(rules: RuleList) -> dict[str, Any]:
    """Write the rules as plain lists, strings and numbers; labels must be strings, numbers or booleans."""
    for c, label in enumerate(rules.classes):
        _label(label, f"classes[{c}]")
    arrays = rules.arrays
    items = [[code >> 1, code & 1] for code in arrays.items.tolist()]
    begin, moves = arrays.begin.tolist(), arrays.moves.tolist()
    return {
        "format": FORMAT,
        "version": VERSION,
        "epsilon": rules.epsilon,
        "bound": rules.bound,
        "n_exact": rules.n_exact,
        "n_tests": rules.n_tests,
        "test_names": None if rules.test_names is None else list(rules.test_names),
        "classes": list(rules.classes),
        "base": arrays.base.tolist(),
        "floor": arrays.floor.tolist(),
        "rules": [{"items": items[begin[k] : begin[k + 1]], "moves": move} for k, move in enumerate(moves)],
    }


def parts_from_dict(data: Any) -> tuple[RuleArrays, dict[str, Any]]:
    """Read what ``rules_to_dict`` wrote: the arrays, and the other arguments of ``CompressedRules``."""
    if not isinstance(data, Mapping):
        raise DataError(f"the rules are a {type(data).__name__}: expected a dict as to_dict writes it.")
    if data.get("format") != FORMAT:
        raise DataError(f"format is {clip(data.get('format'))}: expected {FORMAT!r}.")
    if data.get("version") != VERSION:
        raise DataError(f"version is {clip(data.get('version'))}: this everytree reads version {VERSION}.")
    for field in FIELDS:
        if field not in data:
            raise DataError(f"{field} is missing: expected the fields {', '.join(FIELDS)}.")
    n_tests = _whole(data["n_tests"], "n_tests", MAX_TESTS)
    classes = tuple(
        _label(label, f"classes[{c}]") for c, label in enumerate(_list(data["classes"], "classes"))
    )
    if not classes:
        raise DataError("classes is empty: expected at least one label.")
    names = data["test_names"]
    if names is not None:
        names = tuple(_list(names, "test_names", n_tests))
        for k, name in enumerate(names):
            if not isinstance(name, str):
                raise DataError(f"test_names[{k}] is {clip(name)}: expected a string.")
    base = _numbers(data["base"], "base", len(classes))
    floor = _numbers(data["floor"], "floor", len(classes))
    bound = _numbers([data["bound"]], "bound", 1)[0]
    # Every sum of rules is within the bound of probabilities: from 0 to 1, adding up to 1.
    slack = min(max(bound, 0.0), LOOSEST)
    _balanced(base, "base", 1.0, 1 + slack)
    items: list[int] = []
    begin, moves = [0], []
    for k, rule in enumerate(_list(data["rules"], "rules")):
        if not isinstance(rule, Mapping) or set(rule) != {"items", "moves"}:
            raise DataError(f"rules[{k}] is {clip(rule)}: expected a dict of items and moves.")
        for j, item in enumerate(_list(rule["items"], f"rules[{k}].items")):
            where = f"rules[{k}].items[{j}]"
            test, outcome = _list(item, where, 2)
            items.append(2 * _whole(test, where, n_tests - 1) + _whole(outcome, where, 1))
        begin.append(len(items))
        moves.append(_numbers(rule["moves"], f"rules[{k}].moves", len(classes)))
        # The change that a set of outcomes makes is a difference of sums over all its subsets.
        most = math.ldexp(1 + 2 * slack, min(begin[-1] - begin[-2], MOST_ITEMS))
        _balanced(moves[-1], f"rules[{k}].moves", 0.0, most)
    arrays = RuleArrays(
        np.array(base),
        np.array(items, dtype=np.uint32),
        np.array(begin, dtype=np.uint64),
        np.array(moves, dtype=np.float64).reshape(-1, len(classes)),
        np.array(floor),
    )
    return arrays, {
        "epsilon": _numbers([data["epsilon"]], "epsilon", 1)[0],
        "bound": bound,
        "n_exact": _whole(data["n_exact"], "n_exact", 2**62),
        "n_tests": n_tests,
        "test_names": names,
        "classes": classes,
    }


def _list(value: Any, where: str, length: int | None = None) -> list[Any]:
    if not isinstance(value, (list, tuple)) or (length is not None and len(value) != length):
        raise DataError(
            f"{where} is {clip(value)}: expected a list" + (f" of {length}." if length is not None else ".")
        )
    return list(value)


def _whole(value: Any, where: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise DataError(f"{where} is {clip(value)}: expected a whole number from 0 to {most}.")
    return value


def _numbers(value: Any, where: str, length: int) -> list[float]:
    found = []
    for k, x in enumerate(_list(value, where, length)):
        if isinstance(x, bool) or not isinstance(x, (int, float)) or abs(x) > 1e300 or not math.isfinite(x):
            raise DataError(f"{where}[{k}] is {clip(x)}: expected a finite number.")
        found.append(float(x))
    return found


def _balanced(values: list[float], where: str, total: float, most: float) -> None:
    """Check that the numbers of the classes add up to ``total``, and that none is larger than ``most``."""
    for k, x in enumerate(values):
        if abs(x) > most + SUM_SLACK:
            raise DataError(f"{where}[{k}] is {x}: expected a number from {-most:.6g} to {most:.6g}.")
    if abs(math.fsum(values) - total) > SUM_SLACK * max(1.0, most):
        raise DataError(f"{where} add up to {math.fsum(values)}: expected {total:g}.")


def _label(label: Any, where: str) -> Any:
    fits = label is None or isinstance(label, (str, int, float))
    if not fits or (isinstance(label, float) and not math.isfinite(label)):
        raise DataError(
            f"{where} is {clip(label)}: expected a label that JSON can hold: a string or a number."
        )
    return label
