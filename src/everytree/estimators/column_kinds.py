"""Which kinds of columns a fitted classifier expects, so that a file without types can be read as in training."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from sklearn.utils.validation import check_is_fitted

__all__ = ["Expected", "column_kinds", "label_kind"]

Expected = Literal["numeric", "nominal", "boolean", "any"]


def column_kinds(model: Any) -> dict[str, Expected]:
    """For every column of training, in order: numeric, nominal (text), boolean, or any (0/1 or true/false; or empty).

    >>> import everytree as et
    >>> model = et.C45TreeClassifier().fit([[1, "a"], [2, "b"]], ["no", "yes"])
    >>> column_kinds(model)
    {'x0': 'numeric', 'x1': 'nominal'}
    """
    check_is_fitted(model)
    binarizer = getattr(model, "binarizer_", None)
    kinds: list[Expected]
    if binarizer is not None:
        kinds = [
            "any"
            if each.kind in ("binary", "empty")
            else "numeric"
            if each.codes is None
            else _kind(each.codes)
            for each in binarizer._encodings
        ]
    elif hasattr(model, "categories_"):
        kinds = ["numeric" if each.values is None else _kind(each.values) for each in model.categories_]
    else:
        kinds = [
            "numeric" if each.kind == "numeric" else _kind(each.values) for each in model._reader.columns
        ]
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x{j}" for j in range(model.n_features_in_)]
    return {str(name): kind for name, kind in zip(names, kinds, strict=True)}


def label_kind(model: Any) -> Literal["numeric", "nominal", "boolean"]:
    """How the column with the labels is read.

    >>> import everytree as et
    >>> label_kind(et.C45TreeClassifier().fit([[1], [2]], ["no", "yes"]))
    'nominal'
    """
    kind = _kind(model.classes_.tolist())
    return "numeric" if kind == "any" else kind


def _kind(values: Iterable[Any]) -> Literal["numeric", "nominal", "boolean", "any"]:
    """The kind of a column with these values; codes that are numbers are read as numbers."""
    known = list(values)
    if not known:
        return "any"
    if all(isinstance(value, bool) for value in known):
        return "boolean"
    return "nominal" if all(isinstance(value, str) for value in known) else "numeric"
