"""BayesOptimalClassifier(power=…, calibrate="loo"): the exponent, what it is chosen by, files, and what is refused."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score

import everytree as et
from everytree.bayes.exponent import MOST, best_exponent, log_loss_at, tempered


def data(n: int = 120, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] + rng.normal(0, 0.7, n), np.linspace(-0.5, 0.5, n_classes - 1))
    return X, np.array(["a", "b", "c", "d"])[y]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("power", [1.0, 0.25])
def test_the_exponent_has_the_least_leave_one_out_loss(n_classes: int, power: float) -> None:
    X, y = data(n_classes=n_classes)
    model = et.BayesOptimalClassifier(3, power=power, dirichlet="base", calibrate="loo").fit(X, y)
    codes = np.searchsorted(model.classes_, y)
    p = model.loo_proba_
    assert p.shape == (len(y), n_classes)
    ones = np.ones(len(y))
    found = minimize_scalar(lambda g: log_loss_at(g, p, codes, ones), bounds=(0, 10), method="bounded")
    assert model.exponent_ == pytest.approx(found.x, abs=1e-4)
    assert model.loo_log_loss_ == pytest.approx(-np.log(p[np.arange(len(y)), codes]).mean(), rel=1e-12)
    calibrated = -np.log(tempered(p, model.exponent_)[np.arange(len(y)), codes]).mean()
    assert model.calibrated_loo_log_loss_ == pytest.approx(calibrated, rel=1e-12)
    assert model.calibrated_loo_log_loss_ <= model.loo_log_loss_
    assert model.loo_log_loss_error_ == model.posterior_.loo_log_loss_error


def test_probabilities_are_the_raw_ones_to_the_exponent() -> None:
    X, y = data(n_classes=3)
    model = et.BayesOptimalClassifier(3, power=0.25, calibrate="loo").fit(X, y)
    raw = model.raw_proba(X)
    wanted = raw**model.exponent_
    np.testing.assert_allclose(model.predict_proba(X), wanted / wanted.sum(axis=1, keepdims=True), rtol=1e-12)
    plain = et.BayesOptimalClassifier(3, power=0.25).fit(X, y)
    assert (plain.predict_proba(X) == raw).all()
    assert (plain.raw_proba(X) == raw).all()
    assert not hasattr(plain, "exponent_")
    assert (model.predict(X) == plain.predict(X)).all()


def test_a_row_that_is_left_out_is_predicted_by_the_others() -> None:
    X, y = data(60)
    bins = {j: [-0.5, 0.0, 0.5] for j in range(4)}
    model = et.BayesOptimalClassifier(2, min_leaf=1, power=0.5, calibrate="loo", bins=bins).fit(X, y)
    others = et.BayesOptimalClassifier(2, min_leaf=1, power=0.5, bins=bins)
    for i in (0, 17, 42):
        rest = np.arange(60) != i
        np.testing.assert_allclose(
            others.fit(X[rest], y[rest]).predict_proba(X[i : i + 1])[0], model.loo_proba_[i], rtol=1e-12
        )


def test_weights_are_repetitions() -> None:
    X, y = data(60)
    w = np.random.default_rng(0).integers(0, 4, 60)
    weighed = et.BayesOptimalClassifier(2, power=0.5, calibrate="loo").fit(X, y, sample_weight=w)
    repeated = et.BayesOptimalClassifier(2, power=0.5, calibrate="loo").fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    assert weighed.exponent_ == pytest.approx(repeated.exponent_, rel=1e-12)
    assert weighed.loo_log_loss_ == pytest.approx(repeated.loo_log_loss_, rel=1e-12)
    assert np.isnan(weighed.loo_proba_[w == 0]).all()
    np.testing.assert_allclose(np.repeat(weighed.loo_proba_, w, axis=0), repeated.loo_proba_, rtol=1e-13)


def test_exponents_of_known_answers() -> None:
    p = np.full((4, 2), 0.5)
    codes = np.zeros(4, dtype=np.intp)
    assert best_exponent(p, codes, np.ones(4)) == 1  # every exponent says the same
    sure = np.array([[0.9, 0.1]] * 4)
    assert best_exponent(sure, codes, np.ones(4)) == MOST
    assert best_exponent(sure[:, ::-1], codes, np.ones(4)) == 0
    # Three of four right at 0.9: the exponent g with sigmoid(g · log 9) = 3/4.
    half = np.array([[0.9, 0.1]] * 3 + [[0.1, 0.9]])
    assert best_exponent(half, codes, np.ones(4)) == pytest.approx(np.log(3) / np.log(9), rel=1e-9)
    assert best_exponent(half[2:], codes[2:], np.array([3, 1])) == pytest.approx(0.5, rel=1e-9)
    assert tempered(sure, 1.0) is sure
    np.testing.assert_allclose(tempered(np.array([[1.0, 0.0]]), 2.0), [[1.0, 0.0]])


@pytest.mark.parametrize("calibrate", [None, "loo"])
def test_files_keep_power_and_exponent(calibrate: str | None, tmp_path) -> None:
    X, y = data(80, 3)
    model = et.BayesOptimalClassifier(2, power=0.25, dirichlet="base", calibrate=calibrate).fit(X, y)
    model.save(tmp_path / "model.json")
    loaded = et.load_model(tmp_path / "model.json")
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    assert loaded.posterior_.power == 0.25
    if calibrate:
        assert loaded.exponent_ == model.exponent_
        assert loaded.loo_log_loss_ == model.loo_log_loss_
        assert not hasattr(loaded, "loo_proba_")
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


def test_damaged_files_are_refused(tmp_path) -> None:
    X, y = data(60)
    et.BayesOptimalClassifier(2, power=0.5, calibrate="loo").fit(X, y).save(tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text())
    for change, message in (
        ({"exponent": -1}, "from 0 to 10"), ({"exponent": "2"}, "from 0 to 10"), ({"exponent": None}, "from 0 to 10"),
        ({"loo_log_loss": "low"}, "a finite number"),
    ):  # fmt: skip
        (tmp_path / "bad.json").write_text(json.dumps(content | {"claims": content["claims"] | change}))
        with pytest.raises(et.DataError, match=message):
            et.load_model(tmp_path / "bad.json")
    for change, message in (
        ({"calibrate": None}, "no calibration"),
        ({"power": 2}, "power"),
        ({"power": 0.4}, "log_evi"),
    ):
        (tmp_path / "bad.json").write_text(json.dumps(content | {"params": content["params"] | change}))
        with pytest.raises(et.DataError, match=message):
            et.load_model(tmp_path / "bad.json")


def test_refusals() -> None:
    X, y = data(60)
    for params, message in (
        ({"power": 0}, "power"), ({"power": 1.5}, "power"), ({"calibrate": "other"}, "calibrate"),
        ({"calibrate": "loo", "method": "collapsed"}, "exact average"), ({"power": 0.5, "prior": "average"}, "average"),
    ):  # fmt: skip
        with pytest.raises(et.QueryError, match=message):
            et.BayesOptimalClassifier(2, **params).fit(X, y)
    model = et.BayesOptimalClassifier(2, power=0.25, calibrate="loo").fit(X, y)
    with pytest.raises(et.QueryError, match="exponent"):
        model.compress(0.1)


def test_fit_chooses_by_the_evidence_at_power_one() -> None:
    X, y = data()
    one = et.BayesOptimalClassifier(2, dirichlet="fit").fit(X, y)
    half = et.BayesOptimalClassifier(2, dirichlet="fit", power=0.5).fit(X, y)
    assert half.dirichlet_ == one.dirichlet_
    assert half.posterior_.power == 0.5
    mixed = et.BayesOptimalClassifier(2, dirichlet="average", calibrate="loo").fit(X, y)
    assert mixed.exponent_ > 0


def test_power_everywhere_in_the_classifier() -> None:
    X, y = data(80)
    exact = et.BayesOptimalClassifier(2, power=0.25).fit(X, y)
    deepened = et.BayesOptimalClassifier(2, power=0.25, time_limit=60).fit(X, y)
    assert (deepened.predict_proba(X) == exact.predict_proba(X)).all()
    sampled = et.BayesOptimalClassifier(2, power=0.25, method="collapsed", n_draws=300, random_state=0).fit(
        X, y
    )
    assert np.abs(sampled.predict_proba(X) - exact.predict_proba(X)).max() < 0.05
    first = et.BayesOptimalClassifier(2, power=0.25, calibrate="loo", bins={j: [0.0] for j in range(4)})
    parts = clone(first).partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    assert parts.exponent_ == first.fit(X, y).exponent_
    assert cross_val_score(first, X, y, cv=3, scoring="neg_log_loss").mean() > -0.7
    small = exact.compress(0.05)
    assert np.abs(small.predict_proba(X) - exact.predict_proba(X)).max() <= 0.05


def test_chains_draw_from_the_power_posterior(tmp_path) -> None:
    X, y = data(80)
    exact = et.BayesOptimalClassifier(2, power=0.25).fit(X, y)
    chains = et.MCMCTreeClassifier(2, power=0.25, n_draws=500, random_state=0).fit(X, y)
    assert np.abs(chains.predict_proba(X) - exact.predict_proba(X)).max() < 0.05
    joint = chains.tree_.info["log_joint"]  # of the best tree that a chain visited
    assert joint == pytest.approx(exact.posterior_.log_joint(chains.tree_), rel=1e-12)
    chains.save(tmp_path / "chains.json")
    assert (et.load_model(tmp_path / "chains.json").predict_proba(X) == chains.predict_proba(X)).all()
    with pytest.raises(et.QueryError, match='with target="risk"'):
        et.MCMCTreeClassifier(2, power=0.5, target="risk").fit(X, y)


def test_a_refit_without_calibration_forgets_the_exponent() -> None:
    X, y = data(60)
    model = et.BayesOptimalClassifier(2, calibrate="loo").fit(X, y)
    model.set_params(calibrate=None).fit(X, y)
    assert not hasattr(model, "exponent_")
    assert not hasattr(model, "loo_proba_")


def test_a_limit_leaves_the_average_as_it_is(monkeypatch) -> None:
    X, y = data(60)

    def late(self):
        raise et.LimitReached("time limit reached", "time")

    monkeypatch.setattr("everytree.bayes.posterior.Posterior.leave_one_out", late)
    with pytest.warns(ConvergenceWarning, match="exponent_ is 1") as told:
        model = et.BayesOptimalClassifier(2, calibrate="loo").fit(X, y)
    assert told[0].filename == __file__
    assert (model.exponent_, model.loo_log_loss_) == (1.0, None)
    assert (model.predict_proba(X) == model.raw_proba(X)).all()
