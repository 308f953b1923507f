"""EveryTreeClassifier: the mixture and its numbers, data of every kind and size, files, and what it tells people."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

import everytree as et
from everytree.bayes.exponent import tempered
from everytree.bayes.stacking import stacked, stacking_weights
from everytree.data.frames import read_frame
from everytree.estimators import every_tree, ladder
from everytree.estimators.ladder import Size, kept_columns, rebinned
from everytree.report.page import write_report
from everytree.space.frame_space import frame_table


def people(n: int = 90, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 60, n),
            "weight": rng.normal(70, 10, n).round(1),
            "color": rng.choice(["blue", "red", "green"], n),
            "flag": rng.integers(0, 2, n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "weight"] = np.nan
    return frame, np.where((frame["age"] > 40) ^ (rng.random(n) < 0.15), "yes", "no")


@pytest.fixture(scope="module")
def fitted() -> tuple[et.EveryTreeClassifier, pd.DataFrame, np.ndarray]:
    X, y = people()
    return et.EveryTreeClassifier(time_limit=None).fit(X, y), X, y


def test_the_probabilities_are_the_mixture_of_the_models_under_the_exponent(fitted) -> None:
    model, X, _ = fitted
    each = [part.predict_proba(X) for part in model.models_]
    mixed = sum(w * p for w, p in zip(model.weights_, each, strict=True))
    assert np.allclose(model.raw_proba(X), mixed, atol=1e-14)
    assert np.allclose(model.predict_proba(X), tempered(mixed, model.exponent_), atol=1e-14)
    assert model.weights_.sum() == pytest.approx(1)
    assert {Size(m.bins, m.max_depth) for m in model.models_} <= set(ladder.LADDER[-3:])
    assert [each["weight"] for each in model.ladder_ if each["weight"]] == model.weights_.tolist()


def test_leave_one_out_is_that_of_refitted_averages_in_the_same_space() -> None:
    """With nominal columns the space does not change with a row, so that refitting is the definition."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"a": rng.choice(list("xyz"), 24), "b": rng.choice(list("uv"), 24)})
    y = np.where((X["a"] == "x") ^ (rng.random(24) < 0.2), 1, 0)
    model = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    shares = tuple((np.bincount(y) / len(y)).tolist())
    for i in (0, 5, 11):
        rest = np.arange(24) != i
        said = []
        for part in model.models_:
            params = part.get_params() | {"dirichlet": shares, "calibrate": None}
            again = et.BayesOptimalClassifier(**params).fit(X[rest], y[rest])
            said.append(tempered(again.predict_proba(X[i : i + 1]), part.exponent_))
        mixed = sum(w * p for w, p in zip(model.weights_, said, strict=True))
        assert np.allclose(model.loo_proba_[i], tempered(mixed, model.exponent_)[0], atol=1e-12)


def test_the_numbers_are_those_of_the_left_out_rows(fitted) -> None:
    model, _, y = fitted
    codes = np.searchsorted(model.classes_, y)
    own = model.loo_proba_[np.arange(len(y)), codes]
    assert model.loo_log_loss_ == pytest.approx(-np.log(own).mean())
    assert model.loo_log_loss_error_ == pytest.approx(np.log(own).std(ddof=1) / np.sqrt(len(y)))
    assert model.loo_accuracy_ == pytest.approx((model.loo_proba_.argmax(axis=1) == codes).mean())
    shares = np.bincount(codes) / len(y)
    assert model.baseline_log_loss_ == pytest.approx(-(shares * np.log(shares)).sum())
    assert model.loo_log_loss_ < model.baseline_log_loss_


def test_weights_count_rows(fitted) -> None:
    model, X, y = fitted
    weights = np.arange(len(y)) % 3
    again = et.EveryTreeClassifier(None).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(len(y)), weights)
    repeated = et.EveryTreeClassifier(None).fit(X.iloc[rows], y[rows])
    assert np.allclose(again.predict_proba(X), repeated.predict_proba(X), atol=1e-12)
    assert again.loo_log_loss_ == pytest.approx(repeated.loo_log_loss_)
    assert np.isnan(again.loo_proba_[weights == 0]).all()
    assert not np.allclose(again.predict_proba(X), model.predict_proba(X))


def test_a_table_with_other_bins_is_that_of_a_binarizer_with_these_bins() -> None:
    X, y = people()
    codes = np.unique(y, return_inverse=True)[1]
    made = [
        frame_table(
            et.Binarizer(bins=k, cuts="local", missing="category"), read_frame(X), codes, ["no", "yes"], None
        )
        for k in (4, 2)
    ]
    other = rebinned(made[0], 2)
    assert other.fingerprint() == made[1].fingerprint()
    assert other.columns.array.tolist() == made[1].columns.array.tolist()


# --- kinds of data


KINDS = {
    "one class": (np.arange(20.0).reshape(10, 2), np.zeros(10, dtype=int)),
    "constant columns": (np.ones((12, 2)), np.array([0, 1] * 6)),
    "one row": (np.ones((1, 2)), np.array([3])),
    "two rows": (np.eye(2), np.array([0, 1])),
    "all missing": (np.full((8, 1), np.nan), np.array([0, 1] * 4)),
    "rare class": (np.random.default_rng(0).normal(size=(60, 2)), np.array([1] + [0] * 59)),
    "many classes": (np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 20),
    "nominal": (np.array([["a", "x"], ["b", "x"], ["a", "y"]] * 6, dtype=object), np.array([0, 1, 1] * 6)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_data_has_an_answer(kind: str) -> None:
    X, y = KINDS[kind]
    model = et.EveryTreeClassifier().fit(X, y)
    proba = model.predict_proba(X)
    assert proba.shape == (len(X), len(np.unique(y)))
    assert np.allclose(proba.sum(axis=1), 1)
    assert (proba >= 0).all()
    assert np.isfinite(model.loo_log_loss_)
    assert "How sure" in model.summary()


def test_where_nothing_is_to_be_learned_the_class_shares_are_answered() -> None:
    X, y = np.ones((40, 1)), np.array([0] * 30 + [1] * 10)
    assert np.allclose(et.EveryTreeClassifier().fit(X, y).predict_proba(X[:1]), [[0.75, 0.25]], atol=0.03)


# --- sizes


def test_columns_are_left_out_where_there_are_too_many() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 90))
    y = (X[:, 71] > 0).astype(int)
    model = et.EveryTreeClassifier(time_limit=3).fit(X, y)
    assert len(model.columns_used_) <= every_tree.MOST_COLUMNS
    assert 71 in model.columns_used_
    assert any("columns are used" in note for note in model.notes_)
    assert model.score(X, y) > 0.9
    assert list(model.attribute_inclusion())[71] == "x71"
    assert model.feature_importances_.argmax() == 71
    assert model.explain_row(X[:1]).proba == pytest.approx(model.predict_proba(X[:1])[0])


def test_the_first_space_is_taken_however_short_the_time() -> None:
    X, y = people(60)
    model = et.EveryTreeClassifier(time_limit=1e-9).fit(X, y)
    assert [each["depth"] for each in model.ladder_] == [1]
    assert any("depth 1" in note for note in model.notes_)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


def test_text_with_too_many_values_is_left_out() -> None:
    X, y = people(300)
    X["name"] = [f"person {i}" for i in range(300)]
    model = et.EveryTreeClassifier(time_limit=1).fit(X, y)
    assert model.columns_used_.tolist() == [0, 1, 2, 3]
    assert any("more than 256 values" in note for note in model.notes_)


def test_predictions_in_batches_are_the_same(fitted, monkeypatch: pytest.MonkeyPatch) -> None:
    model, X, _ = fitted
    before = model.predict_proba(X)
    monkeypatch.setattr(every_tree, "BATCH", 500)
    assert np.array_equal(model.predict_proba(X), before)


def test_screening_keeps_what_tells_most() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    told, missing = rng.normal(size=200) + 3 * y, np.where(y == 1, np.nan, 1.0)
    frame = read_frame(
        np.column_stack([rng.normal(size=200), told, rng.normal(size=200), missing, np.ones(200)])
    )
    assert kept_columns(frame, y, None, 2) == [1, 3]
    assert kept_columns(frame, y, None, 9) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("limit", [0, -1, "long", True])
def test_bad_limits_are_refused(limit: object) -> None:
    with pytest.raises(et.QueryError, match="time_limit"):
        et.EveryTreeClassifier(limit).fit([[0], [1]], [0, 1])


# --- weights


def test_weights_stay_equal_unless_the_gain_is_clear() -> None:
    rng = np.random.default_rng(0)
    alike = np.column_stack([rng.uniform(0.4, 0.8, 30), rng.uniform(0.4, 0.8, 30)])
    assert stacking_weights(alike, np.ones(30)).tolist() == [0.5, 0.5]
    better = np.column_stack([rng.uniform(0.7, 0.9, 300), rng.uniform(0.2, 0.4, 300)])
    assert stacking_weights(better, np.ones(300)).tolist() == [1.0, 0.0]


def test_stacked_weights_have_the_highest_score() -> None:
    rng = np.random.default_rng(1)
    own, counts = rng.uniform(0.05, 0.95, (40, 3)), rng.integers(1, 5, 40)
    best = stacked(own, counts)
    score = counts @ np.log(own @ best)
    for other in rng.dirichlet(np.ones(3), 500):
        assert counts @ np.log(own @ other) <= score + 1e-6


# --- people and files


def test_summary_and_nearest_tree() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = et.EveryTreeClassifier(time_limit=1).fit(X, y)
    near = model.nearest_tree(max_depth=2)
    assert near.tree.depth <= 2
    assert 0.9 < near.agreement <= 1
    assert near.accuracy <= near.agreement + 0.1
    assert near.average_accuracy == pytest.approx(model.loo_accuracy_)
    text = model.summary(top=2)
    assert "petal" in text
    assert "log-loss" in text.lower()
    assert "nearest single tree" in text
    with pytest.raises(et.QueryError, match="max_depth"):
        model.nearest_tree(5)
    with pytest.raises(et.QueryError, match="leaf_share"):
        model.nearest_tree(2, leaf_share=1)


def test_saved_and_pickled_it_predicts_the_same(fitted, tmp_path) -> None:
    model, X, _ = fitted
    path = tmp_path / "model.json"
    model.save(path, "group")
    loaded = et.load_model(path)
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert loaded.summary() == model.summary()
    assert loaded.label_name() == "group"
    assert loaded.column_kinds() == model.column_kinds()
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))
    assert clone(loaded).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(weights=[2.0] * len(d["weights"])), "weights is"),
        (lambda d: d.update(exponent=-1), "exponent is"),
        (lambda d: d.update(models=[]), "models is"),
        (lambda d: d.update(columns_used=[9]), "columns_used is"),
        (lambda d: d["claims"].update(notes=3), "claims.notes is"),
        (lambda d: d["claims"].update(ladder=[1]), "claims.ladder"),
        (lambda d: d["models"][0].update(classes=["a", "b"]), "models"),
        (lambda d: d.update(exponent=1.5), "digest is"),
    ],
)
def test_a_changed_file_is_refused(fitted, tmp_path, change, message) -> None:
    model, _, _ = fitted
    path = tmp_path / "model.json"
    model.save(path)
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(et.DataError, match=message):
        et.load_model(path)


def test_costs_decide_and_change_no_probability(fitted) -> None:
    model, X, y = fitted
    costly = et.EveryTreeClassifier(None, cost_matrix=[[0, 1], [50, 0]]).fit(X, y)
    assert np.array_equal(costly.predict_proba(X), model.predict_proba(X))
    assert (costly.predict(X) == "yes").sum() > (model.predict(X) == "yes").sum()


def test_its_page_is_written(fitted, tmp_path) -> None:
    model, X, y = fitted
    assert write_report(model, tmp_path / "page.html", X.assign(y=y), target="y") > 10_000
