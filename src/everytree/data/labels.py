"""Class labels of any type: text, whole numbers, booleans, or objects that are all one of these."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import DataConversionWarning

from everytree.common.arguments import refused
from everytree.common.told import tell
from everytree.errors import DataError, QueryError

__all__ = ["label_codes", "read_labels"]


def read_labels(y: Any, n_rows: int) -> npt.NDArray[Any]:
    """Labels as a one-dimensional array that numpy can sort, or an error that says what is wrong with them.

    >>> read_labels(["yes", "no"], 2).tolist(), read_labels(np.array([2, 1], dtype=object), 2).dtype.kind
    (['yes', 'no'], 'i')
    """
    if hasattr(y, "kind") and hasattr(y, "categories"):  # a column of a data set
        y = y.values
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        tell(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
        )
        labels = labels.ravel()
    if labels.ndim != 1:
        raise DataError(
            f"y has shape {labels.shape}; expected one label per row, shape ({n_rows},). Several targets at "
            "once are not supported: fit one classifier per target"
        )
    if labels.size != n_rows:
        raise DataError(
            f"X and y have inconsistent numbers of samples: {n_rows} rows in X and {labels.size} labels in y"
        )
    if labels.dtype.kind == "O":
        labels = _from_objects(labels)
    if labels.dtype.kind == "f":
        if np.isnan(labels).any():
            raise DataError(_missing(int(np.isnan(labels).sum()), n_rows))
        if np.isinf(labels).any():
            raise DataError("Input y contains infinity; class labels must be text, whole numbers or booleans")
        broken = labels[labels != np.floor(labels)]
        if broken.size:
            raise DataError(
                f"Unknown label type: continuous. y holds fractions (for example {float(broken[0])!r}), "
                "which are no class labels; for a numeric target, cut it into classes first"
            )
    elif labels.dtype.kind == "T":
        labels = labels.astype(object)
    elif labels.dtype.kind not in "OUiub":
        raise DataError(
            f"Unknown label type: {labels.dtype}. Class labels must be text, whole numbers or booleans"
        )
    return labels


def _from_objects(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Python objects of one type: text stays, numbers and booleans get their own dtype."""
    items = labels.tolist()
    if set(map(type, items)) == {str}:
        return labels
    gone = sum(
        item is None
        or type(item).__name__ in {"NAType", "NaTType"}
        or (isinstance(item, float) and item != item)
        for item in items
    )
    if gone:
        raise DataError(_missing(gone, len(items)))
    types = {type(item) for item in items}
    if all(issubclass(t, str) for t in types):
        return labels
    for family in (bool | np.bool_, int | np.integer, int | float | np.integer | np.floating):
        if all(issubclass(t, family) for t in types) and not (len(types) > 1 and bool in types):
            typed = np.asarray(items)
            if typed.dtype.kind in "biuf":
                return typed
    shown = ", ".join(sorted(t.__name__ for t in types))
    raise DataError(
        f"Unknown label type: y holds objects of type {shown}; class labels must be all text, all whole "
        "numbers or all booleans. Convert them, for example with str"
    )


def _missing(count: int, n_rows: int) -> str:
    return f"Input y contains NaN or None: {count} of {n_rows} labels are missing; remove these rows"


def label_codes(
    y: npt.ArrayLike, n_rows: int, classes: Iterable[Any] | None
) -> tuple[npt.NDArray[np.intp], list[Any]]:
    """The number of each row's label, and the labels in order: ``classes``, or those that occur."""
    labels = read_labels(y, n_rows)
    if classes is None:
        found, codes = np.unique(labels, return_inverse=True)
        return codes.astype(np.intp), found.tolist()
    order = list(classes)
    place = {label: k for k, label in enumerate(order)}
    if len(place) != len(order):
        raise refused(QueryError, "classes", order, says=" names a label twice")
    try:
        return np.array([place[label] for label in labels.tolist()], dtype=np.intp), order
    except KeyError as missing:
        raise QueryError(
            f"y holds the label {missing.args[0]!r}, which is not among classes={order!r}"
        ) from None
