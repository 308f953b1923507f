"""Which kinds of columns a fitted classifier expects, so that a file without types can be read as in training."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from sklearn.utils.validation import check_is_fitted

__all__ = ["Expected", "column_kinds", "encoded_kinds", "kind_of", "label_kind"]

Expected = Literal["numeric", "nominal", "boolean", "any"]


def column_kinds(model: Any) -> dict[str, Expected]:
    """For every column of training, in order: numeric, nominal (text), boolean, or any (0/1 or true/false; or empty).

    >>> import everytree as et
    >>> model = et.C45TreeClassifier().fit([[1, "a"], [2, "b"]], ["no", "yes"])
    >>> column_kinds(model)
    {'x0': 'numeric', 'x1': 'nominal'}
    """
    check_is_fitted(model)
    kinds: dict[str, Expected] = model.column_kinds()
    return kinds


def encoded_kinds(encodings: Iterable[Any]) -> list[Expected]:
    """Return the kinds of columns that a Binarizer has made tests of."""
    return [
        "any"
        if each.kind in ("binary", "empty")
        else "numeric"
        if each.codes is None
        else kind_of(each.codes)
        for each in encodings
    ]


def label_kind(model: Any) -> Literal["numeric", "nominal", "boolean"]:
    """Return how the column with the labels is read.

    >>> import everytree as et
    >>> label_kind(et.C45TreeClassifier().fit([[1], [2]], ["no", "yes"]))
    'nominal'
    """
    kind = kind_of(model.classes_.tolist())
    return "numeric" if kind == "any" else kind


def kind_of(values: Iterable[Any]) -> Literal["numeric", "nominal", "boolean", "any"]:
    """Return the kind of a column with these values; codes that are numbers are read as numbers."""
    known = list(values)
    if not known:
        return "any"
    if all(isinstance(value, bool) for value in known):
        return "boolean"
    return "nominal" if all(isinstance(value, str) for value in known) else "numeric"
