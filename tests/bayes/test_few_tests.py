"""Predictions where states offer at most eight tests: every combination of outcomes has a cell of its own.

The core takes cells where there are rows enough for them (``ClosedForm::cells_pay``), whatever the classes, weights,
priors and cuts. Judges are the way without tables of the core, and for some rows the twin in plain Python.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree import _core
from everytree.reference import Bayes, ColumnTable, LocalSpace
from everytree.reference import UniformPrior as PlainUniform

# Nine classes are two vectors of eight.
WAYS = list(product(["global", "local"], [False, True], [2, 3, 9], [1.0, 0.25]))


def rows_of(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Numbers, some of them missing, and words."""
    frame = pd.DataFrame({name: rng.integers(0, 40, n) / 4 for name in "ab"})
    frame["c"] = np.where(rng.random(n) < 0.1, np.nan, np.round(rng.normal(size=n), 1))
    frame["word"] = rng.choice(["x", "y", "z"], n)
    return frame


def labels_of(rng: np.random.Generator, frame: pd.DataFrame, n_classes: int) -> np.ndarray:
    """Classes that a tells apart, but for every twentieth row; all of them occur."""
    told = np.minimum((frame["a"] * n_classes / 10).astype(int), n_classes - 1).to_numpy()
    y = np.where(rng.random(len(frame)) < 0.05, rng.integers(0, n_classes, len(frame)), told)
    y[:n_classes] = range(n_classes)
    return y


def says(frame, y, cuts, fair, power, new, linear, weight):
    space = et.TreeSpace.from_frame(
        frame, y, sample_weight=weight, cuts=cuts, bins=2, max_depth=4, min_leaf=2
    )
    space.switches["linear"] = linear
    return space.posterior(et.UniformPrior(attribute_fair=fair), 0.7, power).predict_proba(new)


@pytest.mark.parametrize(("cuts", "fair", "n_classes", "power"), WAYS)
@pytest.mark.parametrize("weighted", [False, True])
def test_cells_say_what_the_slow_way_says(cuts, fair, n_classes, power, weighted):
    rng = np.random.default_rng([n_classes, fair, weighted])
    frame, new = rows_of(rng, 150), rows_of(rng, 400)
    y = labels_of(rng, frame, n_classes)
    weight = rng.integers(1, 4, len(y)) if weighted else None
    quick = says(frame, y, cuts, fair, power, new, True, weight)
    slow = says(frame, y, cuts, fair, power, new, False, weight)
    np.testing.assert_allclose(quick, slow, rtol=1e-10)
    np.testing.assert_allclose(quick.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize(("fair", "n_classes", "power"), list(product([False, True], [2, 3], [1.0, 0.25])))
def test_cells_say_what_their_twin_says(fair, n_classes, power):
    rng = np.random.default_rng([n_classes, fair])
    frame, new = rows_of(rng, 60).drop(columns="word"), rows_of(rng, 300).drop(columns="word")
    y = labels_of(rng, frame, n_classes)

    def plain(rows: pd.DataFrame) -> list[list[float | None]]:
        return [[None if np.isnan(x) else float(x) for x in row] for row in rows.to_numpy()]

    table = ColumnTable.from_data(plain(frame), y.tolist(), bins=2, kinds=["numeric"] * 3)
    twin = Bayes(LocalSpace(table, 3, 2), PlainUniform(table.attributes if fair else None), 0.7, power)
    space = et.TreeSpace.from_frame(frame, y, cuts="local", bins=2, max_depth=3, min_leaf=2)
    posterior = space.posterior(et.UniformPrior(attribute_fair=fair), 0.7, power)
    assert posterior.log_evidence == pytest.approx(twin.log_evidence, rel=1e-10)
    said = posterior.predict_proba(new)
    for k in rng.choice(len(new), 6, replace=False).tolist():
        np.testing.assert_allclose(said[k], twin.predict_proba(plain(new[k : k + 1])[0]), rtol=1e-10)


@pytest.mark.parametrize("cuts", ["global", "local"])
def test_neither_kernels_nor_few_rows_matter(cuts):
    rng = np.random.default_rng(5)
    frame, new = rows_of(rng, 150), rows_of(rng, 300)
    y = labels_of(rng, frame, 3)
    wanted = says(frame, y, cuts, True, 0.25, new, True, None)
    few = says(frame, y, cuts, True, 0.25, new[:3], True, None)  # too few for cells
    np.testing.assert_allclose(few, wanted[:3], rtol=1e-11)
    used = _core.kernels()
    try:
        for name in _core.available_kernels():
            _core.use_kernels(name)
            found = says(frame, y, cuts, True, 0.25, new, True, None)
            np.testing.assert_allclose(found, wanted, rtol=1e-11, err_msg=name)
    finally:
        _core.use_kernels(used)


@pytest.mark.parametrize("parameter", [1e-60, 1e-30, 1e30, 1e60])
def test_parameters_beyond_what_four_of_them_may_multiply_to(parameter):
    rng = np.random.default_rng(6)
    frame, new = rows_of(rng, 80), rows_of(rng, 200)
    y = labels_of(rng, frame, 2)
    space = et.TreeSpace.from_frame(frame, y, cuts="local", bins=2, max_depth=3, min_leaf=2)
    quick = space.posterior(None, parameter).predict_proba(new)
    space.switches["linear"] = False
    slow = space.posterior(None, parameter).predict_proba(new)
    np.testing.assert_allclose(quick, slow, rtol=1e-10, atol=1e-15)


def test_threads_change_no_bit_where_little_memory_makes_small_batches() -> None:
    """A batch decides where cells pay, so its size must not depend on the threads."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (400, 8)).astype(np.uint8), np.arange(400) % 50
    rows = rng.integers(0, 2, (4000, 8)).astype(np.uint8)
    answers = []
    for n_jobs in (1, 2, 3):
        space = et.TreeSpace(X, y, 3, 5, n_jobs=n_jobs, memory_limit=8_000_000)
        answers.append(space.posterior().predict_proba(rows))
    assert np.array_equal(answers[0], answers[1])
    assert np.array_equal(answers[0], answers[2])
