"""Tables with more tests than a word has bits: against the reference at two levels, and between engines at three."""

from __future__ import annotations

import numpy as np
import pytest
from engine_cases import OPTIONS, Case, Data, Twins
from questions import QUESTIONS

import everytree as et


def cuts(rows: int, tests: int, classes: int, seed: int) -> Data:
    """Cuts of numeric columns and independent tests, half of each; weights from 1 to 3 for every other seed."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 12, size=(rows, -(-tests // 20)))
    nested = (numbers[:, :, None] <= np.arange(10)).reshape(rows, -1)
    single = rng.random((rows, tests)) < rng.uniform(0.1, 0.9, tests)
    X = np.concatenate([nested, single], axis=1)[:, :tests].astype(np.uint8)
    y = (numbers[:, 0] + 3 * single[:, 0] + rng.integers(0, 6, rows)) * classes // 20 % classes
    return Data(X, y, rng.integers(1, 4, rows) if seed % 2 else None, classes)


@pytest.mark.parametrize(
    ("tests", "kernels"),
    [(tests, kernels) for tests in (63, 64, 65) for kernels in OPTIONS["kernels"]]
    + [(tests, OPTIONS["kernels"][-1]) for tests in (127, 128, 129)],
)
def test_two_levels_are_those_of_the_reference(tests: int, kernels: str) -> None:
    data = cuts(65 if tests == 64 else 33, tests, 2 + tests % 2, seed=tests)
    twins = Twins(Case(seed=tests, max_depth=2, min_leaf=2 + tests % 4, kernels=kernels), data)
    for name in ("count", "best_error", "log_evidence"):
        QUESTIONS[name](twins)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("tests", [63, 64, 65])
def test_three_levels_by_search_are_those_of_the_fold(tests: int, classes: int) -> None:
    """Enough rows for sides that are folded together, which the fold of all states does not do."""
    data = cuts(1_200, tests, classes, seed=tests)
    for min_leaf in (1, 7):
        space = et.TreeSpace(data.X, data.y, sample_weight=data.weights, max_depth=3, min_leaf=min_leaf)
        tree = space.best()
        size, error, _ = space.front()[-1]
        assert (tree.error, tree.size) == (error, size)
