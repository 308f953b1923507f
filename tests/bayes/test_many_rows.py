"""Predictions of many rows: the quick way through closed states against the slow one, and what must not matter."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree import _core

WAYS = list(product(["global", "local"], [False, True], [2, 3], [1.0, 0.25]))


def data(seed: int, n_classes: int, n: int = 160) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, a nominal column, missing values, and two columns that part the rows alike."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.normal(size=n).round(1) for name in "abc"})
    frame["twice"] = 2 * frame["a"]
    frame["word"] = rng.choice(["x", "y", "z"], n)
    frame.loc[rng.random(n) < 0.1, "b"] = np.nan
    score = frame["a"] + (frame["word"] == "x") + rng.normal(0, 0.5, n)
    return frame, np.digitize(score, np.linspace(-0.5, 1.5, n_classes + 1)[1:-1])


def space_of(
    frame: pd.DataFrame, y: np.ndarray, cuts: str, depth: int = 3, linear: bool = True
) -> et.TreeSpace:
    space = et.TreeSpace.from_frame(frame, y, cuts=cuts, bins=6, max_depth=depth, min_leaf=2)
    space.switches["linear"] = linear
    return space


def answers(
    space: et.TreeSpace, prior: et.SizePrior, power: float, rows: pd.DataFrame
) -> dict[str, np.ndarray]:
    posterior = space.posterior(prior, 0.7, power)
    moments = posterior.moments(rows)
    return {
        "proba": posterior.predict_proba(rows),
        "few": posterior.predict_proba(rows[:3]),
        "between": moments.between,
        "within": moments.within,
        "left out": posterior.leave_one_out().proba,
    }


@pytest.mark.parametrize(("cuts", "fair", "n_classes", "power"), WAYS)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_quick_way_says_what_the_slow_one_says(cuts, fair, n_classes, power, depth):
    frame, y = data(depth, n_classes)
    rows, _ = data(100 + depth, n_classes, 70)
    prior = et.SizePrior(attribute_fair=fair)
    quick = answers(space_of(frame, y, cuts, depth), prior, power, rows)
    slow = answers(space_of(frame, y, cuts, depth, linear=False), prior, power, rows)
    for name, found in quick.items():
        np.testing.assert_allclose(found, slow[name], rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("cuts", ["global", "local"])
def test_neither_kernels_nor_threads_nor_the_company_of_other_rows_matter(cuts):
    frame, y = data(7, 2)
    rows, _ = data(8, 2, 50)
    prior = et.SizePrior(attribute_fair=True)
    posterior = space_of(frame, y, cuts).posterior(prior)
    wanted = posterior.predict_proba(rows)
    alone = np.vstack([posterior.predict_proba(rows[k : k + 1]) for k in range(len(rows))])
    np.testing.assert_allclose(alone, wanted, rtol=0, atol=1e-14)
    two = et.TreeSpace.from_frame(frame, y, cuts=cuts, bins=6, max_depth=3, min_leaf=2, n_jobs=2).posterior(
        prior
    )
    assert np.array_equal(two.predict_proba(rows), wanted)
    used = _core.kernels()
    try:
        for name in _core.available_kernels():
            _core.use_kernels(name)
            found = space_of(frame, y, cuts).posterior(prior).predict_proba(rows)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13, err_msg=name)
    finally:
        _core.use_kernels(used)


def test_priors_by_name_are_attribute_fair_where_nodes_choose_their_cuts():
    frame, y = data(3, 2)
    local, fixed = space_of(frame, y, "local"), space_of(frame, y, "global")
    for name in (None, "size", "uniform", "leaf_penalty", "shapes", "coding"):
        assert local.posterior(name).prior.attribute_fair
        assert not fixed.posterior(name).prior.attribute_fair
    assert not local.posterior(et.SizePrior()).prior.attribute_fair
    for made in (et.BayesOptimalClassifier, et.MAPTreeClassifier):
        assert made(max_depth=2, cuts="local").fit(frame, y).prior_.attribute_fair
        assert not made(max_depth=2).fit(frame, y).prior_.attribute_fair
        assert not made(max_depth=2, cuts="local", prior=et.SizePrior()).fit(frame, y).prior_.attribute_fair
