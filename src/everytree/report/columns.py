"""Columns and rows as the page stores them, so that the browser can send a row down a tree as Python does.

A nominal value is stored as its position among the column's values (−1 for none of them), a missing one as null.
Decisions always depend on a position or a number, never on a name: names are only shown.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from everytree.data.column import Column
from everytree.data.encoding import matched
from everytree.data.frames import Frame
from everytree.estimators.base import TreeClassifierBase
from everytree.report.plain import TRUTH, truths
from everytree.report.words import shown

__all__ = ["add_ranges", "column_rows", "page_columns", "raw_columns"]


def page_columns(model: Any) -> list[dict[str, Any]]:
    """Describe the columns of a classifier that uses a Binarizer."""
    columns, yes_or_no = [], truths(model)
    for name, encoding in zip(model.column_names(), model.binarizer_.encodings_, strict=True):
        column: dict[str, Any] = {"name": shown(name), "kind": encoding.kind, "used": bool(encoding.tests)}
        fill = encoding.fill
        if encoding.codes is not None:
            column["values"] = [shown(value) for value in encoding.codes]
            column["start"] = 0
            fill = None if fill is None else encoding.codes.get(fill)
        elif encoding.kind == "numeric":
            cuts = sorted(float(test.value) for test in encoding.tests if test.op == "<=")
            column["start"] = cuts[len(cuts) // 2] if cuts else 0
        elif encoding.kind == "binary":
            column["start"] = 0
            if name in yes_or_no:
                column["values"] = [*TRUTH]
        column["fill"] = None if fill is None else float(fill)
        columns.append(column)
    return columns


def raw_columns(model: Any) -> list[dict[str, Any]]:
    """Describe the columns of a classifier whose tree asks about whole columns."""
    if model.display() == "path":
        return [
            _raw(of.name, of.values, [float(c) for c in of.cuts], of.fill, of.n_values > 1)
            for of in model.tree_.categories
        ]
    if model.display() == "options":
        attribute, threshold = model.tree_.arrays["attribute"], model.tree_.arrays["threshold"]
    else:
        attribute, threshold = model.tree_.attribute, model.tree_.threshold
    asked = set(attribute[attribute >= 0].tolist())
    made = []
    for j, of in enumerate(model.tree_.columns):
        own = threshold[attribute == j]
        cuts = sorted(own[np.isfinite(own)].tolist())
        made.append(_raw(of.name, of.values if of.kind == "nominal" else None, cuts, None, j in asked))
    return made


def _raw(name: str, values: Any, cuts: list[float], fill: Any, used: bool) -> dict[str, Any]:
    if values is None:
        start = cuts[len(cuts) // 2] if cuts else 0
        kept = None if fill is None else float(fill)
        return {"name": shown(name), "kind": "numeric", "start": start, "fill": kept, "used": used}
    place = None if fill is None else float(values.index(fill))
    known = [shown(value) for value in values]
    return {
        "name": shown(name),
        "kind": "nominal",
        "values": known,
        "start": 0 if known else None,
        "fill": place,
        "used": used,
    }


def add_ranges(columns: list[dict[str, Any]], frame: Frame) -> None:
    """Add to columns of numbers the least and the greatest value in some data, and whether all are whole."""
    for described, column in zip(columns, frame.columns, strict=True):
        if described["kind"] != "numeric" or column.kind == "nominal" or column.is_empty:
            continue
        known = np.asarray(column.present(), dtype=np.float64)
        known = known[np.isfinite(known)]
        if known.size:
            described["range"] = [float(known.min()), float(known.max())]
            described["whole"] = bool((known == np.floor(known)).all())


def column_rows(model: Any, frame: Frame) -> list[list[float | int | None]]:
    """Return the cells of every row of a frame."""
    found: list[list[float | int | None]] = [[] for _ in range(frame.n_rows)]
    for j, column in enumerate(frame.columns):
        for row, cell in zip(found, _cells(model, j, column), strict=True):
            row.append(cell)
    return found


def _cells(model: Any, j: int, column: Column) -> list[float | int | None]:
    values: Any = None
    if isinstance(model, TreeClassifierBase):
        encoding = model.binarizer_.encodings_[j]
        column = matched(column, encoding)
        codes = encoding.codes
    else:
        path = model.display() == "path"
        of = model.tree_.categories[j] if path else model.tree_.columns[j]
        values = of.values if path or of.kind == "nominal" else None
        codes = None if values is None else {value: k for k, value in enumerate(values)}
    if column.is_empty:
        return [None] * len(column)
    if codes is not None:
        cells: list[Any] = column.as_nominal().codes_in(codes, -1).tolist()
    else:
        cells = column.data.tolist()
    if column.mask is not None:  # a missing cell may be NaN, which JSON does not have
        cells = [None if gone else cell for cell, gone in zip(cells, column.mask.tolist(), strict=True)]
    return [int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in cells]
