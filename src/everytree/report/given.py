"""Rows with labels, from a file, a table with the label among its columns, or a pair (X, y)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.common.text import clip, show_many
from everytree.data.frames import Frame, check_columns, read_frame
from everytree.data.labels import read_labels
from everytree.data.readers.dataset import Dataset
from everytree.data.readers.pick import dataset_like, labelled, read_plain
from everytree.errors import DataError

__all__ = ["Examples", "examples_of", "read_as_trained"]


@dataclass(frozen=True)
class Examples:
    """Columns as the model reads them, and for each row the position of its label in ``classes_``."""

    frame: Frame
    codes: npt.NDArray[np.intp]


def examples_of(model: Any, data: Any, target: str | None = None) -> Examples:
    """Read the rows and labels of ``data``, and check them against a fitted classifier's columns and classes."""
    if isinstance(data, tuple) and len(data) == 2:
        X, y = data
    else:
        if isinstance(data, str | os.PathLike):
            data = read_as_trained(model, lambda types: read_plain(data, types=types), target)
        X, y = _parted(model, data, target)
    frame = read_frame(X, model)
    check_columns(model, frame, reset=False)
    labels = read_labels(y, frame.n_rows)
    place = {label: code for code, label in enumerate(model.classes_.tolist())}
    found = [place.get(label) for label in labels.tolist()]
    if None in found:
        strange = labels.tolist()[found.index(None)]
        raise DataError(
            f"the data hold the label {clip(strange)}, which the model does not know; expected one of "
            f"{clip(model.classes_.tolist())}"
        )
    return Examples(frame, np.array(found, dtype=np.intp))


def read_as_trained(
    model: Any, reader: Callable[[dict[str, Any]], Dataset], target: str | None = None
) -> Dataset:
    """Read a file so that its columns are those of training; ``reader`` reads it with given kinds."""
    return dataset_like(model, reader, target)


def _parted(model: Any, table: Any, target: str | None) -> tuple[Any, Any]:
    """Split a table into features and labels; of its columns only those that the model knows are kept."""
    name = target or model.label_name() or getattr(table, "target", None)
    names = [str(each) for each in getattr(table, "columns", ())]
    if not names:
        raise DataError(
            f"data is {clip(table)}; expected a file, a table with named columns, or a pair (X, y)"
        )
    known = model.column_names() if "feature_names_in_" in vars(model) else []
    if name is None:
        rest = [each for each in names if each not in known]
        if len(rest) != 1:
            raise DataError(
                f"which column holds the label? The model does not say; give target=..., one of {clip(rest or names)}"
            )
        name = rest[0]
    if name not in names:
        raise DataError(
            f"there is no column {clip(name)} with the label; the columns are {clip(names)}",
            code="unknown-column", parameter="target", value=name, expected="a column",
        )  # fmt: skip
    lacking = [each for each in known if each not in names]
    if lacking and isinstance(table, Dataset) and not getattr(model, "recipes_", ()):
        needs = f"{len(lacking)} more column{'s' if len(lacking) > 1 else ''}: {show_many(lacking)}"
        raise DataError(f"the model needs {needs}; the data have {show_many(names)}")
    features = known if known and set(known) <= set(names) else [each for each in names if each != name]
    if isinstance(table, Dataset):
        table = labelled(replace(table, target=name))  # as fit does with the same file
        _, y = table.split(name)
        return table.select(*features), y
    return table[features], table[name]
