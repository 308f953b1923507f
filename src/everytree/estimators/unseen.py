"""Values that new rows have and training had not: which columns, how many rows, and what they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from everytree.common.text import show, show_many
from everytree.data.column import Column

__all__ = ["Unseen"]

SOME = 3  # values that are told of a column


class Unseen:
    """Counts the values of text columns that a fitted classifier has not seen, piece by piece.

    >>> import everytree as et
    >>> model = et.OptimalTreeClassifier().fit([["a"], ["b"], ["b"]], ["no", "yes", "yes"])
    >>> unseen = Unseen(model)
    >>> unseen.look_at({"x0": Column("x0", "nominal", np.array(["c", "a"], dtype=object))})
    >>> unseen.told()
    ["1 row has a value of x0 that was not in training: 'c'"]
    """

    def __init__(self, model: Any) -> None:
        self._known = {name: set(values) for name, values in model.known_values().items()}
        self._rows: dict[str, int] = {}
        self._new: dict[str, dict[Any, None]] = {}

    def look(self, data: Any) -> None:
        """Look at more rows of a data set."""
        self.look_at(data.columns)

    def look_at(self, columns: dict[str, Column]) -> None:
        """Look at more rows, given as columns."""
        for name, known in self._known.items():
            column = columns.get(name)
            if (
                column is None
                or column.kind != "nominal"
                or not any(isinstance(value, str) for value in known)
            ):
                continue
            new = np.array([*(label not in known for label in column.labels), False])
            rows = int(new[column.data].sum())
            if rows:
                self._rows[name] = self._rows.get(name, 0) + rows
                seen = column.occurring()
                self._new.setdefault(name, {}).update(dict.fromkeys(x for x in seen if x not in known))

    def told(self) -> list[str]:
        """Return a sentence for each column with such values."""
        return [
            f"{rows} row{'s have' if rows > 1 else ' has'} a value of {name} that was not in training: "
            f"{show_many(list(self._new[name]), SOME)}{self._like(name)}"
            for name, rows in self._rows.items()
        ]

    def _like(self, name: str) -> str:
        """Say which value of training a new one is but for the case of its letters."""
        small = {value.lower(): value for value in self._known[name] if isinstance(value, str)}
        for new in self._new[name]:
            if isinstance(new, str) and new.lower() in small:
                return f"; training had {show(small[new.lower()])}"
        return ""
