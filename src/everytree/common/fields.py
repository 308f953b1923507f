"""Checks of the fields of files: that they are there, of a known version, of the right types, and unchanged."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from everytree.common.json_text import digest
from everytree.common.text import clip
from everytree.errors import DataError

__all__ = [
    "check_seal",
    "checked_fields",
    "checked_number",
    "checked_scalar",
    "plain_scalar",
    "scalar_to_json",
    "sealed",
    "without_seal",
]


def checked_fields(
    data: Any, format_: str, newest: int, fields: tuple[str, ...], what: str = "model"
) -> dict[str, Any]:
    """Return the object of a file, which has exactly these fields, this format and a version that is read here."""
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
    """Return the content of a file with its digest."""
    return data | {"digest": digest(data)}


def without_seal(data: Any) -> tuple[Any, Any]:
    """Return the content of a file and its digest; files of older versions have none, which gives None."""
    if not isinstance(data, dict):
        return data, None
    return {key: value for key, value in data.items() if key != "digest"}, data.get("digest")


def check_seal(data: dict[str, Any], seal: Any) -> None:
    """Refuse content that was changed after it was written; call it last, so that other errors can name a field."""
    if seal is not None and seal != digest(data):
        raise DataError(
            f"digest is {clip(seal)}; the content has {clip(digest(data))}. The file was changed by hand or damaged: "
            "save the model again"
        )


def plain_scalar(value: Any) -> Any:
    """Return a numpy scalar as the Python value it stands for; anything else as it is.

    >>> plain_scalar(np.float64(0.5)), plain_scalar("a")
    (0.5, 'a')
    """
    return value.item() if isinstance(value, np.generic) else value


def scalar_to_json(value: Any, name: str) -> Any:
    """Return a value of the column ``name`` as a text, number or truth value; an error says what to do."""
    value = plain_scalar(value)
    if not isinstance(value, bool | int | float | str):
        raise DataError(
            f"column {name!r} holds the value {clip(value)} of type {type(value).__name__}; a model file holds "
            "texts, numbers and booleans. Convert the column, for example with .astype(str), and fit again"
        )
    return str(value) if isinstance(value, str) else value


def checked_number(value: Any, path: str) -> float | int:
    """Return the finite number that a file holds at ``path``."""
    fine = isinstance(value, int | float) and not isinstance(value, bool)
    if not fine or (isinstance(value, float) and not math.isfinite(value)) or abs(value) > sys.float_info.max:
        raise DataError(f"{path} is {clip(value)}; expected a finite number")
    return value  # type: ignore[no-any-return]


def checked_scalar(value: Any, path: str) -> Any:
    """Return the text, number or truth value that a file holds at ``path``."""
    if not isinstance(value, bool | int | float | str):
        raise DataError(f"{path} is {clip(value)}; expected a text, a number or a boolean")
    return value
