"""Trees drawn from the averages of an EveryTreeClassifier: they say what their trees say, and nearly what it says."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import everytree as et
import everytree._core as core
from everytree.bayes.forest import Forest, drawn_forest, joined
from everytree.data.asked_places import AskedPlaces
from everytree.data.binarizer import Binarizer
from everytree.data.frames import read_frame
from everytree.data.local_columns import Reach
from everytree.errors import DataError, QueryError
from everytree.estimators.compressed_averages import CompressedAverages


def messy(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers with ties and gaps, whole numbers that no float holds, text, yes and no, two values; some are missing."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n).round(1),
            "weight": np.where(rng.random(n) < 0.2, np.nan, rng.exponential(size=n)),
            "huge": 2**60 + rng.integers(0, 9, n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "kind": np.where(rng.random(n) < 0.1, None, rng.choice(["a", "b"], n)),
            "flag": rng.integers(0, 2, n),
        }
    )
    y = (X["size"] + (X["colour"] == "red") + rng.normal(scale=0.7, size=n) > 0.3).to_numpy().astype(int)
    return X, y


@pytest.fixture(scope="module")
def fitted() -> tuple[et.EveryTreeClassifier, pd.DataFrame, np.ndarray]:
    X, y = messy(150, 0)
    return et.EveryTreeClassifier(time_limit=None).fit(X, y), *messy(200, 1)


def test_trees_that_do_not_fit_the_memory_are_refused(fitted) -> None:
    model = clone(fitted[0]).set_params(time_limit=1, memory_limit=40_000_000).fit(*messy(150, 0))
    assert model.compress(100).n_trees_ >= 100
    with pytest.raises(et.LimitReached, match=r"drawing 1000000 trees .* or draw fewer of them"):
        model.compress(1_000_000)


@pytest.mark.parametrize("missing", ["category", "impute"])
@pytest.mark.parametrize("seed", range(4))
def test_a_place_says_what_the_reach_says(missing: str, seed: int) -> None:
    X, _ = messy(80, seed)
    binarizer = Binarizer(cuts="local", missing=missing).fit(X)
    columns = binarizer.columns_
    assert columns is not None
    tests, uppers = [], []
    for column in columns.columns:
        for test in range(column.begin, column.stop):
            cut = column.fine is not None and test < column.end
            last = columns.last_upper(test) if cut else 0
            for upper in range(test - column.begin + 1, last + 1, 3) if cut else [0]:
                tests.append(test)
                uppers.append(upper)
    asked, most = np.array(tests, dtype=np.uint32), np.array(uppers, dtype=np.uint32)
    places, cells, greatest = AskedPlaces.of(columns, asked, most)
    new = messy(120, seed + 50)[0]
    new.loc[3, "colour"] = "unseen"
    frame = read_frame(new)
    reach, rows = columns.reach(frame), places.rows(frame)
    assert np.array_equal(reach[:, asked] <= most, rows[:, cells] <= greatest)
    assert rows.shape[1] < 20 < len(asked)
    for k in (0, 3, 7):  # a row by itself, where a column may hold nothing at all
        alone = read_frame(new.iloc[[k]].reset_index(drop=True))
        assert np.array_equal(places.rows(alone)[0], rows[k])


@pytest.mark.parametrize("missing", ["category", "impute"])
def test_a_row_reaches_as_far_alone_as_among_others(missing: str) -> None:
    # What stands for a missing number lies between two codes: it was compared with another cut in a row of its own.
    X = pd.DataFrame({"x": [0.0, 1.0, 10.0, np.nan, 3.0], "z": [0.0, 1.0, 0.0, 1.0, 1.0]})
    columns = Binarizer(cuts="local", missing=missing).fit(X).columns_
    assert columns is not None
    together = columns.reach(read_frame(X))
    for k in range(len(X)):
        assert np.array_equal(columns.reach(read_frame(X.iloc[[k]]))[0], together[k])


def test_a_forest_says_the_mean_of_its_trees(fitted: Any) -> None:
    model, X, _ = fitted
    frame = read_frame(X, model)
    reach = model.coded_.columns.reach(frame)
    control = core.Control()
    for each in model.models_[::7]:
        own = model.coded_.tests_of([j for j, e in enumerate(each.binarizer_.encodings_) if e.tests])
        rows = np.ascontiguousarray(reach[:, own]).view(Reach)
        posterior = each.posterior_
        forest = drawn_forest(posterior, 30, 5, control)
        trees = posterior.sample(30, 5)
        wanted = np.mean([tree.predict_proba(rows) for tree in trees], axis=0)
        assert np.abs(forest.mean(rows, 1, control) - wanted).max() < 1e-14
        assert np.array_equal(forest.mean(rows, 2, control), forest.mean(rows, 1, control))
        parts = np.mean([forest.every(3, k).mean(rows, 1, control) for k in range(3)], axis=0)
        assert np.abs(parts - wanted).max() < 1e-14
        twice = joined(forest, drawn_forest(posterior, 10, 6, control))
        more = np.sum([tree.predict_proba(rows) for tree in posterior.sample(10, 6)], axis=0)
        assert np.abs(twice.mean(rows, 1, control) - (30 * wanted + more) / 40).max() < 1e-14


def test_more_trees_come_nearer(fitted: Any) -> None:
    model, X, _ = fitted
    exact = model.predict_proba(X)
    off = [np.sqrt(((model.compress(n).predict_proba(X) - exact) ** 2).mean()) for n in (400, 25_600)]
    assert off[1] < 0.5 * off[0] < 0.02


def test_errors_are_as_large_as_they_are_said_to_be(fitted: Any) -> None:
    model, X, _ = fitted
    proba, error = model.compress(1000).predict_proba(X, return_error=True)
    off = np.abs(proba - model.predict_proba(X))
    # The rows share their trees, so that their errors go together: the shares of one normal number are only about met.
    assert 0.25 < (off <= error).mean() < 0.95
    assert (off <= 3 * error).mean() > 0.85
    assert np.abs(proba.sum(axis=1) - 1).max() < 1e-12


def test_the_bound_is_that_of_training_rows(fitted: Any) -> None:
    model, _, _ = fitted
    X, _ = messy(150, 0)
    small = model.compress(800)
    off = np.abs(small.predict_proba(X) - model.predict_proba(X))
    assert (
        small.n_checked_ == len(model.coded_.codes) == len(X)
    )  # every row differs, and has codes of its own
    assert small.bound_ == pytest.approx(off.max(), abs=1e-12)
    assert small.rms_ == pytest.approx(np.sqrt((off**2).mean()), abs=1e-12)


def test_draws_are_repeated_and_travel(fitted: Any, tmp_path: Any) -> None:
    model, X, _ = fitted
    small = model.compress(600)
    said = small.predict_proba(X)
    assert small.n_trees_ == 600 == sum(forest.n_trees for forest in small.forests_)
    assert np.array_equal(model.compress(600).predict_proba(X), said)
    assert np.array_equal(pickle.loads(pickle.dumps(small)).predict_proba(X), said)
    model.save(tmp_path / "model.json", "y")
    again = et.load_model(tmp_path / "model.json").compress(600)
    assert np.abs(again.predict_proba(X) - said).max() < 1e-9
    assert "600 trees" in repr(small)
    assert small.nbytes > 0


def test_labels_follow_the_costs() -> None:
    X, y = messy(100, 2)
    model = et.EveryTreeClassifier(cost_matrix=[[0, 1], [50, 0]]).fit(X, np.where(y, "yes", "no"))
    small = model.compress(400)
    labels, proba = small.predict(X), small.predict_proba(X)
    assert np.array_equal(labels, np.where(50 * proba[:, 1] > proba[:, 0], "yes", "no"))
    assert (labels == "yes").mean() > 0.7


def test_one_class_and_no_column_that_differs() -> None:
    model = et.EveryTreeClassifier().fit([[1.0], [1.0], [1.0]], [0, 1, 1])
    small = model.compress(10)
    assert np.abs(small.predict_proba([[1.0], [9.0]]) - model.predict_proba([[1.0], [9.0]])).max() < 1e-12


@pytest.mark.parametrize("n_trees", [0, -3, 2.5, "many", True, None])
def test_a_number_of_trees_that_is_none_is_refused(fitted: Any, n_trees: Any) -> None:
    with pytest.raises((QueryError, TypeError), match="n_trees"):
        fitted[0].compress(n_trees)


def test_few_trees_are_at_least_five_of_each(fitted: Any) -> None:
    small = fitted[0].compress(1)
    assert small.n_trees_ == 5 * (len(fitted[0].models_) + len(fitted[0].forests_))
    assert isinstance(small, CompressedAverages)


def test_other_columns_are_refused(fitted: Any) -> None:
    model, X, _ = fitted
    small = model.compress(300)
    with pytest.raises(DataError, match="feature names"):
        small.predict_proba(X.rename(columns={"size": "length"}))
    with pytest.raises(DataError, match="0 sample"):
        small.predict_proba(X.iloc[:0])
    with pytest.raises(DataError, match="held numbers"):
        small.predict_proba(X.assign(size="large"))


def test_arrays_that_lead_astray_are_refused() -> None:
    def asked(nodes: Any, trees: Any, n_tests: int = 1) -> Any:
        theta = np.full((len(nodes), 2), 0.5)
        forest = Forest(np.array(nodes, dtype=np.uint32), np.array(trees, dtype=np.uint32), theta)
        return forest.mean(np.zeros((3, n_tests), dtype=np.uint16), 1, core.Control())

    leaf, split = [0, 0, 0, 0], [0, 0, 1, 1]
    assert asked([split, [0, 0, 1, 1]], [[0, 1]]).tolist() == [[0.5, 0.5]] * 3
    for nodes, trees, n_tests in [
        ([[0, 0, 7, 0]], [[0, 1]], 1),
        ([[5, 0, 0, 0]], [[0, 1]], 1),
        ([leaf], [[1, 0]], 1),
        ([leaf], [[0, 2**31]], 1),
        ([leaf], [[0, 1]], 0),
    ]:
        with pytest.raises(Exception, match=r"forest|tree|test"):
            asked(nodes, trees, n_tests)
