"""Costs of every average: ``predict`` answers the class of least expected cost, by one mechanism for all."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree import reference
from everytree.errors import DataError, QueryError
from everytree.weights.cost_matrix import least_cost

AVERAGES: dict[str, Any] = {
    "bayes": lambda **k: et.BayesOptimalClassifier(max_depth=2, **k),
    "collapsed": lambda **k: et.BayesOptimalClassifier(
        3, method="collapsed", n_draws=50, random_state=0, **k
    ),
    "mcmc": lambda **k: et.MCMCTreeClassifier(max_depth=3, n_draws=50, random_state=0, **k),
    "option": et.OptionTreeClassifier,
    "smoothed": et.SmoothedTreeClassifier,
    "mean": lambda **k: et.SmoothedTreeClassifier(n_trees=3, random_state=0, **k),
    "path": et.PathAverageTreeClassifier,
    "compressed": lambda **k: et.CompressedClassifier(et.BayesOptimalClassifier(max_depth=2, **k), 0.05),
}
MATRICES = {
    "errors": [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
    "uneven": [[0, 1, 40], [2, 0, 1], [1, 60, 0]],
    "gains": [[-3, 0.5, 1], [0, -1, 2], [70, 0, -0.1]],
}
every = pytest.mark.parametrize("name", AVERAGES)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def data(seed: int = 0, n: int = 150) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 4))
    y = np.where(rng.random(n) < 0.7, X[:, 0] + X[:, 1], rng.integers(0, 3, n))
    return X, np.array(["a", "b", "c"])[y]


@every
@pytest.mark.parametrize("costs", MATRICES)
def test_the_class_of_least_expected_cost_is_predicted(name: str, costs: str) -> None:
    X, y = data()
    matrix = MATRICES[costs]
    plain, model = AVERAGES[name]().fit(X, y), AVERAGES[name](cost_matrix=matrix).fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_array_equal(proba, plain.predict_proba(X))  # costs change no probability
    exact = [[Fraction(str(cost)) for cost in row] for row in matrix]
    for p, label in zip(proba.tolist(), model.predict(X).tolist(), strict=True):
        prices = [sum(Fraction(p[c]) * exact[c][k] for c in range(3)) for k in range(3)]
        said = model.classes_.tolist().index(label)
        assert prices[said] <= min(prices) + Fraction(1, 10**10)
    labels, again = model.answers(X)
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_array_equal(again, proba)
    if costs == "errors":
        np.testing.assert_array_equal(labels, plain.predict(X))
    else:
        assert (labels != plain.predict(X)).any()


@pytest.mark.parametrize("costs", MATRICES)
def test_the_exact_average_decides_as_the_reference(costs: str) -> None:
    X, y = data(3)
    model = et.BayesOptimalClassifier(max_depth=2, min_leaf=2, cost_matrix=MATRICES[costs]).fit(X, y)
    table = reference.Table.from_data(X.tolist(), np.unique(y, return_inverse=True)[1].tolist(), 3)
    bayes = reference.Bayes(reference.Space(table, 2, 2), reference.SizePrior(), 1.0)
    wanted = [model.classes_[bayes.decide(row, MATRICES[costs])] for row in X.tolist()]
    assert model.predict(X).tolist() == wanted


@every
def test_costs_may_be_set_afterwards(name: str) -> None:
    X, y = data()
    model = AVERAGES[name]().fit(X, y)
    wanted = AVERAGES[name](cost_matrix=MATRICES["uneven"]).fit(X, y).predict(X)
    where = "estimator__cost_matrix" if name == "compressed" else "cost_matrix"
    if name == "compressed":
        model.set_params(**{where: MATRICES["uneven"]})
    else:
        model.set_params(cost_matrix=np.array(MATRICES["uneven"]))
    np.testing.assert_array_equal(model.predict(X), wanted)


@every
@pytest.mark.parametrize(
    "matrix",
    [
        [[0, 1], [1, 0]],
        "no",
        [[0, 1, 2]],
        [[0, 1, np.nan], [1, 0, 1], [1, 1, 0]],
        5,
        [[10**400] * 3] * 3,
        np.full((3, 3), 1e12),
    ],
)
def test_bad_costs_are_refused_by_fit(name: str, matrix: Any) -> None:
    with pytest.raises(QueryError, match=r"(?s)cost_matrix=.*expected 3 × 3 numbers below 1e\+12"):
        AVERAGES[name](cost_matrix=matrix).fit(*data())


@every
def test_files_hold_the_costs(name: str, tmp_path: Any) -> None:
    if name == "collapsed":
        pytest.skip("a sample is not saved")
    X, y = data(1)
    model = AVERAGES[name](cost_matrix=np.array(MATRICES["uneven"], dtype=float)).fit(X, y)
    path, rows = tmp_path / "m.json", tmp_path / "d.csv"
    model.save(path)
    loaded = et.load_model(path)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    lines = ["x0,x1,x2,x3,y", *(",".join([*map(str, row), label]) for row, label in zip(X, y, strict=True))]
    rows.write_text("\n".join(lines) + "\n")
    report = et.verify_model(path, rows, target="y")
    shown = repr(np.array(MATRICES["uneven"], dtype=float).tolist())
    assert report["cost_matrix"].claimed == shown
    assert not [fact for fact in report.facts if fact.verdict == "false"]
    assert report.proved or name in ("option", "smoothed", "mean", "mcmc")
    content = json.loads(path.read_text())
    at = content if "cost_matrix" in content else content["params"]
    for bad in ([[0, 1], [1, 0]], [[0, 1, "x"]] * 3, [[0, 1, 1e12]] * 3):
        at["cost_matrix"] = bad
        path.write_text(json.dumps(content))
        with pytest.raises(DataError, match=r"cost_matrix=.*expected 3 × 3 numbers"):
            et.load_model(path)
        with pytest.raises(DataError, match="cost_matrix is"):
            et.verify_model(path, rows, target="y")


def test_batches_check_the_costs() -> None:
    X, y = data()
    model = et.BayesOptimalClassifier(max_depth=2, cost_matrix=MATRICES["uneven"])
    model.partial_fit(X[:40], y[:40], classes=["a", "b", "c"]).partial_fit(X[40:], y[40:])
    whole = et.BayesOptimalClassifier(max_depth=2, cost_matrix=MATRICES["uneven"]).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    for made in (et.BayesOptimalClassifier, et.SmoothedTreeClassifier):
        with pytest.raises(QueryError, match="expected 3 × 3"):
            made(cost_matrix=[[0, 1], [1, 0]]).partial_fit(X, y)


def test_tables_check_the_costs() -> None:
    X, y = data()
    table = et.Table.from_arrays(X, np.unique(y, return_inverse=True)[1], 3)
    model = et.BayesOptimalClassifier(max_depth=2, cost_matrix=MATRICES["uneven"]).fit_table(table)
    labels = model.predict(X)
    assert model.score_table(table) == pytest.approx(np.mean(labels == np.unique(y, return_inverse=True)[1]))
    with pytest.raises(QueryError, match="expected 3 × 3"):
        et.BayesOptimalClassifier(cost_matrix=[[0]]).fit_table(table)


def test_ties_go_to_the_more_probable_class_then_to_the_first() -> None:
    p = np.array([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4], [1 / 3, 1 / 3, 1 / 3]])
    assert least_cost(p, np.zeros((3, 3))).tolist() == [1, 0, 0]
    assert least_cost(p, np.array([[1.0, 1, 0]] * 3)).tolist() == [2, 2, 2]
    # Costs of errors alone are the most probable class, also where sums round.
    rng = np.random.default_rng(0)
    many = rng.dirichlet(np.ones(3), 2000).round(1)
    assert least_cost(many, 1.0 - np.eye(3)).tolist() == many.argmax(axis=1).tolist()


def test_the_page_decides_by_the_costs() -> None:
    from everytree.report.page_data import page_data

    X, y = data()
    model = et.BayesOptimalClassifier(max_depth=2, cost_matrix=MATRICES["uneven"]).fit(X, y)
    assert page_data(model)["costs"] == MATRICES["uneven"]
    assert page_data(et.BayesOptimalClassifier(max_depth=2).fit(X, y))["costs"] is None
    # The leaves of a single tree say what costs least; the page shows what they say.
    tree = et.OptimalTreeClassifier(2, minimize=("cost", "size"), cost_matrix=MATRICES["uneven"]).fit(X, y)
    assert page_data(tree)["costs"] is None
