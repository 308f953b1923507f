"""C45TreeClassifier: known trees, weights, odd inputs, and messages."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mixed_tables import random_table

from everytree import C45TreeClassifier
from everytree.errors import DataError, LimitReached, QueryError

NAN = float("nan")

OUTLOOK = "sunny sunny overcast rainy rainy rainy overcast sunny sunny rainy sunny overcast overcast rainy"
ANSWERS = "no no yes yes yes no yes no yes yes yes yes yes no"
PLAY = ANSWERS.split()
WEATHER = pd.DataFrame(
    {
        "outlook": OUTLOOK.split(),
        "temperature": [85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71],
        "humidity": [85, 90, 86, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 91],
        "windy": [False, True, False, False, False, True, True, False, False, False, True, True, False, True],
    }
)


def test_the_tree_of_the_textbooks():
    made = C45TreeClassifier().fit(WEATHER, PLAY)
    assert made.to_text().splitlines() == [
        "outlook = overcast: yes (4)",
        "outlook = rainy",
        "|   windy = False: yes (3)",
        "|   windy = True: no (2)",
        "outlook = sunny",
        "|   humidity <= 75: yes (2)",
        "|   humidity > 75: no (3)",
    ]
    assert (made.n_leaves_, made.size_, made.tree_.depth) == (5, 8, 2)
    assert made.predict(WEATHER).tolist() == PLAY


def test_missing_values_are_shared_out():
    made = C45TreeClassifier(laplace=True).fit(WEATHER, PLAY)
    row = WEATHER.iloc[[0]].assign(outlook=[None])
    # overcast 4 of 14: all yes; rainy 5 of 14, not windy: yes; sunny 5 of 14, humid: no
    expected = 4 / 14 * 5 / 6 + 5 / 14 * 4 / 5 + 5 / 14 * 1 / 5
    assert made.predict_proba(row)[0, 1] == pytest.approx(expected, abs=1e-15)
    plain = made.set_params(laplace=False).predict_proba(row)[0, 1]
    assert plain == pytest.approx(9 / 14, abs=1e-15)


def test_an_unseen_value_stops_at_its_node():
    made = C45TreeClassifier().fit(WEATHER, PLAY)
    assert made.predict_proba(WEATHER.iloc[[0]].assign(outlook=["foggy"]))[0].tolist() == [5 / 14, 9 / 14]


def test_a_declared_value_without_examples_has_a_branch():
    outlook = pd.Categorical(WEATHER["outlook"], ["sunny", "foggy", "overcast", "rainy"])
    made = C45TreeClassifier().fit(WEATHER.assign(outlook=outlook), PLAY)
    assert "outlook = foggy: (no examples)" in made.to_text()
    assert made.n_leaves_ == 6
    assert made.predict_proba(WEATHER.iloc[[0]].assign(outlook=["foggy"]))[0].tolist() == [5 / 14, 9 / 14]


def test_binary_splits():
    made = C45TreeClassifier(binary_splits=True, prune=False).fit(WEATHER, PLAY)
    assert made.to_text().splitlines()[:2] == ["outlook = overcast: yes (4)", "outlook != overcast"]


@pytest.mark.parametrize("seed", range(5))
def test_a_weight_is_a_repetition(seed):
    X, y = random_table(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    some = C45TreeClassifier().fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(len(y)), weight)
    many = C45TreeClassifier().fit(X.iloc[rows], y[rows])
    assert some.to_text() == many.to_text()
    assert np.allclose(some.predict_proba(X), many.predict_proba(X), rtol=0, atol=1e-12)


def test_pruning_makes_trees_smaller_and_raising_smaller_still():
    X, y = random_table(7, 400)
    sizes = [
        C45TreeClassifier(**options).fit(X, y).size_
        for options in ({"prune": False, "collapse": False}, {"prune": False}, {})
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[2]


def test_odd_tables():
    one = C45TreeClassifier().fit([[1.0]], ["only"])
    assert one.to_text() == "only (1)"
    assert one.predict([[NAN], [3.0]]).tolist() == ["only", "only"]
    X = pd.DataFrame({"constant": [1.0] * 8, "gone": [None] * 8, "x": [0.0, 0, 0, 0, 1, 1, 1, 1]})
    made = C45TreeClassifier().fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    assert made.to_text().splitlines() == ["x <= 0: 0 (4)", "x > 0: 1 (4)"]
    assert made.predict(X.assign(gone="now there")).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    tie = C45TreeClassifier().fit([[0.0], [0.0]], ["b", "a"])
    assert tie.predict([[0.0]]).tolist() == ["a"]


def test_a_thousand_classes():
    x = np.arange(4000.0)
    made = C45TreeClassifier(prune=False).fit(x[:, None], x.astype(int) // 4)
    assert len(made.classes_) == 1000
    assert made.score(x[:, None], x.astype(int) // 4) > 0.99


def test_the_longest_path_is_bounded():
    # Heavy rows of alternating classes: every cut takes one row off the end, so that the tree is a path.
    x, y, weight = np.arange(4000.0)[:, None], np.arange(4000) % 2, np.full(4000, 30)
    made = C45TreeClassifier(prune=False, collapse=False).fit(x, y, weight)
    assert made.tree_.depth == 1500
    short = C45TreeClassifier(collapse=False).fit(x[:200], y[:200], weight[:200])
    assert short.tree_.depth == 199
    assert short.score(x[:200], y[:200]) == 1


def test_close_values_are_not_told_apart_unless_asked():
    x, y = np.arange(20.0)[:, None] * 1e-6, np.repeat([0, 1], 10)
    assert C45TreeClassifier().fit(x, y).size_ == 1
    fine = C45TreeClassifier(resolution=0).fit(x, y)
    assert fine.size_ == 3
    assert fine.predict(x).tolist() == y.tolist()


def test_numbers_as_codes():
    X = pd.DataFrame({"code": [1, 2, 3] * 8})
    y = ["odd", "even", "odd"] * 8
    made = C45TreeClassifier(nominal=["code"]).fit(X, y)
    assert made.to_text().splitlines() == ["code = 1: odd (8)", "code = 2: even (8)", "code = 3: odd (8)"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_branch": 0}, "min_branch=0; expected a whole number ≥ 1"),
        ({"confidence": 0}, "confidence=0; expected a finite number between 0 and 1"),
        ({"confidence": 0.7}, r"confidence=0.7; expected at most 0.5, such as 0.25"),
        ({"resolution": -1}, "resolution=-1; expected a finite number"),
        ({"time_limit": -1}, "time_limit=-1"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(QueryError, match=message):
        C45TreeClassifier(**options).fit(WEATHER, PLAY)


def test_bad_columns():
    with pytest.raises(DataError, match="nominal names column 'height', which is not in X"):
        C45TreeClassifier(nominal=["height"]).fit(WEATHER, PLAY)
    made = C45TreeClassifier().fit(WEATHER, PLAY)
    with pytest.raises(DataError, match="'humidity' held numbers during fit but holds text"):
        made.predict(WEATHER.assign(humidity="high"))


def test_limits():
    X, y = random_table(0)
    with pytest.raises(LimitReached, match="time limit"):
        C45TreeClassifier(time_limit=1e-6).fit(X, y)
    with pytest.raises(LimitReached, match="memory limit"):
        C45TreeClassifier(memory_limit=1000).fit(X, y)
