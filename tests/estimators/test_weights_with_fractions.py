"""Weights with fractions, and weights of classes, in every classifier.

k · w with k · w whole            the same model as with those whole weights
a table in parts of an example    the same model as with whole examples, where the parts add up to them
class_weight                      the same model as with sample weights of as much
"""

from __future__ import annotations

import numpy as np
import pytest

import everytree as et
from everytree.data.example_weights import example_weights
from everytree.errors import DataError, QueryError

MADE = {
    "optimal": et.OptimalTreeClassifier(3),
    "optimal, local": et.OptimalTreeClassifier(2, cuts="local", minimize=("expected_error", "size")),
    "average": et.BayesOptimalClassifier(3),
    "average, left out": et.BayesOptimalClassifier(
        2, power=0.5, dirichlet="base", calibrate="loo", cuts="local"
    ),
    "most probable": et.MAPTreeClassifier(None),
    "compressed": et.CompressedClassifier(et.BayesOptimalClassifier(2), 0.001),
    "every": et.EveryTreeClassifier(time_limit=None),
    "smoothed": et.SmoothedTreeClassifier(),
    "smoothed, gain ratio": et.SmoothedTreeClassifier(criterion="gain_ratio", prune="pessimistic"),
    "smoothed, folds": et.SmoothedTreeClassifier(prune="cost_complexity", folds=3, random_state=0),
    "options": et.OptionTreeClassifier(0.1, max_nodes=200),
    "path average": et.PathAverageTreeClassifier(nonuniform=True),
    "chains": et.MCMCTreeClassifier(n_chains=2, n_draws=40, burn_in=20, random_state=0),
    "chains by risk": et.MCMCTreeClassifier(
        target="risk", n_chains=1, n_draws=30, burn_in=10, random_state=0
    ),
    "C4.5": et.C45TreeClassifier(),
    "CART": et.CARTTreeClassifier(folds=3),
}


def data(seed: int = 0, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, 3)).astype(float)
    y = np.where(rng.random(n) < 0.85, (X[:, 0] > 2) ^ (X[:, 1] > 1), rng.random(n) < 0.5).astype(int)
    return X, y


def fresh(name: str) -> et.OptimalTreeClassifier:
    return MADE[name].__class__(**MADE[name].get_params(deep=False))


@pytest.fixture(params=list(MADE))
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def test_parts_that_add_up_to_examples_are_examples(name: str) -> None:
    """Every row three times with a third of its weight: the counts are parts, and their sums whole."""
    X, y = data()
    w = np.random.default_rng(1).integers(1, 4, len(y))
    whole = fresh(name).fit(X, y, sample_weight=w)
    thirds = fresh(name).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3), sample_weight=np.repeat(w / 3, 3))
    assert thirds.per_example_ == 3
    assert thirds.weight_rounding_ == 0
    if name in ("CART", "smoothed, folds"):  # folds are drawn
        assert thirds.tree_.counts[0].tolist() == pytest.approx(np.bincount(y, w).tolist())
        return
    if name in ("chains", "chains by risk"):  # proposals are drawn in another order
        assert thirds.predict_proba(X) == pytest.approx(whole.predict_proba(X), abs=0.25)
        return
    assert thirds.predict_proba(X) == pytest.approx(whole.predict_proba(X), abs=1e-9)


def test_a_factor_that_makes_weights_whole_is_the_same_as_whole_weights(name: str) -> None:
    X, y = data(2)
    w = np.random.default_rng(3).integers(1, 5, len(y))
    whole = fresh(name).fit(X, y, sample_weight=w)
    again = fresh(name).fit(X, y, sample_weight=0.5 * (2.0 * w))
    assert again.per_example_ == 1
    assert np.array_equal(again.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("kind", ["halves", "floats"])
def test_fractions_are_accepted_and_matter(name: str, kind: str) -> None:
    X, y = data(4)
    rng = np.random.default_rng(5)
    w = rng.integers(1, 6, len(y)) / 2 if kind == "halves" else 0.1 + rng.random(len(y))
    model = fresh(name).fit(X, y, sample_weight=w)
    proba = model.predict_proba(X)
    assert proba.sum(axis=1) == pytest.approx(np.ones(len(y)))
    counted = example_weights(w, len(y))
    assert counted is not None
    assert model.per_example_ == counted.per_example > 1
    assert model.weight_rounding_ == counted.rounding < 1e-6
    # A class of little weight is said less often than without weights.
    light = np.where(y == 1, 0.05, 1.0)
    less = fresh(name).fit(X, y, sample_weight=light).predict_proba(X)[:, 1].mean()
    assert less < fresh(name).fit(X, y).predict_proba(X)[:, 1].mean()


def test_weights_of_classes_are_weights_of_their_examples(name: str) -> None:
    if name.startswith("optimal") or name == "compressed":
        pytest.skip("class_weight is a cost there, or a parameter of the average")
    X, y = data(6)
    w = np.random.default_rng(7).integers(1, 4, len(y)) / 2
    of_class = {0: 0.5, 1: 1.25}
    one = fresh(name).set_params(class_weight=of_class).fit(X, y, sample_weight=w)
    other = fresh(name).fit(X, y, sample_weight=w * np.where(y == 1, 1.25, 0.5))
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
    balanced = fresh(name).set_params(class_weight="balanced").fit(X, y)
    shares = len(y) / (2 * np.bincount(y))
    other = fresh(name).fit(X, y, sample_weight=shares[y])
    assert np.array_equal(balanced.predict_proba(X), other.predict_proba(X))


def test_a_class_without_weight_is_gone() -> None:
    X, y = data()
    model = et.BayesOptimalClassifier(2, class_weight={0: 0}).fit(X, y)
    assert model.classes_.tolist() == [1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("heavy", "class_weight='heavy'"),
        ({7: 2}, "class_weight names 7; expected labels among"),
        ({0: -1}, "class_weight=-1"),
        ({0: float("nan")}, "class_weight=nan"),
        ([1, 2], "a dict by label"),
    ],
)
def test_bad_weights_of_classes(given: object, message: str) -> None:
    X, y = data()
    with pytest.raises(QueryError, match=message):
        et.BayesOptimalClassifier(2, class_weight=given).fit(X, y)


def test_a_compressed_average_has_the_weights_of_the_average() -> None:
    X, y = data()
    average = et.BayesOptimalClassifier(2, class_weight="balanced")
    small = et.CompressedClassifier(average, 0.01).fit(X, y)
    assert abs(small.predict_proba(X) - average.fit(X, y).predict_proba(X)).max() <= 0.01


@pytest.mark.parametrize("cuts", ["local", "global"])
def test_batches_with_other_fractions(cuts: str) -> None:
    X, y = data(8)
    bins = 4 if cuts == "local" else {f"x{j}": [0.5, 1.5, 2.5, 3.5] for j in range(3)}
    w = np.where(np.arange(60) < 30, np.arange(60) % 4 / 2 + 0.5, (1 + np.arange(60) % 5) / 3)
    whole = et.BayesOptimalClassifier(2, bins=bins, cuts=cuts).fit(X, y, sample_weight=w)
    parts = et.BayesOptimalClassifier(2, bins=bins, cuts=cuts)
    for rows in (slice(0, 30), slice(30, 60)):
        parts.partial_fit(X[rows], y[rows], sample_weight=w[rows])
    assert parts.per_example_ == whole.per_example_ == 6
    assert np.array_equal(parts.predict_proba(X), whole.predict_proba(X))
    grown = et.SmoothedTreeClassifier(restructure=1.0).partial_fit(X[:30], y[:30], sample_weight=w[:30])
    grown.partial_fit(X[30:], y[30:], sample_weight=w[30:])
    assert np.array_equal(grown.predict_proba(X), et.SmoothedTreeClassifier().fit(X, y, w).predict_proba(X))
    with pytest.raises(QueryError, match="needs the classes of all rows"):
        et.BayesOptimalClassifier(class_weight="balanced").partial_fit(X, y)
    with pytest.raises(DataError, match=r"round the weights of all batches alike"):
        parts.partial_fit(X, y, sample_weight=np.random.default_rng(0).random(60))


@pytest.mark.parametrize("kind", ["halves", "floats"])
def test_files_keep_the_fractions(name: str, kind: str, tmp_path) -> None:
    X, y = data(9)
    rng = np.random.default_rng(5)
    w = rng.integers(1, 6, len(y)) / 2 if kind == "halves" else 0.1 + rng.random(len(y))
    model = fresh(name).fit(X, y, sample_weight=w)
    model.save(tmp_path / "model.json")
    again = et.load_model(tmp_path / "model.json")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    if hasattr(model, "tree_"):
        assert again.tree_ == model.tree_


def test_numbers_are_said_in_examples() -> None:
    X, y = data()
    model = et.OptimalTreeClassifier(1, 2, leaf_penalty=0).fit(X, y, sample_weight=np.full(60, 0.1))
    assert model.tree_.counts[0].sum() == pytest.approx(6)
    assert model.objective_ == pytest.approx(0.1 * (model.predict(X) != y).sum())
    assert "e-" not in model.tree_.to_text()
    with pytest.raises(QueryError, match=r"n_samples=6 is fewer than min_leaf=7"):
        et.OptimalTreeClassifier(1, 7).fit(X, y, sample_weight=np.full(60, 0.1))
    space = et.TreeSpace((X > 2).astype(int), y, 2, sample_weight=np.full(60, 0.1))
    assert repr(space) == "TreeSpace(6 examples, 3 tests, 2 classes, max_depth=2, min_leaf=1)"
    with pytest.raises(QueryError, match="mining itemsets counts whole examples"):
        space.mine()
