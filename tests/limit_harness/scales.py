"""The data of the harness: one base table, and the same made large along one axis at a time.

Every call is asked on every axis that it can meet. The base is large enough that an unlimited answer takes far
longer than the limits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

__all__ = ["SCALES", "SMALL", "Scale"]


@dataclass(frozen=True)
class Scale:
    """How large a table is: rows, tests, classes, the depth of trees, what a row weighs at most, threads."""

    rows: int = 2000
    tests: int = 120
    classes: int = 2
    depth: int = 5
    weight: int = 1
    threads: int = 1

    def table(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return 0/1 rows, labels and whole weights: noise, which no bound prunes."""
        rng = np.random.default_rng(7)
        X = rng.integers(0, 2, (self.rows, self.tests), dtype=np.uint8)
        y = rng.integers(0, self.classes, self.rows)
        y[: self.classes] = np.arange(self.classes)[: self.rows]
        weights = (
            rng.integers(1, self.weight + 1, self.rows) if self.weight > 1 else np.ones(self.rows, np.int64)
        )
        return X, y, weights

    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """Return numeric columns with labels, an eighth as many columns as there are tests."""
        rng = np.random.default_rng(8)
        _, y, _ = self.table()
        return rng.normal(size=(self.rows, max(2, self.tests // 8))), y

    def mixed(self) -> tuple[pd.DataFrame, np.ndarray]:
        """Return the columns of numbers beside whole numbers, numbers with gaps and texts of a hundred values."""
        X, y = self.numbers()
        rng = np.random.default_rng(9)
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
        frame["whole"] = rng.integers(0, 1000, self.rows)
        frame["gaps"] = np.where(rng.random(self.rows) < 0.2, np.nan, rng.normal(size=self.rows))
        for name in ("text", "other"):
            frame[name] = np.char.add("v", rng.integers(0, 100, self.rows).astype(str))
        return frame, y


SMALL = Scale(rows=80, tests=24, depth=2)
SCALES = {
    "base": Scale(),
    "rows": Scale(rows=300_000, tests=20, depth=4),
    "tests": Scale(rows=300, tests=3000, depth=3),
    "classes": Scale(rows=3000, tests=60, classes=400, depth=4),
    "weights": Scale(weight=200_000),
    "depth": Scale(rows=400, tests=40, depth=12),
    "threads": Scale(threads=2),
}
