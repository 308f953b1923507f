"""Parameters as JSON and back: what a model file can hold, and nothing that could run code.

    None, bool, int, str, finite float     as they are
    infinity, NaN                          {"$float": "inf"}
    list, tuple, set, numpy array          a list
    dict                                   an object, or {"$dict": [[key, value], …]} where keys are not all text
    a frozen dataclass of everytree        {"$type": "SizePrior", "fields": {…}}

The last one is how priors, leaf constraints and other typed arguments travel. Only public dataclasses of this
package are made on reading, by their own constructors, which check their arguments.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from everytree.common.json_text import digest
from everytree.common.text import clip
from everytree.errors import DataError, EverytreeError

__all__ = [
    "check_seal",
    "checked_fields",
    "plain_scalar",
    "sealed",
    "value_from_json",
    "value_to_json",
    "without_seal",
]

DEEPEST = 20  # no parameter is nested as deep as this


def checked_fields(
    data: Any, format_: str, newest: int, fields: tuple[str, ...], what: str = "model"
) -> dict[str, Any]:
    """The object of a file with exactly these fields, of this format and of a version that is read here."""
    if not isinstance(data, dict):
        raise DataError(
            f"the {what} is a {type(data).__name__}; expected an object with the fields of a {what}"
        )
    if data.get("format") != format_:
        raise DataError(f"format is {clip(data.get('format'))}; expected {format_!r}, as everytree writes it")
    version = data.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise DataError(f"version is {clip(version)}; expected {newest}")
    if version > newest:
        raise DataError(f"version is {clip(version)}, newer than the {newest} read here; upgrade everytree")
    for field in fields:
        if field not in data:
            raise DataError(f"{field} is missing; expected the fields {', '.join(fields)}")
    for field in data:
        if field not in fields:
            raise DataError(f"{clip(field)} is not a field of a {what}; expected {', '.join(fields)}")
    return data


def sealed(data: dict[str, Any]) -> dict[str, Any]:
    """The content of a file with its digest."""
    return data | {"digest": digest(data)}


def without_seal(data: Any) -> tuple[Any, Any]:
    """The content of a file and its digest; None where it has none, as files of older versions."""
    if not isinstance(data, dict):
        return data, None
    return {key: value for key, value in data.items() if key != "digest"}, data.get("digest")


def check_seal(data: dict[str, Any], seal: Any) -> None:
    """Refuse content that was changed after it was written; asked last, so that an error names a field if it can."""
    if seal is not None and seal != digest(data):
        raise DataError(
            f"digest is {clip(seal)}; the content has {clip(digest(data))}. The file was changed by hand or damaged: "
            "save the model again"
        )


def plain_scalar(value: Any) -> Any:
    """A numpy scalar as the Python value it stands for; anything else as it is.

    >>> plain_scalar(np.float64(0.5)), plain_scalar("a")
    (0.5, 'a')
    """
    return value.item() if isinstance(value, np.generic) else value


def value_to_json(value: Any, path: str) -> Any:
    """A value in the form above; ``path`` names it in the error for a value of another kind.

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
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and _public(type(value).__name__):
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
    """The value written by ``value_to_json``.

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
    made = _public(name)
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


def _public(name: Any) -> Any:
    """The public dataclass of everytree with this name, or None."""
    import everytree

    if not isinstance(name, str) or name not in everytree.__all__:
        return None
    found = getattr(everytree, name)
    return found if isinstance(found, type) and dataclasses.is_dataclass(found) else None
