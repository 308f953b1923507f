"""Predictions, moments and left-out examples over many cuts and rows, asked by the places of rows in runs of cuts.

The core does so from some hundred rows on (``core/down/grid.hpp``), which tables of a few rows never reach. The twin in
plain Python judges a sample of the rows.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.errors import LimitReached
from everytree.reference import Bayes, ColumnTable, LocalSpace
from everytree.reference import UniformPrior as PlainUniform
from everytree.reference.leave_one_out import leave_one_out

CASES = [(2, False, 1.0, 4), (2, True, 0.25, 1), (2, False, 0.25, 1), (3, True, 1.0, 1), (3, False, 0.25, 4)]


def rows_of(rng, n):
    """Two numeric columns of about thirty values, of which the second is sometimes missing."""
    a, b = rng.integers(0, 30, n) / 4, np.round(rng.normal(size=n), 1)
    return np.column_stack([a, np.where(rng.random(n) < 0.05, np.nan, b)])


def plain(rows):
    return [[None if np.isnan(x) else float(x) for x in row] for row in rows]


@pytest.mark.long
@pytest.mark.parametrize(("n_classes", "fair", "power", "min_leaf"), CASES)
def test_many_cuts_say_what_their_twin_says(n_classes, fair, power, min_leaf):
    rng = np.random.default_rng([n_classes, fair, min_leaf])
    X, new = rows_of(rng, 220 * n_classes), rows_of(rng, 300)
    # Nearly pure halves: probabilities of classes that are not expected are small, and keep their digits.
    y = np.where(
        rng.random(len(X)) < 0.02, rng.integers(0, n_classes, len(X)), (X[:, 0] * n_classes / 7.5).astype(int)
    )
    y = np.minimum(y, n_classes - 1)
    columns = ["a", "b"]
    space = et.TreeSpace.from_frame(
        pd.DataFrame(X, columns=columns), y, bins="all", max_depth=2, min_leaf=min_leaf
    )
    table = ColumnTable.from_data(plain(X), y.tolist(), bins="all", kinds=["numeric"] * 2)
    twin = Bayes(LocalSpace(table, 2, min_leaf), PlainUniform(table.attributes if fair else None), 0.7, power)
    posterior = space.posterior(et.UniformPrior(attribute_fair=fair), dirichlet=0.7, power=power)
    assert posterior.log_evidence == pytest.approx(twin.log_evidence, rel=1e-10)

    frame = pd.DataFrame(new, columns=columns)
    said, moments = posterior.predict_proba(frame), posterior.moments(frame)
    for k in rng.choice(len(new), 4, replace=False).tolist():
        row = plain(new[k : k + 1])[0]
        np.testing.assert_allclose(said[k], twin.predict_proba(row), rtol=1e-10)
        expected = twin.moments(row)
        np.testing.assert_allclose(moments.mean[k], expected.mean, rtol=1e-10)
        np.testing.assert_allclose(moments.within[k], expected.within, rtol=1e-8)
        np.testing.assert_allclose(moments.between[k], expected.between, rtol=1e-6, atol=1e-12)

    left_out = posterior.loo_proba()
    place = {tuple(row): k for k, row in enumerate(table.universe.rows)}
    for k in rng.choice(len(X), 4, replace=False).tolist():
        outcomes = tuple(
            column.holds(value, test)
            for column, value in zip(table.columns, plain(X[k : k + 1])[0], strict=True)
            for test in column.tests
        )
        np.testing.assert_allclose(left_out[k], leave_one_out(twin, place[outcomes], int(y[k])), rtol=1e-9)


def test_leaving_out_examples_keeps_to_the_memory():
    """Its matrices have a line and a column for every test, or two: here 100 MB, and of bank 1.6 GB."""
    rng = np.random.default_rng(7)
    X = rng.random((500, 2))
    y = (X[:, 0] > X[:, 1]).astype(np.intp)
    model = et.BayesOptimalClassifier(bins="all", max_depth=2, memory_limit=30_000_000).fit(X, y)
    posterior = model.posterior_
    assert posterior.space.n_tests > 900
    with pytest.raises(LimitReached) as reached:
        posterior.leave_one_out()
    assert reached.value.reason == "memory"
    free = et.BayesOptimalClassifier(bins="all", max_depth=2, memory_limit=300_000_000).fit(X, y)
    assert free.posterior_.leave_one_out().log_loss == pytest.approx(
        et.BayesOptimalClassifier(bins="all", max_depth=2).fit(X, y).posterior_.loo_log_loss
    )
