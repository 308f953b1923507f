"""How averages are put together, written down once more for the tests."""

from __future__ import annotations

import numpy as np


def added_up(
    said: list[np.ndarray], weights: np.ndarray, shares: np.ndarray, n: float | None = None
) -> np.ndarray:
    """The law of the pool, in products instead of logarithms."""
    product = shares * np.prod([(p / shares) ** w for p, w in zip(said, weights, strict=True)], axis=0)
    kept = 0 if n is None else 0.25 / n
    return (1 - kept) * product / product.sum(axis=-1, keepdims=True) + kept * shares
