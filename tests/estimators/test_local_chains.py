"""Chains over trees whose nodes choose their own cuts: fitted, averaged, saved, continued and verified."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import everytree as et
from everytree.verify import verify_model

RNG = np.random.default_rng(3)
X = np.column_stack([RNG.normal(size=80).round(2), RNG.integers(0, 12, size=80)])
Y = (X[:, 0] + X[:, 1] / 6 + RNG.normal(size=80) > 1).astype(int)
NEW = np.column_stack([RNG.normal(size=50), RNG.uniform(0, 12, size=50)])


def fitted(**more):
    options = {"max_depth": 2, "min_leaf": 3, "bins": 3, "cuts": "local", "random_state": 0, "n_draws": 200}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return et.MCMCTreeClassifier(**(options | more)).fit(X, Y)


def test_the_mean_of_the_draws_is_the_exact_average():
    model = fitted(n_draws=2000)
    exact = et.BayesOptimalClassifier(max_depth=2, min_leaf=3, bins=3, cuts="local").fit(X, Y)
    for rows in (X, NEW):
        assert np.abs(model.predict_proba(rows) - exact.predict_proba(rows)).max() < 0.02
    assert model.tree_.info["log_joint"] == pytest.approx(
        et.MAPTreeClassifier(max_depth=2, min_leaf=3, bins=3, cuts="local").fit(X, Y).log_joint_, abs=1e-9
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_depth": None},
        {"kernel": "stack", "orders": "once"},
        {"target": "risk"},
        {"density": "columns"},
        {"density": {"x0": 3}},
        {"start": "map"},
        {"start": "optimal"},
    ],
    ids=str,
)
def test_files_hold_the_draws_and_are_proved(tmp_path, options):
    model = fitted(**options)
    for tree in model.draws_[::60]:
        model.draws_.space.check_offered(tree.key)
    model.save(tmp_path / "model.json")
    np.savetxt(
        tmp_path / "data.csv", np.column_stack([X, Y]), delimiter=",", header="x0,x1,y", comments="", fmt="%g"
    )
    report = verify_model(tmp_path / "model.json", tmp_path / "data.csv", target="y")
    assert report.ok, str(report)
    assert report["drawn trees"].found > 0
    again = et.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert again.continue_sampling(5).draws_.n_draws == model.draws_.n_draws + 5


def test_a_cut_that_no_node_offers_is_found_out(tmp_path):
    """Test 0 parts one example from the rest, and no bin ends there."""
    model = fitted(min_leaf=1)
    model.save(tmp_path / "model.json")
    np.savetxt(
        tmp_path / "data.csv", np.column_stack([X, Y]), delimiter=",", header="x0,x1,y", comments="", fmt="%g"
    )
    content = json.loads((tmp_path / "model.json").read_text())
    content["claims"]["draws"]["trees"][0] = [0, -1, -1]
    (tmp_path / "model.json").write_text(json.dumps(content))
    report = verify_model(tmp_path / "model.json", tmp_path / "data.csv", target="y")
    assert not report.ok
    assert "its rows do not offer" in str(report["drawn tree 0"].note)
