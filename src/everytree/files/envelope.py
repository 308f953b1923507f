"""The parts that all model files share: parameters, labels, the name of the target, and the layout of the text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from everytree.common.arguments import refused
from everytree.common.drafts import write_pieces
from everytree.common.fields import plain_scalar
from everytree.common.json_text import pieces
from everytree.common.text import clip
from everytree.common.values import value_from_json, value_to_json
from everytree.data.recipes.json_form import recipes_from_json, recipes_to_json
from everytree.errors import DataError, QueryError
from everytree.files.parameters import check_parameter

__all__ = [
    "check_costs",
    "checked_target",
    "labels_from_json",
    "labels_to_json",
    "params_from_json",
    "params_to_json",
    "parts_from_json",
    "parts_to_json",
    "recipes_field",
    "set_recipes",
    "with_recipes",
    "write_json",
]

LABEL_DTYPES = frozenset(
    ["object", "str", "bool", "float16", "float32", "float64"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)


# --- writing


def parts_to_json(per_example: int) -> dict[str, int]:
    """Return the field that says how many counts make one example; none where each count is an example."""
    return {} if per_example == 1 else {"per_example": per_example}


def parts_from_json(data: dict[str, Any], where: str = "") -> int:
    """Read how many counts make one example: 1 where the field is not there."""
    parts = data.get("per_example", 1)
    if isinstance(parts, bool) or not isinstance(parts, int) or not 1 <= parts < 2**53:
        raise DataError(f"{where}per_example is {clip(parts)}; expected a whole number of counts, 1 or more")
    return parts


def write_json(data: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the fields of a file, whole or not at all."""
    write_pieces(lambda: _written(data), path)


def _written(data: dict[str, Any]) -> Iterator[str]:
    """Write JSON with a line for each part: deep enough to read and to compare, not one line per number."""

    def compact(value: Any) -> Iterator[str]:
        return pieces(value, allow_nan=False, ensure_ascii=False)

    def lines(
        items: Iterable[tuple[str, Any]], indent: str, inner: Callable[[Any], Iterator[str]]
    ) -> Iterator[str]:
        for k, (key, item) in enumerate(items):
            yield f"{',' if k else ''}\n{indent}{key}"
            yield from inner(item)

    def named(data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        return (("".join(compact(key)) + ": ", item) for key, item in data.items())

    def block(value: Any) -> Iterator[str]:
        if isinstance(value, dict) and value:
            yield "{"
            yield from lines(named(value), "  ", compact)
            yield "\n }"
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            yield "["
            yield from lines((("", item) for item in value), "  ", compact)
            yield "\n ]"
        else:
            yield from compact(value)

    yield "{"
    yield from lines(named(data), " ", block)
    yield "\n}\n"


def params_to_json(model: Any) -> dict[str, Any]:
    """Write the field ``params``: the parameters of a classifier."""
    params = model.get_params(deep=False)
    return {key: value_to_json(value, f"the parameter {key}") for key, value in params.items()}


def recipes_field(model: Any) -> dict[str, Any]:
    """Write the field ``recipes``: how columns were made of those of a file; nothing where all were as they are."""
    recipes = getattr(model, "recipes_", ())
    return {"recipes": recipes_to_json(recipes)} if recipes else {}


def checked_target(model: Any, target: Any) -> str | None:
    """Return the name of the label's column, by default the one that the model knows."""
    target = model.label_name() if target is None else target
    if target is not None and not isinstance(target, str):
        raise refused(DataError, "target", target, "the name of the label's column")
    return target


def labels_to_json(classes: Any) -> dict[str, Any]:
    """Write the fields ``classes`` and ``label_dtype``."""
    labels = [plain_scalar(label) for label in classes.tolist()]
    for label in labels:
        if not isinstance(label, bool | int | float | str):
            raise DataError(
                f"the label {clip(label)} is a {type(label).__name__}; a model file holds labels that are texts, "
                "numbers or booleans"
            )
    return {"classes": labels, "label_dtype": "str" if classes.dtype.kind == "U" else classes.dtype.name}


# --- reading


def with_recipes(fields: tuple[str, ...], data: Any) -> tuple[str, ...]:
    """Return the fields that a file may have: also ``recipes``, where it has them."""
    return (*fields, "recipes") if isinstance(data, dict) and "recipes" in data else fields


def set_recipes(model: Any, data: dict[str, Any]) -> None:
    """Give a model the recipes of its file, if it has any."""
    if "recipes" in data:
        model.recipes_ = recipes_from_json(data["recipes"])


def params_from_json(params: Any, made: Any) -> dict[str, Any]:
    """Read the parameters of the classifier ``made`` from the field ``params``."""
    if not isinstance(params, dict):
        raise DataError(f"params is {clip(params)}; expected an object with the classifier's parameters")
    known = made().get_params(deep=False)
    for name in params:
        if name not in known:
            raise DataError(
                f"params.{name} is not a parameter of {made.__name__}; expected {', '.join(known)}"
            )
    given = {name: value_from_json(value, f"params.{name}") for name, value in params.items()}
    for name, value in given.items():
        check_parameter(name, value, known[name])
    return given


def check_costs(model: Any) -> None:
    """Look at the parameter ``cost_matrix`` of a classifier that is read, once its classes are known."""
    try:
        model.checked_costs()
    except QueryError as error:
        raise DataError(f"params: {error}") from error


def labels_from_json(data: dict[str, Any]) -> Any:
    """Read the labels from the fields ``classes`` and ``label_dtype``, as an array."""
    classes, dtype = data["classes"], data["label_dtype"]
    if not isinstance(dtype, str) or dtype not in LABEL_DTYPES:
        raise DataError(f"label_dtype is {clip(dtype)}; expected one of {', '.join(sorted(LABEL_DTYPES))}")
    if not isinstance(classes, list) or not classes:
        raise DataError(f"classes is {clip(classes)}; expected a list with at least one label")
    kinds = {"object": (str,), "str": (str,), "bool": (bool,)}
    wanted = kinds.get(dtype, (int, float) if dtype.startswith("float") else (int,))
    for c, label in enumerate(classes):
        if not isinstance(label, wanted) or (isinstance(label, bool) and dtype != "bool"):
            raise DataError(f"classes[{c}] is {clip(label)}; expected a label of type {dtype}")
        if c and not classes[c - 1] < label:
            raise DataError(f"classes[{c}] is {clip(label)}; expected different labels in ascending order")
    try:
        with np.errstate(over="ignore"):
            labels = np.array(classes, dtype=None if dtype == "str" else dtype)
    except (OverflowError, ValueError) as error:
        raise DataError(f"classes do not fit in label_dtype {dtype}: {error}") from error
    for c, (label, kept) in enumerate(zip(classes, labels.tolist(), strict=True)):
        if label != kept:  # what ``predict`` answers is the label of the file
            raise DataError(
                f"classes[{c}] is {clip(label)}; as {dtype}, the label_dtype, it would be {kept!r}"
            )
    return labels
