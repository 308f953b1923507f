"""Random tables of numbers and texts with missing values, for classifiers on whole columns."""

from __future__ import annotations

import numpy as np
import pandas as pd


def random_table(seed, n=120):
    """Two columns that decide together, one that says nothing, some noise and some gaps."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"a": rng.normal(size=n).round(1), "b": rng.choice(["u", "v", "w"], n), "c": rng.normal(size=n)}
    )
    y = np.where((X["a"] > 0) ^ (X["b"] == "u") ^ (rng.random(n) < 0.15), "p", "q")
    X.loc[rng.random(n) < 0.2, "a"] = float("nan")
    X.loc[rng.random(n) < 0.1, "b"] = None
    return X, y
