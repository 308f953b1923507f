"""What replaces a missing value: the mean of a numeric column, the most frequent value of any other.

Only ``missing="impute"`` fills in. A model that learned in batches, or with the tests of other data, has the values of
the first batch or of the other data: a value that these rows do not give is then not checked, and not false.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from everytree.verify.examples import UNKNOWN, Cells
from everytree.verify.facts import FALSE, TRUE, UNCHECKED, Fact
from everytree.verify.model import Model

__all__ = ["fill_facts"]


def fill_facts(model: Model, cells: Cells | None, coded: bool = False) -> list[Fact]:
    """Check the fills of a model; ``cells`` may be absent where nothing is imputed.

    With ``coded``, the fill of a nominal column is the position of its value.
    """
    fills = [column.fill for column in model.columns]
    if cells is None:
        wrong = next((j for j, fill in enumerate(fills) if fill is not None), None)
        if wrong is None:
            return []
        note = "missing values are not imputed, so nothing takes their place"
        return [Fact(f"fill of column {model.columns[wrong].name!r}", fills[wrong], None, FALSE, note)]
    for j, (column, fill) in enumerate(zip(model.columns, fills, strict=True)):
        if fill is None and any(row[j] is not None for row in cells.rows):
            note = "missing values are imputed, and nothing takes their place here"
            return [Fact(f"fill of column {column.name!r}", None, "a value", FALSE, note)]
        if fill is not None and not coded and column.kind == "nominal":
            fill = column.values.index(fill) if fill in column.values else -1
        if fill is not None and not _explained(column.kind, fill, j, cells):
            note = f"it is not the mean or the most frequent value of column {column.name!r} in these rows"
            return [Fact("fills", column.fill, None, UNCHECKED, note, predicts=True)]
    return [Fact("fills", len(fills), len(fills), TRUE)]


def _explained(kind: str, fill: Any, j: int, cells: Cells) -> bool:
    """Return whether a fill is the one that the rows give."""
    times: dict[Any, int] = {}
    for row, weight in zip(cells.rows, cells.weights, strict=True):
        if row[j] is not None and row[j] is not UNKNOWN:
            times[row[j]] = times.get(row[j], 0) + weight
    if not times or isinstance(fill, str):
        return False
    if kind != "numeric" or set(times) <= {0, 1}:
        return bool(fill == min(value for value, n in times.items() if n == max(times.values())))  # the first
    # In fractions, as floats near the largest one have no sum.
    mean = sum(Fraction(value) * Fraction(n) for value, n in times.items()) / Fraction(sum(times.values()))
    return math.isclose(mean, fill, rel_tol=1e-9, abs_tol=1e-12)
