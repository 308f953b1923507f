"""Parameters as JSON and back, in a form that holds nothing that could run code.

    None, bool, int, str, finite float     as they are
    infinity, NaN                          {"$float": "inf"}
    list, tuple, set, numpy array          a list
    dict                                   an object, or {"$dict": [[key, value], …]} where keys are not all text
    a typed argument                       {"$type": "SizePrior", "fields": {…}}

Typed arguments are priors, leaf constraints and the like: frozen dataclasses with the decorator ``@written``. Only
these are made on reading, by their own constructors, which check their arguments.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from everytree.common.fields import plain_scalar
from everytree.common.text import clip
from everytree.errors import DataError, EverytreeError

__all__ = ["TYPES", "value_from_json", "value_to_json", "written"]

DEEPEST = 20  # no parameter is nested as deep as this
Made = TypeVar("Made", bound=type)
TYPES: dict[str, type] = {}  # the typed arguments by name


def written(made: Made) -> Made:
    """Let files hold values of this dataclass, under the name of the class."""
    TYPES[made.__name__] = made
    return made


def value_to_json(value: Any, path: str) -> Any:
    """Write a value in the form above; ``path`` names it in the error for a value of another kind.

    >>> value_to_json({1: float("inf")}, "params.class_weight")
    {'$dict': [[1, {'$float': 'inf'}]]}
    """
    value = plain_scalar(value)
    if value is None or isinstance(value, bool | int | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, np.ndarray):
        return value_to_json(value.tolist(), path)
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    if isinstance(value, list | tuple):
        return [value_to_json(item, f"{path}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        pairs = [
            (value_to_json(key, f"{path} (a key)"), value_to_json(item, f"{path}[{key!r}]"))
            for key, item in value.items()
        ]
        if all(isinstance(key, str) and not key.startswith("$") for key, _ in pairs):
            return dict(pairs)
        return {"$dict": [list(pair) for pair in pairs]}
    if (
        dataclasses.is_dataclass(value)
        and not isinstance(value, type)
        and TYPES.get(type(value).__name__) is type(value)
    ):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
        return {
            "$type": type(value).__name__,
            "fields": {name: value_to_json(item, f"{path}.{name}") for name, item in fields.items()},
        }
    raise DataError(
        f"{path} is {clip(value)}, which a model file cannot hold; expected numbers, texts, lists, dicts or "
        "the typed arguments of everytree. Fit with one of these to save the model"
    )


def value_from_json(value: Any, path: str, depth: int = 0) -> Any:
    """Read a value that ``value_to_json`` wrote.

    >>> from everytree.weights.priors import SizePrior
    >>> value_from_json({"$type": "SizePrior", "fields": {"alpha": 0.5, "beta": 1.0}}, "params.prior")
    SizePrior(alpha=0.5, beta=1.0, attribute_fair=False)
    """
    if depth > DEEPEST:
        raise DataError(f"{path} is nested more than {DEEPEST} deep; no parameter is")
    if isinstance(value, list):
        return [value_from_json(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    tags = [key for key in value if key.startswith("$")]
    if not tags:
        return {key: value_from_json(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
    if list(value) == ["$float"] and value["$float"] in ("inf", "-inf", "nan"):
        return float(value["$float"])
    if list(value) == ["$dict"]:
        return _dict_from(value["$dict"], f"{path}.$dict", depth)
    if set(value) == {"$type", "fields"}:
        return _typed_from(value["$type"], value["fields"], path, depth)
    raise DataError(
        f"{path} is {clip(value)}; expected an object with the one key $float or $dict, or with $type and fields"
    )


def _dict_from(pairs: Any, path: str, depth: int) -> dict[Any, Any]:
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise DataError(f"{path} is {clip(pairs)}; expected a list of [key, value] pairs")
    found: dict[Any, Any] = {}
    for i, (key, item) in enumerate(pairs):
        if not isinstance(key, bool | int | float | str):
            raise DataError(f"{path}[{i}][0] is {clip(key)}; expected a text, a number or a boolean")
        found[key] = value_from_json(item, f"{path}[{i}][1]", depth + 1)
    return found


def _typed_from(name: Any, fields: Any, path: str, depth: int) -> Any:
    made = TYPES.get(name) if isinstance(name, str) else None
    if made is None:
        raise DataError(
            f"{path}.$type is {clip(name)}; expected a typed argument of everytree, such as SizePrior"
        )
    if not isinstance(fields, dict):
        raise DataError(f"{path}.fields is {clip(fields)}; expected an object")
    values = {key: value_from_json(item, f"{path}.fields.{key}", depth + 1) for key, item in fields.items()}
    try:
        return made(**values)
    except (EverytreeError, TypeError, ValueError) as error:
        raise DataError(f"{path} is no {name}: {error}") from error
