"""Figures of held-out rows against scikit-learn's, and thresholds against all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, f1_score, precision_score, recall_score, roc_auc_score
from sklearn.metrics import log_loss as sklearn_log_loss

import everytree as et
from everytree.data.column import Column
from everytree.data.frames import read_frame
from everytree.data.readers import Dataset
from everytree.errors import QueryError
from everytree.estimators.honest import honest_figures, logistic_regression
from everytree.estimators.screening import chosen_by_labels
from everytree.metrics.judged import (
    area_under_curve,
    best_threshold,
    confusion_at,
    figures_of,
    threshold_for_recall,
)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("digits", [1, 6])  # with one digit there are many ties
def test_figures_are_those_of_scikit_learn(seed: int, digits: int) -> None:
    draw = np.random.default_rng(seed)
    p = np.clip(draw.random(80).round(digits), 0.01, 0.99)
    y, weights = draw.integers(0, 2, 80), draw.integers(1, 4, 80)
    proba = np.column_stack([1 - p, p])
    found = figures_of("m", (p > 0.5).astype(np.intp), proba, y, weights)
    assert found.auc == pytest.approx(roc_auc_score(y, p, sample_weight=weights))
    assert found.log_loss == pytest.approx(sklearn_log_loss(y, proba, sample_weight=weights))
    assert found.brier == pytest.approx(2 * brier_score_loss(y, p, sample_weight=weights))
    said = confusion_at(p > 0.5, y == 1)
    assert said.precision == pytest.approx(precision_score(y, p > 0.5))
    assert said.recall == pytest.approx(recall_score(y, p > 0.5))
    assert said.f1 == pytest.approx(f1_score(y, p > 0.5))


def test_standard_errors_are_those_of_the_examples() -> None:
    draw = np.random.default_rng(2)
    proba, y, weights = draw.dirichlet([1, 1, 1], 60), draw.integers(0, 3, 60), draw.integers(0, 4, 60)
    found = figures_of("m", proba.argmax(axis=1), proba, y, weights)
    rows = np.repeat(np.arange(60), weights)
    losses, right = -np.log(proba[rows, y[rows]]), (proba.argmax(axis=1) == y)[rows]
    assert found.log_loss_error == pytest.approx(losses.std(ddof=1) / math.sqrt(rows.size))
    assert found.accuracy_error == pytest.approx(right.std(ddof=1) / math.sqrt(rows.size))
    assert math.isnan(figures_of("m", np.array([0]), proba[:1], y[:1]).log_loss_error)


def test_of_three_classes_the_auc_is_the_mean_of_each_against_the_rest() -> None:
    draw = np.random.default_rng(1)
    proba, y = draw.dirichlet([1, 1, 1], 60), draw.integers(0, 3, 60)
    found = figures_of("m", proba.argmax(axis=1), proba, y)
    assert found.auc == pytest.approx(roc_auc_score(y, proba, multi_class="ovr", average="macro"))


def test_one_class_has_no_auc() -> None:
    assert math.isnan(area_under_curve([0.1, 0.2], [True, True]))


@pytest.mark.parametrize("seed", range(5))
def test_thresholds_are_the_best_of_all(seed: int) -> None:
    draw = np.random.default_rng(seed)
    p, hit = draw.random(40).round(2), draw.integers(0, 2, 40) == 1
    everyone = [confusion_at(p >= t, hit, float(t)) for t in [*np.unique(p), 2.0]]
    for miss, alarm in ((1, 1), (5, 1), (1, 7)):
        least = min(each.cost(miss, alarm) for each in everyone)
        assert best_threshold(p, hit, miss, alarm).cost(miss, alarm) == least
    found = threshold_for_recall(p, hit, 0.9)
    assert found.recall >= 0.9
    assert found.threshold == max(each.threshold or 0 for each in everyone if each.recall >= 0.9)


def _noise(n: int, seed: int = 0) -> tuple[list[list[float]], list[str]]:
    draw = np.random.default_rng(seed)
    return draw.random((n, 3)).tolist(), np.where(draw.random(n) < 0.1, "Yes", "No").tolist()


def test_what_cannot_be_learned_is_called_no_better() -> None:
    X, y = _noise(300)
    model = et.OptimalTreeClassifier(max_depth=3, leaf_penalty=0).fit(X, y)
    told = honest_figures(model, X, y, positive="Yes", costs=(5, 1))
    mine, always, line = told["figures"]
    assert told["words"].startswith("No better than always No")
    assert mine["accuracy"] <= always["accuracy"] == y.count("No") / len(y)
    assert model.score(X, y) > always["accuracy"]  # the training error would have told another story
    assert 0.3 < line["auc"] < 0.7
    decided = told["positive"]["decided"]
    assert decided["hits"] + decided["misses"] == y.count("Yes")


def test_what_can_be_learned_is_called_better() -> None:
    X = [[float(k)] for k in range(200)]
    y = ["b" if 50 <= k < 120 else "a" for k in range(200)]
    told = honest_figures(et.OptimalTreeClassifier(max_depth=2).fit(X, y), X, y)
    assert told["words"].startswith("Better than always a")
    assert told["how"] == "5-fold cross-validation"
    assert "better than those of logistic regression" in told["words"]
    with pytest.raises(QueryError, match="expected one of the classes a, b"):
        honest_figures(et.OptimalTreeClassifier(max_depth=1).fit(X, y), X, y, positive="c")


def test_averages_are_judged_by_exact_leave_one_out() -> None:
    X, y = _noise(120, 3)
    model = et.EveryTreeClassifier(time_limit=0.5).fit(X, y)
    told = honest_figures(model, X, y)
    assert told["how"] == "exact leave-one-out"
    assert told["rows"] == 120
    assert told["figures"][0]["log_loss"] == pytest.approx(model.loo_log_loss_, rel=1e-6)
    assert told["figures"][0]["log_loss_error"] == pytest.approx(model.loo_log_loss_error_, rel=1e-6)


def test_columns_chosen_by_the_labels_are_chosen_again_for_rows_that_are_held_out() -> None:
    """Of 150 columns of noise some fit the labels: by leaving one row out afterwards they seem to tell something."""
    draw = np.random.default_rng(3)
    X, y = draw.normal(size=(60, 150)), np.repeat(["no", "yes"], 30)
    model = et.EveryTreeClassifier(time_limit=2).fit(X, y)
    assert chosen_by_labels(model.notes_)
    told = honest_figures(model, X, y)
    assert told["how"] == "5-fold cross-validation"
    assert told["figures"][0]["accuracy"] < 0.7
    assert model.loo_accuracy_ > told["figures"][0]["accuracy"]
    assert "(too good: columns were chosen with the labels)" in model.summary()


@pytest.mark.parametrize("y", [["a", "b"], ["a", "b", "c", "d", "e"], ["a", "a", "b"]])
def test_too_few_rows_are_no_error(y: list[str]) -> None:
    X = [[k] for k in range(len(y))]
    model = et.EveryTreeClassifier(time_limit=2).fit(X, y)
    told = honest_figures(model, X, y)
    assert told["how"] is None
    assert told["figures"] == []


def test_weights_count_as_rows() -> None:
    X = [[float(k % 10)] for k in range(100)]
    y = ["a" if k % 10 < 4 else "b" for k in range(100)]
    weights = np.where(np.array(y) == "a", 3, 1)
    told = honest_figures(et.OptimalTreeClassifier(max_depth=1).fit(X, y, weights), X, y, weights)
    assert told["figures"][1]["name"] == "always a"
    assert told["figures"][1]["accuracy"] == pytest.approx(120 / 180)


def test_one_class_is_said() -> None:
    model = et.OptimalTreeClassifier().fit([[1], [2]], ["a", "a"])
    assert honest_figures(model, [[1], [2]], ["a", "a"])["words"].startswith("All rows are a:")
    many = [[k] for k in range(30)]
    told = et.EveryTreeClassifier(time_limit=1).fit(many, ["a"] * 30).summary()
    assert (
        told == "All 30 examples are a, and so the model says of every row. There is nothing to learn from."
    )
    assert et.EveryTreeClassifier().fit([[1]], ["a"]).summary().startswith("The only example is a,")


def test_averages_that_found_nothing_say_so_and_show_no_tree() -> None:
    draw = np.random.default_rng(5)
    model = et.EveryTreeClassifier(time_limit=2).fit(
        draw.normal(size=(80, 1)), draw.choice(["no", "yes"], 80)
    )
    told = model.summary()
    assert float(np.abs(model.weights_by_class_).max()) < 0.02  # else there is something, by chance
    assert "found anything that holds for examples left out" in told
    assert "so every row gets nearly the shares of the classes: no " in told
    assert "by the probability that a tree uses them" not in told


def test_halves_of_examples_are_judged_as_examples() -> None:
    """Weights of a half keep their rows in every part of the cross-validation: the figures are those of whole ones."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, "b", "a")
    model = et.OptimalTreeClassifier(max_depth=1, leaf_penalty=0).fit(X, y)
    whole = honest_figures(model, X, y)
    halves = honest_figures(model, X, y, np.full(60, 0.5))
    assert halves["rows"] == 60
    for one, other in zip(whole["figures"], halves["figures"], strict=True):
        assert other["accuracy"] == pytest.approx(one["accuracy"], abs=0.02)


def test_logistic_regression_is_no_straw_man_on_many_columns_of_text() -> None:
    rng = np.random.default_rng(0)
    n = 600
    texts = {
        f"q{k}": rng.choice([*"abcd", "rare"], n, p=[0.3, 0.3, 0.2, 0.18, 0.02]).astype(object)
        for k in range(50)
    }
    codes = (rng.random(n) < np.where(texts["q0"] == "a", 0.8, 0.3)).astype(np.intp)
    columns = [Column(name, "nominal", cells) for name, cells in texts.items()]
    rows, proba = logistic_regression(
        read_frame(Dataset({each.name: each for each in columns})), codes, None, 2
    )
    loss = -np.log(proba[np.arange(n), codes[rows]]).mean()
    share = codes.mean()
    always = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    assert loss < always  # with the usual penalty on scaled texts it is more than twice as much
